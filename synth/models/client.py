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
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType

from synth.errors import InputError
from synth.models.attempts import Attempts, BoundModel, stored_reply
from synth.models.batches import Batches
from synth.models.contract import (
    BudgetReached,
    CallFailed,
    ChatReply,
    ChatRequest,
    FailureKind,
    Patience,
    Runtime,
    Sampling,
)
from synth.models.endpoints import Endpoints, Pace, Replica, backoff
from synth.models.failures import Scope, Trouble
from synth.models.home import Home, HomeGone
from synth.models.offline import OfflineServers
from synth.models.prices import worst_case
from synth.models.serving import Servers
from synth.models.statistics import EndpointStatistics, HubStatistics, Tally
from synth.models.transport import TransportFailed, check_address, proxy_for
from synth.redaction import Redactor, hide_credentials, password_of
from synth.store.calls import Account, CallStore

__all__ = ["BoundModel", "ModelHub"]

_OWN_FIELDS = frozenset(
    "logprobs max_completion_tokens max_tokens messages model n response_format return_token_ids stream stream_options "
    "temperature tool_choice tools top_p".split()
)
"""Fields of the body that ``Sampling.extra`` must leave alone: said elsewhere, or of a protocol that is not ours."""
_RATE_LIMITED_FOR_ONE = 4
"""Rate-limit responses count as 1/4 of a failed attempt: they are backpressure, not failure."""
_HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""A server that we start has them too, and may say them."""
_ALIVE_SECONDS = 10.0
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
        self._ending = False
        self._servers = Servers()
        self._offline = OfflineServers(calls.place)
        self._redactor = Redactor(os.environ.get(name, "").strip() for name in _HUB_TOKENS)
        self._home = Home(self._moved, self._settled, self._redactor)
        self._attempts = Attempts(calls, account, self._home)
        self._batches = Batches(calls, account, self._attempts, self._home)

    def bind(self, name: str, sampling: Sampling, runtime: Runtime) -> BoundModel:
        """The model ``name`` at the endpoints of ``runtime``.

        Raises:
            InputError: no endpoint or a wrong address, no vLLM where one is to be started, a key variable that is not
                set, or a field in ``extra`` that is said elsewhere.
        """
        where = f"model {name}"
        server, offline = None, None
        if runtime.serve is not None and runtime.batch is not None:
            offline = self._offline.server(name, runtime.serve)
        elif runtime.serve is not None:
            server = self._servers.server(name, runtime.serve)
        one = offline.address if offline is not None else server.endpoint if server is not None else None
        addresses = runtime.endpoints if one is None else (one,)
        if not addresses:
            raise InputError("it has no endpoint", where=where, mend="name the address of its server, up to /v1")
        if own := sorted(field for field in _OWN_FIELDS & sampling.extra.keys() if sampling.extra[field] is not None):
            mend = "name it in sampling.length_field" if own == ["max_completion_tokens"] else "take it out"
            raise InputError(f"sampling.extra can't set {', '.join(own)}", where=where, mend=mend)
        patience = runtime.patience or self._patience
        if offline is None:
            replicas = tuple(dict.fromkeys(self._replica(address, runtime, patience, where) for address in addresses))
        else:
            replicas = (Replica(offline.address, Pace(runtime.concurrency, patience)),)
        endpoints = self._endpoints.get((name, replicas))
        if endpoints is None:
            endpoints = self._endpoints[name, replicas] = Endpoints(name, replicas, patience, self._ask)
        endpoints.patience = endpoints.patience.or_more(patience)
        role = runtime.role or name
        tally = self._tallies.setdefault((role, name), Tally(role, name))
        return BoundModel(self.complete, name, sampling, runtime, patience, endpoints, tally, server, offline)

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
            batches=self._batches.statistics(),
        )

    @asynccontextmanager
    async def ending(self, seconds: float) -> AsyncIterator[None]:
        """Inside, no call begins: callers are cancelled instead. It is entered when those that were out have been
        answered and stored, or after ``seconds``. On the loop of the calls."""
        self._ending = True
        try:
            for flight in self._flights.values():
                if flight.task not in self._attempts.out:
                    flight.task.cancel()
            if self._attempts.out:
                await asyncio.wait(set(self._attempts.out), timeout=seconds)
            yield
        finally:
            self._ending = False

    def close(self) -> None:
        """Stop the servers that it started, close connections that no loop has closed yet, and the store if it is the
        hub's own."""
        self._home.close()
        self._servers.close()
        self._offline.close()
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
        self._attempts.out.clear()
        self._batches.moved()
        for replica in self._replicas.values():
            replica.pace.moved()

    async def _settled(self) -> None:
        while self._attempts.out:
            await asyncio.wait(set(self._attempts.out))

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
            return stored_reply(stored, request, bound)
        batched = await self._batches.reply(model, request, body)
        if batched is not None:
            return batched
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
                found = await self._attempts.make(model, request, body, bound, replica)
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

    async def _ask(self, replica: Replica) -> bool:
        """Whether the replica answers anything."""
        try:
            response = await self._home.transport.get(
                f"{replica.address}/models", replica.headers, timeout=_ALIVE_SECONDS, proxy=replica.proxy
            )
        except TransportFailed:
            return False
        return response.status < 500


class _Flight:
    """One call under way, and how many wait for it."""

    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[ChatReply]) -> None:
        self.task = task
        self.waiting = 0
