"""Who answers: players that need no model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from stand_ins.model_server.replies import Reply

__all__ = ["FixedPlayer", "Player"]


class Player(Protocol):
    """Answers as a model would. Called on the server's thread, one call at a time."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """What the model says to ``request``, a checked body of ``/v1/chat/completions``.

        Args:
            sample: The header ``X-Synth-Sample``: which sample of the prompt is wanted. Equal requests with equal
                samples must get equal replies.
        """


class FixedPlayer:
    """Says what it was given: one reply to everything, replies in the order of the requests, or what a function of
    (request, sample) gives."""

    def __init__(self, replies: Reply | Iterable[Reply] | Callable[[Mapping[str, Any], str | None], Reply]) -> None:
        self._always = replies if isinstance(replies, Reply) else None
        self._function = replies if callable(replies) else None
        self._rest = None if isinstance(replies, Reply) or callable(replies) else iter(replies)
        self._lock = threading.Lock()

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            LookupError: the replies are used up.
        """
        if self._always is not None:
            return self._always
        if self._function is not None:
            return self._function(request, sample)
        assert self._rest is not None
        with self._lock:
            for reply in self._rest:
                return reply
        raise LookupError("the replies are used up")
