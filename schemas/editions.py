"""What a report says of a dataset's editions: those that it grew from, and what an edition for everybody leaves out."""

from __future__ import annotations

from synth.schemas.row import NonEmpty, Row

__all__ = ["EditionReport", "RedactionReport"]


class EditionReport(Row):
    """A dataset as it was before ``synth append`` added tasks: its rows are the first of each table."""

    tasks: int
    tables: dict[str, dict[str, int]]
    """Config -> split -> rows that stayed as and where they were."""
    synth_version: str = ""
    """Of the package that wrote it."""
    report_sha256: NonEmpty
    """Hash of its ``report.json``."""


class RedactionReport(Row):
    """Text that an edition holds as references only, because no licence was stated for it."""

    documents: int
    """Documents whose text is not there."""
    characters: int
    """Code points of their texts."""
    least: int
    """Code points from which a passage of them is a reference wherever it stands; evidence is one at any length."""
    references: dict[str, int] = {}
    """Config -> references in its rows."""
    rows: dict[str, int] = {}
    """Config -> rows that hold one."""
    token_ids: int = 0
    """Turns of a model that quote such a passage: their token ids and log probabilities were left out for good."""
