"""Our labels of steps, and who failed a run and where, against what people said of public runs.

    python tests/benchmarks/bench_public_labels.py --steps hotpotqa.jsonl bfcl.jsonl
    python tests/benchmarks/bench_public_labels.py --failures "Who&When/Algorithm-Generated" "Who&When/Hand-Crafted"
    python tests/benchmarks/bench_public_labels.py --failures AgentRx/data/ground_truth/*_ground_truth.json
    python tests/benchmarks/bench_public_labels.py --faulty aegis

``--steps``: files of AgentProcessBench (arXiv 2603.14465): chat runs with ``step_labels`` by number of the message.
Accuracy is over every step that people labelled: one that a rule leaves without a label counts as wrong, but for the
column over those that ours labels. Beside ours stand "always +1" and the twelve-line rule: a repeated query or a result
with nothing new harms, all else helps, the last message by its verdict; "ours, else 12" predicts by it what ours leaves
without a label. ``--judge URL MODEL`` adds a model of an OpenAI-compatible server, ``--recorded FILE...`` the labels
that models gave these runs (that set's ``eval/results``): alone, above ours, and where ours has none.

``--failures``: folders of Who&When (arXiv 2505.00212), of AgentErrorBench, or files of AgentRx's ``ground_truth``.
"fault" is a step that people call one, whether or not the run failed by it (AgentRx lists them all); "share" is how
sure ours says it is, on average. ``--faulty``: folders of AEGIS, runs into which errors of one or several agents were
put: how often the agent that a rule names is one of them.

``--numbers odd`` measures where nothing was chosen: labels and verdicts were developed on the even questions of
HotpotQA, clues and their points on the even files of Algorithm-Generated.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from synth.agents.contract import History
from synth.agents.imported import import_trajectory
from synth.agents.trajectory import history_of
from synth.annotate.failures.attribution import agents_of, attribute
from synth.annotate.labels import label
from synth.annotate.labels.model_judge import ModelStepJudge
from synth.export.importing.groups import speaks
from synth.models.client import ModelHub
from synth.models.contract import Runtime, Sampling
from synth.registry import find
from synth.schemas.tasks import Task, Walk
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks
from synth.text.words import content_words

Signs = Sequence[int | None]
SIGNS = (-1, 0, 1)


@dataclass(frozen=True)
class Labelled:
    """A run that people labelled."""

    row: TrajectoryRow
    task: Task
    history: History
    people: tuple[int, ...]
    """One label per step."""
    final: int
    """People's verdict."""
    id: str
    """Its record in the files of what models said."""
    places: tuple[str, ...]
    """Number of the message of each step."""


def labelled_runs(file: Path, numbers: str = "all") -> Iterator[Labelled]:
    for line in file.read_text("utf-8").splitlines():
        value = json.loads(line)
        if numbers != "all" and value["query_index"] % 2 != (numbers == "odd"):
            continue
        truth = value["ground_truth"]
        answers = truth.get("target") or [truth.get("answer") or "-"] if isinstance(truth, dict) else ["-"]
        task = a_task(value["question"], [str(one) for one in answers])
        read = find("importers", "openai").read({key: value[key] for key in ("messages", "tools") if key in value})
        row = import_trajectory(read, task, provenance=PROVENANCE)
        places = sorted(value["step_labels"], key=int)
        people = tuple(value["step_labels"][place] for place in places)
        _, history = history_of(row)
        if len(history) == len(people):
            record = ":".join(str(value[key]) for key in ("data_source", "query_index", "sample_index"))
            yield Labelled(row, task, history, people, value["final_label"], record, tuple(places))


def a_task(question: str, answers: Sequence[str]) -> Task:
    more = {"answer": answers[0], "answer_aliases": tuple(answers[1:])}
    walk = Walk(shape="given", hops=())
    return small_tasks()[0].model_copy(update={"question": question, "walk": walk, "details": {}, **more})


def always(run: Labelled) -> Signs:
    return [1] * len(run.history)


