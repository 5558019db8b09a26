"""What a scripted agent did wrong on purpose: the answers to the exam.

A module of its own, so that a rule on imports can keep it from every labeller and searcher (Honesty rules).
"""

from __future__ import annotations

from typing import ClassVar

from synth.schemas.row import NonEmpty, Row

__all__ = ["InjectedError"]


class InjectedError(Row):
    """What a scripted agent did wrong on purpose. Sealed: no stage may read this table (Honesty rules)."""

    table: ClassVar[str | None] = "injected_errors"

    trajectory_id: NonEmpty
    turn: int
    mode: NonEmpty
    detail: str
