"""Labels against what scripted policies really did wrong: first-error accuracy by error mode.

    python tests/benchmarks/bench_labels.py --seeds 7 11 --folder FOLDER
    python tests/benchmarks/bench_labels.py --seeds 7 11 --source DOCUMENTS --document-seeds 7 11 --folder FOLDER

Builds ``world-search`` (--seeds) and ``docs-search`` (--document-seeds, over --source), or finds them in the store
below FOLDER, labels every policy trajectory, and compares the labelled first error with the true one; the last lines
are over all of them together. The labeller never sees the truth: the side table ``injected_errors`` and the policy's
own notes checked against the facts (``tests/labels/first_errors.py`` says how both are counted, and when documents
leave them undecided). Also scores recorded actions with the embedded scorer: what a teacher did should lie above
0.6, what was an error below 0.5.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "annotate" / "labels"))

from first_errors import UNDECIDED, Facts, first_error

from synth.agents.trajectory import history_of
from synth.annotate.critical.contract import Point
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.labels import label
from synth.api import BuildRequest, prepare
from synth.engine import Engine
from synth.environments.search import SearchEnvironment
from synth.environments.search_spec import open_search
from synth.schemas.injected import InjectedError
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.tasks.world.words import world_words

Cell = Counter[str]


@dataclass
class Measured:
    """Counts by mode of the true first error: ``right``, ``early``, ``late``, ``missed``, ``spurious``."""

    failed: dict[str, Cell] = field(default_factory=dict)
    succeeded: dict[str, Cell] = field(default_factory=dict)
    scores: Counter[str] = field(default_factory=Counter)
    """``teacher +1 > 0.6`` and the like."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Runs of which nobody can tell where they went wrong first; they count nowhere else."""

    def add(self, other: Measured) -> None:
        """Count what ``other`` counted, too."""
        for mine, theirs in ((self.failed, other.failed), (self.succeeded, other.succeeded)):
            for mode, cell in theirs.items():
                mine.setdefault(mode, Counter()).update(cell)
        self.scores.update(other.scores)
        self.undecided.update(other.undecided)

    def overall(self, *, natural: bool) -> tuple[int, int]:
        """(right, all) over all runs with an injected error, or with ``natural`` with any, failed and succeeded."""
        parts = [self.accuracy(natural=natural, succeeded=succeeded) for succeeded in (False, True)]
        without = self.succeeded.get("none", Counter()) if natural else Counter[str]()
        right, total = (sum(part[place] for part in parts) for place in (0, 1))
        return right - without["right"], total - without.total()

    def accuracy(self, *, natural: bool, succeeded: bool = False) -> tuple[int, int]:
        """(right, all) over the modes of injected errors, or with ``natural`` over all."""
        table = self.succeeded if succeeded else self.failed
        cells = [cell for mode, cell in table.items() if natural or not mode.startswith(("natural", "none"))]
        return sum(cell["right"] for cell in cells), sum(cell.total() for cell in cells)


class _Collection:
    """What ``open_search`` reads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def table(self, name: str) -> Any:
        return self._engine.table("documents", name)

    def arrays(self, name: str) -> Any:
        return self._engine.arrays(name)


def built(
    folder: Path,
    *,
    tasks: int,
    seed: int,
    source: Path | None = None,
    settings: dict[str, Any] | None = None,
    teacher: bool = False,
) -> Engine:
    """The engine of a build up to the policy's trajectories, with the ``teacher``'s too: of ``world-search``, or with a
    ``source`` of ``docs-search`` over it."""
    request = BuildRequest(
        dataset="world-search" if source is None else "docs-search",
        source=source,
        tasks=tasks,
        seed=seed,
        out=folder / f"out-{seed}",
        store=folder / "store",
        settings=settings or {},
    )
    engine = prepare(request, progress="quiet").engine
    roles = ("teacher-rollouts", "teacher") if teacher else ()
    graph = "graph" if source is None else "edges"
    for name in ("documents", graph, "index", "tasks", *roles, "policy-rollouts", "policy"):
        engine.run_stage(name)
    return engine


def facts_of(engine: Engine) -> Facts:
    """What the build's source states: all there is in a world, a part of it in documents."""
    world = any(node.label == "graph" for node in engine.plan.nodes)
    stage = "documents" if world else "edges"
    return Facts(engine.table(stage, "entities").rows(), engine.table(stage, "edges").rows(), world=world)


