"""Triples that a model reads out of a document. It may only point: every triple carries the words that state it.

Fail-closed: an answer of another form gives nothing but a rejection, and so does each triple whose quote is not in the
text, letter by letter, or whose quote does not name both ends, or whose relation is not a name. Nothing is mended.
What this does not show is that the quote states this relation and no other: two things may be named together and be
joined by something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from synth.identity import versioned
from synth.models.asking import AskConfig, Asked, Asker, Asks, answer_schema, quoted
from synth.models.bridge import together
from synth.models.contract import Model
from synth.prompting import load_prompt
from synth.schemas.documents import Document
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.sources.extract.merge import merge
from synth.sources.records.triples import Triple, TripleError, locate

__all__ = ["EXTRACT", "Extracted", "WrittenExtractor", "pieces", "triple_asker"]

EXTRACT = "extract/triples"
_PIECE = 6000
"""Characters of a document that one call reads; cut at a paragraph."""
_RELATION = re.compile(r"[a-z][a-z0-9_]{1,40}")


class _Said(Row):
    subject: str = Field(min_length=1, description="the thing that the statement is about, as the text names it")
    relation: str = Field(min_length=1, description="a verb phrase in snake_case: founded_by")
    object: str = Field(min_length=1, description="the other thing, or the date or number, as the text writes it")
    quote: str = Field(min_length=1, description="the words of the text that state it, copied exactly")


class _Answer(Row):
    triples: tuple[_Said, ...]


@versioned(59)
def triple_asker(*, model: Model, prompt: str, prompt_version: int, **options: Any) -> Asker[_Answer]:
    """Asks ``model`` what a text states; ``options`` are those of :class:`AskConfig`."""
    return Asker(model, load_prompt(prompt, prompt_version), _Answer, AskConfig(**options))


@dataclass(frozen=True)
class Extracted:
    """Triples of one document, and what the model said that can't be used."""

    triples: tuple[Triple, ...]
    rejected: tuple[Rejection, ...]
    """``part`` is the number of the piece of the document."""
    pieces: int
    read: int
    """Pieces to which there was an answer of the stated form."""
    said: int
    """Triples that the model gave."""
    calls: tuple[str, ...]


class WrittenExtractor:
    """Asks a writer about a document, a few paragraphs at a time.

    Args:
        asks: Who reads (``extract/triples``).
    """

    def __init__(self, asks: Asks) -> None:
        self._asks = asks

    def extract(self, document: Document, sample: Callable[[int], str], stage: str = "extract") -> Extracted:
        """All that the document is said to state, and can be seen to.

        Args:
            sample: Name of the sample of piece n.
        """
        spans = pieces(document.text)

        def read(number: int) -> Asked[_Answer]:
            start, end = spans[number]
            part = quoted(title=document.title, text=document.text[start:end])
            return self._asks.ask(sample(number), schema=json.dumps(answer_schema(_Answer)), document=part)

        asked = together([lambda number=number: read(number) for number in range(len(spans))])  # type: ignore[misc]
        triples: list[Triple] = []
        rejected: list[Rejection] = []

        def refuse(reason: Reason, detail: str, number: int) -> None:
            rejected.append(
                Rejection(
                    stage=stage,
                    row_id=document.id,
                    reason=reason,
                    detail=f"{detail} (from character {spans[number][0]})"[:1000],
                    split=document.partition,
                    part=number,
                )
            )

        for number, one in enumerate(asked):
            if one.answer is None:
                refuse(one.reason or Reason.MALFORMED, one.detail, number)
                continue
            for said in one.answer.triples:
                try:
                    triples.append(self._located(document, said, *spans[number]))
                except TripleError as error:
                    told = f"{said.subject} | {said.relation} | {said.object} | {said.quote}"
                    refuse(error.reason, f"{error}: {told[:500]}", number)
        answers = [one.answer for one in asked if one.answer is not None]
        return Extracted(
            tuple(merge(triples)),
            tuple(rejected),
            len(spans),
            len(answers),
            sum(len(answer.triples) for answer in answers),
            tuple(call for one in asked for call in one.calls),
        )

    def _located(self, document: Document, said: _Said, start: int, end: int) -> Triple:
        if not _RELATION.fullmatch(said.relation):
            raise TripleError(Reason.MALFORMED, f"{said.relation!r} is not a name of a relation")
        triple = locate(document, said.model_dump())
        place = document.text.find(said.quote, start, end)
        if place < 0:
            raise TripleError(Reason.NO_EVIDENCE, f"the quote of {said.relation!r} is not in the part that was read")
        names = (document.title, *document.aliases)
        subject_is_page = said.subject.casefold() in (name.casefold() for name in names)
        for what, name in (("subject", said.subject), ("object", said.object)):
            named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said.quote, re.IGNORECASE)
            if named is None and not (what == "subject" and subject_is_page):
                raise TripleError(Reason.NO_EVIDENCE, f"the quote of {said.relation!r} does not name its {what}")
        return triple.model_copy(update={"start": place, "end": place + len(said.quote)})


def pieces(text: str) -> list[tuple[int, int]]:
    """Spans of at most 6,000 characters where paragraphs allow it, that together are the whole text."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > _PIECE:
            cut = text.rfind("\n\n", start + 1, start + _PIECE)
            cut = cut if cut > start else text.find("\n\n", start + _PIECE)
            end = cut + 2 if cut > start else len(text)
        found.append((start, end))
        start = end
    return found
