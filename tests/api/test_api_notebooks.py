"""What notebooks get: tables for what is built and opened, progress below the cell, typed options."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, get_type_hints

import pytest
from shared_builds import LEAN, WORLD, world_store

import synth
from synth.api import BuildRequest
from synth.dataset.html import dataset_html
from synth.engine.notebook import kernel
from synth.pipelines.request import BuildOptions


def test_options_are_the_fields_of_a_request() -> None:
    request = {field.name: get_type_hints(BuildRequest)[field.name] for field in fields(BuildRequest)}
    del request["dataset"]
    assert get_type_hints(BuildOptions) == request


def test_what_is_shown_is_escaped_and_leaves_out_empty_tables() -> None:
    page = dataset_html("<b>", {"tasks": {"train": 1_200}, "pairs": {}}, ["a & b"])
    assert "&lt;b&gt;" in page
    assert "a &amp; b" in page
    assert "1,200" in page
    assert "pairs" not in page


class Display:
    """IPython's display functions, as far as they are called."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:
        return text

    def display(self, page: str, *, display_id: bool) -> Any:
        assert display_id
        self.shown.append(page)
        return SimpleNamespace(update=self.shown.append)


def test_a_build_in_a_notebook_shows_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernel() is None
    shell = ModuleType("IPython")
    shell.get_ipython = lambda: SimpleNamespace(kernel=True)  # type: ignore[attr-defined]
    display = Display()
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    settings = {**WORLD, **LEAN, "roles.policy.rollouts": 2}
    made = synth.build(
        "world-search",
        tasks=20,
        out=tmp_path / "w",
        store=world_store(tmp_path),
        settings=settings,
        progress="auto",
    )
    assert "teacher-rollouts" in display.shown[-1]
    assert "from the store" in display.shown[-1]
    for shown in (made._repr_html_(), synth.load(made.path)._repr_html_()):
        assert "<th style='text-align:left'>tasks</th>" in shown
    assert re.search(r"teacher success \d+\.\d % of \d+ trajectories", made._repr_html_())
