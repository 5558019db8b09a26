"""Who answers: players that need no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from synth.mocks.model.replies import Reply

__all__ = ["Player"]


class Player(Protocol):
    """Answers as a model would. Called on the server's thread, one call at a time."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """What the model says to ``request``, a checked body of ``/v1/chat/completions``.

        Args:
            sample: The header ``X-Synth-Sample``: which sample of the prompt is wanted. Equal requests with equal
                samples must get equal replies.
        """
