"""How the scripted teacher weighs search results: which look as promising as the right one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.agents.scripted.credibility import doubted
from synth.agents.scripted.matching import same_name, similarity
from synth.agents.scripted.options import holds
from synth.agents.scripted.pages.gold_reading import GoldReading
from synth.agents.scripted.pages.shared import pages_of_source, shared_by
from synth.agents.scripted.pages.speaking import within
from synth.environments.passages import Passage, passages_of
from synth.environments.shown import Hit
from synth.text.words import fold

__all__ = ["FITS", "GoldResults"]

FITS = 0.25
"""How similar to the clue a snippet or sentence must be to be worth a look."""


class GoldResults(GoldReading):
    def _as_good(self, clue: int, name: str, hits: Sequence[Hit], gold: Hit) -> list[Hit]:
        """Results on things of the kind of the right one that look no worse than it."""
        folder, clear = gold.document.rpartition("/")[0], self._seems(clue, name, gold)
        alike = [hit for hit in hits[:3] if hit is not gold and hit.document.rpartition("/")[0] == folder]
        return [
            hit for hit in alike if (not clear or self._seems(clue, name, hit)) and not self._worse(clue, hit, gold)
        ]

    def _rival_hit(self, clue: int, name: str, hits: Sequence[Hit], gold: Hit) -> Hit | None:
        """The first result above the right one that looks as good, where a further condition tells right from wrong:
        as in a list (:meth:`_rival`)."""
        if not self._decided_later(clue):
            return None
        folder = gold.document.rpartition("/")[0]
        before = [hit for hit in hits[: hits.index(gold)] if hit.document.rpartition("/")[0] == folder]
        likely = [hit for hit in before if self._seems(clue, name, hit) and not self._worse(clue, hit, gold)]
        return likely[0] if 0 < len(likely) <= self._config.rivals else None

    def _likely_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        """Where the right one is not among the results and a further condition tells: one that looks right, as long as
        few were tried for the clue."""
        tried = sum(number == clue for number, _ in self._state.dismissed)
        if not self._decided_later(clue) or tried >= self._config.rivals:
            return None
        return next(iter(self.left_over(clue, name, hits)), None)

    def left_over(self, clue: int, name: str, hits: Sequence[Hit]) -> list[Hit]:
        folders = {hop.target.document_id.rpartition("/")[0] for hop in self._all_hops(clue) if hop.target.document_id}
        alike = [hit for hit in hits if hit.document.rpartition("/")[0] in folders] if self._decided_later(clue) else []
        return [h for h in alike if self._seems(clue, name, h) and self._shown(clue, h) is not False]

    def _worse(self, clue: int, hit: Hit, other: Hit) -> bool:
        """Whether the results themselves speak for ``other``: its snippet meets a further condition, or that of
        ``hit`` rules it out."""
        shown = self._shown(clue, hit)
        return shown is False or (shown is None and self._shown(clue, other) is True)

    def _shown(self, clue: int, hit: Hit) -> bool | None:
        """Whether a snippet meets a condition on what the clue leads to (True), or rules it out (False)."""
        if self._line_against(clue, hit) is not None or self._stands_back(clue, hit):
            return False
        both = shared_by(self._state, self.denies, clue, [(hit.title, hit.document)])
        return True if both or self._line_meeting(clue, hit) is not None else None

    def _stands_back(self, clue: int, hit: Hit) -> bool:
        """Whether a result shows that it is nothing to go by: its snippet doubts what it says, or it is on the namesake
        ("Manara (hamlet)") of what was put aside. Where misleading pages have to be met it is opened all the same."""
        if self._must_meet():
            return False
        name, _, kind = hit.title.partition(" (")
        alike = (page for page in self._seen.documents.values() if kind and not re.search(r"\d", kind))
        gone = (same_name(one.title, name) and self._state.is_dismissed(clue, one.title, one.document) for one in alike)
        return doubted(hit.text) or any(gone)

    def shown_to_meet(self, clue: int, document: str | None) -> Passage | None:
        hits = [hit for search in self._seen.searches for hit in search.hits if hit.document == document]
        if self.shown_to_fail(clue, document) is not None:
            return None
        return next((line for hit in hits if (line := self._line_meeting(clue, hit)) is not None), None)

    def better_result(self, clue: int, name: str) -> Hit | None:
        unread = [hit for hit in self._seen.hits() if hit.document not in self._seen.documents]
        meeting = [hit for hit in unread if self.shown_to_meet(clue, hit.document) is not None]
        return next((hit for hit in meeting if self.tells(clue, name, hit)), None)

    def _line_meeting(self, clue: int, hit: Hit) -> Passage | None:
        """The line of a result that meets another condition than ``clue``."""
        lines = passages_of(hit.text, hit.document, hit.title, 0) if self.says is not None else ()
        for number, other, name in self._others(clue):
            names = self._known_as(number, name) if lines and number != clue else ()
            for line in lines if number != clue else ():
                meets = within(line, other.span) if other.span else any(holds(line.text, one) for one in names)
                if meets and self._says(number, line, of_target=True):
                    return line
        return None

    def _known_as(self, clue: int, name: str) -> list[str]:
        """``name``, and other names that something shown has beside it ("also called Branholm University")."""
        hop = self._hop(clue) or next(iter(self._all_hops(clue)), None)
        other = [] if hop is None else [one for one in (hop.source.name, *hop.source.aliases) if one != name]
        if not other:
            return [name]
        pages = (page for page in self._seen.documents.values() if same_name(page.title, name))
        texts = [hit.text for hit in self._seen.hits()] + [s.text for page in pages for s in page.sentences()]
        return [name, *(one for one in other if any(one in text and name in text for text in texts))]

    def tells(self, clue: int, name: str, hit: Hit) -> bool:
        hop = next(iter(self._all_hops(clue)), None)
        if hop is None or not name or hit.document.rpartition("/")[0] != self._folder(hop) or self._off_the_walk(clue):
            return False
        lines = passages_of(hit.text, hit.document, hit.title, 0)
        names = self._known_as(clue, name)
        return any(
            holds(s.text, one) and self._says(clue, s, source=one, of_target=True) for s in lines for one in names
        )

    def disputes(self, clue: int, name: str, end: str, hit: Hit) -> Passage | None:
        hop, says = next(iter(self._all_hops(clue)), None), self.says
        if hop is None or says is None or not holds(hit.title, name) or fold(hit.title) == fold(name):
            return None
        # Who founded one museum may have founded others: only what has one value is disputed by another.
        ahead = (
            hop.forward
            if any(same_name(name, one) for one in (hop.target.name, *hop.target.aliases))
            else not hop.forward
        )
        lines = [s for s in passages_of(hit.text, hit.document, hit.title, 0) if not holds(s.text, end)]
        return next((s for s in lines if says(s.text, hop.relation, ahead, alone=True)), None)

    def _seems(self, clue: int, name: str, hit: Hit) -> bool:
        """Whether a snippet names ``name`` and speaks in words like those of the clue."""
        cue = self._state.reading.clues[clue].cue
        likely = bool(name) and holds(hit.text, name) and similarity(cue, hit.text, self._lexicon, (name,)) >= FITS
        return likely and not self._is_named_otherwise(clue, hit)

    def _is_named_otherwise(self, clue: int, hit: Hit) -> bool:
        """Whether the page of the source was read and names a result, and only in another connection: who has said so
        does not try it."""
        read = pages_of_source(self._state, clue)
        lines = [s for page in read for s in page.sentences() if any(one.document == hit.document for one in s.links)]
        return bool(lines) and all(self.denies(clue, line) for line in lines)

    def _detour(self, clue: int, others: Sequence[Hit]) -> Hit | None:
        """At most one per clue: only while nothing was rejected for it."""
        if others and self._must_meet():
            return others[0]
        if not others or any(number == clue for number, _ in self._state.dismissed):
            return None
        return others[0] if float(self._generator.random()) < self._config.detour else None

    def _must_meet(self) -> bool:
        return len({document for _, document in self._state.dismissed}) < self._config.meets
