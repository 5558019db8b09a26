"""The engine of calls: every call is looked up, reserved, sent, booked and stored, in this order.

    hub = ModelHub(calls, account="my-dataset")
    model = hub.bind("Qwen/Qwen3-8B", Sampling(temperature=0.7), Runtime(endpoints=("http://localhost:8000/v1",)))
    reply = model.chat([{"role": "user", "content": "Who wrote it?"}], sample="0")

* Nothing is sent before the store knows of it and the cap allows what it may cost at most; nothing is used before it is
  stored. So no reply is paid for twice, and the cap holds whatever happens.
* Equal calls at the same time are one call.
* A failed attempt is made again where that can help (``synth.models.failures`` decides); an endpoint that answers
  nobody ends the run (``EndpointDown``), and no row is blamed for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from synth.errors import InputError
from synth.models import bridge
from synth.models.contract import (
    BudgetReached,
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
from synth.models.failures import Scope, Trouble, trouble_of
from synth.models.home import Home, HomeGone
from synth.models.pace import Pace, backoff
from synth.models.parse import MalformedReply, ServerSaysError, is_result, parse_chat, to_store
from synth.models.prices import Bound, PriceTable, budget_reached, plausible, too_few, too_many, worst_case
from synth.models.serving import Server, Servers
from synth.models.statistics import EndpointStatistics, HubStatistics, Tally
from synth.models.transport import Response, TransportFailed, check_address, proxy_for
from synth.redaction import Redactor, hide_credentials, password_of
from synth.store.calls import Account, CallStore, CapReached, Outcome, TokenCount

__all__ = ["BoundModel", "ModelHub"]

_OWN_FIELDS = frozenset(
    {
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "model",
        "n",
        "return_token_ids",
        "stream",
        "stream_options",
    }
    | {"response_format", "temperature", "tool_choice", "tools", "top_p"}
)
"""Fields of the body that ``Sampling.extra`` must leave alone: said elsewhere, or of a protocol that is not ours."""
_RATE_LIMITED_FOR_ONE = 4
"""How many 429 weigh as much as one attempt that failed otherwise: they say when to come, not that it is in vain."""
_HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""A server that we start has them too, and may say them."""
_ALIVE_SECONDS = 10.0
_KEPT_OF_MALFORMED = 65_536
"""Bytes of a body that is no answer."""
_MOVE_SECONDS = 0.005
"""Before a call whose loop ended under it looks for another one."""


