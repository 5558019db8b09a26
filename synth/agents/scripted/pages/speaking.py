"""What the sentences of a page say about a clue: shared by teacher and policy."""

from __future__ import annotations

from synth.agents.scripted.matching import Lexicon, quotable, similarity
from synth.agents.scripted.operations import span_holds
from synth.agents.scripted.options import Option, options_in
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.environments.passages import Passage
from synth.schemas.documents import ValueKind
from synth.text.words import fold

__all__ = ["entry_behind", "really_about", "speaks_of", "values_in", "within"]

_KINDS: tuple[ValueKind, ...] = ("date", "year", "quantity", "number")
_SPEAKS = 0.55
"""How like the clue a sentence must be to speak of what it asks for."""


def values_in(sentence: Passage) -> list[str]:
    """Dates, numbers and quantities of a sentence."""
    return [option.text for kind in _KINDS for option in options_in(sentence, kind)]


def within(sentence: Passage, span: tuple[str, str]) -> bool:
    """Whether a sentence names a value in the span."""
    return any(span_holds(value, span) for value in values_in(sentence))


def speaks_of(clue: Clue, name: str, document: SeenDocument, lexicon: Lexicon, place: str | None) -> Passage | None:
    """The sentence that speaks of what the clue asks for and says something else: another value, another thing of the
    kind of ``name``, whose page is ``place``."""
    folder = (place or "").rpartition("/")[0]
    best: tuple[float, Passage] | None = None
    for sentence in document.sentences() if clue.span is not None or not clue.value else ():
        linked = [
            option.text
            for option in options_in(sentence, "entity")
            if option.place is not None and (not folder or option.place.rpartition("/")[0] == folder)
        ]
        told = values_in(sentence) if clue.span is not None else linked
        says_it = within(sentence, clue.span) if clue.span is not None else name.casefold() in sentence.text.casefold()
        if not told or says_it or sentence.text == sentence.heading or not quotable(sentence.text):
            continue
        fit = similarity(clue.cue, sentence.text, lexicon, (name, document.title, *told))
        if fit >= _SPEAKS and (best is None or fit > best[0]):
            best = fit, sentence
    return best[1] if best is not None else None


def entry_behind(document: SeenDocument) -> Option | None:
    """The entry behind a page that is not an entry itself, judged by its title and links ("Notes on Ashes", "Jon
    Maak (yearbook)"); None for an entry."""
    folder, title = document.document.rpartition("/")[0], f" {fold(document.title)} "
    for sentence in document.sentences():
        for one in options_in(sentence, "entity"):
            other = one.document is not None and one.document != document.document
            if other and str(one.document).rpartition("/")[0] == folder and f" {fold(one.text)} " in title:
                return one
    return None


def really_about(document: SeenDocument) -> str | None:
    """The name of the entry behind a page; None if the page is an entry itself."""
    entry = entry_behind(document)
    return None if entry is None else entry.text
