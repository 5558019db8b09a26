"""A tenth more tasks: no old row changes, none changes its split, and none comes to stand for another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shared_builds import LEAN, WORLD

import synth
from synth.dataset.audit import audit

pytestmark = pytest.mark.thorough

SAMPLED: dict[str, Any] = {**LEAN, "rl": True, "roles": {"policy": {"rollouts": 3}}}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("world-search", WORLD),
        ("graph-walk", {**WORLD, "roles": {"policy": {"rollouts": 6}}}),
        ("app-desk", {"roles": {"policy": {"rollouts": 5}}}),
    ],
)
def test_a_tenth_more_moves_no_old_row(name: str, settings: dict[str, Any], tmp_path: Path, world_store: Path) -> None:
    tables = []
    for tasks in (10, 11):
        built = synth.build(
            name, tasks=tasks, out=tmp_path / str(tasks), store=world_store, settings={**SAMPLED, **settings}
        )
        data = synth.load(built.path)
        tables.append({table: {row.id: row for row in data.rows(table)} for table in ("tasks", "trajectories", "rl")})
        assert audit(built.path).violations == ()
    few, more = tables
    for table, rows in few.items():
        assert {name: more[table].get(name) for name in rows} == rows, table
    assert len(more["tasks"]) == 11
    assert any(row.duplicate_of for row in few["trajectories"].values())
