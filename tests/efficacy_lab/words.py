"""Text as the tokens of a tiny decoder: words of the training rows, pieces of lines, and slots for all other words.

A decoder of half a million parameters can't learn to spell the names of a world that it never saw. So a word that is
not frequent in the training rows is replaced by a slot, one per word and conversation: what the slot is called is drawn
anew for each conversation, so the model can learn nothing about it but where it stood before (as the anonymized
entities of Hermann et al., arXiv 1506.03340). Frequent words that follow each other are merged as byte pairs are
(Sennrich et al., arXiv 1508.07909), never over the end of a line and never over a slot: a line that a tool often writes
becomes one token.

All of it is lossless: :meth:`Conversation.text` gives back what :meth:`Conversation.ids` read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import Field

from synth.identity import derive_generator, digest
from synth.schemas.described import Described

__all__ = [
    "AGENT",
    "CALL",
    "CONTROLS",
    "END",
    "PAD",
    "TOOL",
    "USER",
    "Conversation",
    "SlotsUsedUp",
    "Tables",
    "Vocabulary",
    "WordsConfig",
]

CONTROLS = ("<pad>", "<user>", "<tool>", "<agent>", "<call>", "<end>")
PAD, USER, TOOL, AGENT, CALL, END = range(len(CONTROLS))

_BASE = re.compile(r"\n|[^\S\n]+|[\w\-/#&]+|[^\w\s]")
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\n]*)\)")
_NAME = re.compile(r"[A-Z0-9/]")
_WORD = re.compile(r"[\w\-/#&]")


class SlotsUsedUp(Exception):
    """A conversation has more rare words than there are slots."""


class WordsConfig(Described):
    """What counts as a frequent word."""

    share: float = Field(default=0.02, gt=0, le=1)
    """A word is known when it stands in at least this share of the training rows."""
    names: bool = False
    """Names that a tool links to what they name, as ``[Mirova](city/mirova-00d3)``, may be known where they are
    frequent; else their words are slots, however frequent: no other world has them."""
    merges: int = Field(default=600, ge=0)
    """Merged tokens at most."""
    merge_count: int = Field(default=40, ge=2)
    """A pair is merged when it occurs at least so often in all training rows together."""
    slots: int = Field(default=160, ge=8)
    """Distinct rare words that one conversation may have."""


class Vocabulary(Described):
    """What was learned from the training rows; nothing else is in it. Ids: controls, words, merged tokens, slots."""

    words: tuple[str, ...]
    """Known words, marks and spaces."""
    merges: tuple[tuple[int, int], ...]
    """Pairs of ids, in the order in which they are applied; the n-th makes id ``len(controls) + len(words) + n``."""
    slots: int
    """How many slots there are."""

    @classmethod
    def learn(cls, rows: Sequence[Sequence[str]], config: WordsConfig | None = None) -> Vocabulary:
        """The vocabulary of training rows, each a sequence of texts. Does not depend on the order of the rows."""
        config = config or WordsConfig()
        within: Counter[str] = Counter()
        chunks: Counter[tuple[str, ...]] = Counter()
        for row in rows:
            found = [split(text) for text in row]
            within.update({piece for pieces in found for piece in pieces})
        least = config.share * len(rows)
        names = set() if config.names else {name for row in rows for text in row for name in _linked(text)}
        words = tuple(sorted(word for word, count in within.items() if count >= least and word not in names))
        known = {word: len(CONTROLS) + number for number, word in enumerate(words)}
        for row in rows:
            for text in row:
                chunks.update(tuple(chunk) for chunk in _chunks(split(text), known))
        counted = {tuple(known[piece] for piece in chunk): count for chunk, count in chunks.items()}
        merges = _learn_merges(counted, len(CONTROLS) + len(words), config)
        return cls(words=words, merges=merges, slots=config.slots)

    @property
    def size(self) -> int:
        """Number of ids."""
        return len(CONTROLS) + len(self.words) + len(self.merges) + self.slots

    @property
    def first_slot(self) -> int:
        """The id of slot 0; all from here on are slots."""
        return self.size - self.slots

    @property
    def slot_ids(self) -> range:
        """The ids of all slots."""
        return range(self.first_slot, self.size)

    def tables(self) -> Tables:
        """What encoding and decoding look up; make it once."""
        return Tables(self)


class Tables:
    """A vocabulary made ready. Shared by all conversations."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.known = {word: len(CONTROLS) + number for number, word in enumerate(vocabulary.words)}
        first = len(CONTROLS) + len(vocabulary.words)
        self._ranks = {pair: first + number for number, pair in enumerate(vocabulary.merges)}
        self.pieces: list[tuple[str, ...]] = [()] * len(CONTROLS) + [(word,) for word in vocabulary.words]
        for left, right in vocabulary.merges:
            self.pieces.append(self.pieces[left] + self.pieces[right])
        self._memo: dict[tuple[str, ...], tuple[int, ...]] = {}

    def merged(self, chunk: tuple[str, ...]) -> tuple[int, ...]:
        """Ids of known pieces that stand together in one line."""
        if chunk not in self._memo:
            ids = [self.known[piece] for piece in chunk]
            while len(ids) > 1:
                ranked = [(self._ranks[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in self._ranks]
                if not ranked:
                    break
                new = min(ranked)[0]
                ids = _replace(ids, self.vocabulary.merges[new - len(CONTROLS) - len(self.vocabulary.words)], new)
            self._memo[chunk] = tuple(ids)
        return self._memo[chunk]


class Conversation:
    """Reads and writes the texts of one conversation; remembers which slot stands for which word."""

    def __init__(self, tables: Tables, name: str) -> None:
        """``name`` says how slots are called: equal names, equal slots."""
        self._tables = tables
        order = derive_generator(0, "slots", digest(name)).permutation(tables.vocabulary.slots)
        self._free = [tables.vocabulary.first_slot + int(slot) for slot in order]
        self._slots: dict[str, int] = {}
        self._words: dict[int, str] = {}

    def ids(self, text: str) -> list[int]:
        """
        Raises:
            SlotsUsedUp: the conversation has too many rare words.
        """
        found: list[int] = []
        pieces = split(text)
        known = self._tables.known
        at = 0
        for chunk in _chunks(pieces, known):
            while at < len(pieces) and pieces[at] not in known:
                found.append(self._slot(pieces[at]))
                at += 1
            found += self._tables.merged(tuple(chunk))
            at += len(chunk)
        found += [self._slot(piece) for piece in pieces[at:]]
        return found

    def text(self, ids: Iterable[int]) -> str:
        """The text that ``ids`` stand for. A slot that stands for no word yet is written ``<slot>``."""
        pieces: list[str] = []
        for one in ids:
            if one >= self._tables.vocabulary.first_slot:
                pieces.append(self._words.get(one, "<slot>"))
            else:
                pieces += self._tables.pieces[one]
        return join(pieces)

    @property
    def used(self) -> frozenset[int]:
        """The slots that stand for a word by now."""
        return frozenset(self._words)

    def _slot(self, word: str) -> int:
        slot = self._slots.get(word)
        if slot is None:
            if len(self._slots) == len(self._free):
                raise SlotsUsedUp(f"more than {len(self._free)} rare words in one conversation")
            slot = self._slots[word] = self._free[len(self._slots)]
            self._words[slot] = word
        return slot


def split(text: str) -> list[str]:
    """Words, marks and spaces of ``text``. One blank between two words is left out: :func:`join` puts it back."""
    pieces = _BASE.findall(text)
    kept = []
    for at, piece in enumerate(pieces):
        between = piece == " " and 0 < at < len(pieces) - 1 and _is_word(pieces[at - 1]) and _is_word(pieces[at + 1])
        if not between:
            kept.append(piece)
    return kept


def _linked(text: str) -> Iterable[str]:
    """Words of names in links, and what they link to; words in small letters belong to the language."""
    for name, target in _LINK.findall(text):
        yield from (piece for piece in (*split(name), *split(target)) if _NAME.search(piece))


def join(pieces: Sequence[str]) -> str:
    """The text of which :func:`split` made ``pieces``."""
    parts: list[str] = []
    for at, piece in enumerate(pieces):
        if at and _is_word(piece) and _is_word(pieces[at - 1]):
            parts.append(" ")
        parts.append(piece)
    return "".join(parts)


def _is_word(piece: str) -> bool:
    return _WORD.match(piece) is not None


def _chunks(pieces: Sequence[str], known: dict[str, int]) -> list[list[str]]:
    """Runs of known pieces, cut behind the end of a line."""
    found: list[list[str]] = []
    open_ = False
    for piece in pieces:
        if piece not in known:
            open_ = False
            continue
        if not open_:
            found.append([])
        found[-1].append(piece)
        open_ = piece != "\n"
    return found


def _learn_merges(chunks: dict[tuple[int, ...], int], first: int, config: WordsConfig) -> tuple[tuple[int, int], ...]:
    """Merge the most frequent pair again and again; of equally frequent ones, the pair with the smallest ids."""
    held = [(list(ids), count) for ids, count in sorted(chunks.items()) if len(ids) > 1]
    merges: list[tuple[int, int]] = []
    counts: Counter[tuple[int, int]] = Counter()
    where: dict[tuple[int, int], set[int]] = {}
    for place, (ids, count) in enumerate(held):
        for pair in pairwise(ids):
            counts[pair] += count
            where.setdefault(pair, set()).add(place)
    while counts and len(merges) < config.merges:
        best, number = max(counts.items(), key=lambda item: (item[1], (-item[0][0], -item[0][1])))
        if number < config.merge_count:
            break
        new = first + len(merges)
        merges.append(best)
        for place in where.pop(best):
            ids, count = held[place]
            for pair in pairwise(ids):
                counts[pair] -= count
                if counts[pair] <= 0:
                    del counts[pair]
            ids = _replace(ids, best, new)
            held[place] = (ids, count)
            for pair in pairwise(ids):
                counts[pair] += count
                where.setdefault(pair, set()).add(place)
        counts.pop(best, None)
    return tuple(merges)


def _replace(ids: Sequence[int], pair: tuple[int, int], new: int) -> list[int]:
    made: list[int] = []
    at = 0
    while at < len(ids):
        if at + 1 < len(ids) and (ids[at], ids[at + 1]) == pair:
            made.append(new)
            at += 2
        else:
            made.append(ids[at])
            at += 1
    return made
