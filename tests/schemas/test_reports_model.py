"""Reports: conservation, and what is published."""

from __future__ import annotations

import json

import pytest

from synth.schemas.reports import BuildReport, SourceReport, StageReport


def stage(**changes: object) -> StageReport:
    values = {"label": "tasks", "stage": "tasks", "version": 1, "fingerprint": "f", "rows_in": 0, "kept": 0}
    return StageReport.model_validate({**values, **changes})


def report(*stages: StageReport) -> BuildReport:
    source = SourceReport(name="w", kind="world", sha256="a")
    return BuildReport(dataset="d", seed=1, source=source, stages=stages)


def test_nothing_vanishes() -> None:
    stage(rows_in=7, kept=3, rejected={"shortcut": 2, "empty": 1}, errored={"timeout": 1})
    with pytest.raises(ValueError, match="7 rows in but 6 accounted for"):
        stage(rows_in=7, kept=3, rejected={"shortcut": 3})


def test_a_rejection_has_a_known_reason() -> None:
    with pytest.raises(ValueError, match="'because' is not a member of Reason"):
        stage(rows_in=1, rejected={"because": 1})


def test_yield() -> None:
    assert stage(rows_in=4, kept=1, rejected={"empty": 3}).yield_ == 0.25
    assert stage().yield_ == 0.0


def test_what_depends_on_the_run_is_not_published() -> None:
    first = report(stage(shards=3, reused_shards=0, seconds=9.5))
    second = report(stage(shards=3, reused_shards=3, seconds=0.1))
    assert first != second
    assert first.to_json() == second.to_json()
    assert "seconds" not in first.to_json()
    assert "reused" not in first.to_json()


def test_the_text_comes_back() -> None:
    made = report(stage(shards=3, reused_shards=1, seconds=1.0, numbers={"a": 0.1}))
    assert BuildReport.model_validate_json(made.to_json()) == made.published()
    assert list(json.loads(made.to_json())) == sorted(json.loads(made.to_json()))
