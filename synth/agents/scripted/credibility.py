"""Why a page that was read should not be relied on: what it says, and the words on it that speak against it.

Constrained navigation (RAGShaper, arXiv 2601.08699): a trajectory that meets a page which misleads shows the
contradiction, the check and the correction. All of it is read off the pages; nothing here knows which page is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from synth.agents.scripted.matching import Lexicon, quotable, same_name, short, similarity
from synth.agents.scripted.options import Option, holds
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import State
from synth.environments.passages import Passage
from synth.lexicon.reading import phrases
from synth.text.words import fold

__all__ = ["CredibilityCheck", "Doubt", "doubt_about", "doubted"]

_MARKS = re.compile("|".join(phrases("doubts")["marks"]), re.IGNORECASE)
"""Words by which a text in plain English says that it should be taken with care."""
_UPHELD = re.compile("|".join(phrases("doubts")["upheld"]), re.IGNORECASE)
"""Words with which a text stands by a claim that was challenged."""
_PREMISE = re.compile("|".join(phrases("doubts")["premises"]), re.IGNORECASE)
"""Words with which a text says what it takes as known, to argue from it."""
_FITS = 0.25
"""How well a sentence must fit the words of the question to be what a page says about it."""

_SAME = 0.5
"""How alike two sentences must be to speak of the same."""


@dataclass(frozen=True)
class Doubt:
    """What a page says, and what on the same page speaks against relying on it."""

    claim: Passage
    mark: Passage


def doubted(text: str) -> bool:
    """Whether a text says of itself that it should be taken with care."""
    return _MARKS.search(text) is not None


def doubt_about(
    document: SeenDocument,
    cue: str,
    name: str,
    lexicon: Lexicon,
    states: Callable[[Passage], bool] = lambda line: False,
) -> Doubt | None:
    """The doubt that ``document`` itself raises, where it raises one: read from its sentences alone.

    The claim is the sentence that fits ``cue`` best, of those between the opening and a mark further down, which speaks
    of them; where none fits, the one before that mark; else the mark stands alone. What is known to state what is asked
    for (``states``) goes before.
    """
    sentences = [s for s in document.sentences() if s.text != s.heading and fold(s.text) != fold(document.title)]
    at = next((n for n, sentence in enumerate(sentences) if _MARKS.search(sentence.text)), None)
    if at is None:
        return None
    known = [n == at or _PREMISE.search(s.text) is not None for n, s in enumerate(sentences)]
    fits = [0.0 if known[n] else similarity(cue, s.text, lexicon, (name,)) for n, s in enumerate(sentences)]
    told = range(1, at) if at > 1 else range(len(sentences))  # what a text opens with says what it is about
    stated = [n for n in range(len(sentences)) if not known[n] and states(sentences[n])]
    if stated:
        return Doubt(sentences[stated[0]], sentences[at])
    best = max(told, key=lambda n: (fits[n], -n))
    if fits[best] >= _FITS:
        return Doubt(sentences[best], sentences[at])
    alone = at < 2 or "[" in sentences[at].text
    return Doubt(sentences[at if alone else at - 1], sentences[at])


class CredibilityCheck:
    """Puts doubts into the thoughts of a turn."""

    def __init__(
        self, state: State, lexicon: Lexicon, states: Callable[[int, Passage], bool] = lambda number, line: False
    ) -> None:
        self._state = state
        self._states = states
        self._lexicon = lexicon

    def fits(self, number: int, name: str, sentence: Passage) -> bool:
        """Whether a sentence says what a part of the question asks for."""
        cue = self._state.reading.clues[number].cue
        return similarity(cue, sentence.text, self._lexicon, (name,)) >= _FITS

    def rejects(self, number: int, name: str, page: SeenDocument, thoughts: Thoughts) -> bool:
        """Say why ``page`` is not relied on, in its own words. False, and nothing said, where it raises no doubt."""
        found = self._about(number, name, page)
        if found is None or not quotable(found.mark.text) or not quotable(found.claim.text):
            return False
        alone = found.claim == found.mark
        if not alone and not self._states(number, found.claim) and not self.fits(number, name, found.claim):
            return False  # what is doubtful there is something else than what is asked
        if not alone:
            thoughts.add("doubt_claim", quote=_quoted(found.claim), title=short(page.title))
        upheld = not alone and _UPHELD.search(found.mark.text) is not None
        intent = "doubt_alone" if alone else "doubt_upheld" if upheld else "doubt_mark"
        thoughts.add(intent, quote=_quoted(found.mark), title=short(page.title))
        if name and not any(same_name(other.title, name) for other in self._state.seen.documents.values()):
            thoughts.add("doubt_check", name=name)
        return True

    def corrects(self, number: int, option: Option, thoughts: Thoughts) -> None:
        """Where a page that was put aside for this part of the question had it otherwise, say so."""
        clue = self._state.reading.clues[number]
        name = clue.name if clue.source is None else self._state.values[clue.source].name
        for page in self._state.seen.documents.values():
            if (number, page.document) not in self._state.dismissed or page.document == option.sentence.document:
                continue
            found = self._about(number, name, page)
            if found is None or found.claim == found.mark or fold(option.text) in fold(found.claim.text):
                continue
            if not any(holds(text, name) for text in (found.claim.text, page.title)):
                continue  # that was said of something else
            # The same is said of the same thing, and another value with it.
            without = (name, option.text)
            if similarity(option.sentence.text, found.claim.text, self._lexicon, without) >= _SAME:
                thoughts.add("corrected", title=short(page.title), value=option.text)
                return

    def _about(self, number: int, name: str, page: SeenDocument) -> Doubt | None:
        cue = self._state.reading.clues[number].cue
        return doubt_about(page, cue, name, self._lexicon, partial(self._states, number))


def _quoted(sentence: Passage) -> str:
    return sentence.text.replace('"', "”")
