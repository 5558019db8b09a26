"""How a planner reads a document that is longer than one page of the tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.agents.scripted.choosing import PageChooser
from synth.agents.scripted.matching import content_stems, content_words, short, strip
from synth.agents.scripted.rest_of_list import RestOfList
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.turn_planner import Call
from synth.lexicon.reading import phrases

__all__ = ["LongDocuments"]

_IDLE = frozenset(phrases("word_lists")["of_documents"])


class LongDocuments(RestOfList):
    """Where to look next in a document that was not read to its end."""

    chooser: PageChooser
    tools: frozenset[str] = frozenset(("search", "open", "find"))
    """What it may call. Where there are several collections, it searches all of them at once."""

    def read_on(self, number: int, page: SeenDocument, hints: Sequence[str]) -> list[Call]:
        """The next look at a document that was not read to its end: the page that a find points to, a find where the
        document is long (for ``hints`` or words of the clue), else the next page."""
        finds = [find for find in self.seen.finds if find.document == page.document]
        pointed = [p for find in finds for p in find.pages if p not in page.pages]
        chosen = self.chooser.page(number, page, pointed) if pointed else None
        if chosen is not None:
            self.thoughts.add("found_page", page=chosen, title=short(page.title))
            return [("open", {"document": page.document, "page": chosen})]
        if page.total > 2 and "outline" in self.tools and (found := self._by_outline(number, page)) is not None:
            return found
        if page.total > 2 and self.seen.current == page.document and "find" in self.tools:
            cue = strip(self.state.reading.clues[number].cue)
            words = [word for word in content_words(cue) if word not in _IDLE and len(word) > 2]
            known = {find.pattern.casefold() for find in finds}
            told = self.state.reading.pages
            quoted = [text for text in re.findall(r"[“\"]([^”\"]{3,40})[”\"]", cue) if text not in told]
            patterns = [p for p in dict.fromkeys((*quoted, *hints, *words)) if p and p.casefold() not in known]
            pattern = self.chooser.pattern(number, page, patterns) if patterns and len(finds) < 4 else None
            if pattern is not None:
                shown = f'"{pattern}"' if " " in pattern else pattern
                self.thoughts.add("find_word", total=page.total, title=short(page.title), pattern=shown)
                return [("find", {"pattern": pattern})]
        leaf = self.chooser.leaf(number, page) if page.total > 4 else None
        if leaf is not None and leaf != page.unread:
            self.thoughts.add("leaf", page=leaf, title=short(page.title), total=page.total)
            return [("open", {"document": page.document, "page": leaf})]
        unread = page.unread
        assert unread is not None
        self.thoughts.add("next_page", page=max(page.pages), next=unread, total=page.total, title=short(page.title))
        return [("open", {"document": page.document, "page": unread})]

    def _by_outline(self, number: int, page: SeenDocument) -> list[Call] | None:
        """The outline of a long document, or the page under the heading that is most like the clue; None where no
        heading leads on."""
        outlined = self.seen.outlines.get(page.document)
        if outlined is None:
            self.thoughts.add("outline", title=short(page.title), total=page.total)
            return [("outline", {"document": page.document})]
        wanted = content_stems(self.state.reading.clues[number].cue)
        like = [(len(wanted & content_stems(head.text)), -head.page, head) for head in outlined.found]
        fitting = [one for one in like if one[0] and -one[1] not in page.pages]
        if not fitting:
            return None
        head = max(fitting, key=lambda one: one[:2])[2]
        self.thoughts.add("under_heading", heading=short(head.text), page=head.page)
        return [("open", {"document": page.document, "page": head.page})]
