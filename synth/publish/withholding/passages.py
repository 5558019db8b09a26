"""Passages of given documents within other texts: every run of at least so many code points that both hold.

Windows of the documents are hashed at every 25th place, those of a text at every place: a common run of 40 holds a
window of 16 that was hashed on both sides (sampled fingerprints, as in Schleimer et al., "Winnowing", SIGMOD 2003, with
the samples on one side alone). What hashes alike is compared, so a chance hash finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from synth.dataset.references import escaped, reference

__all__ = ["LEAST", "Passages"]

LEAST = 40
"""Code points from which a common run counts as a passage: names, titles and single facts are shorter."""
_WINDOW = 16
_STRIDE = LEAST - _WINDOW + 1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that no power of it is 0 modulo 2^64."""
_KEPT_TEXTS = 4_000
"""Texts whose form is remembered: pages and prompts stand in many rows."""


class Passages:
    """The documents' texts, hashed. Memory: their text, and sixteen bytes for every 25 code points."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._ids = sorted(texts)
        self._texts = [texts[name] for name in self._ids]
        hashes, owners, places = [], [], []
        for number, text in enumerate(self._texts):
            found = _windows(text)[::_STRIDE]
            hashes.append(found)
            owners.append(np.full(len(found), number, np.int32))
            places.append(np.arange(len(found), dtype=np.int32) * _STRIDE)
        joined = np.concatenate([np.zeros(0, np.uint64), *hashes])
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._owners = np.concatenate([np.zeros(0, np.int32), *owners])[order]
        self._places = np.concatenate([np.zeros(0, np.int32), *places])[order]
        self.withheld = lru_cache(_KEPT_TEXTS)(self._withheld)

    def _withheld(self, text: str) -> str:
        """``text`` with a reference in place of every passage: what is left shares no run of ``LEAST`` code points
        with a document. The same text has the same form, wherever it stands."""
        if len(text) < LEAST:
            return escaped(text)
        made: list[str] = []
        at = 0
        for start, end, owner, place in self._matches(text):
            first = max(start, at)
            if first >= end:
                continue
            made += [escaped(text[at:first])]
            made += [reference(self._ids[owner], place + first - start, place + end - start)]
            at = end
        return "".join([*made, escaped(text[at:])])

    def _matches(self, text: str) -> list[tuple[int, int, int, int]]:
        """(start, end, document, place there), by start; every window that was hashed on both sides lies in one."""
        found: list[tuple[int, int, int, int]] = []
        hashes = _windows(text)
        left = np.searchsorted(self._hashes, hashes, side="left")
        right = np.searchsorted(self._hashes, hashes, side="right")
        covered = 0
        for p in np.flatnonzero(right > left).tolist():
            if p + _WINDOW <= covered:
                continue
            best: tuple[int, int, int, int] | None = None
            since = max(0, min(covered, p - LEAST))  # what lies before is in a reference already
            for entry in range(int(left[p]), int(right[p])):
                owner, q = int(self._owners[entry]), int(self._places[entry])
                there = self._texts[owner]
                if not there.startswith(text[p : p + _WINDOW], q):
                    continue
                before = _common(text[since:p][::-1], there[max(0, q - p + since) : q][::-1])
                after = _common(text[p:], there[q : q + len(text) - p])
                if before + after >= LEAST and (best is None or (p + after, before) > (best[1], p - best[0])):
                    best = (p - before, p + after, owner, q - before)
            if best is not None:
                found.append(best)
                covered = best[1]
        return sorted(found)


def _common(first: str, second: str) -> int:
    """Length of the longest common beginning."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while high - low > 1:  # first[:low] is common, first[:high] is not
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _windows(text: str) -> Any:
    """Hash of every window: (len(text) - 15,) uint64, empty for a shorter text."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    if len(codes) < _WINDOW:
        return np.zeros(0, np.uint64)
    codes = (codes + np.uint64(1)) * _FACTOR
    codes ^= codes >> np.uint64(29)
    size = 1
    while size < _WINDOW:
        codes = codes[:-size] + codes[size:] * np.uint64(pow(int(_FACTOR), size, 1 << 64))
        size *= 2
    return codes
