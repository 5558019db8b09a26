"""A source that can't hold so many questions says so before anything is tried."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import synth
from synth.errors import BuildError
from synth.stages.docs_tasks import DocsTasks, DocsTasksStageConfig


@pytest.mark.parametrize(
    ("walks", "extract", "words"),
    [
        (12, "none", "Ask for fewer"),
        (0, "none", "source.extract=rules"),
        (0, "rules", "source.extract=model"),
        (0, "model", "--tasks-file"),
    ],
)
def test_fewer_walks_than_tasks(walks: int, extract: str, words: str) -> None:
    config = DocsTasksStageConfig(extract=extract)
    found = "3 pages with 0 links and 0 facts were read"
    stage = SimpleNamespace(_capacity=[walks, 0, 0], name="docs_tasks", config=config, _found=found)
    with pytest.raises(BuildError) as caught:
        DocsTasks.ceiling(stage, 13)  # type: ignore[arg-type]
    said = str(caught.value)
    assert f"{found}: {walks} different walks" in said
    assert words in said
    assert f"source.extract={extract}" not in said
    assert "link to each other" not in said, "pages with thousands of links may hold no question"
    assert "\n" not in said


def test_a_folder_without_links_says_what_was_read_and_not_what_was_tried(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("anvil", "bellows", "crucible"):
        (pages / f"{name}.html").write_text(f"<html><body><h1>{name}</h1><p>Words about the {name}.</p></body></html>")
    with pytest.raises(BuildError) as caught:
        synth.build(
            "docs-search",
            source=pages,
            tasks=5,
            out=tmp_path / "out",
            store=tmp_path / "store",
            settings={"source.extract": "rules"},
        )
    assert "3 pages with 0 links" in str(caught.value)
    assert "source.extract=rules" not in str(caught.value)
