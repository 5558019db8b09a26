"""Pages about something that has an entry of its own are set aside, and the entry is read instead."""

from __future__ import annotations

from synth.agents.scripted.matching import short
from synth.agents.scripted.pages.narration import PageNarration
from synth.agents.scripted.pages.speaking import entry_behind
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.turn_planner import Call

__all__ = ["Asides"]


class Asides(PageNarration):
    def entries(self, number: int) -> set[str]:
        """Entries behind the pages that were set aside for a clue ("Jon Maak (yearbook)")."""
        gone = [d for d in self.seen.documents.values() if self.state.is_dismissed(number, d.title, d.document)]
        return {one.document for d in gone if (one := entry_behind(d)) is not None and one.document is not None}

    def go_to_entry(self, number: int, page: SeenDocument) -> list[Call]:
        """Calls that open the entry behind a page that was set aside: it may say what the page does not."""
        entry = entry_behind(page) if self.credibility is not None else None
        if entry is None or entry.document is None or entry.document in self.seen.documents:
            return []
        listed = {value.document for values in self.state.members.values() for value in values}
        if entry.document in listed or self.state.is_dismissed(number, entry.text, entry.document):
            return []
        self.thoughts.add("open_link", name=entry.text)
        return [("open", {"document": entry.document})]

    def _has_tried(self, number: int, name: str, page: SeenDocument | None) -> bool:
        """Whether something that leads on from ``name`` was read and put aside."""
        if page is not None and self.chooser.states(number, page):
            return True
        gone = [d for d in self.seen.documents.values() if self.state.is_dismissed(number, d.title, d.document)]
        return any(self._speaking_of(name, one) for one in gone)

    def _leave_open(self, number: int, name: str, hint: str | None, page: SeenDocument) -> None:
        """Say of the page of a candidate that was just read, before the other side of a condition is read for it, that
        it does not decide."""
        read = any(
            self.chooser.is_source(number, name, one) or one.document == hint for one in self.seen.documents.values()
        )
        if read or not self._just_read(page) or self.thoughts.names(short(page.title)):
            return
        if self._speaking_of(name, page):
            return
        others = self.chooser.states(number, page)
        self.thoughts.add("names_others" if others else "silent", title=short(page.title), name=name)
