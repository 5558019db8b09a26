"""`synth preview`: the first tasks of the build, and a run, which the build then finds in the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.mocks.model import ModelServer
from synth.mocks.model.cast import Cast

SMALL = ["world-search", "--set", "source.entities=400"]


def test_a_preview_shows_what_the_build_then_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    main(["preview", *SMALL, "--tasks", "3", "--store", store, "--json"])
    shown = json.loads(capsys.readouterr().out)
    settings = {"source.entities": 400, "critical": None, "preferences": None}
    made = synth.build("world-search", tasks=6, out=tmp_path / "out", store=store, settings=settings)
    dataset = synth.load(made.path)
    built = {row.id: row.question for row in dataset.rows("tasks")}
    assert [built[task["id"]] for task in shown["tasks"]] == [task["question"] for task in shown["tasks"]]
    assert len(shown["tasks"]) == 3
    assert shown["rejected"] is None
    assert shown["run"]["id"] in {row.id for row in dataset.rows("trajectories")}


def test_a_preview_is_for_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["preview", *SMALL, "--tasks", "1", "--store", str(tmp_path / "store")])
    shown = capsys.readouterr().out
    assert shown.count("question  ") == 1
    assert "turn 1" in shown


def test_no_task_is_no_preview(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["preview", *SMALL, "--tasks", "0", "--store", str(tmp_path / "store")])
    assert ended.value.code == 2
    assert "a preview of 0 tasks shows nothing" in capsys.readouterr().err


def test_a_teacher_whose_runs_are_all_rejected_is_shown_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(Cast(None)) as server:  # it knows nothing: its answers are improvised
        teacher = f"roles.teacher={{backend: openai, model: any, endpoints: ['{server.url}']}}"
        main(["preview", *SMALL, "--set", teacher, "--tasks", "2", "--store", str(tmp_path / "store")])
        shown = capsys.readouterr()
        main(["preview", *SMALL, "--set", teacher, "--tasks", "2", "--store", str(tmp_path / "store"), "--json"])
        as_json = json.loads(capsys.readouterr().out)
    assert shown.out.count("question  ") == 2
    assert "turn 1" in shown.out
    assert as_json["rejected"]["row_id"] == as_json["run"]["id"]
    said = f"this run is rejected, and so is every other: ungrounded: {as_json['rejected']['detail']}"
    assert said in shown.err
