"""Long observations, cut so that a row fits into so many tokens. Nothing is cut unless the user says so.

The longest observations of a row are cut first, all to the same length, and each says what it lacks. What the agent
wrote, the question and the system prompt are never cut: a row that is too long without its observations is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from synth.annotate.contexts.tokens import Tokenizer
from synth.export.contract import Item, Run, StepOf
from synth.export.why import Inexpressible, Why
from synth.identity import canonical_json
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList
from synth.schemas.steps import PreferenceRow

__all__ = ["Cutter"]

_LEAST = 32
"""Tokens that are left of an observation at least."""
_MESSAGE = 8
"""Tokens counted for each item beside its text: what a chat template writes around it, about."""
_MARK = 24
"""Tokens that the mark takes, at most about."""


@dataclass(frozen=True)
class Cutter:
    """Cuts rows to ``limit`` tokens of ``tokenizer``. A chat template's own text is counted roughly."""

    tokenizer: Tokenizer
    limit: int

    def __call__(self, item: Item) -> tuple[Item, int]:
        """The row that fits, and how many of its observations were cut.

        Raises:
            Inexpressible: it does not fit.
        """
        if isinstance(item, StepOf):
            run, cut = self(item.run)
            assert isinstance(run, Run)
            return StepOf(run, item.step), cut
        if isinstance(item, Run):
            row = item.row
            content, cut = self._fit((row.content,), row.system_prompt, row.tool_schemas, longest=sum)
            return replace(item, row=row.model_copy(update={"content": content[0]}), cut=cut), cut
        if isinstance(item, PreferenceRow):
            sides = (item.prompt, item.chosen, item.rejected)
            made, cut = self._fit(sides, item.system_prompt, item.tool_schemas, longest=_pair)
            names = ("prompt", "chosen", "rejected")
            return item.model_copy(update=dict(zip(names, made, strict=True))), cut
        return self._prompt(item), 0

    def _prompt(self, row: RlRow) -> RlRow:
        size = sum(self.tokenizer.count(message.content) + _MESSAGE for message in row.prompt)
        size += self.tokenizer.count(canonical_json(list(row.tools)))
        if size > self.limit:
            raise Inexpressible(Why.TOO_LONG, f"{size} tokens")
        return row

    def _fit(
        self,
        parts: Sequence[tuple[ContentItem, ...]],
        system: str,
        tools: JsonList,
        *,
        longest: Callable[[list[int]], int],
    ) -> tuple[list[tuple[ContentItem, ...]], int]:
        count = self.tokenizer.count
        head = count(system) + count(canonical_json(list(tools))) + _MESSAGE
        sizes = [[count(_text(item)) + _MESSAGE for item in part] for part in parts]

        def total(cap: int | None) -> int:
            return head + longest(
                [
                    sum(
                        size if cap is None or not _cuttable(item) else min(size, cap + _MESSAGE + _MARK)
                        for item, size in zip(part, own, strict=True)
                    )
                    for part, own in zip(parts, sizes, strict=True)
                ]
            )

        if total(None) <= self.limit:
            return list(parts), 0
        if total(_LEAST) > self.limit:
            raise Inexpressible(Why.TOO_LONG, f"{total(_LEAST)} tokens with every observation cut")
        low, high = _LEAST, max(size for own in sizes for size in own)
        while low < high:  # the greatest cap that fits
            middle = (low + high + 1) // 2
            low, high = (middle, high) if total(middle) <= self.limit else (low, middle - 1)
        cut = 0
        made: list[tuple[ContentItem, ...]] = []
        for part, own in zip(parts, sizes, strict=True):
            items: list[ContentItem] = []
            for item, size in zip(part, own, strict=True):
                if _cuttable(item) and size > low + _MESSAGE + _MARK:
                    assert isinstance(item, TextObservation)
                    items.append(item.model_copy(update={"content": self._cut(item.content, low)}))
                    cut += 1
                else:
                    items.append(item)
            made.append(tuple(items))
        return made, cut

    def _cut(self, text: str, tokens: int) -> str:
        starts = self.tokenizer.starts(text)
        end = int(starts[tokens]) if tokens < len(starts) else len(text)
        kept = text[:end].rstrip()
        return f"{kept}\n[cut here: {len(text) - len(kept):,} of {len(text):,} characters are left out]"


def _pair(sizes: list[int]) -> int:
    """Of (prompt, chosen, rejected): the longer of the two conversations."""
    return sizes[0] + max(sizes[1:])


def _cuttable(item: ContentItem) -> bool:
    return isinstance(item, TextObservation) and item.source != "user"


def _text(item: ContentItem) -> str:
    if isinstance(item, TextObservation):
        return item.content
    if isinstance(item, ApiAction | CodeAction | MessageAction):
        if isinstance(item, ApiAction):
            body = item.function + canonical_json(item.kwargs)
        else:
            body = item.content
        return "\n".join(part for part in (item.reasoning_content, item.description, body) if part)
    return canonical_json(item.model_dump(mode="json"))
