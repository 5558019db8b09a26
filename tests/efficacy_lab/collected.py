"""What the base did and what the search of its failures found, and what an arm learns of it at its budget of calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from efficacy_lab.plan import Arm
from efficacy_lab.rows import Action, Step
from efficacy_lab.runs import Run
from efficacy_lab.search import Correction, Searched

__all__ = ["Collected", "Learned", "collected", "compose"]


@dataclass(frozen=True)
class Collected:
    """What the base did, and what the search of its failures found."""

    runs: dict[str, list[Run]]
    """Of the searched and of the other half of the tasks."""
    further: dict[str, list[Run]]
    """More runs of the same tasks, for arms that have calls to spare."""
    searches: dict[float, list[Searched]]
    """Of an expert that is wrong in so much: the search of each failed run of the searched half."""
    demonstrations: dict[float, list[Run]]
    """The expert's own runs of the searched half, in the order in which they are asked for."""
    proposals: dict[float, list[tuple[Correction | None, int]]]
    """Of each failed run of the other half, in the order in which they are asked for: the first step at which the
    expert would do something else, and how often it was asked."""

    def budget(self, arm: Arm) -> int:
        """Calls that the arm has: its own number, or what verification with an expert who is never wrong takes, all
        runs included."""
        return arm.calls or sum(self._spent(arm))

    def first(self, arm: Arm) -> int:
        """Runs of the policy that verification with an expert who is never wrong takes within the budget."""
        total = accumulate(self._spent(arm))
        return sum(spent <= arm.calls for spent in total) if arm.calls else len(self.runs["searched"])

    def _spent(self, arm: Arm) -> Iterator[int]:
        """Of each run what it and its search take."""
        searches = iter(self.searches[0.0])
        for run in self.runs["searched"]:
            one = None if run.success else next(searches)
            yield run.calls + (one.policy + arm.price * one.expert if one else 0)


@dataclass(frozen=True)
class Learned:
    """What an arm learns from, and what it took."""

    own: list[Run]
    """The policy's own successes, each once."""
    added: list[Correction]
    demonstrations: list[Run]
    policy: int
    expert: int


def compose(arm: Arm, found: Collected) -> Learned:
    """Spend the budget of the arm's price: first on what it adds, then on further runs of its own."""
    half = "other" if arm.adds == "proposals" else "searched"
    stream, first, budget = [*found.runs[half], *found.further[half]], found.first(arm), found.budget(arm)
    own = stream[:first]
    policy, expert = sum(run.calls for run in own), 0
    added: list[Correction] = []
    shown: list[Run] = []
    if arm.adds == "verified":
        for one in found.searches[arm.wrong][: sum(not run.success for run in own)]:
            if policy + one.policy + arm.price * (expert + one.expert) > budget:
                break
            policy, expert = policy + one.policy, expert + one.expert
            added += [one.verified] if one.verified is not None else []
    elif arm.adds is not None:
        verified = compose(arm.model_copy(update={"adds": "verified"}), found)
        if arm.adds == "demonstrations":
            for run in found.demonstrations[arm.wrong]:
                if expert + run.calls > verified.expert:
                    break
                expert += run.calls
                shown += [run] if run.success else []
        else:
            for correction, asked in found.proposals[arm.wrong]:
                if len(added) == len(verified.added) or policy + arm.price * (expert + asked) > budget:
                    break
                expert += asked
                added += [correction] if correction is not None else []
    for run in stream[first:]:
        if policy + run.calls + arm.price * expert > budget:
            break
        policy += run.calls
        own.append(run)
    once = {(run.task, tuple(step.action for step in run.steps), run.answer): run for run in own if run.success}
    return Learned(list(once.values()), added, shown, policy, expert)


def collected(held: dict[str, Any]) -> Collected:
    """What ``asdict`` made of it, from JSON."""

    def action(one: Any) -> Action:
        return Action(**one)

    def steps(some: Any) -> tuple[Step, ...]:
        return tuple(Step(action(one["action"]), one["observation"]) for one in some)

    def run(one: Any) -> Run:
        answer = None if one["answer"] is None else action(one["answer"])
        return Run(one["task"], steps(one["steps"]), answer, one["success"], one["calls"])

    def correction(one: Any) -> Correction | None:
        return one and Correction(one["task"], steps(one["before"]), action(one["chosen"]), action(one["rejected"]))

    def searched(one: Any) -> Searched:
        return Searched(correction(one["verified"]), one["policy"], one["expert"])

    def table(name: str, key: Any, make: Any) -> dict[Any, list[Any]]:
        return {key(name): [make(one) for one in some] for name, some in held[name].items()}

    return Collected(
        table("runs", str, run),
        table("further", str, run),
        table("searches", float, searched),
        table("demonstrations", float, run),
        table("proposals", float, lambda pair: (correction(pair[0]), pair[1])),
    )
