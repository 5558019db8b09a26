"""What was not measured is not a label in an export: not good, not bad, and counted."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from format_samples import ABOUT, PLAIN, parquet, run_of
from rich.console import Console, Group, RenderableType

import synth
from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.dataset.show.numbers import render_stats
from synth.dataset.show.show_steps import label_lines
from synth.dataset.stats import stats
from synth.export.contract import Inexpressible, Run, StepOf, Why
from synth.export.exporting import export_dataset
from synth.registry import find
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.reports import LabelReport
from synth.schemas.steps import LabelReason, StepRow
from synth.schemas.trajectories import Verdict


def printed(what: RenderableType, width: int = 120) -> str:
    console = Console(width=width, record=True, file=StringIO())
    console.print(what)
    return console.export_text()


def unmeasured(step: StepRow) -> StepRow:
    return step.model_copy(
        update={
            "label": None,
            "label_reason": LabelReason.UNMEASURED,
            "first_error": None,
            "information_gain": None,
            "progress": None,
            "gold_match": None,
        }
    )


def run_with(*missing: int) -> Run:
    run = run_of(masked=[1])
    assert run.steps is not None
    return Run(run.row, tuple(unmeasured(step) if step.step in missing else step for step in run.steps))


def prm(run: Run) -> dict[str, Any]:
    (record,) = find("formats", "prm").convert(run, ABOUT, 0)
    return dict(record)


def test_an_unmeasured_turn_has_no_label_and_keeps_its_words() -> None:
    whole, part = prm(run_of(masked=[1])), prm(run_with(0))
    assert (part["labels"], part["ratings"], part["unmeasured"]) == ([False, True], [-1, 1], 1)
    assert part["completions"][0] == "\n".join(whole["completions"][:2])
    assert part["completions"][1] == whole["completions"][2]
    assert part["prompt"] == whole["prompt"]


def test_unmeasured_turns_behind_the_last_label_are_left_out() -> None:
    part = prm(run_with(2))
    assert (part["labels"], part["unmeasured"]) == ([True, False], 1)


def test_a_run_without_any_measured_step_is_no_row() -> None:
    for run in (run_with(0, 1, 2), run_of(masked=None)):
        with pytest.raises(Inexpressible) as error:
            prm(run)
        assert error.value.why is Why.UNMEASURED


def test_a_run_without_a_verdict_did_not_fail() -> None:
    run = run_of()
    row = run.row.model_copy(
        update={"success": False, "verdict": Verdict(correct=None, rule="unjudged", evidence="No gold answer.")}
    )
    assert prm(Run(row, run.steps))["success"] is None
    (session,) = find("formats", "sts").convert(Run(row, run.steps), ABOUT, 0)
    assert session["lines"][0]["success"] is None
    (atif,) = find("formats", "atif-1.8").convert(Run(row, run.steps), ABOUT, 0)
    assert atif["extra"]["success"] is None


def test_kto_tells_an_unmeasured_step_from_a_neutral_one() -> None:
    run = run_with(1)
    assert run.steps is not None
    row = run.row.model_copy(update={"content": PLAIN[:4]})
    neutral = run.steps[1].model_copy(update={"label": 0, "label_reason": LabelReason.NEUTRAL})
    for step, why in ((run.steps[1], Why.UNMEASURED), (neutral, Why.NEUTRAL)):
        with pytest.raises(Inexpressible) as error:
            find("formats", "kto").convert(StepOf(Run(row, run.steps), step), ABOUT, 0)
        assert error.value.why is why


def test_a_whole_dataset(tmp_path: Path) -> None:
    tables = whole_tables()
    steps = [unmeasured(row) if row.step == 0 else row for row in from_arrow(tables["steps"], StepRow)]
    tables["steps"] = to_arrow(steps, StepRow)
    write_dataset(tmp_path / "set", tables, sample_report(tables))
    dataset = synth.load(tmp_path / "set")
    made = export_dataset(dataset, find("formats", "prm"), tmp_path / "prm").report
    rows = [row for file in (tmp_path / "prm").glob("*.parquet") for row in parquet(file)]
    assert made.unmeasured_steps == sum(row["unmeasured"] for row in rows) > 0
    assert all(label is not None for row in rows for label in row["labels"])
    assert "were not measured" in (tmp_path / "prm" / "README.md").read_text()
    taken = export_dataset(dataset, find("formats", "kto"), tmp_path / "kto").report
    assert taken.inexpressible["unmeasured"] == sum(step.step == 0 for step in steps)
    assert "measured" in taken.reasons["unmeasured"]

    for of in dataset.report.labels:
        assert of.unmeasured == sum(step.step == 0 for step in steps if step.role == of.role) > 0
        assert of.helps + of.neutral + of.harms + of.unmeasured == of.steps
        shares = [share for _, share in of.signs.values()]
        assert None not in shares
        assert sum(share for share in shares if share is not None) == pytest.approx(1)
    card = (tmp_path / "set" / "README.md").read_text()
    assert "not measured" in card
    assert "not measured" in printed(render_stats(stats(tmp_path / "set")), width=160)


def test_shares_of_nothing_measured_are_none() -> None:
    of = LabelReport(
        role="policy", trajectories=1, steps=2, helps=0, neutral=0, harms=0, unmeasured=2, first_errors=0, targets=0
    )
    assert [share for _, share in of.signs.values()] == [None] * 3


def test_it_is_shown_as_not_measured() -> None:
    (step, *_) = run_with(0).steps or ()
    text = printed(Group(*label_lines(step)))
    assert "no label" in text
    assert "not measured" in text
    assert "of the evidence" not in text


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"label_reason": LabelReason.NEUTRAL}, "label: None, though the reason is neutral"),
        ({"label": 1, "first_error": False}, "label: 1, though the reason is unmeasured"),
        ({"information_gain": None}, "information_gain: null"),
    ],
)
def test_a_label_and_its_reason_agree_about_whether_it_was_measured(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    tables = whole_tables(5, 0)
    first, *others = from_arrow(tables["steps"], StepRow)
    base = first.model_copy(update={"label": None, "label_reason": LabelReason.UNMEASURED, "first_error": None})
    for step, wrong in ((base, False), (base.model_copy(update=changes), True)):
        tables["steps"] = to_arrow([step, *others], StepRow)
        write_dataset(tmp_path / str(wrong), tables, sample_report(tables))
        found = [problem.what for problem in validate(tmp_path / str(wrong))]
        assert any(what in one for one in found) is wrong, found
