"""Personal data in a finished dataset: found in whatever column, told with its place and never repeated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from breaking import DOCUMENTS, TRAJECTORIES, edit, item
from typer.testing import CliRunner

from synth.cli.app import app
from synth.errors import InputError
from synth.publish.leaks import scan

SECRET = "ann@somewhere.org"


def test_a_fictional_world_holds_nothing(finished: Path) -> None:
    found = scan(finished)
    assert found.held == ()
    assert found.rows > 100


def test_what_is_planted_is_found_with_its_place(copied: Callable[[], Path]) -> None:
    folder = copied()
    edit(DOCUMENTS, 3, lambda d: {"text": f"{d.text} {SECRET}, {SECRET}"})(folder)
    edit(DOCUMENTS, 5, lambda d: {"title": f"{SECRET} and 8.8.4.4", "text": f"{d.text} {SECRET}"})(folder)
    edit(TRAJECTORIES, 2, lambda t: item(t, 0, content=f"{t.content[0].content} {SECRET}"))(folder)
    (folder / "README.md").write_text((folder / "README.md").read_text() + f"\nAsk {SECRET}.\n")
    held = {(one.config, one.column, one.kind.value): (one.rows, one.file, one.row) for one in scan(folder).held}
    card = (folder / "README.md").read_text().split("\n")
    assert held == {
        ("documents", "text", "email"): (2, DOCUMENTS, 3),
        ("documents", "title", "email"): (1, DOCUMENTS, 5),
        ("documents", "title", "ip"): (1, DOCUMENTS, 5),
        ("trajectories", "content.content", "email"): (1, TRAJECTORIES, 2),
        ("README.md", "", "email"): (1, "README.md", len(card) - 2),
    }
    told = CliRunner().invoke(app, ["scan", str(folder)])
    assert told.exit_code == 5
    assert "documents.text: email in 2 rows, the first is row 3 of" in told.output
    assert "somewhere" not in told.output
    plain = json.loads(CliRunner().invoke(app, ["scan", str(folder), "--json"]).output)
    assert len(plain["held"]) == 5
    assert "somewhere" not in json.dumps(plain)


def test_nothing_found_is_said(finished: Path, tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["scan", str(finished)])
    assert told.exit_code == 0
    assert "no personal data and no secret of a known form" in told.output
    with pytest.raises(InputError):
        scan(tmp_path)
