"""What headings show how to do."""

from __future__ import annotations

import re

from synth.text.asked import MORE_VERBS, leans
from synth.text.verbs import VERBS

__all__ = ["how_to"]


def how_to(heading: str) -> str | None:
    """What a heading shows how to do: "Resuming a build", "How do I resume a build?" and "Resume a build" give
    "resume a build"."""
    words = re.sub(r"^(?:\d+\.)+(?:\d+)? |^Step \d+: ", "", heading).strip()
    words = re.sub(r"\s+([?!])$", r"\1", words)
    match = re.fullmatch(r"How (?:to|(?:do|can|should) (?:I|you|we)) (?P<vp>[^?]+)\??", words)
    if match is not None:
        vp = match["vp"][0].lower() + match["vp"][1:]
    else:
        first, _, rest = words.partition(" ")
        verb = first.lower() if first.lower() in VERBS - _HEADS else _of_gerund(first.lower())
        if not verb or not rest or not re.fullmatch(r"[A-Z][a-z]+", first):
            return None
        if verb == first.lower() and not re.match(r"(?:the|an?|your|all|any|from|with|on|to|in|into|up)\b", rest):
            return None  # "Exit codes"
        if verb != first.lower() and rest.split()[-1].lower() in _OF_DOING:
            return None  # "Rendering options"
        vp = f"{verb} {rest}"
    if (
        re.search(
            r"\b(?:[Ss]tuff|[Tt]hings?)$|^(?:start|begin|end) with an? [a-z]+$"
            r"|[:;?!()“”]|\b(?:I|my|myself|we|our|me|and|or|vs)\b|\.$",
            vp,
        )
        or not 1 <= vp.count(" ") <= 12
    ):
        return None
    if re.match(r"become (?:an? |part\b)|get (?:help|started|involved)\b|contribute\b", vp):
        return None  # what any project has a page on
    return None if leans(vp) else _without_capitals(vp)


def _without_capitals(words: str) -> str | None:
    """The words; None where all are written large, so that nobody can tell names from others."""
    inside = words.split()[1:]
    written = [word for word in inside if len(word) > 3]
    capitals = [word for word in written if re.fullmatch(r"[A-Z][a-z]+", word)]
    if len(capitals) < 2 or len(capitals) < len(written):
        return words
    return None


_HEADS = frozenset(
    """
    access block cache class control copy count display document exchange file filter format group handle import
    index input limit link list load lock log map mark mask match model name network object offer order output
    overlay pack patch place point position process profile query queue quote record reference release report
    request result search set signal slice stack state store support table test time touch trace transfer update
    value view visit work build run call change check return start step end type post plan design form frame
    trigger hook issue benchmark
    """.split()
)
"""First words of headings that are nouns as often: "Build steps", "Run time"."""


_OF_DOING = frozenset(
    """
    options settings parameters rules steps types modes tools commands requirements errors order time times
    methods interface environment system policy examples guide tips support configuration features notes details
    tables
    """.split()
)
"""Last words of headings whose first one says what they are for."""


def _of_gerund(word: str) -> str | None:
    """The verb of "resuming", if it is one that documentation uses."""
    if not word.endswith("ing"):
        return None
    stem = word[:-3]
    return next((verb for verb in (stem, f"{stem}e", stem[:-1]) if verb in VERBS | MORE_VERBS), None)
