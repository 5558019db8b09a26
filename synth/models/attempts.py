"""One attempt at a call: reserved, sent, booked and stored, in this order."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from synth.models import bridge
from synth.models.contract import (
    CallFailed,
    ChatReply,
    ChatRequest,
    FailureKind,
    Finish,
    Model,
    Patience,
    Runtime,
    Sampling,
    Usage,
)
from synth.models.endpoints import Endpoints, Replica
from synth.models.failures import Trouble, trouble_of
from synth.models.home import Home, HomeGone
from synth.models.offline import OfflineServer
from synth.models.parse import MalformedReply, ServerSaysError, is_result, parse_chat, to_store
from synth.models.prices import Bound, PriceTable, budget_reached, plausible, too_few, too_many
from synth.models.serving import Server
from synth.models.statistics import Tally
from synth.models.transport import Response, TransportFailed
from synth.store.calls import CallStore, CapReached, Outcome, TokenCount

__all__ = ["Attempts", "BoundModel", "Reading", "read_response", "stored_reply"]

_KEPT_OF_MALFORMED = 65_536
"""Bytes of a body that is not an answer."""


@dataclass(frozen=True)
class Reading:
    """What a response to a call comes to: a reply, or what is the matter."""

    reply: ChatReply | None = None
    trouble: Trouble | None = None
    """None exactly when there is a reply."""
    usage: Usage | None = None
    """None when the server gave none, or one that can't be true."""
    body: bytes | None = None
    """What is stored of it."""
    reason: str | None = None
    """Why ``body`` must not be served."""


def read_response(response: Response, key: str, request: ChatRequest | None, *, longest_wait: float) -> Reading:
    """The response to the call ``key``. ``request`` None: it is not at hand any more, and the usage is checked by the
    reply alone."""

    def trouble(status: int, detail: bytes) -> Reading:
        return Reading(trouble=trouble_of(status, response.headers, detail, longest_wait=longest_wait))

    if response.status != 200:
        return trouble(response.status, response.body)
    try:
        reply = parse_chat(response.body, key)
    except ServerSaysError as error:
        return trouble(error.status, error.detail.encode())
    except MalformedReply as malformed:
        usage = malformed.usage
        if usage is not None and too_few(usage, request, None):
            usage = None
        found = Trouble(FailureKind.MALFORMED, malformed.detail, costs=True)
        return Reading(None, found, usage, response.body[:_KEPT_OF_MALFORMED], found.kind.value)
    usage = reply.usage
    if usage is not None and too_few(usage, request, reply):
        usage = None
    return Reading(reply, None, usage, to_store(response.body), None if is_result(reply) else _why_not(reply))


class BoundModel(Model):
    """One role, bound to one model of a hub."""

    def __init__(
        self,
        complete: Callable[[BoundModel, ChatRequest], Coroutine[Any, Any, ChatReply]],
        name: str,
        sampling: Sampling,
        runtime: Runtime,
        patience: Patience,
        endpoints: Endpoints,
        tally: Tally,
        server: Server | None = None,
        offline: OfflineServer | None = None,
    ) -> None:
        self.name = name
        self.sampling = sampling
        self.runtime = runtime
        self.patience = patience
        self.endpoints = endpoints
        self.prices = PriceTable(runtime.price)
        self.batch_prices = PriceTable(runtime.price, runtime.price_share)
        self.tally = tally
        self.server = server
        self.offline = offline
        """Works through its batches on this machine; then there is no other way to call it."""
        self._complete = complete

    def ask(self, request: ChatRequest) -> ChatReply:
        return bridge.wait(self._complete(self, request))


