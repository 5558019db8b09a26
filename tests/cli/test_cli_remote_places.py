"""No URL is taken for a folder: every place that a user names is on this machine, or one line says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.cli import main
from synth.errors import InputError
from synth.publish.redaction import redact
from synth.recipe.load import load_recipe
from synth.store import Store, check_destination

COMMANDS = [
    ["build", "world-search", "--out", "s3://bucket/w"],
    ["build", "world-search", "--out=s3:/bucket/w"],
    ["build", "world-search", "--store", "hf://datasets/ann/w"],
    ["build", "docs-search", "--source", "https://example.org/docs"],
    ["build", "world-search", "--tasks-file", "gs://bucket/q.jsonl"],
    ["build", "--recipe", "file:///recipe.yaml"],
    ["build", "docs-search", "--set", "source.path=s3://bucket/docs"],
    ["plan", "world-search", "--store", "s3://bucket"],
    ["init", "s3://bucket/recipe.yaml"],
    ["validate", "hf://datasets/ann/w"],
    ["push", "hf://datasets/ann/w", "--repo", "ann/w"],
    ["export", "out/w", "--to", "trl-sft", "--out", "s3://bucket/sft"],
    ["import", "s3://bucket/runs.jsonl", "--from", "openai", "--out", "here"],
    ["import", "runs.jsonl", "--from", "openai", "--out", "s3://bucket/x"],
    ["mix", "s3://bucket/w=1", "--out", "here"],
    ["redact", "out/w", "--out", "s3://bucket/w"],
    ["report", "s3://bucket/w"],
    ["efficacy", "--out", "s3://bucket/e"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_refuses_a_url(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(command)
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.count("\n") == 1
    assert "is not on this machine" in said
    assert not list(tmp_path.iterdir())


CALLS: dict[str, Callable[[], Any]] = {
    "out": lambda: synth.build("world-search", out="s3://b/w"),
    "out as a path": lambda: synth.build("world-search", out=Path("s3://b/w")),
    "store": lambda: synth.build("world-search", store="hf://datasets/ann/w"),
    "source": lambda: synth.build("docs-search", source="s3://b/docs"),
    "tasks file": lambda: synth.build("world-search", tasks_file="s3://b/q.jsonl"),
    "setting": lambda: synth.build("docs-search", settings={"source.path": "s3://b/docs"}),
    "benchmarks": lambda: load_recipe("world-search", settings={"decontaminate": {"benchmarks": ["s3://b/x.jsonl"]}}),
    "load": lambda: synth.load("s3://b/w"),
    "push": lambda: synth.push("s3://b/w", "ann/w"),
    "import": lambda: synth.import_file("s3://b/runs.jsonl", "openai", "here"),
    "rehydrate": lambda: synth.rehydrate("here", "s3://b/docs", "there"),
    "mix": lambda: synth.mix({"s3://b/w": 1.0}, "here"),
    "annotate": lambda: synth.annotate("s3://b/runs.jsonl", [], "here"),
    "annotate tasks": lambda: synth.annotate([], "s3://b/questions.jsonl", "here"),
    "save what was annotated": lambda: synth.annotate([], [], "s3://b/labelled"),
    "redact": lambda: redact("here", "s3://b/w"),
    "redact from": lambda: redact("s3://b/w", "there"),
    "the store itself": lambda: Store("s3://b/w"),
    "destination": lambda: check_destination("s3://b/w"),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_api_refuses_a_url(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is not on this machine"):
        CALLS[call]()
    assert not list(tmp_path.iterdir())


def test_a_url_stays_a_url_where_one_is_meant(tmp_path: Path) -> None:
    role = {"backend": "openai", "model": "m", "base_url": "http://host/v1"}
    assert load_recipe("world-search", settings={"roles.policy": role}).roles["policy"].addresses == ("http://host/v1",)
    check_destination(tmp_path / "a:b")
