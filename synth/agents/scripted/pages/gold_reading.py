"""What the scripted teacher makes of pages off the walk, and of snippets that rule their page out: read as anyone
would, for what the question says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from synth.agents.scripted.matching import content_stems, quotable, same_name, similarity
from synth.agents.scripted.options import Option, holds, options_in
from synth.agents.scripted.pages.gold_turning import GoldPageTurning
from synth.agents.scripted.pages.speaking import speaks_of, values_in, within
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.environments.passages import Passage, passages_of
from synth.environments.shown import Hit
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Hop

__all__ = ["STATED", "GoldReading", "Says"]

STATED = 0.4
"""How like the clue a sentence must be to state it."""


class Says(Protocol):
    """Reads a sentence: whether it states a hop; None where its wording is not known."""

    def __call__(
        self,
        text: str,
        relation: str,
        forward: bool,
        *,
        source: str = "",
        target: str = "",
        of_target: bool = False,
        alone: bool = False,
    ) -> bool | None: ...


_LIFETIME = 110
_LIVED = {"birth_date": ("death_date", 0, _LIFETIME), "death_date": ("birth_date", _LIFETIME, 0)}
"""What a page gives in place of a date, and how many years earlier and later it lies at most: who died in 2004 was not
born in 1790, and who was born in 1962 did not die in the nineteenth century."""


class GoldReading(GoldPageTurning):
    says: Says | None = None
    """Knows how pages word relations; without it, likeness of words decides."""

    def _says(self, clue: int, sentence: Passage, **ends: str | bool) -> bool | None:
        """Whether a sentence states what is behind the clue, of whatever it is about; None where that is not known."""
        hop = next(iter(self._all_hops(clue)), None)
        says: Any = self.says
        return None if says is None or hop is None else says(sentence.text, hop.relation, hop.forward, **ends)

    def denies(self, clue: int, sentence: Passage, name: str = "") -> bool:
        # A pupil is not the mentor, though one sentence tells both.
        return self._says(clue, sentence, source=name) is False

    def states_line(self, clue: int, sentence: Passage) -> bool:
        return self._says(clue, sentence) is True

    def states(self, clue: int, document: SeenDocument) -> bool:
        return any(self._says(clue, s) for s in document.sentences() if s.text != s.heading)

    def of_kind(self, clue: int, name: str, document: SeenDocument) -> list[str]:
        hop = next(iter(self._all_hops(clue)), None)
        folder = "" if hop is None else self._folder(hop)
        known = {name, document.title, *(value.name for value in self._state.values.values())}
        found = [
            one.text
            for sentence in document.sentences()
            for one in options_in(sentence, "entity")
            if folder and one.text not in known and (one.document or "").rpartition("/")[0] == folder
        ]
        return list(dict.fromkeys(found))

    def is_source(self, clue: int, name: str, document: SeenDocument) -> bool:
        wanted = self._pages_of(clue, name)
        return document.document in wanted if wanted else same_name(document.title, name)

    def _pages_of(self, clue: int, name: str) -> set[str]:
        hop = self._hop(clue)
        ends = () if hop is None else (hop.source, hop.target)
        return {
            end.document_id
            for end in ends
            if end.document_id is not None and any(same_name(name, known) for known in (end.name, *end.aliases))
        }

    def _folder(self, hop: Hop) -> str:
        """The folder of the kind of thing that a hop leads to; empty for values."""
        return (hop.target.document_id or "").rpartition("/")[0]

    def _as_read(self, clue: int, hop: Hop, name: str, document: SeenDocument) -> Option | None:
        """What a page off the walk says to the clue, as any reader would find it."""
        asked = self._state.reading.clues[clue]
        if asked.kind != "entity":
            return self._value_as_read(clue, asked.kind, document)
        folder, cue = self._folder(hop), asked.cue
        known = {name, document.title, *(value.name for value in self._state.values.values())}
        found: list[tuple[float, Option]] = []
        for sentence in document.sentences():
            if sentence.text == sentence.heading or not (
                self.is_source(clue, name, document) or holds(sentence.text, name)
            ):
                continue
            options = [one for one in options_in(sentence, "entity") if one.document is not None]
            names = (name, document.title, *(one.text for one in options))
            said = self._says(clue, sentence)
            fit = similarity(cue, sentence.text, self._lexicon, names) if folder and said is None else float(said or 0)
            found += [
                (fit, one)
                for one in options
                if fit >= STATED
                and one.document is not None
                and self._says(clue, sentence, target=one.text) is not False
                and one.document.rpartition("/")[0] == folder
                and one.text not in known
                and not self._state.is_dismissed(clue, one.text, one.document)
                and self.shown_to_fail(clue, one.document) is None
            ]
        return max(found, key=lambda one: one[0])[1] if found else None

    def _value_as_read(self, clue: int, kind: ValueKind, document: SeenDocument) -> Option | None:
        """The date, number or word of a page off the walk that answers the clue."""
        for sentence in document.sentences():
            for one in options_in(sentence, kind) if self._says(clue, sentence) else ():
                if self._says(clue, sentence, target=one.text):
                    return one
        return None

    def _stated(self, clue: int, name: str, other: str, document: SeenDocument, bar: float = STATED) -> Passage | None:
        """The sentence that says of a candidate what the clue asks for, as any reader would find it."""
        asked = self._state.reading.clues[clue]
        sentences = [s for s in document.sentences() if s.text != s.heading]
        if asked.span is not None:
            found = [s for s in sentences if within(s, asked.span)]
        else:
            found = [s for s in sentences if other and holds(s.text, other)]
        ends = {} if asked.span is not None else {"source": other} if other == name else {"target": other}
        said = [self._says(clue, s, **ends) for s in found]
        if True in said:
            return found[said.index(True)]
        found = [s for s, verdict in zip(found, said, strict=True) if verdict is None]
        fits = [similarity(asked.cue, s.text, self._lexicon, (name, other, document.title)) for s in found]
        best = max(range(len(found)), key=lambda at: (fits[at], -at), default=None)
        return found[best] if best is not None and fits[best] >= bar else None

    def excludes(self, clue: int, name: str, document: SeenDocument) -> bool:
        place = self._state.place(name)
        linked = any(
            one.place == place for s in document.sentences() for one in options_in(s, "entity") if place is not None
        )
        return not linked and self._refuted(clue, name, list(document.sentences())) is not None

    def _refuted(self, clue: int, name: str, sentences: Sequence[Passage]) -> Passage | None:
        """The line that gives a page's subject another value than the clue's, in a relation that allows only one."""
        asked = self._state.reading.clues[clue]
        wanted = content_stems(name)
        if not name or self.says is None:
            return None
        stated = [s for s in sentences if self._says(clue, s, of_target=True, alone=True)]
        if not stated:
            return self._outlived(clue, sentences)
        if asked.span is not None:
            return None if any(within(s, asked.span) for s in stated) else stated[0]
        place = self._state.place(name)
        folder = (place or "").rpartition("/")[0]
        linked = [
            o.place
            for s in stated
            for o in options_in(s, "entity")
            if folder and (o.document or "").startswith(f"{folder}/")
        ]
        if linked:
            return None if place in linked else stated[0]
        if asked.value and re.search(r"\d", name):  # "70 metres" is not "512 metres" for the word they share
            return None if any(holds(s.text, name) for s in stated) else stated[0]
        # Names vary ("the University of Nonur"): one that shares a word with the clue's may be the same thing.
        return None if any(wanted & content_stems(s.text) for s in stated) else stated[0]

    def shown_to_fail(self, clue: int, document: str | None) -> Passage | None:
        hits = [hit for search in self._seen.searches for hit in search.hits if hit.document == document]
        lines = (self._line_against(clue, hit) for hit in hits)
        return next((line for line in lines if line is not None and quotable(line.text)), None)

    def _others(self, clue: int) -> list[tuple[int, Clue, str]]:
        """(number, condition, what it starts from) of the conditions on what the clue leads to, as far as known."""
        clues = self._state.reading.clues
        asked = clues[clue]
        known = [(number, one, self._name_of(one)) for number, one in enumerate(clues) if one.target == asked.target]
        return [(number, one, name) for number, one, name in known if name and one.every <= asked.every]

    def _line_against(self, clue: int, hit: Hit) -> Passage | None:
        """The line of a result that rules out what it is about: it fails the clue, or another condition."""
        lines = passages_of(hit.text, hit.document, hit.title, 0)
        failed = (self._refuted(number, name, lines) for number, _, name in self._others(clue))
        return next((line for line in failed if line is not None), None)

    def _name_of(self, clue: Clue) -> str:
        """What a clue starts from, as far as that is known."""
        if clue.source is None:
            return clue.name
        value = self._state.values.get(clue.source)
        return "" if value is None else value.name

    def _outlived(self, clue: int, sentences: Sequence[Passage]) -> Passage | None:
        """The line whose date rules out that its subject meets the clue: it lies more than a lifetime away."""
        span, hop, says = self._state.reading.clues[clue].span, self._hop(clue), self.says
        other, before, after = _LIVED.get(hop.relation, ("", 0, 0)) if hop is not None else ("", 0, 0)
        if span is None or hop is None or says is None or not other or not all(end[:4].isdigit() for end in span):
            return None
        lived = (f"{int(span[0][:4]) - before:04}-01-01", f"{int(span[1][:4]) + after:04}-12-31")
        lines = [s for s in sentences if says(s.text, other, hop.forward, of_target=True) and values_in(s)]
        return next((s for s in lines if not within(s, lived)), None)

    def contrary(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        asked, place = self._state.reading.clues[clue], self._state.place(name)
        for sentence in document.sentences() if name and self.says is not None else ():
            meets = within(sentence, asked.span) if asked.span is not None else holds(sentence.text, name)
            linked = any(place is not None and one.place == place for one in options_in(sentence, "entity"))
            if meets or linked or sentence.text == sentence.heading or not quotable(sentence.text):
                continue
            if self._says(clue, sentence, of_target=True):
                return sentence
        outlived = self._outlived(clue, [s for s in document.sentences() if quotable(s.text)]) if name else None
        if outlived is not None:
            return outlived
        found = speaks_of(asked, name, document, self._lexicon, place)
        return found if found is None or self.says is None or self._says(clue, found) else None
