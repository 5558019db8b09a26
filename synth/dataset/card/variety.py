"""How varied the thoughts of each role are, with names, numbers and quotations masked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from synth.identity import hash_64
from synth.schemas.reports import VarietyReport

__all__ = ["Variety", "distinct", "masked", "self_bleu"]

_MOST = 2_000
"""Thoughts of a role that are looked at: those of the least hashes, whatever the order of the rows."""
_COMPARED = 300
"""Of them, so many are compared with each other."""
_LEAST = 20
"""Fewer thoughts say nothing."""
_N = 4
_TOKEN = re.compile(r"\"[^\"]*\"|“[^”]*”|\d[\d.,:/-]*|[^\W_]+(?:['’][^\W_]+)?|[.!?:;,]")


def masked(thought: str) -> list[str]:
    """The words of a thought; what is quoted, a number, or capitalised within a sentence is one sign, whatever its
    length."""
    found: list[str] = []
    start = True
    for token in _TOKEN.findall(thought):
        name = not token[0].isalpha() or (token[0].isupper() and not start and token != "I")
        word = token if token in ".!?:;," else "…" if name else token.casefold()
        if word != "…" or found[-1:] != ["…"]:
            found.append(word)
        start = token in ".!?:"
    return found


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[at:] for at in range(n)), strict=False))


def distinct(thoughts: Sequence[Sequence[str]]) -> float:
    """Distinct-4 (arXiv 1510.03055): different runs of four words over all of them, 0 to 1."""
    grams: Counter[tuple[str, ...]] = Counter()
    for words in thoughts:
        grams.update(_grams(words, _N))
    return len(grams) / grams.total() if grams else 0.0


def self_bleu(thoughts: Sequence[Sequence[str]]) -> float:
    """Self-BLEU-4 (arXiv 1802.01886): mean BLEU of each thought against all others, 0 to 1; the more alike the higher.

    Thoughts shorter than four words are not scored.
    """
    precisions: list[list[float]] = [[] for _ in thoughts]
    for n in range(1, _N + 1):
        counts = [_grams(words, n) for words in thoughts]
        most: dict[tuple[str, ...], tuple[int, int]] = {}  # the two greatest counts in one thought
        for own in counts:
            for gram, count in own.items():
                second, first = most.get(gram, (0, 0))
                if count > second:
                    most[gram] = (first, count) if count > first else (count, first)
        for precision, own in zip(precisions, counts, strict=True):
            if own:
                shared = sum(min(count, most[gram][0 if most[gram][1] == count else 1]) for gram, count in own.items())
                precision.append(shared / own.total())
    scored = [one for one in precisions if len(one) == _N]
    scores = [math.exp(sum(map(math.log, one)) / _N) if all(one) else 0.0 for one in scored]
    return sum(scores) / len(scores) if scores else 0.0


class Variety:
    """Thoughts as trajectories stream past, in any order."""

    def __init__(self) -> None:
        self._thoughts: dict[str, list[tuple[int, str]]] = {}
        """Role -> thoughts with their hashes."""

    def see(self, batch: pa.RecordBatch) -> None:
        roles = batch.column("role").to_pylist()
        content = batch.column("content")
        rows = pc.list_parent_indices(content).to_pylist()
        thoughts = pc.struct_field(pc.list_flatten(content), "reasoning_content").to_pylist()
        for row, thought in zip(rows, thoughts, strict=True):
            if thought:
                self._thoughts.setdefault(roles[row], []).append((hash_64(thought), thought))
        for role, known in self._thoughts.items():
            if len(known) > 2 * _MOST:
                self._thoughts[role] = sorted(known)[:_MOST]

    def reports(self) -> tuple[VarietyReport, ...]:
        """One per role that thought enough."""
        found = []
        for role, known in sorted(self._thoughts.items()):
            chosen = [masked(thought) for _, thought in sorted(known)[:_MOST]]
            if len(chosen) >= _LEAST:
                alike, apart = self_bleu(chosen[:_COMPARED]), distinct(chosen)
                figures = {"self_bleu_4": round(alike, 3), "distinct_4": round(apart, 3)}
                found.append(VarietyReport(role=role, thoughts=len(chosen), **figures))
        return tuple(found)
