"""What a model made of a document that it read."""

from __future__ import annotations

from typing import ClassVar

from synth.schemas.row import NonEmpty, Row

__all__ = ["ExtractedRow"]


class ExtractedRow(Row):
    """A document that a model read for triples."""

    table: ClassVar[str | None] = "extracted"

    id: NonEmpty
    """The document's id."""
    pieces: int
    """Parts that it was read in."""
    read: int
    """Parts to which there was an answer of the stated form."""
    said: int
    """Triples that the model gave."""
    kept: int
    """Those whose quote stands in the text and names both ends, each fact once."""
    refused: int
    """Those that can not be seen in the text; the others were said twice."""
    model: str | None = None
    """Who read it."""
    prompt: NonEmpty
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""
    calls: tuple[str, ...] = ()
    """Keys of the calls."""
