"""Reverse tasks of the shipped applications: what comes of candidates, and audits by other means.

    python tests/benchmarks/bench_reverse.py --tasks 1000 [--applications airline ledger tracker] [--show 10]

Each task is carried out again in an environment that knows nothing of its making, and judged by the environment's own
verdict: the reference solution must be right, nothing may violate the policy, and the solution without any one of its
changing calls must be wrong. References are counted anew, in the state in which each call is made. Seconds are of
processor time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations

from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.exploration.app.explorer import app_explorer
from synth.exploration.app.requests import AppRequests
from synth.exploration.app.solution import same_request
from synth.exploration.app.walking import violations
from synth.exploration.pipeline import Exploration
from synth.schemas.plans import Plan
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

_BATCH = 48


@dataclass
class Audit:
    """Counts over the tasks of one application; the last five ought to be 0."""

    tasks: int = 0
    changing: int = 0
    orders: int = 0
    not_exact: int = 0
    violating: int = 0
    removable: int = 0
    other_end: int = 0
    ambiguous: int = 0
    failed: list[str] = field(default_factory=list)

    def note(self, name: str, task: Task, why: str) -> None:
        setattr(self, name, getattr(self, name) + 1)
        self.failed.append(f"{name}: {why}: {task.question}")


def tasks_of(environment: AppEnvironment, wanted: int, seed: int, rejected: Counter[str]) -> Iterator[Task]:
    """So many tasks that differ from one another, in the order of their candidates."""
    proposer = Exploration(app_explorer(environment=environment))
    seen: set[str] = set()
    for start in range(0, 20 * wanted, _BATCH):
        indices = range(start, start + _BATCH)
        for index, one in zip(indices, proposer.propose(indices, seed), strict=True):
            if not isinstance(one, Checked):
                rejected[f"{one.reason.value} ({one.detail.split(':')[0]})"] += 1
                continue
            task = finish(one.draft, one.checks, PROVENANCE, index)
            if same_request(task) in seen:
                rejected["duplicate_task"] += 1
                continue
            seen.add(same_request(task))
            yield task
            if len(seen) == wanted:
                return


def audit(environment: AppEnvironment, asking: AppRequests, task: Task, found: Audit) -> None:
    """Carry out the solution, what is left of it without each call, and its other orders."""
    plan = Plan.model_validate(task.details["plan"])
    calls = [ToolCall(id=str(at), name=call.tool, arguments=call.arguments) for at, call in enumerate(plan.calls)]
    writes = [at for at, call in enumerate(plan.calls) if call.changes]
    found.tasks += 1
    found.changing += len(writes)
    right, clean = carried_out(environment, task, calls)
    if not right:
        found.note("not_exact", task, "the solution is not right")
    if not clean:
        found.note("violating", task, "a call was refused, or broke a rule")
    for left in writes:
        if carried_out(environment, task, [call for at, call in enumerate(calls) if at != left])[0]:
            found.note("removable", task, plan.calls[left].tool)
    for order in permutations(writes):
        if list(order) == writes:
            continue
        found.orders += 1
        right, clean = carried_out(environment, task, [calls[at] for at in order])
        if clean and not right:
            found.note("other_end", task, ", ".join(plan.calls[at].tool for at in order))
    count_references(asking, task, plan, found)


def carried_out(environment: AppEnvironment, task: Task, calls: list[ToolCall]) -> tuple[bool, bool]:
    """Whether the verdict is that it is right, and whether all went through with no violation."""
    episode = environment.reset(task)
    try:
        results = [episode.step(call) for call in calls]
        clean = all(result.error is None for result in results) and not violations(episode)
        return bool(episode.check(task.answer).correct), clean
    finally:
        episode.close()


def count_references(asking: AppRequests, task: Task, plan: Plan, found: Audit) -> None:
    """Of each key that a changing call takes: some way to refer to it fits no other row then."""
    episode = asking.environment.reset(task)
    asks = iter(task.details["asks"] if isinstance(task.details["asks"], list) else [])
    speakers = {one["speaker"] for one in asking.speakers(episode)}
    speaker = next((value for call in plan.calls for value in _texts(call.arguments) if value in speakers), None)
    known: set[tuple[str, object]] = set()
    try:
        for call in plan.calls:
            if call.changes:
                name = str(next(asks))
                row = {**call.arguments, "speaker": speaker}
                for argument, table in asking.keys(name).items():
                    value = call.arguments.get(argument)
                    spec = asking.definition.tools[call.tool].arguments[argument]
                    forms = asking.forms(None, argument, spec)
                    if value is None or value == speaker or (table, value) in known or not forms:
                        continue
                    told = [asking.referred(episode, form, value, row) for form in forms]
                    ways = [count for form, (one, count) in zip(forms, told, strict=True) if one and count == 1]
                    if not ways and argument not in asking.requests.asks[name].refers:
                        found.note(
                            "ambiguous", task, f"{call.tool}.{argument}: no way to refer to it fits one row only"
                        )
                    known.add((table, value))
            episode.step(ToolCall(id="again", name=call.tool, arguments=call.arguments))
    finally:
        episode.close()


def _texts(arguments: JsonObject) -> Iterator[str]:
    return (value for value in arguments.values() if isinstance(value, str))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--applications", nargs="+", default=["airline", "ledger", "tracker"])
    given = parser.parse_args()
    wrong = 0
    for application in given.applications:
        environment = open_app(application=application, user=True)
        rejected: Counter[str] = Counter()
        began = time.process_time()
        tasks = list(tasks_of(environment, given.tasks, given.seed, rejected))
        made = time.process_time() - began
        found, asking = Audit(), AppRequests(environment)
        for task in tasks:
            audit(environment, asking, task, found)
        wrong += len(found.failed)
        print(f"\n{application}: {len(tasks)} tasks of {len(tasks) + rejected.total()} candidates")
        audited = time.process_time() - began - made
        print(f"  {made / len(tasks):.3f} s per task to make, {audited / len(tasks):.3f} s to audit")
        print(f"  rejected: {dict(rejected.most_common())}")
        print(f"  kinds: {dict(Counter(str(task.details['kind']) for task in tasks).most_common())}")
        print(f"  changing calls: {dict(sorted(Counter(writes_of(task) for task in tasks).items()))}")
        print(f"  splits: {dict(Counter(task.split for task in tasks).most_common())}")
        print(f"  tools that change: {dict(Counter(tool for task in tasks for tool in tools_of(task)).most_common())}")
        rules = Counter(rules_of(task) for task in tasks if "forbidden" in task.details)
        print(f"  rules that forbid: {dict(rules.most_common())}")
        skeletons = Counter(task.surface for task in tasks)
        top, often = skeletons.most_common(1)[0]
        print(f"  skeletons: {len(skeletons)}; the most frequent is {often / len(tasks):.1%} of the tasks: {top}")
        print(
            f"  audit of {found.tasks} tasks with {found.changing} changing calls, {found.orders} other orders: "
            f"{found.not_exact} not exact, {found.violating} violating, {found.removable} removable, "
            f"{found.other_end} with another end, {found.ambiguous} ambiguous"
        )
        for line in found.failed[:10]:
            print(f"    {line}")
        for task in tasks[:: max(1, len(tasks) // given.show)][: given.show] if given.show else ():
            show(task)
    sys.exit(bool(wrong))


def writes_of(task: Task) -> int:
    return len(tools_of(task))


def tools_of(task: Task) -> list[str]:
    return [call.tool for call in Plan.model_validate(task.details["plan"]).calls if call.changes]


def rules_of(task: Task) -> str:
    forbidden = task.details["forbidden"]
    return str(forbidden["rule"]) if isinstance(forbidden, dict) else ""


def show(task: Task) -> None:
    plan = Plan.model_validate(task.details["plan"])
    print(f"\n  [{task.details['kind']}] {task.question}")
    for call in plan.calls:
        print(f"    {'*' if call.changes else ' '} {call.tool} {call.arguments}")
    for fact in plan.user:
        print(f"    asked about {fact.topic}: {fact.says}")
    if plan.rule is not None:
        print(f"    rule: {plan.rule}")
    print(f"    -> {task.answer}")


if __name__ == "__main__":
    main()
