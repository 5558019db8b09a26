"""The part of the planner over pages that collects all members of a set, and asks something of each of them.

It lists what the page of the start names, then searches for further pages that name the start, and closes the list when
its searches bring up nothing new to look at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.scripted.choosing import PageChooser
from synth.agents.scripted.matching import content, same_name, short, strip, uncapitalised
from synth.agents.scripted.pages.crosscheck import CrossChecking
from synth.agents.scripted.pages.queries import Query, search_call
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import State, Value
from synth.agents.scripted.turn_planner import AT_ONCE, Call, Need
from synth.environments.shown import Hit
from synth.text.words import fold

__all__ = ["PagePlanner"]


class PagePlanner(CrossChecking):
    """The whole planner over pages; a new one is made for each turn."""

    def __init__(
        self, state: State, chooser: PageChooser, generator: np.random.Generator, *, patience: int, parallel: float
    ) -> None:
        super().__init__(state, chooser, generator, patience=patience, parallel=parallel)
        self._looked: set[str] = set()
        """Pages that were gone through in this turn: what a chooser finds there is drawn once."""

    # All members.

    def _list(self, number: int, clue: Clue) -> list[Call] | None:
        name, place = self.source(clue)
        page: SeenDocument | None = None
        if not clue.value and not clue.described:
            self._begin_list(name)
            found = self.source_page(number, name, place)
            if isinstance(found, list):
                return found
            page = found
        if page is not None:
            self._members_on(number, name, page)
            self.chooser.look_at(number, None, page)
            if page.unread is not None and self.fresh(page) and self.chooser.reads_on(number, page):
                return self.read_on(number, page, [name])
        made, todo = self.searched(self._queries(clue, name, self._members(clue)))
        hits = [
            hit
            for search in self.seen.searches
            if search in made or fold(search.query) == fold(name)
            for hit in search.hits
        ]
        calls = self._judge(number, name, page, hits)
        if calls:
            return calls
        for document in list(self.seen.documents.values()) if self.noted else ():
            entry = self._just_read(document) and self.state.is_dismissed(number, document.title, document.document)
            calls = self.go_to_entry(number, document) if entry else []
            if calls:
                return calls
        fresh = [hit for hit in self._untried(number, hits) if page is None or hit.document != page.document]
        for hit in fresh:
            if self.chooser.tells(number, name, hit):
                self.rule_out(number, short(hit.title), hit.document)
        chosen = self.chooser.candidates(number, name, fresh)[:AT_ONCE] if fresh else []
        if chosen:
            self.say_hits(number, name, chosen)
            return [("open", {"document": hit.document}) for hit in chosen]
        members = self._members(clue)
        if todo and not (members and self.chooser.stops_listing(number, [value.name for value in members])):
            if not made:
                self._begin_list(name)
            self.thoughts.add("search_rest" if made else "search_list" if members else "search_first", name=name)
            return [search_call(*todo[0])]
        return self._close(clue, name)

    def _members_on(self, number: int, name: str, page: SeenDocument) -> None:
        """Put on the list what the page of the start names."""
        if not self.fresh(page) or page.document in self._looked:
            return
        self._looked.add(page.document)
        quoted = ""
        for option in self.chooser.members(number, name, page):
            if self._is_listed(number, option.text, option.place):
                continue
            if option.sentence.text != quoted:
                self.quote(option.sentence, short(page.title), option.text, leads_on=False)
                quoted = option.sentence.text
                others = self.of_other_kinds(option)
                if others:
                    self.say_kind(option, others)
            self.note("member", option.text)

    def _judge(self, number: int, name: str, page: SeenDocument | None, hits: Sequence[Hit]) -> list[Call]:
        """The pages that were just opened: members or not? Calls only to read on in one of them."""
        known = {hit.document for hit in hits} | self.entries(number)
        for document in [d for d in self.seen.documents.values() if d.document in known and d is not page]:
            judged = document.document in self._looked or self._is_listed(number, document.title, document.document)
            if judged or not self.fresh(document):
                continue
            if self.state.is_dismissed(number, document.title, document.document) or self._is_start(document):
                continue
            self._looked.add(document.document)
            self.chooser.look_at(number, None, document)
            sentence = self.chooser.support(number, name, document)
            if sentence is not None:
                title = self.chooser.subject(number, document, sentence)
                self.quote(sentence, short(document.title), name, leads_on=False)
                self.note("member", short(title))
            elif document.unread is not None and self.chooser.reads_on(number, document):
                return self.read_on(number, document, [name])
            else:
                self._say_why(number, name, document, "dismiss_why_silent")
                self.note("dismiss", short(document.title))
        return []

    def _is_start(self, document: SeenDocument) -> bool:
        """Whether a page was read as something that the question starts from: it was opened for that, and is no member
        that could be put aside."""
        names = [clue.name for clue in self.state.reading.clues if clue.name and not clue.value]
        values = self.state.values.values()
        return any(same_name(document.title, name) for name in names) or any(
            document.document == value.document for value in values
        )

    def disputes(self, number: int, value: Value, kind: str) -> bool:
        if super().disputes(number, value, kind):
            return True
        page, (name, _) = self._page_of(value), self.source(self.state.reading.clues[number])
        if page is None or page.unread is not None or self.chooser.support(number, name, page) is not None:
            return False
        self._say_why(number, name, page, "dismiss_why_silent")
        return True

    def _is_listed(self, number: int, name: str, place: str | None) -> bool:
        """Whether a page, a place on one, or a name is on the list; a page is when any place on it is."""
        for value in self._members(self.state.reading.clues[number]):
            if place in (value.place, value.document) and (place is not None or same_name(value.name, name)):
                return True
        return False

    def _untried(self, number: int, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in self.untried(number, hits) if not self._is_listed(number, hit.title, hit.document)]

    def _queries(self, clue: Clue, name: str, members: Sequence[Value]) -> list[Query]:
        """The start with the words of the question, then the start alone; the question's own phrase where both brought
        up nothing."""
        cue = uncapitalised(strip(clue.cue))
        known = set(fold(name).split())
        words = [word for word in fold(cue).split() if content(word) and word not in known]
        few = f"{name} {' '.join(dict.fromkeys(words))}".strip()
        joined = cue if fold(name) in fold(cue) else f"{name} {cue}".strip()
        queries: list[Query] = [(few, 10), (name or joined, 20)]
        return list(dict.fromkeys(queries if members else [*queries, (joined, 20)]))

    # Something of each.

    def _tell(self, number: int, value: Value) -> Need | bool | None:
        page = self._page_of(value)
        if page is None:
            slots = {"name": value.name, "titles": value.name}
            return None if value.place is None else Need([("open", {"document": value.place})], "open_these", slots)
        self.chooser.look_at(number, value, page)
        option = self.chooser.option(number, value.name, page)
        if option is not None:
            self.note("about", value.name)
            self.quote(option.sentence, short(page.title), option.text, leads_on=False)
            self.note("told", option.text)
            return True
        if page.unread is not None and self.chooser.reads_on(number, page):
            return Need(self.read_on(number, page, [value.name]))
        return False

    def _seek(self, number: int, value: Value) -> list[Call]:
        self.chooser.look_at(number, value)
        calls = self.source_page(number, value.name, None)
        if isinstance(calls, list):
            return calls
        self.note("untold", value.name)
        return []

    def _introduces(self, number: int, wanted: Sequence[Value]) -> bool:
        source = self.state.reading.clues[number].source
        assert source is not None
        unread = all(self._page_of(value) is None for value in wanted)
        return len(wanted) == len(self.state.of_each(source)) and (self.noted or unread)

    def _page_of(self, value: Value) -> SeenDocument | None:
        if value.document is not None:
            return self.seen.documents.get(value.document)
        return next((d for d in self.seen.documents.values() if same_name(d.title, value.name)), None)