def twelve_lines(run: Labelled) -> Signs:
    seen: set[str] = set()
    asked: set[str] = set()
    found: list[int | None] = []
    for step in run.history:
        words = {word for result in step.results for word in content_words(result.content)}
        calls = {json.dumps([call.name, call.arguments], sort_keys=True) for call in step.turn.calls}
        found.append(-1 if step.turn.calls and (calls <= asked or not words - seen) else 1)
        seen |= words
        asked |= calls
    if run.row.verdict.correct is False:
        found[-1] = -1
    return found


def ours(run: Labelled) -> Signs:
    return [step.label for step in label(run.row, run.task)]


def ours_or_floor(run: Labelled) -> Signs:
    """Ours, and the twelve lines where ours measured nothing: a prediction for this table, in no dataset."""
    return [below if sign is None else sign for sign, below in zip(ours(run), twelve_lines(run), strict=True)]


def by_judge(url: str, name: str) -> Callable[[Labelled], Signs]:
    """Ours, a model's where ours has none, and the twelve lines where neither says anything."""
    judge = ModelStepJudge(ModelHub().bind(name, Sampling(temperature=0.0), Runtime(endpoints=(url,))))

    def signs(run: Labelled) -> Signs:
        labels = label(run.row, run.task, judged=partial(judge.labels, run.task, run.row))
        return [
            below if step.label is None else step.label for step, below in zip(labels, twelve_lines(run), strict=True)
        ]

    return signs


def as_recorded(file: Path) -> dict[str, Callable[[Labelled], Signs]]:
    """What a model said of these runs, alone, above ours, and where ours has no label."""
    lines = map(json.loads, file.read_text("utf-8").splitlines())
    said = {one["record_id"]: one["step_labels"] for one in lines}

    def alone(run: Labelled) -> Signs:
        return [said.get(run.id, {}).get(place) for place in run.places]

    def over(first: Callable[[Labelled], Signs], second: Callable[[Labelled], Signs]) -> Callable[[Labelled], Signs]:
        return lambda run: [b if a is None else a for a, b in zip(first(run), second(run), strict=True)]

    name = file.stem
    return {name: alone, f"{name}, else ours": over(alone, ours), f"ours, else {name}": over(ours, alone)}


RULES: Mapping[str, Callable[[Labelled], Signs]] = {
    "always +1": always,
    "twelve lines": twelve_lines,
    "ours": ours,
    "ours, else 12": ours_or_floor,
}


def print_steps(files: Sequence[Path], numbers: str, rules: Mapping[str, Callable[[Labelled], Signs]]) -> None:
    head = f"{'accuracy':>9}{'macro-F1':>10}{'no label':>10}{'of labelled':>13}"
    print(f"{'set':<14}{'runs':>6}{'steps':>7}  {'rule':<14}{head}")
    for file in files:
        runs = list(labelled_runs(file, numbers))
        known = [[sign is not None for sign in ours(run)] for run in runs]
        verdicts = Counter((run.row.verdict.correct, run.final) for run in runs)
        for name, rule in rules.items():
            pairs = Counter(pair for run in runs for pair in zip(run.people, rule(run), strict=True))
            total = pairs.total()
            right, bare = sum(pairs[sign, sign] for sign in SIGNS), sum(pairs[sign, None] for sign in SIGNS)
            there = [
                mine == sign
                for run, labels in zip(runs, known, strict=True)
                for sign, mine, known_ in zip(run.people, rule(run), labels, strict=True)
                if known_
            ]
            scores = f"{right / total:>9.3f}{macro_f1(pairs):>10.3f}{bare / total:>10.3f}"
            scores += f"{sum(there) / len(there):>13.3f}"
            print(f"{file.stem:<14}{len(runs):>6}{total:>7}  {name:<14}{scores}")
        told = ", ".join(f"{ours}/{theirs}: {count}" for (ours, theirs), count in sorted(verdicts.items(), key=str))
        print(f"{'':<14}verdicts, ours/people's: {told}")


