"""Whether predicted difficulty predicts: a policy's success, predicted without the task, against what was measured.

    python tests/benchmarks/bench_difficulty.py --tasks 600 --folder FOLDER
    python tests/benchmarks/bench_difficulty.py --tasks 600 --folder FOLDER --dataset docs-search --source HTML

It builds a dataset up to its table ``difficulty``, with several rollouts of the policy per task, and prints

* the reliability table: bins of predicted success with the measured one and its 95 % interval;
* the Brier score beside that of the base rate, with a bootstrap interval of the difference over tasks, and the AUC;
* the same for what measured success itself predicts: each task's second half of rollouts from its first half, drawn to
  the mean by the strength that is best in hindsight. No prediction from structure has to reach that;
* success by predicted fifth of the tasks, hops, obfuscation and shape;
* what the policy answers with its tools taken away.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from synth.annotate.critical.intervals import wilson
from synth.api import BuildRequest, prepare
from synth.dataset.card.calibration import Calibrations, auc, brier
from synth.engine import Engine
from synth.identity import derive_generator
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.tasks import Task


def needed(engine: Engine, label: str) -> Iterator[str]:
    """Labels of the stages that ``label`` is made from, and itself, in the plan's order."""
    wanted = {label}
    for node in reversed(engine.plan.nodes):
        if node.label in wanted:
            wanted |= {node.source_of(name)[0] for name in node.inputs}
    return (node.label for node in engine.plan.nodes if node.label in wanted)


def built(options: argparse.Namespace) -> Engine:
    settings = {key: json.loads(value) for key, value in (item.split("=", 1) for item in options.set)}
    request = BuildRequest(
        dataset=options.dataset,
        source=options.source,
        tasks=options.tasks,
        seed=options.seed,
        out=options.folder / "out",
        store=options.folder / "store",
        settings=settings | {"roles.policy.rollouts": options.rollouts},
    )
    engine = prepare(request, progress="quiet").engine
    for label in needed(engine, "difficulty"):
        engine.run_stage(label)
    return engine


def against_the_base_rate(rows: Sequence[DifficultyRow]) -> dict[str, Any]:
    """Brier score of the prediction minus that of the base rate, with an interval over tasks."""
    right, tried = (np.array([getattr(row, name) for row in rows], float) for name in ("successes", "rollouts"))
    chance = np.array([row.predicted for row in rows])

    def squares(at: Any, chances: Any) -> float:
        return float((right[at] * (1 - chances) ** 2 + (tried[at] - right[at]) * chances**2).sum() / tried[at].sum())

    draws = derive_generator(1, "bootstrap").integers(len(rows), size=(2_000, len(rows)))
    found = [squares(at, chance[at]) - squares(at, right[at].sum() / tried[at].sum()) for at in draws]
    low, high = np.percentile(found, [2.5, 97.5])
    everything = np.arange(len(rows))
    base = squares(everything, right.sum() / tried.sum())
    difference = squares(everything, chance) - base
    return {
        "Brier - Brier of the base rate": round(difference, 4),
        "95 %": [round(float(low), 4), round(float(high), 4)],
        "skill": round(-difference / base, 4),
    }


def halves(engine: Engine, rows: Sequence[DifficultyRow]) -> dict[str, Any]:
    """What the first half of a task's rollouts says of the second, beside what the structure says of it."""
    outcomes: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for run in engine.table("policy", "trajectories").rows():
        if run.verdict.correct is not None:
            outcomes[run.task_id].append((run.rollout, run.success))
    chosen = [row for row in rows if len(outcomes[row.task_id]) > 1]
    first, second = [], []
    for row in chosen:
        runs = [won for _, won in sorted(outcomes[row.task_id])]
        first.append((sum(runs[: len(runs) // 2]), len(runs) // 2))
        second.append((sum(runs[len(runs) // 2 :]), len(runs) - len(runs) // 2))
    right, tried = (list(values) for values in zip(*second, strict=True))
    mean = sum(won for won, _ in first) / sum(count for _, count in first)

    def shrunk(pull: float) -> list[float]:
        return [(won + pull * mean) / (count + pull) for won, count in first]

    pull = min((0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0), key=lambda strength: brier(shrunk(strength), right, tried))
    structure = [row.predicted for row in chosen]
    return {
        "tasks": len(chosen),
        "rollouts": [first[0][1], second[0][1]],
        "structure": {"Brier": brier(structure, right, tried), "AUC": auc(structure, right, tried)},
        "own rollouts": {"Brier": brier(shrunk(pull), right, tried), "AUC": auc(shrunk(pull), right, tried)},
        "base rate": {"Brier": brier([mean] * len(chosen), right, tried)},
    }


def success_by(rows: Sequence[DifficultyRow], key: Callable[[DifficultyRow], Any]) -> dict[str, str]:
    groups: dict[Any, list[DifficultyRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    lines = {}
    for name, group in sorted(groups.items()):
        right, tried = sum(row.successes for row in group), sum(row.rollouts for row in group)
        low, high = wilson(right, tried)
        predicted = sum(row.predicted * row.rollouts for row in group) / tried
        lines[str(name)] = (
            f"{len(group)} tasks, predicted {predicted:.3f}, measured {right / tried:.3f} ({low:.3f} to {high:.3f})"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=600)
    parser.add_argument("--rollouts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dataset", default="world-search")
    parser.add_argument("--source", type=Path, help="documents, for docs-search")
    parser.add_argument("--set", nargs="*", default=[], help="settings of the recipe, key=JSON")
    parser.add_argument("--folder", type=Path, required=True, help="for the store")
    options = parser.parse_args()
    engine = built(options)
    table = engine.table("difficulty", "difficulty")
    counted = Calibrations()
    for batch in table.arrow.to_batches():
        counted.see(batch)
    found = counted.report()
    if found is None:
        raise SystemExit("no rollout was judged")
    rows: list[DifficultyRow] = [row for row in table.rows() if row.rollouts]
    tasks: dict[str, Task] = {task.id: task for task in engine.table("tasks", "tasks").rows()}
    print(f"{found.tasks} tasks, {sum(of.rollouts for of in found.bins)} judged rollouts")
    print("predicted   tasks  runs  mean predicted  measured  95 % interval")
    for of in found.bins:
        held = "" if of.measured_low <= of.predicted <= of.measured_high else "   (the prediction lies outside)"
        print(
            f"{of.low:.1f} to {of.high:.1f}  {of.tasks:5d} {of.rollouts:5d}  {of.predicted:14.3f}  {of.measured:8.3f}"
            f"  {of.measured_low:.3f} to {of.measured_high:.3f}{held}"
        )
    ranked = sorted(rows, key=lambda row: (row.predicted, row.task_id))
    fifth = {row.task_id: 5 * place // len(ranked) for place, row in enumerate(ranked)}
    closed = [row.closed_book_successes for row in rows]
    print(
        json.dumps(
            {
                "calibration error": found.error,
                "Brier": found.brier,
                "Brier of the base rate": found.brier_of_mean,
                "AUC": found.auc,
                **against_the_base_rate(rows),
                "halves": halves(engine, rows),
                "by fifth of the prediction": success_by(rows, lambda row: fifth[row.task_id]),
                "by hops": success_by(rows, lambda row: tasks[row.task_id].difficulty.hops),
                "by obfuscation": success_by(rows, lambda row: row.obfuscation),
                "by shape": success_by(rows, lambda row: row.shape),
                "without tools": {
                    "right answers": found.closed_book,
                    "tasks with one": sum(value > 0 for value in closed),
                    "search needed": found.search_needed,
                },
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
