"""Runs of words that a text shares with any of many others (n-gram overlap).

GPT-3 (arXiv 2005.14165, appendix C) called a text contaminated that shares 13 words in a row with a benchmark. A short
question has no 13 words, so there is a second rule: two texts overlap when they share ``ngram`` words in a row, or when
the shorter of both, of ``shortest`` words at least, stands wholly in the other. Runs that are mostly numbers say
nothing and do not count.

Every run of ``shortest`` words of the known texts is hashed into one sorted array. Where a run of the text that is
looked at is found in it, the longer run that the rule asks for is compared by prefix hashes: 28 bytes per known word,
and a few microseconds per word that is looked at, however many texts are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.filtering.decontamination.words import NUMBER, word_hash

__all__ = ["Overlap", "Overlaps"]

Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_ROUND = 1 << 64


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a text shares with a known one."""

    text: int
    """Number of the known text."""
    start: int
    """First shared word in the text that was looked at."""
    stop: int
    """Just past the last one: all shared words in a row that stand there."""
    whole: bool
    """Whether that is all of the known text, or all of the text that was looked at."""


class Overlaps:
    """The known texts.

    Args:
        texts: Their words, as ``words_of`` gives them. Those of fewer than ``shortest`` words
            are found in nothing.
        ngram: Shared words in a row that make an overlap.
        shortest: Words that the shorter of two texts has at least, where all of it is shared. At most ``ngram``.
        distinct: Different words, numbers left out, that a shared run has at least.
    """

    def __init__(self, texts: Iterable[Sequence[str]], *, ngram: int, shortest: int, distinct: int = 5) -> None:
        if not 1 <= shortest <= ngram:
            raise ValueError(f"shortest is {shortest} and ngram {ngram}: at least 1, and no more than that")
        self._ngram, self._shortest, self._distinct = ngram, shortest, distinct
        numbers: list[NDArray[np.uint64]] = []
        ends = []
        total = 0
        for words in texts:
            numbers.append(_hashes(words))
            total += len(words)
            ends.append(total)
        self._ends = np.array(ends, dtype=np.int64)
        tokens = np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.uint64)
        self._powers = _powers(max(ngram, shortest, 1) + 1)
        self._prefix = _prefix(tokens)
        self._tokens = tokens
        starts = np.concatenate(
            [np.arange(end - len(one), end - shortest + 1) for end, one in zip(ends, numbers, strict=True)]
            or [np.zeros(0, dtype=np.int64)]
        ).astype(np.int64)
        seeds = self._windows(self._prefix, starts, np.full(len(starts), shortest))
        order = np.argsort(seeds, kind="stable")
        self._seeds, self._places = seeds[order], starts[order].astype(np.uint32 if total < 2**32 else np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def find(self, words: Sequence[str]) -> Overlap | None:
        """The overlap with the first of the known texts that ``words`` overlap with, at its first place; None when
        there is none."""
        length = len(words)
        if length < self._shortest or not len(self._seeds):
            return None
        prefix = _prefix(_hashes(words))
        at = np.arange(length - self._shortest + 1)
        seeds = self._windows(prefix, at, np.full(len(at), self._shortest))
        low = np.searchsorted(self._seeds, seeds, "left")
        high = np.searchsorted(self._seeds, seeds, "right")
        counts = high - low
        if not counts.any():
            return None
        # Every pair of a place here and a place among the known texts where a run of ``shortest`` words is the same.
        mine = np.repeat(at, counts)
        runs = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
        theirs = self._places[runs].astype(np.int64)
        text = np.searchsorted(self._ends, theirs, "right")
        end = self._ends[text]
        begin = np.where(text > 0, self._ends[text - 1], 0)
        need = np.minimum(np.minimum(self._ngram, length), end - begin)
        fits = (mine + need <= length) & (theirs + need <= end)
        mine, theirs, text, need = mine[fits], theirs[fits], text[fits], need[fits]
        same = self._windows(prefix, mine, need) == self._windows(self._prefix, theirs, need)
        mine, theirs, text, need = mine[same], theirs[same], text[same], need[same]
        telling: dict[tuple[int, int], bool] = {}
        for one in np.lexsort((theirs, mine, text)):
            window = int(mine[one]), int(need[one])
            if window not in telling:
                shared = set(words[window[0] : sum(window)]) - {NUMBER}
                telling[window] = len(shared) >= min(self._distinct, window[1])
            if telling[window]:
                return self._run(words, *window, int(theirs[one]), int(text[one]))
        return None

    def _run(self, words: Sequence[str], mine: int, need: int, theirs: int, text: int) -> Overlap:
        """The whole run around a shared window."""
        begin = int(self._ends[text - 1]) if text else 0
        end = int(self._ends[text])
        tokens = _hashes(words)
        start, stop, there = mine, mine + need, theirs + need
        while start > 0 and theirs > begin and tokens[start - 1] == self._tokens[theirs - 1]:
            start, theirs = start - 1, theirs - 1
        while stop < len(words) and there < end and tokens[stop] == self._tokens[there]:
            stop, there = stop + 1, there + 1
        return Overlap(text, start, stop, stop - start in (len(words), end - begin))

    def _windows(self, prefix: Hashes, starts: NDArray[Any], lengths: NDArray[Any]) -> Hashes:
        """Hash of each window ``[start, start + length)`` of the sequence with these prefix hashes."""
        with np.errstate(over="ignore"):
            mixed: Hashes = prefix[starts + lengths] - prefix[starts] * self._powers[lengths]
        return mixed


def _hashes(words: Sequence[str]) -> Hashes:
    return np.array([word_hash(word) for word in words], dtype=np.uint64)


def _prefix(tokens: Hashes) -> Hashes:
    """``prefix[i]``: hash of the first ``i`` words; modulo 2^64."""
    out = np.zeros(len(tokens) + 1, dtype=np.uint64)
    value = 0
    for number, token in enumerate(tokens.tolist()):
        value = (value * _BASE + token) % _ROUND
        out[number + 1] = value
    return out


def _powers(count: int) -> Hashes:
    value, found = 1, []
    for _ in range(count):
        found.append(value)
        value = value * _BASE % _ROUND
    return np.array(found, dtype=np.uint64)