def macro_f1(pairs: Mapping[tuple[int, int | None], int]) -> float:
    """Mean F1 of the three labels; ``pairs``: (people's, the rule's) -> steps."""
    scores = []
    for sign in SIGNS:
        given = sum(count for (_, one), count in pairs.items() if one == sign)
        true = sum(count for (one, _), count in pairs.items() if one == sign)
        scores.append(2 * pairs.get((sign, sign), 0) / (given + true) if given + true else 0.0)
    return sum(scores) / len(SIGNS)


@dataclass(frozen=True)
class Failed:
    """A failed run, with who people say failed it, and where."""

    row: TrajectoryRow
    agents: tuple[str, ...]
    agent: str = ""
    step: int | None = None
    """None: the message that people name is a tool's, and no step."""
    faults: frozenset[int] = frozenset()
    """All steps that people call faults, this one among them."""


def failed_run(value: Mapping[str, Any], agent: str, place: int, faults: Iterable[int]) -> Failed:
    """A run, of whose messages people name some by their numbers."""
    row = import_trajectory(find("importers", "auto").read(value), None, provenance=PROVENANCE)
    messages = value.get("history") or value["messages"]
    agents = tuple(name or "" for name in agents_of(row))
    turns = [number for number, message in enumerate(messages) if speaks(message)]
    turns = turns[-len(agents) :]  # a greeting before the first request is no step
    steps = {number: turns.index(number) for number in (place, *faults) if number in turns}
    named = agent if any(agents) else ""
    return Failed(row, agents, named, steps.get(place), frozenset(steps.values()))


def failed_runs(source: Path, numbers: str) -> Iterator[Failed]:
    if source.is_file():
        yield from agent_rx(source)
    elif (labels := source / "gaia_labels.json").is_file():
        yield from agent_error_bench(labels)
    else:
        for file in sorted(source.glob("*.json"), key=lambda one: int(one.stem)):
            if numbers == "all" or int(file.stem) % 2 == (numbers == "odd"):
                value = json.loads(file.read_text("utf-8"))
                yield failed_run(value, value["mistake_agent"], int(value["mistake_step"]), ())


def agent_rx(truth: Path) -> Iterator[Failed]:
    """Runs of Magentic-One that are not in Who&When, too, or of tau-bench."""
    home = truth.parents[1]
    retail = json.loads((home / "tau_retail" / "tau_dataset_failed.json").read_text("utf-8"))
    chats = {str(run["task_id"]): run["traj"] for run in retail}
    for told in json.loads(truth.read_text("utf-8")):
        name = f"{told['trajectory_id']}.json"
        file = home / "magentic_dataset" / name
        messages = json.loads(file.read_text("utf-8")) if file.is_file() else chats.get(file.stem)
        cause = told["root_cause"]["failure_id"]
        root = next((one for one in told["failures"] if str(one["failure_id"]) == str(cause)), None)
        if messages and root and not (home / "magentic_dataset_whowhen" / name).is_file():
            faults = [one["step_number"] - 1 for one in told["failures"]]
            run = failed_run({"messages": messages}, root["failed_agent"], root["step_number"] - 1, faults)
            if any(run.agents) or run.step is not None:  # of a chat, the agent's faults and not the user's or a tool's
                yield run


def agent_error_bench(labels: Path) -> Iterator[Failed]:
    for told in json.loads(labels.read_text("utf-8")):
        file = labels.parent / "GAIA" / f"{told['trajectory_id']}.json"
        if file.is_file():
            value = json.loads(file.read_text("utf-8"))
            turns = [number for number, one in enumerate(value["messages"]) if one["role"] == "assistant"]
            if told["critical_failure_step"] <= len(turns):
                yield failed_run(value, "", turns[told["critical_failure_step"] - 1], ())


def blamed(run: Failed) -> dict[str, tuple[str, int, float | None]]:
    """Rule -> the agent and the step that it names, and how sure it says it is."""
    count = len(run.agents)
    most, _ = Counter(run.agents).most_common(1)[0]
    ours = attribute(run.row)
    return {
        "first step": (run.agents[0], 0, None),
        "second step": (run.agents[min(1, count - 1)], min(1, count - 1), None),
        "last step": (run.agents[-1], count - 1, None),
        "most frequent": (most, run.agents.index(most), None),
        "ours": (ours.agent or "", ours.step, ours.share),
    }


