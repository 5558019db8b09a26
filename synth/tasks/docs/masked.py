"""Masked passages: names taken out of a page's text that other pages give back (MaskSearch RAMP, arXiv 2505.20285).

A passage holds one to four masks. The name behind a mask must be recoverable without the passage's own page: the page
of the thing itself says, in a sentence that defines it, what the masked sentence says of it, and no other thing's page
says as much of it. Every mask is an independent hop with that sentence as its evidence; more masks are harder.

The passage's own page stays in the collection, as it does in the paper: who finds it has the answer as well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from synth.schemas.documents import Edge
from synth.schemas.row import Split
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.describe import spells_out, stems
from synth.tasks.docs.english import is_fragment
from synth.tasks.docs.kinds import PLACES, is_nameable

__all__ = ["Mask", "Masked", "Passage", "frames"]

_RELATIONS = ("links_to", "see_also", "like", "replacement", "returns", "refers_for")
_BULLET = re.compile(r"^(?:- |\d+\. )+")
_MOST_MASKS = 4
_LONGEST = 520
"""Characters of a passage."""
_LEAST_WORDS = 4
"""Content words that a masked sentence and the sentence that gives the name back must share."""
_SHARE = 0.6
"""Share of the words of the sentence that gives the name back, weighted by rarity, that the masked one must hold."""
_LEAD = 0.15
"""By how much the best other thing must hold less."""


@dataclass(frozen=True)
class Mask:
    """One name that is taken out."""

    entity: int
    sentence: Edge
    """The masked sentence: an edge of the passage's page."""
    evidence: Edge
    """The sentence on another page that gives the name back."""
    rivals: int
    """Other things that share words with the masked sentence."""


@dataclass(frozen=True)
class Passage:
    row: int
    start: int
    end: int
    masks: tuple[Mask, ...]

    @property
    def signature(self) -> str:
        return f"masks:{len(self.masks)}"

    @property
    def ends_at(self) -> int:
        return self.masks[0].entity