def measure(engine: Engine, *, scores: int = 0) -> Measured:
    """Label all policy trajectories of a build; score the actions of ``scores`` trajectories of each role."""
    tasks: dict[str, Task] = {task.id: task for task in engine.table("tasks", "tasks").rows()}
    facts = facts_of(engine)
    injected: dict[str, list[InjectedError]] = {}
    for error in engine.table("policy-rollouts", "injected_errors").rows():
        injected.setdefault(error.trajectory_id, []).append(error)
    policy: list[TrajectoryRow] = list(engine.table("policy", "trajectories").rows())
    teacher: list[TrajectoryRow] = list(engine.table("teacher", "trajectories").rows()) if scores else []
    result = Measured()
    for row in policy:
        truth = first_error(row, tasks[row.task_id], injected.get(row.id, []), facts, world_words().inverses)
        found = next((step.step for step in label(row, tasks[row.task_id]) if step.first_error), None)
        if truth is not None and truth.mode == UNDECIDED:
            result.undecided["succeeded" if row.success else "failed"] += 1
            continue
        table = result.succeeded if row.success else result.failed
        wanted = truth.turn if truth is not None else None
        table.setdefault(truth.mode if truth is not None else "none", Counter())[_outcome(found, wanted)] += 1
    environment = open_search(inputs=_Collection(engine))
    for row in (*policy[:scores], *teacher[:scores]):
        truth = first_error(row, tasks[row.task_id], injected.get(row.id, []), facts, world_words().inverses)
        _score(result, row, tasks[row.task_id], environment, truth.turn if truth is not None else None)
    return result


def _outcome(found: int | None, truth: int | None) -> str:
    if found == truth:
        return "right"
    if found is None or truth is None:
        return "missed" if found is None else "spurious"
    return "early" if found < truth else "late"


def _score(result: Measured, row: TrajectoryRow, task: Task, environment: SearchEnvironment, error: int | None) -> None:
    """Recorded actions of a teacher that succeeded, and the true first errors of the policy."""
    scorer = EvidenceScorer()
    prompt, history = history_of(row)
    for number, step in enumerate(history):
        if (row.role == "teacher" and row.success) or (row.role == "policy" and number == error):
            point = Point(task, environment, prompt, history[:number], step.turn)
            (score,) = scorer.score(point, [step.turn])
            value = score.value
            band = "abstains" if value is None else "> 0.6" if value > 0.6 else "< 0.5" if value < 0.5 else "between"
            result.scores[f"{'teacher' if row.role == 'teacher' else 'first error'} {band}"] += 1


def report(result: Measured) -> dict[str, Any]:
    """As JSON."""
    lines: dict[str, Any] = {}
    for name, table in (("failed", result.failed), ("succeeded", result.succeeded)):
        lines[name] = {
            mode: {"n": cell.total(), "accuracy": round(cell["right"] / cell.total(), 3), **dict(sorted(cell.items()))}
            for mode, cell in sorted(table.items())
        }
    for natural in (False, True):
        for succeeded in (False, True):
            key = f"{'succeeded' if succeeded else 'failed'}, {'injected and natural' if natural else 'injected'}"
            lines[key] = _share(*result.accuracy(natural=natural, succeeded=succeeded))
        lines["with natural, overall" if natural else "injected, overall"] = _share(*result.overall(natural=natural))
    lines["undecided"] = dict(sorted(result.undecided.items()))
    lines["scores"] = dict(sorted(result.scores.items()))
    return lines


def _share(right: int, total: int) -> dict[str, Any]:
    return {"right": right, "n": total, "accuracy": round(right / total, 3) if total else None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=[7], help="of worlds")
    parser.add_argument("--tasks", type=int, default=300, help="over a world")
    parser.add_argument("--rollouts", type=int, default=1, help="of the policy, per task over a world")
    parser.add_argument("--source", type=Path, help="documents, for docs-search")
    parser.add_argument("--document-seeds", type=int, nargs="*", default=[], help="of tasks over the documents")
    parser.add_argument("--document-tasks", type=int, default=80)
    parser.add_argument("--document-rollouts", type=int, default=3)
    parser.add_argument("--scores", type=int, default=60, help="trajectories of each role to score")
    parser.add_argument("--folder", type=Path, required=True, help="for stores")
    options = parser.parse_args()
    if options.document_seeds and options.source is None:
        parser.error("--document-seeds needs --source")
    runs = [("world-search", None, seed, options.tasks, options.rollouts) for seed in options.seeds]
    runs += [
        ("docs-search", options.source, seed, options.document_tasks, options.document_rollouts)
        for seed in options.document_seeds
    ]
    total = Measured()
    for name, source, seed, tasks, rollouts in runs:
        settings = {"roles.policy.rollouts": rollouts}
        teacher = options.scores > 0
        engine = built(options.folder, tasks=tasks, seed=seed, source=source, settings=settings, teacher=teacher)
        result = measure(engine, scores=options.scores)
        print(json.dumps({"dataset": name, "seed": seed, "tasks": tasks, **report(result)}, indent=1), flush=True)
        total.add(result)
    if len(runs) > 1:
        print(json.dumps({"together": [f"{name} {seed}" for name, _, seed, *_ in runs], **report(total)}, indent=1))


if __name__ == "__main__":
    main()
