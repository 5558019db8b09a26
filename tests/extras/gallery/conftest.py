"""One folder and one store for all that is built here: recipes of one world share its stages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from systems_table import ROOT

TEXT = {"type": "string"}
TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": dict.fromkeys(takes, TEXT), "required": takes}}
    for name, takes in {
        "search_tickets": ["query"],
        "get_ticket": ["ticket_id"],
        "create_ticket": ["title", "priority"],
        "update_ticket": ["ticket_id", "priority"],
        "close_ticket": ["ticket_id"],
    }.items()
]
"""A list of tools, as `synth architect --tools` takes it."""


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, in which commands of the manual find what they name."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}), "utf-8")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setenv("SYNTH_STORE", str(folder / "store"))
    yield folder
    patch.undo()
