"""Entries on a page: a term on a line of its own, what is said about it indented below (reference documentation)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from synth.agents.scripted.matching import same_name
from synth.environments.shown import Passage
from synth.text.words import fold

__all__ = ["about", "names", "subject", "term"]

_MARKS = frozenset(
    "class exception coroutine async classmethod staticmethod property abstractmethod final static".split()
)
_IDENTIFIER = re.compile(r"[a-z-][\w.-]*|[A-Z]+[a-z0-9]+[A-Z]\w*")
"""A name that a heading may have: no word of a sentence, and no title."""
_BARE = re.compile(r"[^\w.-]+$")


def term(line: str) -> str | None:
    """The name that a line introduces ("class pool.Thing(size)" -> "pool.Thing"); None when it is no such line."""
    words = line.split("(", 1)[0].split()
    while len(words) > 1 and words[0] in _MARKS:
        words = words[1:]
    if not words or len(words) > 3 or line.rstrip().endswith((":", ".", "?")):
        return None
    name = _BARE.sub("", " ".join(words))
    return name if len(name) > 1 and name[0] not in ".#" else None


def names(text: str, name: str) -> bool:
    """Whether ``text`` (an anchor, a term) names ``name``: equal, or one is the other's last part ("Thing.run()")."""
    if same_name(text, name):
        return True
    a, b = _code(text), _code(name)
    return bool(a) and bool(b) and (a == b or b.endswith(f".{a}") or a.endswith(f".{b}"))


def _code(text: str) -> str:
    word = text.split("(", 1)[0].strip()
    return word if re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", word) and not re.fullmatch(r"\d+(?:\.\d+)*", word) else ""


def about(sentences: Iterable[Passage], name: str) -> list[Passage]:
    """What stands under the entry of ``name``, the entry's own line first; empty where there is none.

    The last part of a dotted name is enough only where no entry has the whole name.
    """
    known = [sentence for sentence in sentences if sentence.text != sentence.heading]
    for match in (_whole, _last):
        found = [s for s in known if any(match(line, name) for line in (s.text, *s.parents))]
        if found:
            return found
    if not _IDENTIFIER.fullmatch(name):
        return []
    return [s for s in known if s.heading and names(s.heading.split(" ", 1)[0], name)]


def _whole(line: str, name: str) -> bool:
    found = term(line)
    return found is not None and fold(found) == fold(name)


def _last(line: str, name: str) -> bool:
    found = term(line)
    return found is not None and names(found, name)


def subject(sentence: Passage, title: str) -> list[str]:
    """What a sentence may be about, the likeliest first: the terms that it stands under, a heading that is a name, then
    the page."""
    terms = [found for line in reversed(sentence.parents) if (found := term(line)) is not None]
    bare = re.sub(r" (?:[A-Z]\w+|[a-z]+)$", "", sentence.heading)
    headed = [bare] if bare and " " not in bare and sentence.heading != title else []
    return [*terms, *headed, title]
