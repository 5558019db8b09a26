"""From a task, its distractors and the collection to a row of ``contexts``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from synth.annotate.contexts.admit import Admission, PageWords, may_hold
from synth.annotate.contexts.assemble import Assembled, Block, Shortfall, assemble
from synth.annotate.contexts.tokens import Tokenizer
from synth.identity import digest
from synth.schemas.contexts import ContextItem, ContextKind, ContextRow
from synth.schemas.distractors import Distractor
from synth.schemas.documents import Document
from synth.schemas.provenance import Provenance
from synth.schemas.rl import ExtraInfo, GroundTruth, Message, RewardModel
from synth.schemas.tasks import Task

__all__ = ["Candidate", "ContextMaker", "Page", "preview_of"]

LARGEST = 0.25
"""Share of the budget that a page may have which is not a distractor of the task's own: a few long ones must not fill a
context alone."""

_TIERS = {0: "gold", 1: "tier 1", 2: "tier 2", 3: "near", 4: "random"}


class Page:
    """A document with what is worked out about it once: its words and its tokens."""

    __slots__ = ("_tokens", "_words", "document")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._words: PageWords | None = None
        self._tokens: int | None = None

    @property
    def words(self) -> PageWords:
        """Its words, for mentions."""
        if self._words is None:
            self._words = PageWords(self.document)
        return self._words

    def tokens(self, tokenizer: Tokenizer, rendered: Callable[[], str]) -> int:
        """Tokens of the whole document as it stands in a message."""
        if self._tokens is None:
            self._tokens = tokenizer.count(rendered())
        return self._tokens


@dataclass(frozen=True)
class Candidate:
    """A page that may come into a context, and why."""

    page: Page
    kind: ContextKind
    tier: int


class ContextMaker:
    """Makes contexts of one budget."""

    def __init__(
        self,
        pages: Callable[[str], Page | None],
        *,
        frame: Callable[[str, str], str],
        budget: int,
        tokenizer: Tokenizer,
        provenance: Provenance,
        max_random: float = 1.0,
    ) -> None:
        """
        Args:
            pages: The page of a document id; None when there is none.
            frame: ``frame(documents, question)`` is the whole user message.
            max_random: Share of the budget that random pages may fill where others could.
        """
        self._max_random = max_random
        self._pages = pages
        self._frame = frame
        self._budget = budget
        self._tokenizer = tokenizer
        self._provenance = provenance

    def make(
        self,
        task: Task,
        distractors: Sequence[Distractor],
        near: Iterable[Page],
        others: Iterable[Page],
        truth: GroundTruth,
        generator: np.random.Generator,
        *,
        alike: Iterable[Page] = (),
    ) -> ContextRow | Shortfall:
        """The context of ``task``, or why there is none.

        Distractors come first, the lowest tier before the next; then ``near`` (further neighbours by words, best
        first), then ``alike`` (neighbours by meaning, best first) until ``others`` (random pages) may fill what is
        left. Pages that state a hop, and pages of a split to come, are left out
        (:mod:`synth.annotate.contexts.admit`).
        """
        if not task.gold_documents:
            return Shortfall("the task names no gold document")
        gold: list[Block[Candidate]] = []
        for name in dict.fromkeys(task.gold_documents):
            page = self._pages(name)
            if page is None:
                return Shortfall(f"there is no gold document {name}")
            gold.append(_block(Candidate(page, "gold", 0)))
        admission = Admission(task)
        ranked = (
            self._first(distractors, near),
            (Candidate(page, "embedding", 3) for page in alike),
            (Candidate(page, "random", 4) for page in others),
        )
        made = assemble(
            gold,
            self._fillers(task, admission, gold, ranked),
            frame=lambda documents: self._frame(documents, task.question),
            budget=self._budget,
            tokenizer=self._tokenizer,
            generator=generator,
            size=self._size,
        )
        return made if isinstance(made, Shortfall) else self._row(task, made, admission, truth)

    def _fillers(
        self,
        task: Task,
        admission: Admission,
        gold: Sequence[Block[Candidate]],
        ranked: Sequence[Iterable[Candidate]],
    ) -> Iterator[Block[Candidate]]:
        """What may stand beside the gold pages: all of the first of ``ranked``, of the second as much as leaves no more
        than the allowed share to the third, then the third."""
        seen = set(task.gold_documents)
        left = (1 - self._max_random) * self._budget - sum(map(self._size, gold))
        for phase, candidates in enumerate(ranked):
            for candidate in candidates:
                if phase == 1 and left <= 0:
                    break
                document, block = candidate.page.document, _block(candidate)
                if document.id in seen or not may_hold(task.split, document.partition):
                    continue
                seen.add(document.id)
                if phase and self._size(block) > LARGEST * self._budget:
                    continue
                if admission.refusal(document.id, candidate.page.words) is None:
                    left -= self._size(block)
                    yield block

    def _size(self, block: Block[Candidate]) -> int:
        return block.item.page.tokens(self._tokenizer, block.rendered)

    def _first(self, distractors: Sequence[Distractor], near: Iterable[Page]) -> Iterator[Candidate]:
        for distractor in sorted(distractors, key=lambda one: (one.tier, one.rank or 0, one.document_id)):
            page = self._pages(distractor.document_id)
            if page is not None:
                yield Candidate(page, distractor.kind, distractor.tier)
        for candidate in (Candidate(page, "bm25", 3) for page in near):
            if self._size(_block(candidate)) <= LARGEST * self._budget:
                yield candidate

    def _row(self, task: Task, made: Assembled[Candidate], admission: Admission, truth: GroundTruth) -> ContextRow:
        items = tuple(
            ContextItem(
                document_id=one.block.item.page.document.id,
                title=one.block.title,
                kind=one.block.item.kind,
                tier=one.block.item.tier,
                start=one.start,
                end=one.end,
                token_start=one.token_start,
                token_end=one.token_end,
                cut=one.block.cut,
                names_answer=not one.gold and admission.names_answer(one.block.item.page.words),
            )
            for one in made.placed
        )
        places = tuple(place for place, one in enumerate(made.placed) if one.gold)
        body = [[item.document_id, item.start, item.end] for item in items]
        name = f"context-{digest('context', task.id, self._budget, self._tokenizer.name, body, made.message)[:16]}"
        licences = {one.block.item.page.document.licence for one in made.placed}
        return ContextRow(
            id=name,
            task_id=task.id,
            preview=preview_of(task.question, task.answer, items, made.tokens),
            data_source=self._provenance.dataset,
            prompt=(Message(role="user", content=made.message),),
            reward_model=RewardModel(ground_truth=truth),
            extra_info=ExtraInfo(index=task.candidate_index, split=task.split, id=name, task_id=task.id),
            budget=self._budget,
            tokens=made.tokens,
            tokenizer=self._tokenizer.name,
            documents=items,
            gold_positions=places,
            gold_depths=tuple(round(items[place].token_start / made.tokens, 4) for place in places),
            tier_shares=shares_of(items, made.tokens),
            shape=task.shape,
            hops=len(task.walk.hops),
            obfuscation=task.obfuscation,
            split=task.split,
            licence=licences.pop() if len(licences) == 1 else None,
            provenance=self._provenance,
        )


def _block(candidate: Candidate) -> Block[Candidate]:
    document = candidate.page.document
    return Block(candidate, document.title, document.text)


def shares_of(items: Sequence[ContextItem], tokens: int) -> tuple[float, ...]:
    """Of tiers 0 to 4, the share of a message of ``tokens`` tokens that their documents take."""
    taken = [sum(item.token_end - item.token_start for item in items if item.tier == tier) for tier in _TIERS]
    return tuple(round(count / max(1, tokens), 4) for count in taken)


_SHOWN = 40
"""Documents that a preview lists; gold ones are always among them."""


def _tier(item: ContextItem) -> str:
    return _TIERS.get(item.tier, f"tier {item.tier}")


def preview_of(question: str, answer: str, items: Sequence[ContextItem], tokens: int) -> str:
    """Question, answer and documents of a context, for a person."""
    kinds: dict[str, int] = {}
    for item in items:
        kinds[_tier(item)] = kinds.get(_tier(item), 0) + 1
    order = sorted(kinds, key=[*_TIERS.values(), *kinds].index)
    counts = ", ".join(f"{kinds[name]} {name}" for name in order)
    lines = [question, f"-> {answer}", f"{tokens:,} tokens, {len(items)} documents: {counts}"]
    hidden = 0
    for place, item in enumerate(items):
        if place < _SHOWN or item.tier == 0:
            if hidden:
                lines.append(f"... {hidden} more ...")
                hidden = 0
            cut = "" if item.cut == "none" else f", cut at the end of a {item.cut}"
            size = item.token_end - item.token_start
            lines.append(f"{place}. [{_tier(item)}] {item.title} ({size} tokens{cut})")
        else:
            hidden += 1
    return "\n".join([*lines, f"... {hidden} more"] if hidden else lines)
