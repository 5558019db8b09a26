"""Observations as text, read back, whichever environment wrote them."""

from __future__ import annotations

from functools import lru_cache

from synth.environments import pages, triples
from synth.environments.shown import Shown, Text

__all__ = ["observe"]


@lru_cache(maxsize=4096)
def observe(content: str) -> Shown:
    """What an observation shows: the first lines of pages and of facts are never alike. Where a call failed, its words
    show nothing."""
    shown = pages.read(content)
    return triples.read(content) if isinstance(shown, Text) else shown
