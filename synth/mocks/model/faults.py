"""Everything that goes wrong with model servers, on a seeded plan.

A fault of transport depends on (seed, call, attempt), where a call is what is asked (body and sample) and attempts are
counted by the server. A fault of content depends on (seed, call) alone, as a model's own mistakes do. So what comes of
a call after all its retries is the same in whatever order and however often calls are made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from synth.identity import digest
from synth.mocks.model.replies import Call, Reply, cut, tokens_of
from synth.schemas.row import Row

__all__ = ["CONTENT_FAULTS", "TRANSPORT_FAULTS", "BatchFault", "FaultKind", "Faults", "spoil"]


class FaultKind(StrEnum):
    """What goes wrong."""

    RATE_LIMITED = "rate_limited"
    """429 that says nothing about when to come back."""
    RETRY_AFTER = "retry_after"
    """429 with a ``Retry-After``."""
    SERVER_ERROR = "server_error"
    """500."""
    UNAVAILABLE = "unavailable"
    """503."""
    RESET_BEFORE = "reset_before"
    """The connection is reset before a byte of the answer."""
    RESET_AFTER = "reset_after"
    """The connection is reset after the headers and half of the body."""
    SLOW_BODY = "slow_body"
    """The body comes in drips; it is whole for whoever waits."""
    HANG = "hang"
    """Nothing ever comes."""
    TORN_JSON = "torn_json"
    """200, and half of the JSON."""
    WRONG_CONTENT_TYPE = "wrong_content_type"
    """200, and a page in HTML."""
    EMPTY_CHOICES = "empty_choices"
    """200, and no choice."""
    LOST_CALLS = "lost_calls"
    """The calls are gone: neither content nor calls."""
    EMPTY_ARGUMENTS = "empty_arguments"
    """The arguments of every call are an empty text."""
    NARRATED_TAG = "narrated_tag"
    """The calls stand in the content, each in ``<tool_call>``."""
    NARRATED_FENCE = "narrated_fence"
    """The calls stand in the content, each in a block of code."""
    WRONG_TYPES = "wrong_types"
    """An argument has another type than the tool's schema says."""
    LENGTH = "length"
    """Cut off somewhere, with the finish ``length``."""
    REFUSAL = "refusal"
    """The model will not."""
    DUPLICATE_IDS = "duplicate_ids"
    """All calls have one id: that of an earlier call of the conversation where there is one."""
    USAGE_MISSING = "usage_missing"
    """The body has no ``usage``."""


class BatchFault(StrEnum):
    """What goes wrong with batches."""

    SLOW = "batch_slow"
    """It takes ten times as long."""
    EXPIRED = "batch_expired"
    """It ends with a half of its calls; the others are errors."""
    LOST = "batch_lost"
    """It is made, and the connection is reset before its id is told."""
    OUT_OF_ORDER = "batch_out_of_order"
    """Its replies come in another order."""
    LINE_ERROR = "batch_line_error"
    """A call is answered with 500."""
    LINE_TWICE = "batch_line_twice"
    """A reply comes twice."""


TRANSPORT_FAULTS = tuple(FaultKind)[:11]
CONTENT_FAULTS = tuple(FaultKind)[11:]


