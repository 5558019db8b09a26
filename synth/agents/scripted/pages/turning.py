"""How the scripted policy goes through results, long documents and lists, and how it gets calls wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.agents.scripted.choosing import ErrorInjection
from synth.agents.scripted.seen import SeenDocument
from synth.environments.contract import ToolCall
from synth.environments.passages import Passage
from synth.environments.shown import Hit

__all__ = ["MENTIONS", "PageTurning"]

MENTIONS = re.compile(r"\b(?:mention\w*|refer\w*|comes? up|brought up)\b", re.IGNORECASE)
"""Clues that say no more than that one page names the other."""


class PageTurning(ErrorInjection):
    # Of results it reads what says which page to open next, and nothing else.

    def shown_to_meet(self, clue: int, document: str | None) -> Passage | None:
        return None

    def shown_to_fail(self, clue: int, document: str | None) -> Passage | None:
        return None

    def left_over(self, clue: int, name: str, hits: Sequence[Hit]) -> list[Hit]:
        return []

    def better_result(self, clue: int, name: str) -> Hit | None:
        return None

    def disputes(self, clue: int, name: str, end: str, hit: Hit) -> Passage | None:
        return None

    # Lists and pages.

    def stops_listing(self, clue: int, names: Sequence[str]) -> bool:
        if not self.errs(self._config.short_list):
            return False
        self.log("short_list", f"looked for no more than {', '.join(names)}")
        return True

    def reads_on(self, clue: int, document: SeenDocument) -> bool:
        if "one_page" in self._config.systematic:
            self.log("one_page", f"did not turn to page {document.unread} of {document.title!r}")
            return False
        finds = [find for find in self._seen.finds if find.document == document.document]
        pointed = any(page not in document.pages for find in finds for page in find.pages)
        if len(finds) > 1 and not pointed:
            return False  # it was looked for and is not there
        return len(document.pages) < 5 and not self.errs(0.1)

    def pattern(self, clue: int, document: SeenDocument, patterns: Sequence[str]) -> str | None:
        draw = float(self._generator.random())
        return patterns[0] if draw < 0.75 else max(patterns, key=len) if draw < 0.9 else None

    def page(self, clue: int, document: SeenDocument, pages: Sequence[int]) -> int | None:
        return pages[0]

    def leaf(self, clue: int, document: SeenDocument) -> int | None:
        return None

    def starts_with_candidate(self, clue: int) -> bool:
        # What a page mentions is seen on that page, and at once for all candidates.
        listed = MENTIONS.search(self._state.reading.clues[clue].cue) is not None
        return float(self._generator.random()) < (0.15 if listed else 0.5)

    def _corrupted(self, call: ToolCall) -> ToolCall:
        draw = int(self._generator.integers(3))
        arguments = dict(call.arguments)
        if call.name == "open":
            document = str(arguments["document"])
            title = next((hit.title for hit in self._seen.hits() if hit.document == document), None)
            if draw == 0 and title is not None and title != document:
                arguments["document"] = title
            elif draw == 1:
                arguments["page"] = 0
            else:
                arguments = {"id": document}
        elif "query" in arguments:
            if draw == 0:
                arguments["k"] = 50
            elif draw == 1:
                arguments = {"q": arguments["query"]}
            else:
                arguments["limit"] = 5
        elif call.name == "find":
            arguments = {"text": arguments["pattern"]}
        return call.model_copy(update={"arguments": arguments})
