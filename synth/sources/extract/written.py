"""Triples that a model reads out of a document. It may only point: every triple carries the words that state it.

Fail-closed: an answer that is no JSON of the stated form gives nothing but a rejection, and so does each triple whose
quote is not in the text, letter by letter, or whose quote does not name both ends. Nothing is repaired.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from synth.prompting import PromptFile, PromptRef, load_prompt
from synth.schemas.documents import Document
from synth.schemas.rejections import Reason, Rejection
from synth.sources.extract.merge import merge
from synth.sources.records.triples import Triple, TripleError, locate

__all__ = ["Extracted", "Writer", "WrittenExtractor"]

_PROMPT = "extract/triples"
_PIECE = 6000
"""Characters of a document that one call reads; cut at a paragraph."""


class Writer(Protocol):
    """What the role ``writer`` gives: text for a prompt, the same for the same prompt (finished calls are cached)."""

    def write(self, prompt: str) -> str: ...


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    subject: str = Field(min_length=1, description="the thing that the statement is about, as the text names it")
    relation: str = Field(pattern=r"^[a-z][a-z0-9_]{1,40}$", description="a verb phrase in snake_case: founded_by")
    object: str = Field(min_length=1, description="the other thing, or the date or number, as the text writes it")
    quote: str = Field(min_length=1, description="the words of the text that state it, copied exactly")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    triples: list[_Said]


@dataclass(frozen=True)
class Extracted:
    """Triples of one document, and what the model said that can't be used."""

    triples: tuple[Triple, ...]
    rejected: tuple[Rejection, ...]


class WrittenExtractor:
    """Asks a writer about a document, a few paragraphs at a time.

    Args:
        writer: the backend of the role ``writer``.
        prompt: default: the newest ``extract/triples``.
    """

    name = "written"
    version = 1

    def __init__(self, writer: Writer, prompt: PromptFile | None = None) -> None:
        self._writer = writer
        self._prompt = prompt or load_prompt(_PROMPT)

    @property
    def prompt(self) -> PromptRef:
        return self._prompt.ref

    def extract(self, document: Document) -> Extracted:
        """All that the document is said to state, and can be seen to."""
        triples: list[Triple] = []
        rejected: list[Rejection] = []
        for start, end in pieces(document.text):
            prompt = self._prompt.render(
                title=document.title, text=document.text[start:end], schema=json.dumps(_Answer.model_json_schema())
            )
            try:
                answer = _Answer.model_validate_json(self._writer.write(prompt))
            except ValidationError as error:
                what = error.errors()[0]
                rejected.append(
                    _rejection(document, Reason.MALFORMED, f"no answer of the stated form: {what['type']}", start)
                )
                continue
            for said in answer.triples:
                try:
                    triples.append(self._located(document, said, start, end))
                except TripleError as error:
                    rejected.append(_rejection(document, error.reason, str(error), start))
        return Extracted(tuple(merge(triples)), tuple(rejected))

    def _located(self, document: Document, said: _Said, start: int, end: int) -> Triple:
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


def _rejection(document: Document, reason: Reason, detail: str, place: int) -> Rejection:
    return Rejection(stage="extract", row_id=document.id, reason=reason, detail=f"{detail} (from character {place})")
