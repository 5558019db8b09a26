"""What a planner over pages types into the search: few words, those that tell most."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.agents.scripted.matching import FUNCTION_WORDS, content_stems, content_words, strip, uncapitalised
from synth.agents.scripted.pages.asides import Asides
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import Search
from synth.agents.scripted.turn_planner import Call
from synth.lexicon.reading import phrases
from synth.text.words import fold

__all__ = ["Queries", "Query", "search_call"]

_ASKED = re.compile(r"\b(?:which|what|this) ([a-z]+)\b(?! of\b)", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:an?|the|one|which|what|this) ([a-z]+)(?:,| that| which| who)*\s*$", re.IGNORECASE)
_NO_KIND = FUNCTION_WORDS | {"person", "people", "one", "ones", "thing", "kind", "name", "certain", "several"}
_LIGHT = frozenset(phrases("word_lists")["light_verbs"])
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WORDS = 4
"""Words of a condition that go into a query: people don't type the whole question."""
Query = tuple[str, int | None]
"""Words to search for, and how many results (None = as many as it gives)."""


def search_call(query: str, k: int | None) -> Call:
    return "search", {"query": query} | ({"k": k} if k else {})


def _as_written(clue: Clue) -> str:
    """A value as pages write it: of a time, the month or year in which it lies, empty where it is longer."""
    if clue.span is None:
        return clue.name
    low, high = clue.span
    return clue.name.partition(" ")[2] if _DAY.match(low) and low[:4] == high[:4] else ""


class Queries(Asides):
    """Words to search with, for each part of the question."""

    def searched(self, queries: Sequence[Query]) -> tuple[list[Search], list[Query]]:
        """The searches that were made of ``queries``, and those that are left."""
        keys = {(fold(query), k) for query, k in queries}
        made = [search for search in self.seen.searches if (fold(search.query), search.k) in keys]
        done = {(fold(search.query), search.k) for search in made}
        return made, [(query, k) for query, k in queries if (fold(query), k) not in done]

    def how_again(self, query: Query) -> str:
        """Whether a search asks for more results of the one before, for those of an earlier one, or in other words."""
        words, last = content_stems(query[0]), self.seen.searches[-1]
        if words == content_stems(last.query) and (query[1] or 0) > (last.k or 0):
            return "search_longer"
        return "search_rest" if any(words == content_stems(one.query) for one in self.seen.searches) else "search_again"

    def _reverse_queries(self, clue: Clue, name: str) -> list[Query]:
        cue = uncapitalised(strip(clue.cue))
        known = set(fold(name).split())
        sought = self._asked_noun(clue) if name and not self.state.reading.pages else ""
        telling = [word for word in content_words(cue) if fold(word) not in known | _NO_KIND | _LIGHT]
        kinds, others = self._said_beside(clue)
        words = " ".join(dict.fromkeys(" ".join([sought, *kinds, *telling[:_WORDS]]).split()))
        joined = cue if name and fold(name) in fold(cue) else f"{name} {cue}".strip()
        few = f"{name} {words}".strip()
        first = few or joined
        queries: list[Query] = [(first, None), (first, 10), (joined, 10), (name or joined, 10)]
        if others and name and not clue.value:
            queries.insert(1, (f"{name} {others[0]}", None))
        if not name or clue.value:  # the question says on which page it stands
            pages, others = self.state.reading.pages, [one.cue for one in self.state.reading.clues if one is not clue]
            own = [page for page in pages if page in clue.cue or not any(page in cue for cue in others)]
            queries = [*((title, None) for title in (own or (pages if clue.value else ()))), *queries]
        # The same words in another order, or with an article more, bring up the same results.
        different: dict[tuple[frozenset[str], int | None], Query] = {}
        for query, k in queries:
            if query:
                different.setdefault((content_stems(query), k), (query, k))
        return list(different.values())

    def _said_beside(self, clue: Clue) -> tuple[list[str], list[str]]:
        """What the other conditions on the same thing say of it: words ("politician"), and names of what it has to do
        with."""
        beside = [one for one in self.state.reading.clues if one is not clue and one.target == clue.target]
        values = [_as_written(one) for one in beside if one.value and not self.state.reading.pages]
        words = [text for text in values if text]
        named = [one.name for one in beside if one.name and not one.value and one.source is None]
        return words[:1], [one for one in named if fold(one) != fold(clue.name)]

    def _asked_noun(self, clue: Clue) -> str:
        """The kind of thing that is asked for, where the clue leads to it and does not say it: "Senn bridge situated"
        finds bridges."""
        reading = self.state.reading
        same = [clue, *(one for one in reading.clues if one.target == clue.target and one is not clue)]
        before = [reading.question[: max(reading.question.find(one.cue), 0)] for one in same]
        found = [near for near in map(_BEFORE.search, before) if near is not None and near[1].lower() not in _NO_KIND]
        near = next(iter(found), None)
        if near is not None and clue.kind == "entity":
            return "" if near[1].lower() in fold(clue.cue).split() else near[1].lower()
        named = {found[1].lower() for found in _ASKED.finditer(reading.question)} - _NO_KIND
        if clue.target != reading.answer or clue.kind != "entity" or len(named) != 1:
            return ""
        (noun,) = named
        return "" if noun in fold(clue.cue).split() else noun
