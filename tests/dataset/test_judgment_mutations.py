"""``validate`` finds every way of telling of a verdict otherwise than it was given."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from breaking import must_be_found, within
from critical_samples import critical_step, step_pair, whole_tables
from exporter_samples import PROVENANCE, sample_report, trajectory

from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.rejections import Reason
from synth.schemas.steps import StepRow
from synth.schemas.trajectories import TrajectoryRow

TASKS = 6
JUDGMENTS = "judgments/train-00000-of-00001.parquet"
RUNS = [trajectory(number, "policy") for number in range(TASKS)]
JUDGED = PROVENANCE.model_copy(update={"stage": "judge", "backend": "openai", "model": "toy-judge"})


def verdict(run: TrajectoryRow, kind: JudgmentKind, word: str, value: float | None, **more: Any) -> JudgmentRow:
    values = {
        "id": f"verdict-{kind}-{more.get('step', -1)}-{more.get('alternative', -1)}-{run.id}",
        "kind": kind,
        "task_id": run.task_id,
        "trajectory_id": run.id,
        "step": -1,
        "alternative": -1,
        "pair_id": None,
        "verdict": word,
        "value": value,
        "parts": {},
        "cites": (),
        "reason": "So it seems.",
        "abstained": None,
        "calls": ("c" * 64,),
        "split": run.split,
        "provenance": JUDGED,
    }
    return JudgmentRow.model_validate(values | more)


def verdicts() -> list[JudgmentRow]:
    """Seven per run: of its first action, of an alternative, one that abstains, of its answer, of the run, of its pair,
    and of where it failed."""
    tables = whole_tables(TASKS)
    scores = {(row.trajectory_id, row.step): row.score for row in from_arrow(tables["steps"], StepRow)}
    rows = []
    for run in RUNS:
        step = critical_step(run)
        rows += [
            verdict(run, JudgmentKind.ACTION, "scored", scores[run.id, 0], step=0)
            if scores[run.id, 0] is not None
            else verdict(run, JudgmentKind.ACTION, "abstains", None, step=0, abstained=Reason.UNSURE),
            verdict(run, JudgmentKind.ACTION, "scored", 0.7, step=0, alternative=0),
            verdict(run, JudgmentKind.ACTION, "abstains", None, step=1, alternative=0, abstained=Reason.MALFORMED),
            verdict(run, JudgmentKind.ANSWER, "equivalent", 1.0),
            verdict(run, JudgmentKind.RUN, "rated", 4.0, cites=(0, 2), parts={"coherence": 4, "completion": 4}),
            verdict(run, JudgmentKind.PAIR, "agrees", 1.0, step=step, pair_id=step_pair(run).id, cites=(0,)),
            verdict(run, JudgmentKind.FAILURE, "record", 0.4, step=1, cites=(1,), calls=()),
        ]
    return rows


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged") / "out"
    tables = {**whole_tables(TASKS), "judgments": to_arrow(verdicts(), JudgmentRow)}
    write_dataset(folder, tables, sample_report(tables))
    return folder


def test_verdicts_of_all_kinds_hold(judged: Path) -> None:
    assert validate(judged) == []


ALTERNATIVE, SILENT, ANSWER, RUN, PAIR = 1, 2, 3, 4, 5
OTHER = trajectory(TASKS, "policy")
MUTATIONS: dict[str, tuple[int, dict[str, Any], str]] = {
    "no trajectory": (ALTERNATIVE, {"trajectory_id": "nowhere"}, "there is no trajectory nowhere"),
    "another task": (ALTERNATIVE, {"task_id": "x"}, "task_id: x"),
    "another split": (ALTERNATIVE, {"split": "test"}, "split: test, but its trajectory is of train"),
    "a step beyond the end": (ALTERNATIVE, {"step": 9}, "step: 9, but the trajectory has 3 turns"),
    "a score above 1": (ALTERNATIVE, {"value": 1.2}, "value: 1.2 is out of the range"),
    "a silence with a value": (SILENT, {"value": 0.5}, "value: 0.5, but the verdict is 'abstains'"),
    "a silence that is a zero": (SILENT, {"value": 0.0}, "value: 0.0, but the verdict is 'abstains'"),
    "a silence without a reason": (SILENT, {"abstained": None}, "abstained: None"),
    "a verdict without a value": (RUN, {"value": None}, "value: None, but the verdict is 'rated'"),
    "a rating of 0": (RUN, {"value": 0.0}, "value: 0 is out of the range of 'rated'"),
    "a rating at a step": (RUN, {"step": 1}, "step: 1, but it is about a whole run"),
    "a step that is not there": (RUN, {"cites": (0, 7)}, "cites: 7, but the trajectory has 3 turns"),
    "a step cited twice": (RUN, {"cites": (1, 1)}, "must be distinct steps"),
    "a word of another kind": (ANSWER, {"verdict": "agrees"}, "'agrees' is not a verdict of this kind"),
    "another value than the word": (ANSWER, {"value": 0.0}, "value: 0 is out of the range of 'equivalent'"),
    "a pair that is not there": (PAIR, {"pair_id": "pair-x"}, "there is no pair pair-x"),
    "a pair at another step": (PAIR, {"step": 0}, "pair_id: the pair is of step"),
    "a pair without a pair": (PAIR, {"pair_id": None}, "pair_id: only verdicts on pairs have one"),
    "an alternative of a run": (RUN, {"alternative": 2}, "alternative: 2"),
    "calls of nobody": (RUN, {"provenance": PROVENANCE.model_copy(update={"backend": None})}, "no backend is named"),
    "another score": (0, {"verdict": "scored", "value": 0.123, "abstained": None}, "but the step's score is"),
    "the same verdict twice": (ALTERNATIVE, {"id": "verdict-other", "step": 1}, "another judgment has trajectory_id"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_is_found(name: str, judged: Path) -> None:
    place, changes, line = MUTATIONS[name]
    must_be_found(within(JUDGMENTS, place, line, **changes), judged)


def test_a_verdict_can_be_read_by_a_person() -> None:
    from rich.console import Console

    from synth.dataset.show.rows import render_row

    def drawn(row: JudgmentRow) -> str:
        console = Console(width=200, record=True, file=StringIO())
        console.print(render_row(row))
        return console.export_text()

    rows = verdicts()
    run = drawn(rows[RUN])
    for text in ("rated 4", "coherence 4", "step 0, step 2", "openai toy-judge", "So it seems.", RUNS[0].id):
        assert text in run
    assert "malformed" in drawn(rows[SILENT])
    assert "step 0, alternative 0" in " ".join(drawn(rows[ALTERNATIVE]).split())
