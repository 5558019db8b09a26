"""Searches whose results a model wrote: what ``details["environment"]["simulated"]`` of a trajectory holds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from synth.schemas.rejections import Reason
from synth.schemas.row import NonEmpty, Row

__all__ = ["PageKind", "SimulatedPage", "SimulatedSearch"]

PageKind = Literal["useful", "noise"]
"""What the model was asked to write: a page that answers the query, or one that only looks so."""


class SimulatedPage(Row):
    """A page that stands in no collection."""

    id: NonEmpty
    """What the agent opens it by; ``synth.environments.simulated.is_simulated`` tells it from every real page."""
    kind: PageKind
    title: NonEmpty
    text: NonEmpty


class SimulatedSearch(Row):
    """What one query brought."""

    query: NonEmpty
    attempt: int = Field(default=0, ge=0)
    """How often the query had failed before in this run."""
    results: tuple[NonEmpty, ...] = ()
    """Ids of pages in their order, written and real ones."""
    pages: tuple[SimulatedPage, ...] = ()
    """Those of them that the model wrote."""
    calls: tuple[NonEmpty, ...] = ()
    """Keys of the calls that were made."""
    failure: Reason | None = None
    """Why there are no results: the tool broke, which is nobody's error."""
    detail: str = ""
    """More about a failure, in words."""
