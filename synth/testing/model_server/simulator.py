"""Whoever writes the results of searches, played without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synth.identity import digest
from synth.testing.model_server.replies import Reply

__all__ = ["SimulatorPlayer"]

_MARK = "The request:\n\n"


class SimulatorPlayer:
    """Writes the pages that a prompt ``environment/simulate_search`` asks for: the useful ones quote the query, and the
    answer where it is told; the others are about something else. Every ``failing``-th query (by its hash; 0 = none) is
    answered in prose that holds no pages."""

    def __init__(self, failing: int = 0) -> None:
        self._failing = failing

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            ValueError: the prompt is another one.
        """
        first = str(request["messages"][0]["content"])
        if _MARK not in first:
            raise ValueError("nobody asks for results here")
        wanted = json.loads(first.partition(_MARK)[2])
        query = wanted["query"]
        if self._failing and int(digest("failing", query)[:8], 16) % self._failing == 0:
            return Reply(content="I would rather talk about the weather.")
        pages = []
        for place, kind in enumerate(wanted["pages"]):
            number = int(digest("page", query, place, sample or "")[:6], 16) % 9_000
            about = f"{query} {number}" if kind == "useful" else f"Topic {number}"
            text = f"{about} is described here in the year {number + 1000}. It has {number} parts."
            if kind == "useful" and "answer" in wanted:
                text += f" It is known for {wanted['answer']}."
            pages.append({"kind": kind, "title": about[:200], "text": text})
        return Reply(content=json.dumps({"pages": pages}, ensure_ascii=False))
