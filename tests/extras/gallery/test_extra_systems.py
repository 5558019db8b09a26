"""Every command in the table of systems runs exactly as printed, once the datasets that it names are built."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from systems_table import ROWS, System

from synth.cli import main
from synth.recipe.load import gallery_names

pytestmark = pytest.mark.extras

RUN = [
    row
    for row in ROWS
    if row.built
    and row.key not in gallery_names()
    and not re.search(r"python |web-site|NAME|--to vision", " ".join(row.commands))
]


@pytest.mark.parametrize("row", RUN, ids=lambda row: row.key)
def test_its_commands_run(row: System, place: Path) -> None:
    commands = [shlex.split(line) for line in row.commands]
    built = {words[2] for words in commands if words[1] == "build"}
    for name in re.findall(r"out/([a-z-]+)", " ".join(row.commands)):
        if name not in built and name != "mix" and not (place / "out" / name).exists():
            main(["build", name, "--tasks", "10"])
    for words in commands:
        main(words[1:])
        if words[1] in ("build", "export", "mix"):
            made = words[words.index("--out") + 1] if "--out" in words else f"out/{words[2]}"
            assert any((place / made).rglob("*.parquet")) or any((place / made).rglob("*.jsonl"))
    if row.columns:
        told = [line for file in (place / made).rglob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
        rows = [json.loads(line) for line in told]
        for file in (place / made).rglob("*.parquet"):
            rows += pq.read_table(file).to_pylist()
        for column in row.columns:
            assert any(_said(one.get(column)) for one in rows), f"no row says anything in {column}"


def _said(value: object) -> bool:
    """Whether a column says something: anywhere in a list or an object."""
    if isinstance(value, dict | list):
        return any(map(_said, value.values() if isinstance(value, dict) else value))
    return value is not None
