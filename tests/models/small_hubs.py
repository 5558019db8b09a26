"""What tests of a hub begin with: little patience, a question, a model with a price, a body that answers."""

from __future__ import annotations

from typing import Any

from synth.models.client import ModelHub
from synth.models.contract import Patience, Price, Runtime, Sampling

__all__ = ["QUESTION", "QUICK", "bind", "completion"]

QUICK = Patience(seconds=0.15, attempts=6, first_delay=0.002, longest_delay=0.02)
QUESTION = [{"role": "user", "content": "Who wrote it?"}]


def bind(hub: ModelHub, *addresses: str, max_tokens: int = 2048, **runtime: Any) -> Any:
    price = Price(prompt=1, completion=10)
    return hub.bind("m", Sampling(max_tokens=max_tokens), Runtime(endpoints=addresses, price=price, **runtime))


def completion(
    content: str | None = "yes", *, usage: Any = (10, 5), finish: str = "stop", **message: Any
) -> dict[str, Any]:
    """A body of /chat/completions. ``usage`` = (prompt, completion), or as it shall stand there."""
    if isinstance(usage, tuple):
        usage = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
