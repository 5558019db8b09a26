"""How the scripted teacher goes through long documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.scripted.choosing import GoldChooser
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.options import names as names_it
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import State
from synth.schemas.tasks import Hop, Task
from synth.text.words import fold

__all__ = ["GoldPageTurning"]


class GoldPageTurning(GoldChooser):
    def __init__(
        self, task: Task, state: State, lexicon: Lexicon, config: TeacherConfig, generator: np.random.Generator
    ) -> None:
        super().__init__(task, state, lexicon, config, generator)
        self._looks_at: dict[int, Hop | None] = {}

    def _hop(self, clue: int) -> Hop | None:
        """The hop behind a clue; of several the one that is looked at."""
        if clue in self._looks_at:
            return self._looks_at[clue]
        return next(iter(self._all_hops(clue)), None)

    def reads_on(self, clue: int, document: SeenDocument) -> bool:
        hop = self._hop(clue)
        if hop is None:
            return document.document in self._task.gold_documents
        if self._astray(clue):
            return document.total > 2 and not any(f.document == document.document for f in self._state.seen.finds)
        # A long document is not put aside by its first page.
        looked = any(find.document == document.document for find in self._state.seen.finds)
        return document.document == hop.evidence.document_id or (document.total > 1 and not looked)

    def _astray(self, clue: int) -> bool:
        """Whether it tests a candidate that is wrong: a look is enough then, reading to the end would be odd."""
        value = self._state.values.get(self._state.reading.clues[clue].target)
        hop = self._hop(clue)
        if value is None or hop is None:
            return False
        right = any(names_it(value.name, name) for name in (hop.target.name, *hop.target.aliases))
        return not right and value.document != hop.target.document_id

    def pattern(self, clue: int, document: SeenDocument, patterns: Sequence[str]) -> str | None:
        hop = self._hop(clue)
        if self._astray(clue):
            return patterns[0]
        quote = fold(hop.evidence.quote if hop is not None else self._task.answer)
        held = [pattern for pattern in patterns if fold(pattern) and f" {fold(pattern)} " in f" {quote} "]
        if held and " " in held[0]:
            return held[0]  # a stretch of the passage itself
        if not held and hop is not None and patterns and names_it(patterns[0], hop.source.name):
            return patterns[0]
        return max(held, key=len, default=None)

    def page(self, clue: int, document: SeenDocument, pages: Sequence[int]) -> int | None:
        """Of the pages with matches the one of the last match before the evidence ends; none where it is far off."""
        hop = self._hop(clue)
        if hop is None or hop.evidence.document_id != document.document:
            return pages[0]
        before = [place for place in self._places(document) if place[1] < hop.evidence.end]
        if not before:
            return None
        page, character = before[-1]
        return page if page in pages and hop.evidence.start - character < 3000 else None

    def _places(self, document: SeenDocument) -> list[tuple[int, int]]:
        """(page, character) of all matches that finds showed in ``document``, in order."""
        finds = [find for find in self._state.seen.finds if find.document == document.document]
        return sorted((place for find in finds for place in find.places), key=lambda place: place[1])

    def leaf(self, clue: int, document: SeenDocument) -> int | None:
        """About where the evidence stands, going by the matches that were shown with page and character."""
        hop = self._hop(clue)
        places = self._places(document)
        if hop is None or hop.evidence.document_id != document.document or self._astray(clue):
            return None
        page, character = places[-1] if places else (1, 0)
        size = character / (page - 0.5) if page > 1 else 3500.0
        wanted = page + round((hop.evidence.start - character) / size)
        unread = [page for page in range(1, document.total + 1) if page not in document.pages]
        return min(unread, key=lambda page: (abs(page - wanted), page), default=None)
