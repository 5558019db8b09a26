"""A player that says what a test lists."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from synth.mocks.model.replies import Reply

__all__ = ["FixedPlayer"]


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
