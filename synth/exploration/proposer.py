"""What derives tasks from an environment that was explored, candidate by candidate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from synth.schemas.rejections import Rejection
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import Values

__all__ = ["TaskProposer"]


@dataclass(frozen=True)
class TaskProposer:
    propose: Callable[[Sequence[int], int], Sequence[Checked | Rejection]]
    """One outcome per candidate index, in order; each depends on the environment, the seed and its index alone."""
    changing: tuple[str, ...]
    """The environment's tools that change something; empty = not known."""
    others: Callable[[Draft], Values]
    """Short texts that stand in the environment where a task begins, and those that its tools choose from: of them a
    request may say what it said, and no other."""
    duplicate_key: Callable[[Any], str]
    """Tasks with one key are one task."""
