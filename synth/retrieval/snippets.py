"""The passage of a document that a search result shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from synth.retrieval.tokens import joined, tokenize
from synth.text.sentences import line_borders

__all__ = ["Passage", "best_passage", "heavy_terms"]

_TERMS = 12
"""At most so many query tokens, the heaviest, are looked for."""
_LIGHT = 0.1
"""Tokens lighter than this share of the heaviest one are not looked for: frequent words choose no passage."""


@dataclass(frozen=True, slots=True)
class Passage:
    """``text[start:end]``, in code points; it begins and ends at the edge of a sentence, or at least of a word."""

    start: int
    end: int
    tokens: int
    """How many distinct tokens of the query it holds."""


def heavy_terms(query: str, weight: Callable[[str], float] | None = None) -> dict[str, float]:
    """The heaviest distinct tokens of ``query``, the heaviest first, with their weights. ``weight`` of a token is 1 by
    default; ``Bm25Index.weight`` makes rare words count more."""
    weights = {token: 1.0 if weight is None else weight(token) for token in dict.fromkeys(tokenize(query))}
    heaviest = max(weights.values(), default=0.0)
    chosen = sorted((t for t in weights if weights[t] > _LIGHT * heaviest), key=lambda t: (-weights[t], t))[:_TERMS]
    return {token: weights[token] for token in chosen}


def best_passage(text: str, weights: Mapping[str, float], *, max_chars: int = 300) -> Passage:
    """The passage of at most ``max_chars`` code points with the heaviest distinct tokens of a query, whose
    :func:`heavy_terms` are ``weights``; first of equals. A text without any of them gives its beginning. Costs a few
    scans of the text, however long it is.

    Raises:
        ValueError: ``max_chars`` is less than 20.
    """
    if max_chars < 20:
        raise ValueError(f"max_chars is {max_chars}: at least 20")
    hits = _hits(text, weights)
    # The window leaves room in front of its first hit for the beginning of that hit's sentence.
    lead = max_chars // 3
    best, at = 0.0, 0
    inside: Counter[str] = Counter()
    total, last = 0.0, 0
    for first, (start, _, token) in enumerate(hits):
        while last < len(hits) and hits[last][1] <= start + max_chars - lead:
            total += weights[hits[last][2]] if inside[hits[last][2]] == 0 else 0.0
            inside[hits[last][2]] += 1
            last += 1
        if total > best + 1e-9:
            best, at = total, first
        if last == first:  # a token longer than the window
            last += 1
        else:
            inside[token] -= 1
            total -= weights[token] if inside[token] == 0 else 0.0
    start = _begin(text, hits[at][0], lead) if best else _skip_space(text, 0)
    end = _finish(text, start, max_chars)
    return Passage(start, end, len({token for s, e, token in hits if start <= s and e <= end}))


def _hits(text: str, tokens: Iterable[str]) -> list[tuple[int, int, str]]:
    """(start, end, token) of whole-word occurrences, whatever their case, in order."""
    folded = text.lower()
    if len(folded) != len(text):  # a few letters have a longer lower case: offsets must stay those of the text
        folded = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    hits = []
    for token in tokens:
        at = folded.find(token)
        while at >= 0:
            end = at + len(token)
            if not (at and joined(folded[at - 1], token[0])) and not joined(folded[end : end + 1], token[-1]):
                hits.append((at, end, token))
            at = folded.find(token, end)
    return sorted(hits)


def _begin(text: str, hit: int, lead: int) -> int:
    """Start of the sentence that ``hit`` stands in, or of a word, at most ``lead`` before it."""
    low = max(0, hit - lead)
    borders = [begin for _, begin in line_borders(text, low, min(len(text), hit + 1))]
    if borders:
        return borders[-1]
    if low == 0:
        return _skip_space(text, 0)
    while low < hit and not text[low - 1].isspace():
        low += 1
    return _skip_space(text, low)


def _finish(text: str, start: int, max_chars: int) -> int:
    """End of the last sentence that fits, or of the last word where that would leave half of the room empty."""
    limit = min(len(text), start + max_chars)
    if limit < len(text):
        ends = [end for end, _ in line_borders(text, start, limit + 4) if start < end <= limit]
        if ends and ends[-1] - start > max_chars // 2:
            limit = ends[-1]
        else:
            cut = limit
            while cut > start and not text[cut].isspace():
                cut -= 1
            limit = cut if cut > start else limit
    while limit > start and text[limit - 1].isspace():
        limit -= 1
    return limit


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
