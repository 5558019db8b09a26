"""Before the answer: a look at what another page has on it."""

from __future__ import annotations

import re

from synth.agents.contract import Turn
from synth.agents.scripted.matching import quotable, same_name, short
from synth.agents.scripted.options import Option, holds, kind_called, listed_with, of_other_kinds, options_in
from synth.agents.scripted.pages.planner import PageReader
from synth.agents.scripted.pages.queries import search_call
from synth.agents.scripted.pages.shared import pages_of_source
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.agents.scripted.turn_planner import Call, Need
from synth.environments.passages import passages_of
from synth.environments.shown import Hit
from synth.text.inflection import article
from synth.text.lists import listed

__all__ = ["CrossChecking"]


_MARK = re.compile(r"[:(]")
"""What a title has that says which of several is meant, or what is written on something: "Overheard: Mina Sorg"."""
_TELLING_LENGTH = 6
"""Characters from which a value is found by itself: "false" is that of many settings."""


class CrossChecking(PageReader):
    def _finish(self) -> Turn:
        calls = self._crosscheck()
        return self._act(calls) if calls else super()._finish()

    # The rest of a list.

    def rivals(self, number: int, value: Value) -> list[Value]:
        lines = [line for page in pages_of_source(self.state, number) for line in page.sentences()]
        found: dict[str, Value] = {}
        for line in lines:
            option = next((one for one in options_in(line, "entity") if one.text == value.name), None)
            if option is not None and not self.chooser.denies(number, line):
                found |= self._listed_with(option, value)
        return list(found.values())

    def unlisted(self, number: int, value: Value) -> list[Value]:
        folder = (value.document or "").rpartition("/")[0]
        found: dict[str, Value] = {}
        for page in pages_of_source(self.state, number):
            for line in page.sentences():
                if line.text != line.heading and self.chooser.states_line(number, line):
                    options = options_in(line, "entity")
                    ends = [one for one in options if folder and (one.document or "").rpartition("/")[0] == folder]
                    found |= {one.text: Value(one.text, one.place, value.turn) for one in ends}
        return [one for one in found.values() if one.document != value.document]

    def _listed_with(self, option: Option, value: Value) -> dict[str, Value]:
        others, places = self.of_other_kinds(option), {item.anchor: item.place for item in option.sentence.links}
        return {
            name: Value(name, places.get(name), value.turn)
            for name in listed_with(option)
            if name not in (value.name, *others) and places.get(name) is not None
        }

    def beside(self, number: int, value: Value) -> list[Value]:
        clue, folder = self.state.reading.clues[number], (value.document or "").rpartition("/")[0]
        hits = {hit.document: hit for hit in self.seen.hits() if hit.document != value.document}
        if clue.value:  # nothing is named: who meets one condition by what a result shows may meet the others
            alike = [hit for hit in hits.values() if folder and hit.document.rpartition("/")[0] == folder]
            ways = [n for n, one in enumerate(self.state.reading.clues) if one.target == clue.target]
            shown = self.chooser.shown_to_meet
            telling = [hit for hit in alike if any(shown(way, hit.document) is not None for way in ways)]
        else:
            name = "" if clue.described else self.source(clue)[0]
            telling = [hit for hit in hits.values() if name and self.chooser.tells(number, name, hit)]
        page = self.seen.documents.get(value.document or "")
        plain = _MARK.search(value.name if page is None else page.title) is None
        own = [
            hit
            for hit in telling
            if hit.document in self.seen.documents  # what was opened is spoken of
            or not ((plain and _MARK.search(hit.title)) or self._is_on_another(hit))
        ]
        return [Value(short(hit.title), hit.document, value.turn) for hit in own]

    def _is_on_another(self, hit: Hit) -> bool:
        """Whether the title of a result says that it is on another thing of its kind: notes, a broadcast, an entry in a
        handbook."""
        folder = hit.document.rpartition("/")[0]
        pages = self.seen.documents.values()
        known: dict[str | None, str] = {one.document: one.title for one in self.seen.hits()}
        known |= {page.document: page.title for page in pages}
        known |= {link.document: link.anchor for page in pages for s in page.sentences() for link in s.links}
        alike = (name for document, name in known.items() if document and document.rpartition("/")[0] == folder)
        return any(name != hit.title and holds(hit.title, name) for name in alike)

    def ahead(self, number: int, rival: Value) -> list[Value] | Need | None:
        if rival.place is None:
            return None
        clue, page = self.state.reading.clues[number], self.seen.documents.get(rival.document or "")
        if page is None:
            slots = {"name": rival.name, "titles": rival.name}
            return Need([("open", {"document": rival.place})], "rest_open", slots)
        folder = (self.state.values[clue.target].document or "").rpartition("/")[0]
        lines = [s for s in page.sentences() if s.text != s.heading and self.chooser.states_line(number, s)]
        ends = {
            one.document: Value(one.text, one.place, self.seen.turns)
            for line in lines
            for one in options_in(line, "entity")
            if one.document is not None and folder and one.document.rpartition("/")[0] == folder
        }
        if ends and self._is_unspoken(page):
            self.thoughts.add("names_some", title=short(page.title), names=listed([one.name for one in ends.values()]))
        if not ends:
            made, todo = self.searched(self._reverse_queries(clue, rival.name)[:1])
            if not made:
                return Need([search_call(*todo[0])], "search_reverse", {"name": rival.name}) if todo else None
            for hit in (hit for search in made for hit in search.hits):
                shown = passages_of(hit.text, hit.document, hit.title, 0)
                told = any(holds(s.text, rival.name) and self.chooser.states_line(number, s) for s in shown)
                if told and hit.document.rpartition("/")[0] == folder:
                    ends[hit.document] = Value(short(hit.title), hit.document, self.seen.turns)
            if ends and made[-1].turn == self.seen.turns - 1:
                names = listed([one.name for one in ends.values()])
                self.thoughts.add("results_some", title=rival.name, names=names)
        return [end for document, end in ends.items() if document != rival.document]

    def is_ruled_out(self, number: int, rival: Value) -> bool:
        return not self.looked_at(rival) and self.rule_out(number, rival.name, rival.document)

    def looked_at(self, rival: Value) -> bool:
        return rival.document in self.seen.documents

    def weigh(self, number: int, clue: Clue, rival: Value) -> Need | bool:
        page = self.seen.documents.get(rival.document or "")
        if page is None:
            slots = {"name": rival.name, "titles": rival.name}
            return Need([("open", {"document": rival.place})], "rest_open", slots)
        name, place = self.source(clue)
        tested = self._tested_pages(number, name, place, rival)
        return any(self.chooser.confirmation(number, name, rival.name, one) is not None for one in tested)

    def _crosscheck(self) -> list[Call]:
        """Calls that open a page of which a result says otherwise; none, and what it showed is said.

        A second look needs a reason that is in view: who searches again for what a page has just said wastes a call.
        """
        about = self._last_read()
        if about is None:
            return []
        number, name, end = about
        page = self.seen.documents.get(self.seen.current or "")
        if not self.noted and page is not None and self._just_read(page) and self._is_beside(page):
            self.checked = True
            self._comment_on_crosscheck(number, name, end, page)
            return []
        failed = self.seen.last_failure
        again = failed is not None and failed.call.name == "open"  # announced, and refused: made again
        value = self.state.values.get(self.state.reading.answer)
        if not (again or (self.noted and self.chooser.crosschecks(value))):
            return []
        for hit in self.untried(number, [hit for search in self.seen.searches for hit in search.hits]):
            line = self.chooser.disputes(number, name, end, hit)
            if line is not None and quotable(line.text):
                slots = {"title": short(hit.title), "name": name, "quote": line.text.strip("… ").replace('"', "”")}
                self.thoughts.add("crosscheck_open", **slots)
                return [("open", {"document": hit.document})]
        return []

    def _is_beside(self, page: SeenDocument) -> bool:
        """Whether a page is none of those that the answer was read from or leads to."""
        members = [value for values in self.state.members.values() for value in values]
        ours = {value.document for value in (*self.state.values.values(), *members)}
        clues = enumerate(self.state.reading.clues)
        return page.document not in ours and not any(self.chooser.is_source(n, clue.name, page) for n, clue in clues)

    def objects(self, unknown: int, kind: str) -> bool:
        value, question = self.state.values[unknown], self.state.reading.question
        page = self.seen.documents.get(value.document or "")
        for number, clue in enumerate(self.state.reading.clues):
            known = clue.source is None or clue.source in self.state.values
            if clue.target != unknown or clue.every or not known:
                continue
            if of_other_kinds(f"{kind}/", [(value.name, value.place)], question):
                called = kind_called(kind, question)
                self.thoughts.add("of_kind", kind=f"{article(called)} {called}", titles=value.name)
                return True
            name, hint = self.source(clue)
            pages = self._tested_pages(number, name, hint, value)
            if any(self.chooser.confirmation(number, name, value.name, one) is not None for one in pages):
                continue
            if page is not None and self.chooser.contrary(number, name, page) is not None:
                self.fails(clue, name, value)
                return True
            if page is None and kind and (value.place or "").partition("/")[0] == kind:
                continue  # its own page may say it
            for one in pages:
                said = [s for s in self._speaking_of(value.name, one) if quotable(s.text)]
                if one is not page and said:
                    self._say_otherwise(clue, value.name, short(one.title), said[0])
                    return True
        return False

    def _last_read(self) -> tuple[int, str, str] | None:
        """The clue that was settled last, of those that lead on from a name; that name, and what it led to. Where
        several clues lead to the same, what is said of that one counts, and not of a name that many pages have. None
        where a list was gone through: the answer hangs on all of it, and one look elsewhere tells nothing."""
        clues = self.state.reading.clues
        if any(clue.every for clue in clues):
            return None
        for number, clue in reversed(list(enumerate(clues))):
            value = self.state.values.get(clue.target)
            name = "" if clue.value or clue.every or value is None else self.source(clue)[0]
            if not name or value is None:
                continue
            tested = sum(other.target == clue.target for other in clues) > 1
            return (number, value.name, name) if tested else (number, name, value.name)
        return None

    def _comment_on_crosscheck(self, number: int, name: str, end: str, page: SeenDocument) -> None:
        if self.credibility is not None and self.credibility.rejects(number, "", page, self.thoughts):
            self.thoughts.add("crosscheck_stands", title=short(page.title))
            return
        own = same_name(page.title, name)
        lines = [s for s in page.sentences() if quotable(s.text) and s.text != s.heading]
        said = [s for s in lines if own or holds(s.text, name)]
        both = [s for s in said if holds(s.text, end) and not self.chooser.denies(number, s)]
        check = self.credibility
        agrees = next((s for s in both if check is None or check.fits(number, name, s)), next(iter(both), None))
        if agrees is None and same_name(page.title, end) and check is not None:
            lines = [s for s in said if not self.chooser.denies(number, s)]
            agrees = next((s for s in lines if check.fits(number, name, s)), None)
        if agrees is not None:
            self.thoughts.add("crosscheck_agrees", title=short(page.title), quote=agrees.text)
        elif own:
            self.thoughts.add("verified_plain")
        elif said and self.chooser.contrary(number, "", page) is None:
            self.thoughts.add("crosscheck_says", title=short(page.title), name=name, quote=said[0].text)
        else:
            self.thoughts.add("crosscheck_silent", title=short(page.title), name=name)

    # A last look at the answer.

    def _last_look(self, value: Value) -> list[Call]:
        if self.checked:
            return []
        page = self.seen.documents.get(value.document or "")
        if self.noted and self.chooser.verifies(value):
            if value.place is not None and page is None:
                self.thoughts.add("verify_open", name=value.name)
                return [("open", {"document": value.place})]
            current = self.seen.documents.get(self.seen.current or "")
            shown = current is not None and any(value.name in sentence.text for sentence in current.sentences())
            if value.document is None and shown and "find" in self.tools and current is not None and current.total > 1:
                pattern = self._to_verify(value)
                known = {find.pattern for find in self.seen.finds if current and find.document == current.document}
                if pattern and pattern not in known:
                    self.thoughts.add("verify_find", name=pattern)
                    return [("find", {"pattern": pattern})]
        if not self.noted:
            self._comment_on_check(value, page)
        return []

    def _comment_on_check(self, value: Value, page: SeenDocument | None) -> None:
        if page is not None and self._just_read(page):
            clues, values = self.state.reading.clues, self.state.values
            others = {one.name for one in values.values()} | {clue.name for clue in clues}
            led = [number for number, clue in enumerate(clues) if values.get(clue.target) == value]
            for sentence in page.sentences():
                # Who is rector of a university need not have studied there.
                if led and all(self.chooser.denies(number, sentence) for number in led):
                    continue
                whole = quotable(sentence.text) and sentence.text.endswith((".", "!", "?"))  # and no title
                if whole and any(other and holds(sentence.text, other) for other in others - {value.name}):
                    self.thoughts.add("verified_says", quote=sentence.text)
                    return
            self.thoughts.add("verified_silent", title=short(page.title))
            return
        last = self.seen.finds[-1] if self.seen.finds else None
        if last is not None and last.turn == self.seen.turns - 1 and last.matches:
            document = self.seen.documents.get(last.document)
            lines = [one for one in document.found if last.pattern in one] if document is not None else []
            if last.matches == 1:
                self.thoughts.add("verified_once")
            elif any(self.thoughts.told(line.replace('"', "”")) for line in lines):
                self.thoughts.add("verified_often", count=last.matches)
            else:
                self.thoughts.add("verified_plain")
            return
        self.thoughts.add("verified_plain")

    def _to_verify(self, value: Value) -> str:
        """What to look for in the text before answering: the value, or what has it where the value is a word or number
        that many things have."""
        if len(value.name) >= _TELLING_LENGTH and not value.name.isdecimal():
            return value.name
        clues = self.state.reading.clues
        led = [clue for clue in clues if self.state.values.get(clue.target) == value and not clue.value]
        named = [self.source(clue)[0] for clue in led]
        return next((name for name in named if name), "") if self.state.reading.pages else value.name
