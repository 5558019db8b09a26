"""Observations as text, read back, whichever environment wrote them."""

from __future__ import annotations

from functools import lru_cache

from synth.environments import outline, pages, triples
from synth.environments.shown import Shown, Text

__all__ = ["observe"]


@lru_cache(maxsize=2048)
def observe(content: str) -> Shown:
    """What an observation shows: the first lines of pages, of facts and of outlines are never alike. Where a call
    failed, its words show nothing."""
    for read in (pages.read, triples.read, outline.read):
        shown = read(content)
        if not isinstance(shown, Text):
            break
    return shown