def print_failures(sources: Sequence[Path], numbers: str) -> None:
    heads = "".join(f"{head:>7}" for head in ("agent", "step", "+-1", "+-3", "fault", "share"))
    print(f"{'set':<28}{'runs':>6}  {'rule':<15}{heads}")
    for source in sources:
        runs = list(failed_runs(source, numbers))
        hits: dict[str, list[tuple[bool, int | None, bool, float | None]]] = {}
        for run in runs:
            for name, (agent, step, share) in blamed(run).items():
                off = None if run.step is None else abs(step - run.step)
                hit = (agent.lower() == run.agent.lower(), off, step in run.faults, share)
                hits.setdefault(name, []).append(hit)
        drawn = sum(1 / len(run.agents) for run in runs if run.step is not None) / len(runs)
        whose = sum(sum(run.agent.lower() == one.lower() for one in run.agents) / len(run.agents) for run in runs)
        fault = sum(len(run.faults) / len(run.agents) for run in runs) / len(runs)
        print(
            f"{source.stem:<28}{len(runs):>6}  {'random step':<15}"
            f"{whose / len(runs):>7.3f}{drawn:>7.3f}{'':>14}{fault:>7.3f}"
        )
        for name, found in hits.items():
            near = [sum(off is not None and off <= reach for _, off, _, _ in found) / len(found) for reach in (0, 1, 3)]
            right = sum(agent for agent, *_ in found) / len(found)
            faults = sum(fault for _, _, fault, _ in found) / len(found)
            sure = [share for *_, share in found if share is not None]
            told = f"{sum(sure) / len(sure):>7.3f}" if sure else ""
            figures = "".join(f"{one:>7.3f}" for one in (right, *near, faults))
            print(f"{'':<28}{'':>6}  {name:<15}{figures}{told}")


def print_faulty(folders: Sequence[Path], numbers: str) -> None:
    print(f"{'set':<22}{'runs':>6}  {'rule':<15}{'agent':>7}")
    for folder in folders:
        hits: dict[str, list[float]] = {}
        for file in sorted(folder.glob("[0-9]*.json"), key=lambda one: int(one.stem)):
            if numbers != "all" and int(file.stem) % 2 != (numbers == "odd"):
                continue
            value = json.loads(file.read_text("utf-8"))
            row = import_trajectory(find("importers", "auto").read(value), None, provenance=PROVENANCE)
            agents = tuple(name or "" for name in agents_of(row))
            faulty = {one["agent_name"].lower() for one in value["faulty_agents"]}
            share = sum(name.lower() in faulty for name in agents) / len(agents)
            hits.setdefault("random step", []).append(share)
            for rule, (agent, *_) in blamed(Failed(row, agents)).items():
                hits.setdefault(rule, []).append(agent.lower() in faulty)
        for rule, found in hits.items():
            print(f"{folder.name:<22}{len(found):>6}  {rule:<15}{sum(found) / len(found):>7.3f}")


def main() -> None:
    about: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(description=__doc__, **about)
    parser.add_argument("--steps", type=Path, nargs="*", default=[])
    parser.add_argument("--failures", type=Path, nargs="*", default=[])
    parser.add_argument("--faulty", type=Path, nargs="*", default=[])
    parser.add_argument("--numbers", choices=("all", "odd", "even"), default="all")
    parser.add_argument("--judge", nargs=2, metavar=("URL", "MODEL"), help="a model that labels what the rules leave")
    parser.add_argument("--recorded", type=Path, nargs="*", default=[], help="files of what models said of the steps")
    given = parser.parse_args()
    if given.steps:
        judged = {"with a judge": by_judge(*given.judge)} if given.judge else {}
        recorded = {name: rule for file in given.recorded for name, rule in as_recorded(file).items()}
        print_steps(given.steps, given.numbers, {**RULES, **judged, **recorded})
    if given.failures:
        print_failures(given.failures, given.numbers)
    if given.faulty:
        print_faulty(given.faulty, given.numbers)


if __name__ == "__main__":
    main()
