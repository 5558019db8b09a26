"""What must be called before planning can go on."""

from __future__ import annotations

from typing import Any, NamedTuple

from synth.agents.scripted.course import Call

__all__ = ["Need"]


class Need(NamedTuple):
    """Calls that must be made first, and what is thought of them."""

    calls: list[Call]
    intent: str
    slots: dict[str, Any]