class Attempts:
    """All attempts of one hub, booked in ``calls`` under ``account``."""

    def __init__(self, calls: CallStore, account: str, home: Home) -> None:
        self._calls = calls
        self._account = account
        self._home = home
        self.out: set[asyncio.Task[object]] = set()
        """Tasks whose call was sent and is not settled yet."""
        # Names attempts, not results: unlike any other process's, so that no request id is ever used twice.
        self._nonce = hashlib.sha256(f"{os.getpid()} {time.time_ns()}".encode()).hexdigest()[:10]
        self._made = 0

    def name(self, request: ChatRequest, key_digits: int, sample_digits: int) -> str:
        """A request id that was never used, with so much of the call's key and sample in it."""
        self._made += 1
        sample = _header_safe(request.sample)[:sample_digits]
        return f"{request.key[:key_digits]}-{sample}-{self._nonce}{self._made:x}"

    async def make(
        self, model: BoundModel, request: ChatRequest, body: bytes, bound: Bound, replica: Replica
    ) -> ChatReply | Trouble:
        """Send once. Whatever happens, the store knows of it before and after.

        Raises:
            HomeGone: this loop may end before a reply is here; nothing was sent.
        """
        if self._home.leaving():
            raise HomeGone
        ident = self.name(request, 16, 8)
        try:
            elsewhere = await self._calls.begin(
                ident, request.key, self._account, model.tally.role, tokens=bound.tokens, cost=bound.cost
            )
        except CapReached as reached:
            raise budget_reached(reached) from None
        if elsewhere is not None:
            model.tally.from_store += 1
            return stored_reply(elsewhere, request, bound)
        if self._home.leaving():
            await self._calls.settle(ident, Outcome.FREE)
            raise HomeGone
        task = asyncio.current_task()
        assert task is not None
        self.out.add(task)
        try:
            return await self._send(model, request, ident, body, bound, replica)
        finally:
            self.out.discard(task)

    async def _send(
        self, model: BoundModel, request: ChatRequest, ident: str, body: bytes, bound: Bound, replica: Replica
    ) -> ChatReply | Trouble:
        headers = {**replica.headers, "X-Request-Id": ident, "X-Synth-Sample": _header_safe(request.sample)}
        try:
            response = await self._home.transport.post(
                *(replica.url, body, headers),
                timeout=model.runtime.timeout,
                most=bound.reply_bytes,
                proxy=replica.proxy,
            )
        except TransportFailed as failed:
            return await self._lost(model, ident, bound, failed.trouble)
        except BaseException:  # cancelled after it was sent: its outcome stays unknown
            model.tally.book(None, bound.cost)
            await self._calls.settle(ident, Outcome.UNKNOWN)
            raise
        return await self._settle(model, request, ident, bound, response)

    async def _settle(
        self, model: BoundModel, request: ChatRequest, ident: str, bound: Bound, response: Response
    ) -> ChatReply | Trouble:
        """Book and store what came."""
        found = read_response(response, request.key, request, longest_wait=model.patience.longest_wait)
        if found.reply is None:
            assert found.trouble is not None
            return await self._lost(model, ident, bound, found.trouble, found.usage, found.body)
        served = await self._book(model, ident, bound, found.usage, found.body, found.reason)
        if served is None or served == found.body:
            return plausible(found.reply, request, bound)
        return stored_reply(served, request, bound)

    async def _lost(
        self,
        model: BoundModel,
        ident: str,
        bound: Bound,
        trouble: Trouble,
        usage: Usage | None = None,
        body: bytes | None = None,
    ) -> Trouble:
        """Book an attempt that brought no reply."""
        if trouble.costs:
            await self._book(model, ident, bound, usage, body, trouble.kind.value)
        else:
            await self._calls.settle(ident, Outcome.FREE)
        return trouble

    async def _book(
        self, model: BoundModel, ident: str, bound: Bound, usage: Usage | None, body: bytes | None, reason: str | None
    ) -> bytes | None:
        """Settle at what it did cost, or at the bound; gives what the store serves for this call from now on."""
        cost, count = bound.cost, None
        if usage is not None:
            cost = model.prices.cost(usage)
            count = TokenCount(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
        over = usage is not None and (cost > bound.cost or too_many(usage, bound))
        model.tally.book(None if over else usage, min(cost, bound.cost))
        return await self._calls.settle(
            ident,
            Outcome.UNKNOWN if usage is None else Outcome.DELIVERED,
            usage=count,
            cost=None if usage is None else cost,
            reply=body,
            reason=None if body is None else reason,
        )


def stored_reply(body: bytes, request: ChatRequest, bound: Bound) -> ChatReply:
    """A reply from the store."""
    try:
        return plausible(parse_chat(body, request.key), request, bound)
    except (MalformedReply, ServerSaysError) as error:  # stored by a version that read more forms than this one
        raise CallFailed(FailureKind.MALFORMED, f"stored reply: {error}") from error


def _why_not(reply: ChatReply) -> str:
    if reply.refusal:
        return "refusal"
    if reply.finish in (Finish.LENGTH, Finish.CONTENT_FILTER):
        return reply.finish.value
    return "empty"


def _header_safe(sample: str) -> str:
    """``sample`` as a header can carry it."""
    if sample.isascii() and sample.isalnum():
        return sample
    return hashlib.sha256(sample.encode()).hexdigest()[:32]
