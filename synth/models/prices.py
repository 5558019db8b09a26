"""What a call costs, and what it could cost at most. Money in whole nano-units, rounded up: sums are exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from synth.models.contract import BudgetReached, ChatReply, ChatRequest, Price, Usage
from synth.store.calls import CapReached
from synth.store.calls_format import from_nano

__all__ = ["Bound", "PriceTable", "budget_reached", "plausible", "too_few", "too_many", "worst_case"]

_CHARACTERS = 16
"""Of text per token at most. Vocabularies in use have 3 to 5, and 8 on code; only runs of one character have more. A
count that this finds too low is not lost: the call is booked at its bound."""

_PICTURE_TOKENS = 48_169
"""What a picture may count, whatever its size: 2,833 and 5,667 for each of eight tiles of 512 pixels (GPT-4o mini, a
picture of 768 by 2,048 pixels). Qwen-VL models count 16,384 at most, LLaVA-NeXT 2,880."""
_TEMPLATE_TOKENS = 512
"""What a chat template may add to a conversation beside its text: role marks, a preamble for tools, a system prompt."""
_REPLY_BYTES = 1 << 20
"""What a reply may have beside what the model said."""
_TOKEN_BYTES = 256
"""What one token may take in a reply: the longest ones are 128 spaces."""
_LOGPROB_BYTES = 1_024
"""What a token's log probability may take, and that of each of its rivals."""
_PROMPT_BYTES = 8
"""What a server that sends the prompt's token ids may take for each."""


@dataclass(frozen=True)
class Bound:
    """What one attempt may use at most."""

    tokens: int
    cost: int
    """Nano-units."""
    reply_bytes: int
    """Of the response, packed and unpacked."""


class PriceTable:
    """A :class:`Price` in exact numbers; ``share``: what is paid of it."""

    def __init__(self, price: Price, share: float = 1.0) -> None:
        cached = price.prompt if price.cached is None else price.cached
        # Per million tokens -> nano-units per token: times 10^9 / 10^6. As whole numbers over one denominator.
        rates = [Fraction(str(rate)) * Fraction(str(share)) * 1000 for rate in (price.prompt, price.completion, cached)]
        self._unit = lcm(*(rate.denominator for rate in rates))
        self._prompt, self._completion, self._cached = (int(rate * self._unit) for rate in rates)

    def cost(self, usage: Usage) -> int:
        """Nano-units."""
        fresh = usage.prompt_tokens - usage.cached_tokens
        whole = fresh * self._prompt + usage.cached_tokens * self._cached + usage.completion_tokens * self._completion
        return -(-whole // self._unit)

    def most(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Nano-units, if nothing was cached, or all of it where that costs more."""
        whole = prompt_tokens * max(self._prompt, self._cached) + completion_tokens * self._completion
        return -(-whole // self._unit)


def worst_case(request: ChatRequest, body_bytes: int, table: PriceTable) -> Bound:
    """What an attempt at ``request`` may use at most.

    No token of a text is shorter than a byte of it, and the body holds all text that the model will see; what the
    server's chat template adds is bounded by a constant, and so is what a picture counts: its bytes are no text. The
    reply is bounded by what the request allows.
    """
    pictures = _pictures(request.messages)
    prompt = body_bytes - sum(map(len, pictures)) + len(pictures) * _PICTURE_TOKENS + _TEMPLATE_TOKENS
    completion = request.sampling.max_tokens
    token_bytes = _TOKEN_BYTES
    if request.sampling.logprobs:
        rivals = request.sampling.extra.get("top_logprobs")
        token_bytes += _LOGPROB_BYTES * (1 + (rivals if isinstance(rivals, int) else 0))
    return Bound(
        tokens=prompt + completion,
        cost=table.most(prompt, completion),
        reply_bytes=_REPLY_BYTES + prompt * _PROMPT_BYTES + completion * token_bytes,
    )


def too_many(usage: Usage, bound: Bound) -> bool:
    """Whether a server counted more than the request could need."""
    return usage.prompt_tokens + usage.completion_tokens > bound.tokens


def too_few(usage: Usage, request: ChatRequest | None, reply: ChatReply | None) -> bool:
    """Whether a server counted less than was sent to it, or came of it: by our own count, which is a lower bound.
    ``request`` None: what was sent is not known any more."""
    if usage.prompt_tokens * _CHARACTERS < max(1, 0 if request is None else _characters(request.messages)):
        return True
    if reply is None:
        return False
    said = [
        reply.content,
        reply.reasoning,
        reply.refusal,
        *(f"{call.name}{call.arguments}" for call in reply.tool_calls),
    ]
    completion = usage.completion_tokens
    return completion * _CHARACTERS < _characters(said) or completion < len(reply.token_ids or reply.logprobs or ())


def plausible(reply: ChatReply, request: ChatRequest, bound: Bound) -> ChatReply:
    """``reply`` without a usage that can't be true."""
    usage = reply.usage
    if usage is None or not (too_many(usage, bound) or too_few(usage, request, reply)):
        return reply
    return reply.model_copy(update={"usage": None})


def _pictures(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """The data URLs of all pictures, which are ASCII."""
    parts = (part for message in messages if isinstance(message.get("content"), list) for part in message["content"])
    return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]


def _characters(value: Any) -> int:
    """Of all text in it."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        if value.get("type") == "image_url":
            return 0
        return sum(map(_characters, value.values()))
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 0


def budget_reached(reached: CapReached) -> BudgetReached:
    """The line for the user when a cap allows no further call."""
    if reached.unit == "cost":
        cap, spent, wanted = (
            f"{from_nano(number).normalize():f}" for number in (reached.cap, reached.spent, reached.wanted)
        )
        unit = "cost"
    else:
        cap, spent, wanted = (f"{number:,}" for number in (reached.cap, reached.spent, reached.wanted))
        unit = "tokens"
    if reached.overrun:
        return BudgetReached(
            f"the server counted more {unit} for a call than it could need, so the cap of {cap} {unit} can't be kept "
            f"with it; {spent} are booked, and nothing more is sent",
            where=f"account {reached.account}",
            mend=f"see what the server charges, then raise --max-{unit} or leave it out, and run the same command "
            "again: what is finished is kept",
        )
    return BudgetReached(
        f"the cap of {cap} {unit} is reached: {spent} are used, and the next call may need {wanted}",
        where=f"account {reached.account}",
        mend=f"raise --max-{unit} and run the same command again: what is finished is kept",
    )