class Faults(Row):
    """How often what goes wrong. A request gets at most one fault of transport, a reply at most one of content. A fault
    of content that a reply has no place for (lost calls where there are none) does not happen."""

    seed: int = 0
    rates: dict[FaultKind, Annotated[float, Field(ge=0, le=1)]] = {}
    """Share of the attempts (transport) or of the calls (content); each of the two sums to 1 at most."""
    batches: dict[BatchFault, Annotated[float, Field(ge=0, le=1)]] = {}
    """Share of the batches, or of their lines; each for itself."""
    retry_after: str = "1"
    """What ``Retry-After`` says: seconds or an HTTP date."""
    slow: float = Field(default=0.5, ge=0)
    """Seconds that a slow body takes."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        for kinds in (TRANSPORT_FAULTS, CONTENT_FAULTS):
            if sum(self.rates.get(kind, 0.0) for kind in kinds) > 1:
                raise ValueError(f"the rates of {kinds[0]} to {kinds[-1]} sum to more than 1")
        return self

    @classmethod
    def all(cls, rate: float, *, seed: int = 0, **more: Any) -> Faults:
        """Every kind at ``rate``."""
        return cls(seed=seed, rates=dict.fromkeys(FaultKind, rate), **more)

    def transport(self, call: str, attempt: int) -> FaultKind | None:
        """The fault of attempt number ``attempt`` (from 0) at ``call``."""
        return self._draw(TRANSPORT_FAULTS, "transport", call, attempt)

    def content(self, call: str) -> FaultKind | None:
        """The fault of the reply to ``call``."""
        return self._draw(CONTENT_FAULTS, "content", call)

    def of_batch(self, kind: BatchFault, *names: str | int) -> bool:
        """Whether ``kind`` happens to a batch, or a line of one."""
        return bool(self.batches) and _point(self.seed, kind, *names) < self.batches.get(kind, 0.0)

    def share(self, call: str) -> float:
        """A number in [0, 1) for ``call``: where it is cut."""
        return _point(self.seed, "share", call)

    def _draw(self, kinds: tuple[FaultKind, ...], *names: str | int) -> FaultKind | None:
        if not self.rates:
            return None
        point = _point(self.seed, *names)
        for kind in kinds:
            point -= self.rates.get(kind, 0.0)
            if point < 0:
                return kind
        return None


def _point(*names: str | int) -> float:
    return float(int(digest("fault", *names)[:13], 16) / 16**13)


def spoil(reply: Reply, kind: FaultKind, request: Mapping[str, Any], share: float) -> Reply | None:
    """``reply`` with a fault of content in it; None where it has no place for one.

    ``usage_missing`` changes the body only, so the reply comes back as it is.
    """
    calls = reply.calls
    if kind is FaultKind.USAGE_MISSING:
        return reply
    if kind is FaultKind.REFUSAL:
        return Reply(refusal="I can not help with this request.")
    if kind is FaultKind.LENGTH:
        count = len(tokens_of(reply))
        return cut(reply, max(1, int(share * count))) if count > 1 else None
    if not calls:
        return None
    if kind is FaultKind.LOST_CALLS:
        return replace(reply, content=None, calls=())
    if kind is FaultKind.EMPTY_ARGUMENTS:
        return replace(reply, calls=tuple(replace(call, arguments="") for call in calls))
    if kind is FaultKind.NARRATED_TAG:
        told = "\n".join(f"<tool_call>\n{_told(call)}\n</tool_call>" for call in calls)
        return replace(reply, content=f"{reply.content}\n{told}" if reply.content else told, calls=())
    if kind is FaultKind.NARRATED_FENCE:
        told = "\n".join(f"```json\n{_told(call)}\n```" for call in calls)
        return replace(reply, content=f"{reply.content}\n{told}" if reply.content else told, calls=())
    if kind is FaultKind.WRONG_TYPES:
        wrong = _mistyped(calls[0])
        return None if wrong is None else replace(reply, calls=(wrong, *calls[1:]))
    assert kind is FaultKind.DUPLICATE_IDS
    earlier = [call["id"] for message in request["messages"] for call in message.get("tool_calls") or ()]
    if not earlier and len(calls) < 2:
        return None
    one = earlier[-1] if earlier else "call_0"
    return replace(reply, calls=tuple(replace(call, id=one) for call in calls))


def _told(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": json.loads(call.arguments)}, ensure_ascii=False)


def _mistyped(call: Call) -> Call | None:
    arguments = json.loads(call.arguments)
    if not arguments:
        return None
    name = next(iter(arguments))
    value = arguments[name]
    wrong: Any = {"value": value} if isinstance(value, str) else str(value)
    return replace(call, arguments=json.dumps(arguments | {name: wrong}, ensure_ascii=False))
