"""The lexicon: one entry per relation, refused where an entry cannot be what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from synth.lexicon import reading
from synth.lexicon.model import QuestionWords, RelationEntry
from synth.lexicon.reading import WORLD, read_lexicon, world_lexicon

FOLDER = Path(reading.__file__).parent / "world"
ENTRY = """
relations:
  author:
    subject: [book]
    object: [person]
    page: ["{s} was written by {o}."]
    question: {subject_does: ["was written | by"]}
"""


def test_every_file_of_the_world_is_read() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(WORLD)


def test_every_relation_can_be_asked_about() -> None:
    for name, entry in world_lexicon().relations.items():
        words = entry.question
        assert words.subject_does, name
        assert bool(words.asks) == (entry.value != "entity"), name
        assert bool(words.object_does) == (entry.value == "entity"), name


def test_values_with_an_order_say_how_they_are_compared() -> None:
    for name, entry in world_lexicon().relations.items():
        assert (entry.in_time is not None) == (entry.value in ("date", "year") and name != "first_awarded"), name
        assert (entry.in_size is not None) == (entry.value in ("number", "quantity")), name


def test_a_symmetric_relation_reads_the_same_from_both_ends() -> None:
    words = QuestionWords.model_validate({"does": ["is twinned | with"], "is": ["the twin of {x}"]})
    assert words.subject_does == words.object_does == ("is twinned | with",)
    assert words.subject_is == words.object_is == ("the twin of {x}",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("object: [person]", "value: year\n    object: [person]"), "a value has none"),
        (("object: [person]", ""), "an entity needs object types"),
        (("object: [person]", "objects: [person]"), "Extra inputs"),
        (("page: [", "symmetric: true\n    inverse: {name: wrote, page: [x]}\n    page: ["), "its own inverse"),
        (('page: ["{s} was written by {o}."]', "page: []"), "at least 1 item"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    file = tmp_path / "works.yaml"
    file.write_text(ENTRY, "utf-8")
    assert isinstance(read_lexicon((file,)).relations["author"], RelationEntry)
    file.write_text(ENTRY.replace(*change), "utf-8")
    with pytest.raises(ValidationError, match=message):
        read_lexicon((file,))


def test_a_relation_stands_in_one_file(tmp_path: Path) -> None:
    files = (tmp_path / "a.yaml", tmp_path / "b.yaml")
    for file in files:
        file.write_text(ENTRY, "utf-8")
    with pytest.raises(ValueError, match="relations that stand in two files: author"):
        read_lexicon(files)