class Masked:
    """All passages of a corpus whose masked names can be given back, by split and number of masks."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._edges: list[Edge] = []
        words: list[frozenset[str]] = []
        for edge in corpus.edges:
            if edge.relation in ("described_as", "subtitle") and edge.value is not None:
                name = corpus.entities[edge.subject].name
                held = frozenset(stems(edge.value) - stems(name))
                if len(held) >= _LEAST_WORDS and is_nameable(corpus.entities[edge.subject].kind):
                    self._edges.append(edge)
                    words.append(held)
        vocabulary = {word: i for i, word in enumerate(sorted({w for held in words for w in held}))}
        postings: list[list[int]] = [[] for _ in vocabulary]
        for place, held in enumerate(words):
            for word in sorted(held):
                postings[vocabulary[word]].append(place)
        self._vocabulary = vocabulary
        self._postings: list[NDArray[np.int64]] = [np.array(p, dtype=np.int64) for p in postings]
        n = max(1, len(words))
        self._weight = np.array([np.log(1 + n / (1 + len(p))) for p in postings]) if postings else np.zeros(0)
        self._total = np.array([sum(float(self._weight[vocabulary[w]]) for w in sorted(held)) for held in words])
        self._subjects = np.array([edge.subject for edge in self._edges], dtype=np.int64)

    @cached_property
    def by_signature(self) -> dict[Split, dict[str, list[Passage]]]:
        found: dict[Split, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
        for row, masks in sorted(self._maskable().items()):
            for passage in self._passages(row, masks):
                split = self._split(passage)
                if split is not None:
                    found[split][passage.signature].append(passage)
        return {split: dict(sorted(groups.items())) for split, groups in found.items()}

    def _maskable(self) -> dict[int, list[Mask]]:
        corpus = self._corpus
        found: dict[int, dict[int, Mask | None]] = defaultdict(dict)
        for edge in corpus.edges:
            if edge.object < 0 or edge.relation not in _RELATIONS:
                continue
            if corpus.columns.kinds[edge.document] == "index" or corpus.page_of(edge.object) == edge.document:
                continue
            known = found[edge.document]
            if edge.start in known:  # a sentence with two links says of neither alone what it says
                if (other := known[edge.start]) is not None and other.entity != edge.object:
                    known[edge.start] = None
                continue
            known[edge.start] = self._mask(edge)
        return {
            row: [mask for _, mask in sorted(masks.items()) if mask is not None] for row, masks in sorted(found.items())
        }

    def _mask(self, edge: Edge) -> Mask | None:
        corpus = self._corpus
        entity = corpus.entities[edge.object]
        sentence = corpus.quote(edge)
        if (
            not is_nameable(entity.kind)
            or entity.kind in PLACES
            or len(entity.name.strip("-")) < 3
            or not 40 <= len(sentence) <= 300
        ):
            return None
        if any(c in sentence for c in "“”«»[]") or not _place(sentence, names_of(entity.name, entity.aliases)):
            return None
        if len(_mentions(sentence, names_of(entity.name, entity.aliases))) != 1:
            return None  # a name that is an ordinary word as well: "a sorted list", "sorted()"
        plain = mask_names(sentence, names_of(entity.name, entity.aliases), "it")
        if is_fragment(plain.rstrip(".:"), least=30, most=300) in ("unbalanced", "unbalanced quotes", "too few words"):
            return None
        if spells_out(plain, entity.name):
            return None
        return self._given_back(edge, plain)

    def _given_back(self, edge: Edge, plain: str) -> Mask | None:
        """The sentence of the thing's own page that says the same, when no other thing's says as much."""
        wanted = [i for w in sorted(stems(plain)) if (i := self._vocabulary.get(w)) is not None]
        held = np.zeros(len(self._edges))
        count = np.zeros(len(self._edges), dtype=np.int64)
        for i in wanted:
            held[self._postings[i]] += self._weight[i]
            count[self._postings[i]] += 1
        share = np.where(count >= _LEAST_WORDS, held / np.maximum(self._total, 1e-9), 0.0)
        own = self._subjects == edge.object
        pages = np.array([self._edges[int(i)].document != edge.document for i in np.flatnonzero(own)])
        candidates = np.flatnonzero(own)[pages] if len(pages) else np.zeros(0, dtype=np.int64)
        if not len(candidates):
            return None
        best = int(candidates[int(np.argmax(share[candidates]))])
        others = float(share[~own].max()) if (~own).any() else 0.0
        if share[best] < _SHARE or others > share[best] - _LEAD:
            return None
        return Mask(edge.object, edge, self._edges[best], int(np.count_nonzero(share[~own] > 0)))

    def _passages(self, row: int, masks: Sequence[Mask]) -> Iterator[Passage]:
        """Runs of neighbouring sentences, each with a mask; names differ, and no name is told by what is left."""
        for first in range(len(masks)):
            for last in range(first, min(first + _MOST_MASKS, len(masks))):
                chosen = tuple(masks[first : last + 1])
                start, end = chosen[0].sentence.start, chosen[-1].sentence.end
                if end - start > _LONGEST or len({mask.entity for mask in chosen}) < len(chosen):
                    break
                text = self._corpus.text(row)[start:end]
                if any(c in text for c in "“”«»[]>{}") or "\n    " in text:
                    break
                yield Passage(row, start, end, chosen)

    def _split(self, passage: Passage) -> Split | None:
        corpus = self._corpus
        rows = {passage.row} | {mask.evidence.document for mask in passage.masks}
        owners = {corpus.columns.partitions[row] for row in rows if row not in corpus.hubs}
        return next(iter(owners)) if len(owners) == 1 else None

    def written(self, passage: Passage) -> tuple[str, tuple[str, ...]] | None:
        """The passage with its masks, and each masked sentence as it stands there; None when a name is left."""
        corpus = self._corpus
        text = corpus.text(passage.row)
        parts: list[str] = []
        cues: list[str] = []
        at = passage.start
        for number, mask in enumerate(passage.masks, 1):
            entity = corpus.entities[mask.entity]
            edge = mask.sentence
            parts.append(text[at : edge.start])
            cue = mask_names(text[edge.start : edge.end], names_of(entity.name, entity.aliases), f"[{number}]")
            cues.append(" ".join(_BULLET.sub("", cue.strip()).split()))
            parts.append(cue)
            at = edge.end
        # Lines of a list stay apart.
        lines = [_BULLET.sub("", line.strip()) for line in "".join(parts).split("\n")]
        whole = " / ".join(" ".join(line.split()) for line in lines if line)
        for mask in passage.masks:
            entity = corpus.entities[mask.entity]
            if _place(whole, names_of(entity.name, entity.aliases)):
                return None
        return (whole, tuple(cues)) if all(cue in whole for cue in cues) else None


def names_of(name: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """What a text may call the thing, the longest first."""
    known = {name, *aliases, name.rsplit(".", 1)[-1]}
    return tuple(sorted((n for n in known if len(n) > 1), key=lambda n: (-len(n), n)))


def _place(text: str, names: Sequence[str]) -> re.Match[str] | None:
    pattern = "|".join(re.escape(name) for name in names)
    return re.search(rf"(?<![\w.])(?:{pattern})(?![\w(])", text)


def _mentions(text: str, names: Sequence[str]) -> list[str]:
    pattern = "|".join(re.escape(name.removesuffix("()")) for name in names)
    return re.findall(rf"(?<![\w.])(?:{pattern})(?!\w)", text)


def mask_names(text: str, names: Sequence[str], mask: str) -> str:
    """``text`` with every mention of the names, parentheses of a call included, replaced by ``mask``."""
    pattern = "|".join(re.escape(name.removesuffix("()")) for name in names)
    return re.sub(rf"(?<![\w.])(?:{pattern})(?:\(\))?(?!\w)", lambda _: mask, text)


def frames(count: int) -> tuple[str, ...]:
    """Six ways of asking for ``count`` masks: ``{m}`` their marks ("[1] and [2]"), ``{p}`` the passage."""
    one = count == 1
    return (
        "Fill in the blank{s} {m}: “{p}”".replace("{s}", "" if one else "s"),
        f"{'A name is' if one else 'Some names are'} masked in this passage: “{{p}}” What "
        f"{'does' if one else 'do'} {{m}} stand for?",
        "What belongs in place of {m} here? “{p}”",
        f"I found this passage, but {'a name is' if one else 'names are'} missing: “{{p}}” Which "
        f"{'name is' if one else 'names are'} {{m}}?" + ("" if one else " Give them in order."),
        f"Restore the masked {'name' if one else 'names'} {{m}}{'' if one else ', in this order'}: “{{p}}”",
        f"Which {'name was' if one else 'names were'} replaced by {{m}} in “{{p}}”?",
    )
