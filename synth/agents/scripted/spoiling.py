"""Calls that go wrong on the way out: a malformed argument, an unknown id."""

from __future__ import annotations

from synth.agents.scripted.seen import Seen
from synth.environments.contract import ToolCall

__all__ = ["spoiled_call"]


def spoiled_call(call: ToolCall, seen: Seen, draw: int) -> ToolCall:
    """``call`` with one of three mistakes (``draw``: 0, 1 or 2) that its tool refuses."""
    arguments = dict(call.arguments)
    if call.name == "open":
        document = str(arguments["document"])
        title = next((hit.title for hit in seen.hits() if hit.document == document), None)
        if draw == 0 and title is not None and title != document:
            arguments["document"] = title
        elif draw == 1:
            arguments["page"] = 0
        else:
            arguments = {"id": document}
    elif call.name == "search":
        if draw == 0:
            arguments["k"] = 50
        elif draw == 1:
            arguments = {"q": arguments["query"]}
        else:
            arguments["limit"] = 5
    elif call.name == "find":
        arguments = {"text": arguments["pattern"]}
    return call.model_copy(update={"arguments": arguments})
