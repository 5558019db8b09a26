"""Which things a response names: runs of whole words, and of two names at one place the longer one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from synth.text.words import tokens

__all__ = ["named"]


def named(text: str, names: Sequence[Sequence[str]]) -> frozenset[int]:
    """Indices of the things that ``text`` names; ``names[i]`` is all that thing ``i`` may be called.

    Words are compared without case, accents and possessive endings, so "Ann" is not in "annual" but is in "Ann's". A
    name inside a longer name of another thing names the longer one only: "Korvan Works" does not name "Korvan". (The
    published reward of LongTraceRL looks for substrings, which credits both.)
    """
    words = tokens(text)
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        places[word].append(place)
    spans: set[tuple[int, int, int]] = set()
    for thing, forms in enumerate(names):
        for form in forms:
            wanted = tokens(form)
            if len(wanted) > 1 and wanted[0] in ("the", "a", "an"):
                wanted = wanted[1:]
            if not wanted:
                continue
            size = len(wanted)
            spans.update((size, at, thing) for at in places[wanted[0]] if words[at : at + size] == wanted)
    owner: dict[int, tuple[int, int, int]] = {}
    found: set[int] = set()
    for span in sorted(spans, key=lambda one: (-one[0], one[1], one[2])):
        size, at, thing = span
        covering = owner.get(at)
        inside = covering is not None and covering[0] > size and at + size <= covering[1] + covering[0]
        if inside and covering is not None and covering[2] != thing:
            continue
        found.add(thing)
        for place in range(at, at + size):
            owner.setdefault(place, span)
    return frozenset(found)
