"""A source that can't hold so many questions says what was found, where it went, and what helps."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import synth
from synth.errors import BuildError
from synth.sources.facts.triples import TriplesConfig, read_triples
from synth.stages.docs_tasks import DocsTasks, DocsTasksStageConfig


@pytest.mark.parametrize(
    ("found", "extract", "words"),
    [
        (12, "none", "Ask for fewer"),
        (0, "none", "source.extract=rules"),
        (0, "rules", "source.extract=model"),
        (0, "model", "--tasks-file"),
    ],
)
def test_fewer_candidates_than_tasks(found: int, extract: str, words: str) -> None:
    stage = SimpleNamespace(
        _capacity=found,
        name="docs_tasks",
        config=DocsTasksStageConfig(extract=extract, ranks=("good", "fair")),
        _found="3 pages (1 of them lists) with 0 links; facts: none",
        _offers=f"{found} candidates (none)",
        _dropped="values without a short answer 4",
        _triples=False,
    )
    with pytest.raises(BuildError) as caught:
        DocsTasks.ceiling(stage, 13)  # type: ignore[arg-type]
    said = str(caught.value)
    assert f"facts: none; {found} candidates (none) for 13 tasks; left out: values without a short answer 4" in said
    assert words in said
    assert ("add gap to questions.ranks" in said) is bool(found)
    assert f"source.extract={extract}" not in said
    assert "\n" not in said


def test_a_folder_of_little_says_what_was_read(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("anvil", "bellows", "crucible"):
        (pages / f"{name}.html").write_text(f"<html><body><h1>{name}</h1><p>Words about the {name}.</p></body></html>")
    with pytest.raises(BuildError) as caught:
        synth.build("docs-search", source=pages, tasks=5, out=tmp_path / "out", store=tmp_path / "store")
    assert "3 pages (0 of them lists) with 0 links; facts: described_as 3" in str(caught.value)
    assert "0 candidates (none) for 5 tasks" in str(caught.value)


def test_records_with_triples_are_told_who_asks_about_those(tmp_path: Path) -> None:
    """Rows of three will do, and a triple that can't be used is counted beside its record."""
    records = [
        {"title": "Peru", "text": "Lima is the capital of Peru.", "triples": [["Peru", "capital", "Lima"]]},
        {"title": "Chad", "text": "Chad is dry.", "triples": [["Chad", "capital", "Oslo"]]},
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records))
    with pytest.raises(BuildError, match=r"capital 1.*synth build graph-search"):
        synth.build("docs-search", source=file, tasks=5, out=tmp_path / "out", store=tmp_path / "store")
    assert [fact[:3] for fact in read_triples(TriplesConfig(path=str(file))).facts] == [
        ("Peru", "capital", "Lima"),
        ("Chad", "capital", "Oslo"),
    ]
