"""The planner over pages: which move comes next, given what was seen and settled.

For each clue of the question it reaches the page that the clue starts from, reads it for what answers the clue, and,
where that page is silent, looks for pages that mention the start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from synth.agents.scripted.matching import (
    content_stems,
    quotable,
    same_name,
    short,
    strip,
)
from synth.agents.scripted.options import Option, listed_with, options_in
from synth.agents.scripted.pages.queries import Queries, search_call
from synth.agents.scripted.pages.shared import named_for, pages_of_source, shared_by
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.agents.scripted.turn_planner import Call, Need
from synth.environments.shown import Hit
from synth.text.lists import listed
from synth.text.words import fold

__all__ = ["PageReader"]

_NAMED = 3
"""Names that a thought lists of those that a page has in another connection."""


def _stretch(text: str, cue: str) -> str:
    """The part of a line of a snippet that is most like the clue: a snippet may run several lines together."""
    wanted = content_stems(cue)
    parts = [part for part in re.split(r"(?<=[.:)]) |[(\[{]", text) if part.strip()]
    return max(parts, key=lambda part: len(wanted & content_stems(part)), default="").strip()


def _document(place: str | None) -> str | None:
    return None if place is None else place.split("#", 1)[0]


class PageReader(Queries):
    """What a planner over pages does but for collecting sets: searches, opens, finds."""

    checked = False
    """Whether it was just seen what another page has on it."""

    def as_tools(self, call: Call) -> list[Call]:
        name, arguments = call
        if name != "search" or name in self.tools:
            return [call]
        return [(tool, arguments) for tool in sorted(self.tools) if tool.startswith("search_")]

    def _from_value(self, number: int, clue: Clue, name: str) -> list[Call] | None:
        self._begin(number, f'"{clue.name}"')
        return self._from_the_other_end(number, clue, name, None)

    def _follow(self, number: int, clue: Clue, name: str, place: str | None) -> list[Call] | None:
        page = self.source_page(number, name, place)
        if isinstance(page, list):
            return page
        if page is not None:
            option = self.chooser.option(number, name, page) if self.fresh(page) else None
            if option is not None:
                return self._settle(number, page, option)
            if page.unread is not None and self.chooser.reads_on(number, page):
                return self.read_on(number, page, [*self._others(number), name])
            if self._is_unspoken(page) and not self.chooser.states(number, page):
                shown = {short(hit.title) for hit in self.seen.hits()}  # what results say of those decides
                beside = [one for one in self.chooser.of_kind(number, name, page) if one not in shown][:_NAMED]
                intent = "silent_beside" if beside else "silent"
                self.thoughts.add(intent, title=short(page.title), names=listed(beside))
            elif self._is_unspoken(page) and self.chooser.better_result(number, name) is not None:
                self._say_better(number, page)
        return self._from_the_other_end(number, clue, name, page)

    def _say_better(self, number: int, page: SeenDocument) -> None:
        """Why a result comes before what ``page`` names: results rule that out, or nothing more is known of it."""
        lines = (line for line in page.sentences() if self.chooser.states_line(number, line))
        named = {one.text: one.document for line in lines for one in options_in(line, "entity")}
        out = [one for one, document in named.items() if self.chooser.shown_to_fail(number, document) is not None]
        self.thoughts.add("names_some" if out else "better_result", title=short(page.title), names=listed([*named]))
        for one in out:
            self.rule_out(number, one, named[one])

    def _is_unspoken(self, page: SeenDocument) -> bool:
        """Whether no thought has named it since it was read: of two pages that are opened at once one comes later."""
        since = self.seen.thoughts[page.turns[-1] + 1 :]
        return not any(short(page.title) in thought for thought in since)

    def source_page(self, number: int, name: str, hint: str | None) -> SeenDocument | list[Call] | None:
        """The page of ``name`` if it was read; else the calls that lead to it; None when it can't be found."""
        place, hint = hint, hint.split("#", 1)[0] if hint else None
        known = self.seen.documents.get(hint or "")
        if place is not None and place not in self.seen.opened and (known is None or (place != hint and known.unread)):
            self.thoughts.add("open_link" if self._links_to(place) else "open_page", name=name)
            return [("open", {"document": place})]
        opened = [d for d in self.seen.documents.values() if not self.state.is_dismissed(number, d.title, d.document)]
        for document in opened:
            if document.document == hint or (hint is None and self.chooser.is_source(number, name, document)):
                return document
        made = [search for search in self.seen.searches if fold(search.query) == fold(name)]
        current = self.seen.documents.get(self.seen.current or "")
        on_page = [title for title in self.state.reading.pages if fold(title) != fold(name)]
        asked = {fold(title) for title in on_page}
        about = [
            search
            for search in self.seen.searches
            if f" {fold(name)} " in f" {fold(search.query)} " or fold(search.query) in asked
        ]
        shown = {hit.document for search in about for hit in search.hits}
        # What was settled and what stands on the list was opened for its own sake.
        listing = [value for values in self.state.members.values() for value in values]
        shown -= {value.document for value in (*self.state.values.values(), *listing)}
        members = {fold(value.name) for value in listing}
        # So was anything that another part of the question names.
        members |= {fold(clue.name) for clue in self.state.reading.clues if not same_name(clue.name, name)}
        wanted = current is not None and current.document in shown and fold(short(current.title)) not in members
        if current is not None and wanted and current in opened and self._just_read(current):
            # The page that was opened for the name: is it the one?
            if self.chooser.overlooks(number, name, current):
                return current
            self._say_why(number, name, current, "dismiss_why_name")
            self.note("dismiss", short(current.title))
        hits = self.untried(number, [hit for search in about[::-1] for hit in search.hits])
        chosen = self.chooser.source_hit(number, name, hits) if hits else None
        if chosen is not None:
            beside = self._beside(number, chosen) if same_name(chosen.title, name) else []
            if beside:
                self.thoughts.add("open_named", titles=listed([short(hit.title) for hit in (chosen, *beside)]))
            else:
                self._say_not_meant(chosen, name)
                self._introduce(number, hits, chosen, name)
            # The page of the clue at work comes last: it is the one that stays open.
            return [("open", {"document": hit.document}) for hit in (*beside, chosen)]
        if on_page and not any(fold(search.query) in asked for search in self.seen.searches):
            return self._search(number, name, on_page[0])
        if not made:
            return self._search(number, name, name)
        if all((search.k or 0) < 10 for search in made):
            self.thoughts.add("search_more", name=name)
            return [search_call(name, 10)]
        return None

    def _say_not_meant(self, chosen: Hit, name: str) -> None:
        """Who thinks elsewhere says of the page whose opening failed that it was not the one."""
        failed = self.seen.last_failure
        if not self.explains or failed is None or failed.call.name != "open":
            return
        meant = list(failed.call.arguments.values())
        other = next((hit for hit in self.seen.hits() if hit.document in meant or hit.title in meant), None)
        if other is not None and other.document != chosen.document and fold(other.title) != fold(name):
            self.thoughts.add("mend_open", title=other.title, name=name)

    def _links_to(self, place: str) -> bool:
        """Whether the page in view, or one that this turn quotes, has a link to ``place``."""
        shown = (self.seen.documents.get(one or "") for one in (self.seen.current, self.quoted))
        return any(link.place == place for page in shown if page for s in page.sentences() for link in s.links)

    def _settle(self, number: int, page: SeenDocument, option: Option) -> list[Call]:
        again = not self._just_read(page)
        if again and page.document != self.seen.current and not self.thoughts.names(short(page.title)):
            self.thoughts.add("return", found=short(page.title))
        rivals = listed_with(option)
        places = {item.anchor: item.place for item in option.sentence.links}
        others = self.of_other_kinds(option)
        rivals = [name for name in rivals if name not in others] if len(rivals) > len(others) + 1 else []
        both = shared_by(
            self.state, self.chooser.denies, number, ((name, _document(places.get(name))) for name in rivals)
        )
        common = listed(both) if option.text in both and len(both) < len(rivals) else ""
        untried = [one for one in rivals if not self.state.is_dismissed(number, one, _document(places.get(one)))]
        line = self.chooser.shown_to_meet(number, option.document) if untried and untried[0] != option.text else None
        first = ("g_common", {"names": common}) if common else ("", {})
        if line is not None and not common and quotable(line.text):
            quote = line.text.strip("… ").replace('"', "”")
            first = ("in_results", {"title": option.text, "quote": quote})
        rest = {one: places.get(one) for one in untried if one != option.text}
        if rivals and again:
            self._begin_with(number, option.text, rest, *first)
            self.note("candidate_next", option.text)
            return []
        self.want(self.state.reading.clues[number])
        below = self.entry_of(self.state.reading.clues[number], option.sentence)
        if below is not None:
            self.thoughts.add("quote_entry", term=option.sentence.text, title=short(page.title), quote=below.text)
        else:
            clues = self.state.reading.clues
            leads_on = bool(rivals) or any(one.source == clues[number].target for one in clues)
            self.quote(option.sentence, short(page.title), option.text, leads_on=leads_on)
        if self.credibility is not None:
            self.credibility.corrects(number, option, self.thoughts)
        if others:
            self.say_kind(option, others)
        if rivals:
            self.thoughts.add("candidates", titles=listed(rivals))
        self._begin_with(number, option.text, rest, *first)
        self.note("candidate" if rivals else "found", option.text)
        return []

    def _begin_with(
        self, number: int, name: str, others: Mapping[str, str | None], why: str, slots: Mapping[str, str]
    ) -> None:
        """Say which of a list results rule out, and why ``name`` comes first."""
        for other, place in others.items() if not why else ():
            self.rule_out(number, other, _document(place))
        if why:
            self.thoughts.add(why, **slots)

    # The page of the source does not say it: look for a page that mentions the source.

    def _from_the_other_end(self, number: int, clue: Clue, name: str, page: SeenDocument | None) -> list[Call] | None:
        made, todo = self.searched(self._reverse_queries(clue, name))
        hits = [hit for search in made for hit in search.hits]
        hits += [hit for hit in self.seen.hits() if hit not in hits and self.chooser.tells(number, name, hit)]
        found = self._candidate(number, name, page, hits)
        if found is not None:
            return found
        if todo and self.chooser.searches_on(number, len(made)):
            left = self.chooser.left_over(number, name, self.untried(number, hits)) if not made else []
            if left:
                self.thoughts.add("search_narrower", titles=listed([short(hit.title) for hit in left]))
            elif made:
                self.thoughts.add(self.how_again(todo[0]))
            elif todo[0][0] in self.state.reading.pages:
                self.thoughts.add("search_told", name=todo[0][0])
            elif name and not clue.value:
                listed_some = page is not None and self.chooser.states(number, page)
                self.thoughts.add("search_others" if listed_some else "search_reverse", name=name)
            else:
                if not name and not clue.cue.startswith(("of ", "in ")):  # it says where, and is no description
                    self.thoughts.add("plan_described", cue=strip(clue.cue))
                self.thoughts.add("search_described")
            return [search_call(*todo[0])]
        return self._dead_end(clue, name, tried=self._has_tried(number, name, page))

    def _candidate(self, number: int, name: str, page: SeenDocument | None, hits: list[Hit]) -> list[Call] | None:
        """Judge the page that was opened last, if it is one of ``hits``; else open the next of them."""
        current = self.seen.documents.get(self.seen.current or "")
        known = {hit.document for hit in hits} | self.entries(number)
        if (
            current is not None
            and current is not page
            and current.document in known
            and not self.state.is_dismissed(number, current.title, current.document)
            and (self._just_read(current) or self.noted)
        ):
            sentence = self.chooser.support(number, name, current)
            if sentence is not None:
                self.quote(sentence, short(current.title), name, leads_on=False)
                self.note(self.taken_as(number), short(self.chooser.subject(number, current, sentence)))
                return []
            option = self.chooser.option(number, name, current)
            if option is not None:
                return self._settle(number, current, option)
            if current.unread is not None and self.chooser.reads_on(number, current):
                return self.read_on(number, current, [*self._shown_of(number, current.document, name), name])
            self._say_why(number, name, current, "dismiss_why_silent" if name else "dismiss_why_described")
            self.note("dismiss", short(current.title))
            return self.go_to_entry(number, current)
        fresh = [hit for hit in self.untried(number, hits) if page is None or hit.document != page.document]
        chosen = self.chooser.related_hit(number, name, fresh) if fresh else None
        if chosen is None:
            # A page that was opened for another part of the question may go on with this one.
            begun = (self.seen.documents[hit.document] for hit in hits if hit.document in self.seen.documents)
            for one in begun if not name else ():
                gone = one is page or self.state.is_dismissed(number, one.title, one.document)
                if one.unread is not None and not gone and self.chooser.reads_on(number, one):
                    return self.read_on(number, one, [])
            return None
        self.say_hits(number, name, [chosen])
        return [("open", {"document": chosen.document})]

    def _from_description(self, number: int, clue: Clue) -> list[Call] | None:
        return self._from_the_other_end(number, clue, "", None)

    # Conditions.

    def check(self, number: int, clue: Clue, name: str, hint: str | None, value: Value) -> Need | bool:
        for document in self._tested_pages(number, name, hint, value):
            sentence = self.chooser.confirmation(number, name, value.name, document)
            if sentence is not None:
                self.quote(sentence, short(document.title), name, leads_on=False)
                return True
            if document.unread is not None and self.chooser.reads_on(number, document):
                tested = [name] if document.document == value.document else [value.name, value.name.rsplit(".", 1)[-1]]
                return Need(self.read_on(number, document, tested))
        page = self.seen.documents.get(value.document or "")
        if page is not None and page.unread is None and self.chooser.excludes(number, name, page):
            return False
        if not clue.every and page is not None and self._rules_out(number, value):
            return False  # a page names some of many: it tells nothing of one whose own page was not read
        sides = [self._reach_candidate] if clue.value else [self._reach_candidate, self._reach_source]
        if not self.chooser.starts_with_candidate(number):
            sides.reverse()
        for side in sides:
            if side == self._reach_source and page is not None and not clue.every:
                self._leave_open(number, name, hint, page)
            calls = side(number, name, hint, value)
            if calls:
                return Need(calls)
        return False

    def _rules_out(self, number: int, value: Value) -> bool:
        """Whether the page of a condition names another one of the list that ``value`` was taken from, and not it."""
        clues = self.state.reading.clues
        target = clues[number].target
        named = named_for(self.state, self.chooser.denies, number)
        for leading in (n for n, one in enumerate(clues) if one.target == target and n != number):
            for page in pages_of_source(self.state, leading):
                for sentence in page.sentences():
                    places = {item.anchor: _document(item.place) for item in sentence.links}
                    option = next((one for one in options_in(sentence, "entity") if one.text == value.name), None)
                    run = listed_with(option) if option is not None else []
                    left = [
                        n for n in run if places.get(n) in named and not self.state.is_dismissed(leading, n, places[n])
                    ]
                    if left and value.document not in named and value.name not in left:
                        return True
        return False

    def _tested_pages(self, number: int, name: str, hint: str | None, value: Value) -> list[SeenDocument]:
        pages = [
            document
            for document in self.seen.documents.values()
            if document.document in (value.document, (hint or "").split("#", 1)[0])
            or same_name(document.title, value.name)
            or self.chooser.is_source(number, name, document)
            or (value.document is None and self.chooser.is_source(number, value.name, document))
        ]
        return sorted(pages, key=lambda document: -document.turns[-1])

    def _reach_candidate(self, number: int, name: str, hint: str | None, value: Value) -> list[Call]:
        return self._reach(number, value.name, value.place)

    def _reach_source(self, number: int, name: str, hint: str | None, value: Value) -> list[Call]:
        return self._reach(number, name, hint)

    def _reach(self, number: int, name: str, place: str | None) -> list[Call]:
        """Calls that lead to the page of ``name``; none when it was read or can't be found."""
        if place is not None and place in self.seen.opened:
            return []
        page = self.source_page(number, name, place)
        return page if isinstance(page, list) else []

    # Small things.

    def fresh(self, page: SeenDocument) -> bool:
        """Whether there is reason to judge the page (again): it was just read, or something was just settled."""
        return self.noted or self._just_read(page)

    def _others(self, number: int) -> list[str]:
        """Names in the other conditions on the same unknown: what they have in common with a page may answer."""
        clues = self.state.reading.clues
        return [c.name for n, c in enumerate(clues) if n != number and c.name and c.target == clues[number].target]

    def _shown_of(self, number: int, document: str, about: str) -> list[str]:
        """A stretch of the snippet that led to a document: found again, it leads to the page."""
        for search in reversed(self.seen.searches):
            for hit in search.hits:
                if hit.document == document:
                    text = _stretch(self._telling(number, about, hit), self.state.reading.clues[number].cue)
                    return [re.sub(r"\W+$", "", text[:60].rsplit(" ", 1)[0])] if len(text) > 20 else []
        return []

    def untried(self, number: int, hits: Sequence[Hit]) -> list[Hit]:
        known: dict[str, Hit] = {}
        for hit in hits:
            if hit.document not in self.seen.documents and not self.state.is_dismissed(number, hit.title, hit.document):
                known.setdefault(hit.document, hit)
        return list(known.values())

    def _search(self, number: int, name: str, query: str) -> list[Call]:
        names = self.at_once(number, query)
        self._begin(number, name, names[1:])
        self.thoughts.add("search_names" if names[1:] else "search_name", names=listed(names), name=query)
        return [search_call(one, None) for one in names]

    def _beside(self, number: int, chosen: Hit) -> list[Hit]:
        """The pages where the independent questions begin, as far as searches showed them by name."""
        found: dict[str, Hit] = {}
        for other, name in self.independent(number):
            made = [search for search in self.seen.searches if fold(search.query) == fold(name)]
            hits = self.untried(other, [hit for search in made for hit in search.hits])
            hit = self.chooser.source_hit(other, name, hits) if hits else None
            if hit is not None and hit.document != chosen.document and same_name(hit.title, name):
                found.setdefault(hit.document, hit)
        return list(found.values())
