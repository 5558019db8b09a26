"""Entries of manuals: what stands under a term, behind a label, in a row of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from synth.agents.scripted.matching import Lexicon, similarity
from synth.agents.scripted.options import Option, is_row, subject
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.reference import cell_in, labelled, values_in
from synth.agents.scripted.seen import SeenDocument
from synth.environments.passages import Passage
from synth.schemas.documents import ValueKind
from synth.text.words import fold

__all__ = ["entries_with", "told_in"]


def entries_with(
    values: Sequence[Clue], document: SeenDocument, lexicon: Lexicon, noise: Callable[[], float], threshold: float
) -> list[Option]:
    """Entries of which the page says one of the values, the likeliest first."""
    found: dict[str, tuple[float, Option]] = {}
    heading = ""
    for sentence in document.sentences():
        about, *above = subject(sentence, document.title)
        if is_row(sentence.text):
            heading = heading or sentence.text
            fit = float(any(cell_in(sentence.text, heading, value.cue) == value.name for value in values))
        else:
            heading = ""
            held = [value for value in values if f" {fold(value.name)} " in f" {fold(sentence.text)} "]
            known = (about, *(value.name for value in values))
            fit = max((similarity(value.cue, sentence.text, lexicon, known) for value in held), default=0.0)
        fit += noise() if fit else 0.0
        if above and fit >= threshold and fit > found.get(about, (0.0,))[0]:
            found[about] = fit, Option(about, sentence)
    return [option for _, option in sorted(found.values(), key=lambda one: -one[0])]


def told_in(sentence: Passage, cue: str, kind: ValueKind, document: SeenDocument) -> list[str]:
    """Values that a sentence tells in so many words: in the cell or behind the label that the cue names."""
    if kind == "entity":
        return []
    if is_row(sentence.text):
        lines = [other.text for other in document.sentences()]
        at = lines.index(sentence.text)
        while at and is_row(lines[at - 1]):
            at -= 1
        cell = cell_in(sentence.text, lines[at], cue)
        return [cell] if cell else []
    if kind == "text":
        return values_in(sentence.text, cue)
    value = labelled(sentence.text, cue)
    return [value] if value is not None else []
