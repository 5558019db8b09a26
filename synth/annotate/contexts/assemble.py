"""Fill a message with documents up to a budget of tokens: every gold one whole, then distractors by rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from synth.annotate.contexts.sentences import line_ends, sentence_ends, word_ends
from synth.annotate.contexts.tokens import Tokenizer
from synth.schemas.contexts import Cut

__all__ = ["Assembled", "Block", "Placed", "Shortfall", "assemble"]

TOLERANCE = 0.01
"""A message holds at least this share less than its budget, and never more than it."""
ENOUGH = 0.002
"""What may stay empty without a document being cut for it."""
MISSES = 64
"""After so many documents in a row that do not fit whole, the room that is left is filled with a part of one."""
CANDIDATES = 16
"""Documents that did not fit whole, of which the best cut is taken: those of the highest ranks."""
ATTEMPTS = 8
"""The tokens of a whole are not always the sum of those of its parts: so often the budget is corrected."""

T = TypeVar("T")


@dataclass(frozen=True)
class Block(Generic[T]):
    """A document as it is to stand in the message."""

    item: T
    """Whatever the caller needs to know it by."""
    title: str
    text: str
    """Its text, or the beginning of it."""
    cut: Cut = "none"

    @cached_property
    def head(self) -> str:
        """What stands above the text: the title, unless the text begins with it."""
        return "" if self.text.lstrip("# \n").startswith(self.title) else f"{self.title}\n\n"

    def rendered(self) -> str:
        """As it stands in the message."""
        return self.head + self.text


@dataclass(frozen=True)
class Placed(Generic[T]):
    """Where a block stands."""

    block: Block[T]
    gold: bool
    start: int
    """Offset of its text in the message (below its title), in code points."""
    end: int
    token_start: int
    """Tokens of the message before the text."""
    token_end: int
    """Tokens of the message before its end."""


@dataclass(frozen=True)
class Assembled(Generic[T]):
    """A message that keeps to its budget."""

    message: str
    tokens: int
    placed: tuple[Placed[T], ...]
    """In the order of the message."""


@dataclass(frozen=True)
class Shortfall:
    """Why the budget can't be met."""

    what: str


def assemble(
    gold: Sequence[Block[T]],
    fillers: Iterable[Block[T]],
    *,
    frame: Callable[[str], str],
    budget: int,
    tokenizer: Tokenizer,
    generator: np.random.Generator,
    size: Callable[[Block[T]], int] | None = None,
) -> Assembled[T] | Shortfall:
    """A message of at most ``budget`` tokens, and at least 99 % of it.

    All gold blocks are in it, once and whole. ``fillers`` are taken in their order as long as they fit whole; the room
    that is left then goes to the beginning of one of those that did not fit, cut at the end of a sentence (of a line or
    a word, where no sentence ends in the right place). Fillers are shuffled; gold blocks are spread: of n, one begins
    in each n-th of the fillers, at a random place in it, in random order.

    Args:
        gold: At least one.
        frame: The whole message around the documents.
        size: Tokens of a whole filler with its title, where the caller knows them already.

    Returns:
        The message, or why there is none: the gold blocks alone go over the budget, or the fillers do not fill it.

    Raises:
        ValueError: there is no gold block.
    """
    if not gold:
        raise ValueError("a context needs a gold document")
    sizes = size or (lambda block: tokenizer.count(block.rendered()))
    between = max(1, tokenizer.count(f"one{_SEPARATOR}two") - tokenizer.count("one") - tokenizer.count("two"))
    work = _Work(tuple(gold), frame, tokenizer, sizes, between)
    needed = tokenizer.count(frame("")) + sum(map(work.taken, gold))
    if needed > budget:
        count = f"{len(gold)} gold documents" if len(gold) > 1 else "gold document"
        return Shortfall(f"the {count} alone would take {needed:,} tokens; the budget is {budget:,}")
    whole, rest, room = _whole(fillers, work.taken, budget - needed, budget)
    order = _Order.drawn(generator, len(gold), len(whole) + 1)
    best: Assembled[T] | None = None
    for _ in range(ATTEMPTS):
        cut = _cut(rest, room, tokenizer, between, budget) if room > ENOUGH * budget else None
        made = work.laid_out([*whole, cut] if cut is not None else whole, order)
        if made.tokens <= budget and (best is None or made.tokens > best.tokens):
            best = made
        off = budget - made.tokens
        if 0 <= off <= TOLERANCE * budget / 2:
            break
        if cut is not None:
            room += off
        elif off > 0 and room <= ENOUGH * budget:  # less was taken than was thought
            room = off
        elif off < 0 and whole:  # over, with nothing to shorten: the last one becomes what is cut
            rest.insert(0, whole.pop())
            room = off + work.taken(rest[0])
        else:
            break
    if best is None or best.tokens < (1 - TOLERANCE) * budget:
        held = best.tokens if best is not None else needed
        return Shortfall(f"the documents that may stand in it fill {held:,} of {budget:,} tokens")
    return best


