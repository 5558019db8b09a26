"""A recipe that lists its stages leaves out what it does not need."""

from __future__ import annotations

from pathlib import Path

import synth

MANUAL = Path(__file__).resolve().parents[2] / "docs"


def test_pages_are_not_compared_where_no_stage_is_listed_for_it(tmp_path: Path) -> None:
    # Of so few pages of prose little else is asked than what stands in a gap.
    settings = {"stages": ["source", "graph", "index", "tasks"]}
    made = synth.build(
        "docs-search", source=MANUAL, tasks=2, settings=settings, out=tmp_path / "out", store=tmp_path / "store"
    )
    dataset = synth.load(made.path)
    pages = list(dataset.rows("documents"))
    assert any(dataset.rows("entities"))
    assert len(pages) >= len(list(MANUAL.rglob("*.md")))
