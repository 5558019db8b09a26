"""Keys of recipes whose tasks are derived from what was explored: an application, and whatever else can be acted in."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from synth.environments.app.environment import Failures
from synth.reverse.app.config import AppTasksConfig

__all__ = ["EXPLORED", "AppSource", "Application", "ReverseQuestions"]

EXPLORED = frozenset({"app"})
"""Sources that are explored rather than read: the environment of the same kind is made of them, and there are no
documents."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class AppSource(_Part):
    """An application on a database: tools that read and change it, and a written policy."""

    kind: Literal["app"]
    application: str = Field(default="airline", min_length=1)
    """A shipped one (``airline``, ``ledger``, ``tracker``), the path of a YAML file of yours, or the text of such a
    file."""
    variant: str | None = None
    """Which of the application's variants: one whose rules are kept and not all written; empty = as it is written."""
    size: int = Field(default=1, ge=1, le=10_000)
    """Multiple of the data of size 1. Every few tasks are set in data of their own."""


class ReverseQuestions(AppTasksConfig):
    """Explore first, ask afterwards: what was done becomes the request, and its least part the solution."""

    kind: Literal["reverse"]


class Application(_Part):
    """The environment: the application that is the source."""

    kind: Literal["app"]
    failures: Failures | None = None
    """Calls that fail through no fault of the agent, so that it learns to try again; empty = none do."""
