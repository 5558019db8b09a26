"""What kind of thing a question about reference documentation asks for."""

from __future__ import annotations

import re

__all__ = ["NOUN", "sought_kind"]

NOUN = (
    r"(module|function|coroutine|method|exception|class|decorator|page|chapter|section|attribute|constant|term"
    r"|command(?!-line)|program|catalog|view|parameter|package|list|option|variable)e?s?\b"
)
_NOUNS = re.compile(rf"\b{NOUN}")
_ASKED = re.compile(rf"\b(?:which|what|other|another|single|one|an?|one of the) (?:other )?{NOUN}", re.IGNORECASE)


def sought_kind(question: str, cue: str) -> str:
    """The kind of thing that a clue leads to, as the question names it ("which class", "the module that ..."); empty
    when it names none. Words of the clue count first, then the nearest before it, then any."""
    at = question.find(cue)
    found = _NOUNS.match(cue) or _ASKED.search(cue)
    if found is not None:
        return found.group(1)
    before = list(_NOUNS.finditer(question[:at] if at > 0 else ""))
    if before and at - before[-1].end() < 24:
        return before[-1].group(1)
    anywhere = _NOUNS.search(question)
    return anywhere.group(1) if anywhere else ""