class ModelHub:
    """All models of a build: one store of calls, one account, one window per endpoint. Implements ``Models``.

    Used from one event loop at a time; a call from elsewhere is carried over to it. Connections close with the loop.

    Args:
        calls: the store, closed by its owner; None = one of the hub's own, which goes with it.
        account: what the calls are booked under.
        max_cost: nano-units that the account may have cost at most, over all runs; None = no cap.
        max_tokens: prompt and completion tokens that it may have used at most.
        patience: when to go on and when to give up, for models whose runtime doesn't say.
    """

    def __init__(
        self,
        calls: CallStore | None = None,
        *,
        account: str = "calls",
        max_cost: int | None = None,
        max_tokens: int | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.account_name = account
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if calls is None:
            self._folder = tempfile.TemporaryDirectory(prefix="synth-calls-")
            calls = CallStore(Path(self._folder.name, "calls.sqlite"))
        self._calls = calls
        self._calls.cap(account, cost=max_cost, tokens=max_tokens)
        self._patience = Patience() if patience is None else patience
        self._replicas: dict[tuple[str, str | None], Replica] = {}
        self._endpoints: dict[tuple[str, tuple[Replica, ...]], Endpoints] = {}
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._flights: dict[str, _Flight] = {}
        self._out: set[asyncio.Task[Any]] = set()
        """Calls that were sent and not settled yet."""
        self._ending = False
        self._servers = Servers()
        self._redactor = Redactor(os.environ.get(name, "").strip() for name in _HUB_TOKENS)
        self._home = Home(self._moved, self._settled, self._redactor)
        # Names attempts, not results: unlike any other process's, so that no request id is ever used twice.
        self._nonce = hashlib.sha256(f"{os.getpid()} {time.time_ns()}".encode()).hexdigest()[:10]
        self._attempts = 0

    def bind(self, name: str, sampling: Sampling, runtime: Runtime) -> BoundModel:
        """The model ``name`` at the endpoints of ``runtime``.

        Raises:
            InputError: no endpoint or a wrong address, no vLLM where one is to be started, a key variable that is not
                set, or a field in ``extra`` that is said elsewhere.
        """
        where = f"model {name}"
        server = self._servers.server(name, runtime.serve) if runtime.serve is not None else None
        addresses = runtime.endpoints if server is None else (server.endpoint,)
        if not addresses:
            raise InputError("it has no endpoint", where=where, mend="name the address of its server, up to /v1")
        if own := sorted(field for field in _OWN_FIELDS & sampling.extra.keys() if sampling.extra[field] is not None):
            mend = "name it in sampling.length_field" if own == ["max_completion_tokens"] else "take it out"
            raise InputError(f"sampling.extra can't set {', '.join(own)}", where=where, mend=mend)
        patience = runtime.patience or self._patience
        replicas = tuple(dict.fromkeys(self._replica(address, runtime, patience, where) for address in addresses))
        endpoints = self._endpoints.get((name, replicas))
        if endpoints is None:
            endpoints = self._endpoints[name, replicas] = Endpoints(name, replicas, patience, self._ask)
        endpoints.patience = endpoints.patience.or_more(patience)
        role = runtime.role or name
        tally = self._tallies.setdefault((role, name), Tally(role, name))
        return BoundModel(self, name, sampling, runtime, patience, endpoints, tally, server)

    def account(self) -> Account:
        """What the account has used over all runs."""
        return self._calls.account(self.account_name)

    def statistics(self) -> HubStatistics:
        """What the calls through this hub amount to so far."""
        return HubStatistics(
            roles=tuple(tally.read() for _, tally in sorted(self._tallies.items())),
            endpoints=tuple(
                EndpointStatistics(
                    hide_credentials(each.address), each.pace.in_flight, each.pace.window, each.pace.broken
                )
                for each in self._replicas.values()
            ),
        )

    @asynccontextmanager
    async def ending(self, seconds: float) -> AsyncIterator[None]:
        """Inside, no call begins: callers are cancelled instead. It is entered when those that were out have been
        answered and stored, or after ``seconds``. On the loop of the calls."""
        self._ending = True
        try:
            for flight in self._flights.values():
                if flight.task not in self._out:
                    flight.task.cancel()
            if self._out:
                await asyncio.wait(set(self._out), timeout=seconds)
            yield
        finally:
            self._ending = False

    def close(self) -> None:
        """Stop the servers that it started, close connections that no loop has closed yet, and the store if it is the
        hub's own."""
        self._home.close()
        self._servers.close()
        if self._folder is not None:
            self._calls.close()
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> ModelHub:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _replica(self, address: str, runtime: Runtime, patience: Patience, where: str) -> Replica:
        bare = check_address(address, where)
        replica = self._replicas.get((bare, runtime.api_key_env))
        if replica is None:
            headers = {}
            if runtime.api_key_env is not None:
                key = os.environ.get(runtime.api_key_env, "").strip()
                if not key:
                    what = f"environment variable {runtime.api_key_env} holds no key"
                    raise InputError(what, where=where, mend=f"export {runtime.api_key_env}=...")
                headers["Authorization"] = f"Bearer {key}"
                self._redactor.add(key)
            pace = Pace(runtime.concurrency, patience)
            replica = Replica(bare, pace, proxy_for(bare), headers)
            for password in password_of(bare) | password_of(replica.proxy):
                self._redactor.add(password)
            self._replicas[bare, runtime.api_key_env] = replica
        replica.pace.patience = replica.pace.patience.or_more(patience)
        replica.pace.ceiling = min(replica.pace.ceiling, runtime.concurrency)
        return replica

    def _moved(self) -> None:
        """The calls go on on another loop: nothing of the last one is left to wait for."""
        self._flights.clear()
        self._out.clear()
        for replica in self._replicas.values():
            replica.pace.moved()

    async def _settled(self) -> None:
        while self._out:
            await asyncio.wait(set(self._out))

    async def complete(self, model: BoundModel, request: ChatRequest) -> ChatReply:
        """The reply to ``request``, as :meth:`Model.chat` gives it. For callers on an event loop."""
        while True:
            try:
                return await self._home.carry(lambda: self._shared(model, request))
            except HomeGone:
                if self._ending:
                    raise asyncio.CancelledError from None
            await asyncio.sleep(_MOVE_SECONDS)

    async def _shared(self, model: BoundModel, request: ChatRequest) -> ChatReply:
        flight = self._flights.get(request.key)
        if flight is None:
            flight = self._flights[request.key] = _Flight(asyncio.create_task(self._one(model, request)))
        else:
            model.tally.shared += 1
        flight.waiting += 1
        try:
            reply = await asyncio.shield(flight.task)
        except (CallFailed, BudgetReached):
            model.tally.failed += 1
            raise
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                if self._flights.get(request.key) is flight:
                    del self._flights[request.key]
                if not flight.task.done():  # the last caller was cancelled: so is the call
                    flight.task.cancel()
                    await asyncio.wait([flight.task])
        model.tally.calls += 1
        return reply

    async def _one(self, model: BoundModel, request: ChatRequest) -> ChatReply:
        """Look up, or send until a reply is there."""
        body = request.body.encode()
        bound = worst_case(request, len(body), model.prices)
        stored = await self._calls.get(request.key)
        if stored is not None:
            model.tally.from_store += 1
            return _read(stored, request, bound)
        loop = asyncio.get_running_loop()
        weight = 0
        number = 0
        first: float | None = None
        while True:
            if self._ending:
                raise asyncio.CancelledError
            number += 1
            if model.server is not None:
                await model.server.ready()
            replica = await model.endpoints.enter(request.session or request.key)
            try:
                sent = loop.time()
                first = sent if first is None else first
                found = await self._attempt(model, request, body, bound, replica)
                if not isinstance(found, Trouble):
                    model.tally.seconds.append(loop.time() - sent)
                    model.endpoints.answered(replica)
                    return found
                model.tally.retries[found.kind] += 1
                blamed = await model.endpoints.failed(replica, found, request.key, sent, first)
            finally:
                replica.pace.leave()
            weight += 1 if found.kind is FailureKind.RATE_LIMITED else _RATE_LIMITED_FOR_ONE
            if blamed and weight >= _RATE_LIMITED_FOR_ONE * model.runtime.attempts:
                raise CallFailed(found.kind, f"{found.detail} (after {number} attempts)")
            if found.scope is Scope.ATTEMPT:
                await asyncio.sleep(backoff(model.patience, number + 1, request.key))

    async def _attempt(
        self, model: BoundModel, request: ChatRequest, body: bytes, bound: Bound, replica: Replica
    ) -> ChatReply | Trouble:
        """Send once. Whatever happens, the store knows of it before and after.

        Raises:
            HomeGone: this loop may end before a reply is here; nothing was sent.
        """
        if self._home.leaving():
            raise HomeGone
        self._attempts += 1
        ident = f"{request.key[:16]}-{_header_safe(request.sample)[:8]}-{self._nonce}{self._attempts:x}"
        try:
            await self._calls.begin(
                ident, request.key, self.account_name, model.tally.role, tokens=bound.tokens, cost=bound.cost
            )
        except CapReached as reached:
            raise budget_reached(reached) from None
        if self._home.leaving():
            await self._calls.settle(ident, Outcome.FREE)
            raise HomeGone
        task = asyncio.current_task()
        assert task is not None
        self._out.add(task)
        try:
            return await self._send(model, request, ident, body, bound, replica)
        finally:
            self._out.discard(task)

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
        except BaseException:  # cancelled: it is out, and nobody will know what became of it
            model.tally.book(None, bound.cost)
            await self._calls.settle(ident, Outcome.UNKNOWN)
            raise
        return await self._settle(model, request, ident, bound, response)

    async def _settle(
        self, model: BoundModel, request: ChatRequest, ident: str, bound: Bound, response: Response
    ) -> ChatReply | Trouble:
        """Book and store what came."""
        if response.status != 200:
            return await self._lost(model, ident, bound, self._trouble(model, response.status, response))
        try:
            reply = parse_chat(response.body, request.key)
        except ServerSaysError as error:
            return await self._lost(model, ident, bound, self._trouble(model, error.status, response, error.detail))
        except MalformedReply as malformed:
            trouble = Trouble(FailureKind.MALFORMED, malformed.detail, costs=True)
            usage = malformed.usage
            if usage is not None and too_few(usage, request, None):
                usage = None
            return await self._lost(model, ident, bound, trouble, usage, response.body[:_KEPT_OF_MALFORMED])
        usage = reply.usage
        if usage is not None and too_few(usage, request, reply):
            usage = None
        reason = None if is_result(reply) else _why_not(reply)
        body = to_store(response.body)
        served = await self._book(model, ident, bound, usage, body, reason)
        return plausible(reply, request, bound) if served is None or served == body else _read(served, request, bound)

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

    def _trouble(self, model: BoundModel, status: int, response: Response, detail: str | None = None) -> Trouble:
        body = response.body if detail is None else detail.encode()
        return trouble_of(status, response.headers, body, longest_wait=model.patience.longest_wait)

    async def _ask(self, replica: Replica) -> bool:
        """Whether the replica answers anything."""
        try:
            response = await self._home.transport.get(
                f"{replica.address}/models", replica.headers, timeout=_ALIVE_SECONDS, proxy=replica.proxy
            )
        except TransportFailed:
            return False
        return response.status < 500


class BoundModel(Model):
    """One role, bound to one model of a hub."""

    def __init__(
        self,
        hub: ModelHub,
        name: str,
        sampling: Sampling,
        runtime: Runtime,
        patience: Patience,
        endpoints: Endpoints,
        tally: Tally,
        server: Server | None = None,
    ) -> None:
        self.name = name
        self.sampling = sampling
        self.runtime = runtime
        self.patience = patience
        self.endpoints = endpoints
        self.prices = PriceTable(runtime.price)
        self.tally = tally
        self.server = server
        self._hub = hub

    def ask(self, request: ChatRequest) -> ChatReply:
        return bridge.wait(self._hub.complete(self, request))


class _Flight:
    """One call under way, and how many wait for it."""

    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[ChatReply]) -> None:
        self.task = task
        self.waiting = 0


def _read(body: bytes, request: ChatRequest, bound: Bound) -> ChatReply:
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