_SEPARATOR = "\n\n\n"


@dataclass(frozen=True)
class _Order:
    """All that is drawn: which gold block goes into which part of the message, where in it, and who follows whom."""

    gold: tuple[int, ...]
    within: tuple[float, ...]
    fillers: tuple[int, ...]

    @classmethod
    def drawn(cls, generator: np.random.Generator, gold: int, fillers: int) -> _Order:
        return cls(
            tuple(int(place) for place in generator.permutation(gold)),
            tuple(float(share) for share in generator.random(gold)),
            tuple(int(place) for place in generator.permutation(fillers)),
        )


@dataclass(frozen=True)
class _Work(Generic[T]):
    gold: tuple[Block[T], ...]
    frame: Callable[[str], str]
    tokenizer: Tokenizer
    size: Callable[[Block[T]], int]
    between: int
    """Tokens of what parts two documents."""

    def taken(self, block: Block[T]) -> int:
        """Tokens of a block with what parts it from the next."""
        known = self.size(block) if block.cut == "none" else self.tokenizer.count(block.rendered())
        return known + self.between

    def laid_out(self, parts: Sequence[Block[T]], order: _Order) -> Assembled[T]:
        """The message with ``parts`` as fillers."""
        blocks = self._arranged(parts, order)
        body = _SEPARATOR.join(block.rendered() for block, _ in blocks)
        message = self.frame(body)
        starts = self.tokenizer.starts(message)
        spans: list[tuple[int, int]] = []
        at = message.index(body)
        for block, _ in blocks:
            begin = at + len(block.head)
            end = begin + len(block.text)
            spans.append((begin, end))
            at = end + len(_SEPARATOR)
        tokens = np.searchsorted(starts, np.array(spans), side="left").tolist()
        placed = (
            Placed(block, gold, *span, *within)
            for (block, gold), span, within in zip(blocks, spans, tokens, strict=True)
        )
        return Assembled(message, len(starts), tuple(placed))

    def _arranged(self, parts: Sequence[Block[T]], order: _Order) -> list[tuple[Block[T], bool]]:
        fillers = [parts[place] for place in order.fillers if place < len(parts)]
        before = np.cumsum([0, *map(self.taken, fillers)])  # tokens of fillers before each gap between them
        result: list[tuple[Block[T], bool]] = []
        taken = 0
        for stratum, (which, within) in enumerate(zip(order.gold, order.within, strict=True)):
            wanted = (stratum + within) / len(self.gold) * float(before[-1])
            gap = max(int(np.abs(before - wanted).argmin()), taken)  # the nearest gap
            result += [(block, False) for block in fillers[taken:gap]]
            result.append((self.gold[which], True))
            taken = gap
        return [*result, *((block, False) for block in fillers[taken:])]


def _whole(
    fillers: Iterable[Block[T]], taken: Callable[[Block[T]], int], room: int, budget: int
) -> tuple[list[Block[T]], list[Block[T]], int]:
    """Fillers that fit whole, the first of those that did not, and the tokens that are left."""
    whole: list[Block[T]] = []
    rest: list[Block[T]] = []
    misses = 0
    source: Iterator[Block[T]] = iter(fillers)
    while room > ENOUGH * budget and misses < MISSES:
        block = next(source, None)
        if block is None:
            break
        size = taken(block)
        if size <= room:
            whole.append(block)
            room -= size
            misses = 0
        else:
            misses += 1
            if len(rest) < CANDIDATES:
                rest.append(block)
    return whole, rest, room


def _cut(rest: Sequence[Block[T]], room: int, tokenizer: Tokenizer, between: int, budget: int) -> Block[T] | None:
    """The beginning of one of ``rest`` that fills ``room`` tokens best: at the end of a sentence if one of them comes
    near enough to the budget, else of a line, else of a word. None when there is nothing to cut."""
    ways: tuple[tuple[Cut, Callable[[str], list[int]]], ...] = (
        ("sentence", sentence_ends),
        ("line", line_ends),
        ("word", word_ends),
    )
    best: Block[T] | None = None
    least = room
    for how, ends_of in ways:
        for block in rest:
            allowed = room - between - tokenizer.count(block.head)
            ends = [end for end in ends_of(block.text) if end < len(block.text.rstrip())]
            if allowed <= 0 or not ends:
                continue
            sizes = np.searchsorted(tokenizer.starts(block.text), np.array(ends, dtype=np.int64), side="left")
            fitting = int(np.searchsorted(sizes, allowed, side="right"))
            left = allowed - int(sizes[fitting - 1]) if fitting else room
            if left < least:
                least, best = left, replace(block, text=block.text[: ends[fitting - 1]], cut=how)
            if least <= ENOUGH * budget:
                return best
        if least <= TOLERANCE * budget / 2:
            return best
    return best
