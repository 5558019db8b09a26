"""The part of the planner that collects all members of a set, and asks something of each of them.

It lists what the page of the start names, then searches for further pages that name the start, and closes the list when
its searches bring up nothing new to look at. How many there are is never known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from synth.agents.scripted.cues import content, dangling, short, strip, uncapitalised
from synth.agents.scripted.matching import same_name
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value, key_of
from synth.environments.shown import Hit
from synth.text.lists import listed
from synth.text.words import fold

if TYPE_CHECKING:
    from synth.agents.scripted.course import Call
    from synth.agents.scripted.planner import Planner

__all__ = ["Lists"]

_AT_ONCE = 4
"""Pages opened in one turn."""


class Lists:
    """Works on the clues that ask for all that fit. Returns what ``Planner._work`` returns."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._state = planner.state
        self._seen = planner.seen
        self._chooser = planner.chooser
        self._thoughts = planner.thoughts
        self._looked: set[str] = set()
        """Pages that were gone through in this turn: what a chooser finds there is drawn once."""

    def work(self, number: int, clue: Clue) -> list[Call] | None:
        if not self._state.lists(number):
            return self._ask(number, clue)
        if self._state.sifts(number):
            return self._sift(number, clue)
        return self._list(number, clue)

    # All members.

    def _list(self, number: int, clue: Clue) -> list[Call] | None:
        planner = self._planner
        name, place = planner.source(clue)
        page: SeenDocument | None = None
        if not clue.value and not clue.described:
            self._begin(name)
            found = planner.source_page(number, name, place)
            if isinstance(found, list):
                return found
            page = found
        if page is not None:
            self._members_on(number, name, page)
            self._chooser.look_at(number, None, page)
            if page.unread is not None and self._is_fresh(page) and self._chooser.reads_on(number, page):
                return planner.read_on(number, page, [name])
        queries = self._queries(clue, name, self._members(clue))
        keys = {(fold(query), k) for query, k in queries}
        made = [search for search in self._seen.searches if (fold(search.query), search.k) in keys]
        hits = [
            hit
            for search in self._seen.searches
            if search in made or fold(search.query) == fold(name)
            for hit in search.hits
        ]
        calls = self._judge(number, name, page, hits)
        if calls:
            return calls
        fresh = [hit for hit in self._untried(number, hits) if page is None or hit.document != page.document]
        chosen = self._chooser.candidates(number, name, fresh)[:_AT_ONCE] if fresh else []
        if chosen:
            self._thoughts.add("open_these", titles=listed(list(dict.fromkeys(short(hit.title) for hit in chosen))))
            return [("open", {"document": hit.document}) for hit in chosen]
        members = self._members(clue)
        todo = [(query, k) for query, k in queries if (fold(query), k) not in {(fold(s.query), s.k) for s in made}]
        if todo and not (members and self._chooser.stops_listing(number, [value.name for value in members])):
            if not made:
                self._begin(name)
            self._thoughts.add("search_rest" if made else "search_list", name=name)
            query, k = todo[0]
            return [("search", {"query": query} | ({"k": k} if k else {}))]
        return self._close(number, clue, name, members)

    def _close(self, number: int, clue: Clue, name: str, members: Sequence[Value]) -> list[Call] | None:
        if not members:
            if clue.source is None:
                return None
            self._thoughts.add("dead_end", name=name)
            self._planner.note("dismiss", name)
            return []
        self._planner.note("complete", name or members[-1].name)
        self._thoughts.add("all_listed", names=listed([value.name for value in members]))
        return []

    def _begin(self, name: str) -> None:
        if self._seen.turns == 0 and not self._thoughts:
            self._thoughts.add("plan_list", name=name)

    def _members(self, clue: Clue) -> list[Value]:
        return self._state.members.get(clue.target, [])

    def _members_on(self, number: int, name: str, page: SeenDocument) -> None:
        """Put on the list what the page of the start names."""
        if not self._is_fresh(page) or page.document in self._looked:
            return
        self._looked.add(page.document)
        quoted = ""
        for option in self._chooser.members(number, name, page):
            if self._is_listed(number, option.text, option.document):
                continue
            if option.sentence.text != quoted:
                self._planner.quote(option.sentence, short(page.title), option.text)
                quoted = option.sentence.text
            self._planner.note("member", option.text)

    def _judge(self, number: int, name: str, page: SeenDocument | None, hits: Sequence[Hit]) -> list[Call]:
        """The pages that were just opened: members or not? Calls only to read on in one of them."""
        known = {hit.document for hit in hits}
        for document in [d for d in self._seen.documents.values() if d.document in known and d is not page]:
            judged = document.document in self._looked or self._is_listed(number, document.title, document.document)
            if judged or not self._is_fresh(document):
                continue
            if self._state.is_dismissed(number, document.title, document.document):
                continue
            self._looked.add(document.document)
            self._chooser.look_at(number, None, document)
            sentence = self._chooser.support(number, name, document)
            if sentence is not None:
                title = self._chooser.subject(number, document, sentence)
                self._planner.quote(sentence, short(document.title), name)
                self._planner.note("member", short(title))
            elif document.unread is not None and self._chooser.reads_on(number, document):
                return self._planner.read_on(number, document, [name])
            else:
                self._thoughts.add("dismiss_why_silent", title=short(document.title), name=name)
                self._planner.note("dismiss", short(document.title))
        return []

    def _is_listed(self, number: int, name: str, document: str | None) -> bool:
        members = self._members(self._state.reading.clues[number])
        return any(key_of(value) == document or (document is None and same_name(value.name, name)) for value in members)

    def _untried(self, number: int, hits: Sequence[Hit]) -> list[Hit]:
        return [
            hit for hit in self._planner.untried(number, hits) if not self._is_listed(number, hit.title, hit.document)
        ]

    def _is_fresh(self, page: SeenDocument) -> bool:
        return self._planner.fresh(page)

    def _queries(self, clue: Clue, name: str, members: Sequence[Value]) -> list[tuple[str, int]]:
        """The start with the words of the question, then the start alone; the question's own phrase where both brought
        up nothing."""
        cue = uncapitalised(strip(clue.cue))
        known = set(fold(name).split())
        words = [word for word in fold(cue).split() if content(word) and word not in known]
        few = f"{name} {' '.join(dict.fromkeys(words))}".strip()
        joined = cue if fold(name) in fold(cue) else f"{name} {cue}".strip()
        queries = [(few, 10), (name or joined, 20)]
        return list(dict.fromkeys(queries if members else [*queries, (joined, 20)]))

    # A further condition on the members.

    def _sift(self, number: int, clue: Clue) -> list[Call] | None:
        name, place = self._planner.source(clue)
        for value in self._state.unsifted(number):
            self._chooser.look_at(number, value, None)
            verdict = self._planner.check(number, clue, name, place, value)
            if isinstance(verdict, list):
                return verdict
            if verdict:
                self._planner.note("keep", value.name)
            else:
                self._thoughts.add("dismiss_why_silent", title=value.name, name=name)
                self._planner.note("strike", value.name)
        if self._members(clue):
            return []
        self._state.resolved.add(number)
        return None

    # Something of each.

    def _ask(self, number: int, clue: Clue) -> list[Call] | None:
        wanted = self._state.untold(number)
        self._introduce(number, clue, wanted)
        away: list[Value] = []
        for value in wanted:
            page = self._page_of(value)
            if page is None:
                away.append(value)
                continue
            self._chooser.look_at(number, value, page)
            option = self._chooser.option(number, value.name, page)
            if option is not None:
                self._planner.note("about", value.name)
                self._planner.quote(option.sentence, short(page.title), option.text)
                self._planner.note("told", option.text)
            elif page.unread is not None and self._chooser.reads_on(number, page):
                return self._planner.read_on(number, page, [value.name])
            else:
                self._planner.note("untold", value.name)
        if not away:
            return []
        placed = [value for value in away if value.place is not None][:_AT_ONCE]
        if placed:
            self._thoughts.add("open_these", titles=listed([value.name for value in placed]))
            return [("open", {"document": value.place}) for value in placed]
        self._chooser.look_at(number, away[0], None)
        calls = self._planner.source_page(number, away[0].name, None)
        if isinstance(calls, list):
            return calls
        self._planner.note("untold", away[0].name)
        return []

    def _introduce(self, number: int, clue: Clue, wanted: Sequence[Value]) -> None:
        assert clue.source is not None
        unread = all(self._page_of(value) is None for value in wanted)
        if len(wanted) == len(self._state.of_each(clue.source)) and (self._planner.noted or unread):
            cue = strip(clue.cue)
            if dangling(cue):
                self._thoughts.add("each_plain")
            else:
                self._thoughts.add("each", cue=cue)

    def _page_of(self, value: Value) -> SeenDocument | None:
        if value.document is not None:
            return self._seen.documents.get(value.document)
        return next((d for d in self._seen.documents.values() if same_name(d.title, value.name)), None)
