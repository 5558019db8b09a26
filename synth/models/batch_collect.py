"""What comes back from a batch: read line by line, booked, stored, and handed to those who wait for it."""

from __future__ import annotations

import asyncio
import json
from copy import copy
from dataclasses import dataclass, field
from enum import Enum

from synth.models.attempts import BoundModel, Reading, read_response, stored_reply
from synth.models.batch_api import BatchEndpoint, BatchLine, BatchState
from synth.models.contract import ChatReply, ChatRequest, FailureKind, Price
from synth.models.failures import Trouble
from synth.models.prices import Bound, PriceTable, plausible
from synth.store.batches import Batch, BatchBook, BatchEnd
from synth.store.calls import CallStore, IntentState, TokenCount
from synth.store.failpoints import failpoint

__all__ = ["BatchCall", "End", "Instead", "UnderWay", "collect"]

_CHUNK = 64
"""Replies that are stored in one transaction."""
_NOT_DONE = frozenset({"expired", "cancelled", "failed"})
"""How a batch ended that did nothing for the calls it says nothing about."""


class Instead(Enum):
    """What a call is to do that brought no reply, and failed at nothing."""

    DIRECTLY = "be made directly"
    AGAIN = "come again at once"
    LATER = "come again after a while"


End = ChatReply | Trouble | Instead


@dataclass(eq=False)
class BatchCall:
    """A caller waiting for a reply."""

    model: BoundModel
    request: ChatRequest
    bound: Bound
    future: asyncio.Future[End]

    def end(self, end: End | BaseException) -> None:
        if self.future.done():
            return
        if isinstance(end, BaseException):
            self.future.set_exception(end)
        else:
            self.future.set_result(end)


@dataclass(eq=False)
class UnderWay:
    """A batch with callers waiting for it."""

    batch: Batch
    model: BoundModel
    server: BatchEndpoint
    waiting: dict[str, list[BatchCall]] = field(default_factory=dict)
    """By key of the call."""
    order: tuple[str, ...] = ()
    """Keys line by line, where it was sent from here."""
    task: asyncio.Task[None] | None = None
    done: int = 0
    """Calls, as the provider last said."""
    collecting: bool = False

    def end(self, key: str, end: End) -> None:
        for call in self.waiting.get(key, ()):
            call.end(end)

    def fail(self, error: BaseException) -> None:
        for call in (call for calls in self.waiting.values() for call in calls):
            call.end(copy(error))

    @property
    def is_awaited(self) -> bool:
        return any(not call.future.done() for calls in self.waiting.values() for call in calls)


@dataclass(frozen=True)
class _Read:
    """A line, and what is booked for it."""

    key: str
    reading: Reading
    end: BatchEnd


async def collect(
    calls: CallStore, under: UnderWay, state: BatchState, lines: list[BatchLine], *, is_refused: bool
) -> None:
    """Settle all calls of a batch that is over. ``is_refused``: another one would be, too, and who waits is not told
    to come again.

    Raises:
        StoreError: the store can't be written; what was settled is kept.
    """
    under.collecting = True
    book = calls.batches
    open_calls = await book.calls(under.batch)
    terms = json.loads(under.batch.terms)
    prices = PriceTable(Price(**terms["price"]), terms["share"])
    chunk: list[_Read] = []
    for line in lines:
        key = open_calls.pop(line.request_id, None)
        if key is None:
            continue  # not ours, settled before, or there twice
        chunk.append(_read(line, key, under, prices))
        if len(chunk) == _CHUNK:
            await _store(calls, under, chunk)
            chunk = []
    await _store(calls, under, chunk)
    await _settle_rest(book, under, state, open_calls, is_refused)
    if is_refused:
        return
    for key, waiting in under.waiting.items():
        if any(not call.future.done() for call in waiting):  # another process was faster
            found = await calls.get(key)
            for call in waiting:
                call.end(Instead.AGAIN if found is None else stored_reply(found, call.request, call.bound))


async def _settle_rest(
    book: BatchBook, under: UnderWay, state: BatchState, left: dict[str, str], is_refused: bool
) -> None:
    """Of a batch that is through nothing may be missing: it may have cost. One that ended early did not come to it."""
    free = state.status in _NOT_DONE
    await book.settle(under.batch, [BatchEnd(name, IntentState.FREE if free else IntentState.UNKNOWN) for name in left])
    bad_lines = {under.order[line - 1] for line, _ in state.errors if line is not None and 0 < line <= len(under.order)}
    said = "; ".join(words for _, words in state.errors[:3])
    detail = f"not done: the batch is {state.status}" + (f" ({said})" if said else "")
    for key in left.values() if not is_refused else ():
        if key in bad_lines:
            under.end(key, Instead.DIRECTLY)  # its own error says more than the batch's
        elif state.is_full:
            under.end(key, Instead.LATER)
        else:
            under.end(key, Trouble(FailureKind.SERVER, detail))


def _read(line: BatchLine, key: str, under: UnderWay, prices: PriceTable) -> _Read:
    if line.response is None:
        trouble = Trouble(FailureKind.SERVER, f"the batch says: {line.error}")
        return _Read(key, Reading(trouble=trouble), BatchEnd(line.request_id, IntentState.FREE))
    waiting = under.waiting.get(key)
    request = waiting[0].request if waiting else None
    reading = read_response(line.response, key, request, longest_wait=under.model.patience.longest_wait)
    usage = reading.usage
    if reading.trouble is not None and not reading.trouble.costs:
        return _Read(key, reading, BatchEnd(line.request_id, IntentState.FREE))
    end = BatchEnd(
        line.request_id,
        IntentState.UNKNOWN if usage is None else IntentState.DELIVERED,
        tokens=None if usage is None else TokenCount(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens),
        cost=None if usage is None else prices.cost(usage),
        reply=reading.body,
        reason=reading.reason,
    )
    return _Read(key, reading, end)


async def _store(calls: CallStore, under: UnderWay, chunk: list[_Read]) -> None:
    if not chunk:
        return
    served = await calls.batches.settle(under.batch, [read.end for read in chunk])
    failpoint("batch.collected")
    for read in chunk:
        if read.end.request_id not in served:
            continue
        reply, other = read.reading.reply, served[read.end.request_id]
        for number, call in enumerate(under.waiting.get(read.key, ())):
            if not number and read.end.state is not IntentState.FREE:
                cost = call.bound.cost if read.end.cost is None else min(read.end.cost, call.bound.cost)
                call.model.tally.book(read.reading.usage, cost)
            if reply is None:
                assert read.reading.trouble is not None
                call.end(read.reading.trouble)
            elif other is None or other == read.end.reply:
                call.end(plausible(reply, call.request, call.bound))
            else:
                call.end(stored_reply(other, call.request, call.bound))
