"""Calls that go to a provider's batch endpoint: gathered, sent as one file, waited for, and stored like any other.

Calls of a role with ``batch`` gather until none has come for a while; that wave is one batch. What it may cost is
reserved and the batch is written down before anything is sent, and its id before it is asked for. So whoever comes
back after a kill, at whatever moment, finds it: by its id, or by our name for it in the provider's list of batches.
What a batch did not do goes into the next one, and in the end directly.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from synth.errors import InputError
from synth.identity import digest
from synth.models.attempts import Attempts, BoundModel, stored_reply
from synth.models.batch_api import BATCH_BYTES, BatchEndpoint, BatchServer, BatchState, BatchTrouble, batch_line
from synth.models.batch_collect import BatchCall, End, Instead, UnderWay, collect
from synth.models.contract import BatchOptions, CallFailed, ChatReply, ChatRequest, EndpointDown
from synth.models.endpoints import Replica, backoff
from synth.models.failures import Scope, Trouble
from synth.models.home import Home
from synth.models.prices import budget_reached, worst_case
from synth.models.statistics import BatchStatistics
from synth.store.batches import Batch, BatchedCall, BatchEnd
from synth.store.calls import CallStore, IntentState
from synth.store.failpoints import failpoint

__all__ = ["Batches"]

_FIRST_LOOK = 1.0
"""Seconds until a batch is looked at for the first time; doubled from look to look."""
_SECOND_SEARCH = 2.0
"""Seconds until a provider's list of batches, in which ours does not stand, is read once more."""
_OFFLINE_LOOK = 2.0
"""Seconds between two looks at a batch on this machine, at most."""
_DIGITS = (8, 32)
"""Of a call's key and sample in its ``custom_id``: with what makes it unique 64 characters, which providers take."""
_LINE_BYTES = 256
"""Of a line of the input beside the call's body, at most."""
_KEPT = "what is finished is kept, and a batch goes on without us: the same command finds it again"

T = TypeVar("T")


class _Refused(EndpointDown):
    """The provider does not take a batch, for certain."""


@dataclass(eq=False)
class _Wave:
    """Calls that gather."""

    calls: list[BatchCall] = field(default_factory=list)
    size: int = 0
    timer: asyncio.TimerHandle | None = None


class Batches:
    """The batches of one hub, booked in ``calls`` under ``account``."""

    def __init__(self, calls: CallStore, account: str, attempts: Attempts, home: Home) -> None:
        self._calls = calls
        self._book = calls.batches
        self._account = account
        self._attempts = attempts
        self._home = home
        self._waves: dict[tuple[str, str, str], _Wave] = {}
        self._under_way: dict[int, UnderWay] = {}
        self._recoveries: dict[int, asyncio.Task[None]] = {}
        self._limits: dict[str, int] = {}
        """Calls of a batch by endpoint, where so many were too many."""
        self._any: bool | None = None
        """Whether the store knows of a batch under way; None = it was not asked yet."""

    def moved(self) -> None:
        """The calls go on on another loop: those who waited here are gone."""
        self._waves.clear()
        self._under_way.clear()
        self._recoveries.clear()

    def statistics(self) -> tuple[BatchStatistics, ...]:
        """Of batches that calls wait for."""
        return tuple(
            BatchStatistics(under.batch.role, under.batch.remote or under.batch.name, under.batch.calls, under.done)
            for under in self._under_way.values()
        )

    async def reply(self, model: BoundModel, request: ChatRequest, body: bytes) -> ChatReply | None:
        """The reply to a call that is under way in a batch, or that may go with one; None = make it directly.

        Raises:
            CallFailed, BudgetReached, EndpointDown: as for any call.
            InputError: it is under way at an endpoint that the role does not name.
        """
        options = model.runtime.batch
        if self._any is None:
            self._any = any(batch.open for batch in self._book.all())
        if options is None and not self._any:
            return None
        bound = worst_case(request, len(body), model.batch_prices)
        batches = 0
        end: End = Instead.AGAIN
        while True:
            batch = await self._book.of(request.key) if self._any else None
            call = BatchCall(model, request, bound, asyncio.get_running_loop().create_future())
            if batch is not None:
                end = await self._wait_for(batch, call)
            elif options is None or batches >= options.attempts:
                if model.offline is not None and isinstance(end, Trouble):
                    raise CallFailed(end.kind, end.detail)
                return None
            else:
                end = await self._join(call, options, len(body))
            if isinstance(end, ChatReply):
                return end
            if end is Instead.DIRECTLY:
                return None
            if end is Instead.LATER:
                await asyncio.sleep((options or BatchOptions()).poll)
            elif isinstance(end, Trouble):
                if end.scope is not Scope.ATTEMPT:
                    raise CallFailed(end.kind, end.detail)
                model.tally.retries[end.kind] += 1
                batches += 1

    # Gathering and sending

    async def _join(self, call: BatchCall, options: BatchOptions, size: int) -> End:
        address = call.model.endpoints.replicas[0].address
        kind = (call.model.tally.role, call.model.name, address)
        wave = self._waves.setdefault(kind, _Wave())
        wave.calls.append(call)
        wave.size += size + _LINE_BYTES
        if wave.timer is not None:
            wave.timer.cancel()
        is_full = len(wave.calls) >= self._limits.get(address, options.calls) or wave.size >= BATCH_BYTES
        if is_full:
            del self._waves[kind]
        wave.timer = asyncio.get_running_loop().call_later(0.0 if is_full else options.gather, self._close, kind, wave)
        return await call.future

    def _close(self, kind: tuple[str, str, str], wave: _Wave) -> None:
        if self._waves.get(kind) is wave:
            del self._waves[kind]
        task = asyncio.get_running_loop().create_task(self._send(wave))
        self._attempts.out.add(task)  # who ends the hub waits until the batch's id is stored
        task.add_done_callback(self._attempts.out.discard)

    async def _send(self, wave: _Wave) -> None:
        calls = [call for call in wave.calls if not call.future.done()]
        try:
            if calls:
                await self._make(calls)
        except BaseException as error:
            for call in calls:
                call.end(copy(error))
            if isinstance(error, asyncio.CancelledError):
                raise

    async def _make(self, calls: Sequence[BatchCall]) -> None:
        model = calls[0].model
        options = model.runtime.batch
        assert options is not None
        if len(calls) < options.least and model.offline is None:
            for call in calls:
                call.end(Instead.DIRECTLY)
            return
        replica = model.endpoints.replicas[0]
        await self._look_after(replica, model)
        named = {self._attempts.name(call.request, *_DIGITS): call for call in calls}
        terms = {"price": model.runtime.price.model_dump(), "share": options.price}
        made = await self._book.make(
            f"synth-{digest('batch', *named)[:32]}",
            self._account,
            model.tally.role,
            replica.address,
            json.dumps(terms),
            [BatchedCall(name, call.request.key, call.bound.tokens, call.bound.cost) for name, call in named.items()],
        )
        for name, reply in made.replies.items():
            model.tally.from_store += 1
            named[name].end(stored_reply(reply, named[name].request, named[name].bound))
        for name, reached in made.over.items():
            named[name].end(budget_reached(reached))
        for name in made.waiting:
            named[name].end(Instead.LATER)
        if made.batch is None:
            return
        self._any = True
        failpoint("batch.begun")
        begun = {name: call for name, call in named.items() if name in made.begun}
        under = self._under_way[made.batch.id] = UnderWay(made.batch, model, self._server(model, replica))
        under.order = tuple(call.request.key for call in begun.values())
        for call in begun.values():
            under.waiting.setdefault(call.request.key, []).append(call)
        try:
            under.batch = await self._submit(under, begun, options)
        except BaseException as error:
            self._under_way.pop(made.batch.id, None)
            if isinstance(error, _Refused):
                await self._book.settle(made.batch, [BatchEnd(name, IntentState.FREE) for name in begun])
            under.fail(error)
            raise
        self._watch(under)

    async def _submit(self, under: UnderWay, begun: Mapping[str, BatchCall], options: BatchOptions) -> Batch:
        server, name = under.server, under.batch.name
        lines = [batch_line(ident, call.request.body) for ident, call in begun.items()]
        file = await self._patiently(under, lambda: server.upload(name, lines))
        failpoint("batch.uploaded")
        is_unknown = False

        async def create() -> str:
            nonlocal is_unknown
            found = await server.find(name) if is_unknown else None
            if found is not None:
                return found
            try:
                return await server.create(file, name, options.window)
            except BatchTrouble as failed:
                is_unknown = is_unknown or failed.trouble.costs
                raise

        remote = await self._patiently(under, create)
        failpoint("batch.created")
        batch = await self._book.sent(under.batch, remote)
        failpoint("batch.noted")
        return batch

    # Waiting

    def _server(self, model: BoundModel, replica: Replica) -> BatchEndpoint:
        if model.offline is not None:
            return model.offline
        longest_wait = model.patience.longest_wait
        return BatchServer(self._home, replica, timeout=model.runtime.timeout, longest_wait=longest_wait)

    async def _wait_for(self, batch: Batch, call: BatchCall) -> End:
        under = self._under_way.get(batch.id)
        if under is None:
            replica = next((one for one in call.model.endpoints.replicas if one.address == batch.endpoint), None)
            name = batch.remote or batch.name
            if name in (call.model.runtime.batch or BatchOptions()).forget:
                left = await self._book.calls(batch)
                await self._book.settle(batch, [BatchEnd(ident, IntentState.UNKNOWN) for ident in left])
                return Instead.AGAIN
            if replica is None:
                raise InputError(
                    f"calls of the role {batch.role} are under way in the batch {name}",
                    where=batch.endpoint,
                    mend="name this endpoint again until the batch is through, or give it up with `batch.forget`",
                )
            under = UnderWay(batch, call.model, self._server(call.model, replica))
            if batch.remote is None:
                return Instead.AGAIN if await self._recover(under) else Instead.LATER
            self._under_way[batch.id] = under
            self._watch(under)
        under.waiting.setdefault(call.request.key, []).append(call)
        try:
            return await call.future
        except asyncio.CancelledError:
            if not under.is_awaited and not under.collecting and under.task is not None:
                under.task.cancel()
            raise

    async def _recover(self, under: UnderWay) -> bool:
        """See what became of a batch that a process was about to send when it died. False: that process lives."""
        task = self._recoveries.get(under.batch.id)
        if task is None:
            if not await self._book.take(under.batch):
                return False
            task = self._recoveries[under.batch.id] = asyncio.create_task(self._find(under))
            task.add_done_callback(lambda _: self._recoveries.pop(under.batch.id, None))
        await asyncio.shield(task)
        return True

    async def _find(self, under: UnderWay) -> None:
        name, server = under.batch.name, under.server
        state = IntentState.FREE
        try:
            remote = await self._patiently(under, lambda: server.find(name))
            if remote is None:
                await asyncio.sleep(min(_SECOND_SEARCH, self._poll_seconds(under)))
                remote = await self._patiently(under, lambda: server.find(name))
        except _Refused:  # it has no list, and nobody knows
            remote, state = None, IntentState.UNKNOWN
        if remote is not None:
            await self._book.sent(under.batch, remote)
            return
        left = await self._book.calls(under.batch)
        await self._book.settle(under.batch, [BatchEnd(ident, state) for ident in left])

    def _watch(self, under: UnderWay) -> None:
        under.task = asyncio.create_task(self._poll(under))

    def _poll_seconds(self, under: UnderWay) -> float:
        poll = (under.model.runtime.batch or BatchOptions()).poll
        return poll if under.model.offline is None else min(poll, _OFFLINE_LOOK)

    async def _poll(self, under: UnderWay) -> None:
        remote = under.batch.remote
        assert remote is not None
        longest = self._poll_seconds(under)
        wait = min(_FIRST_LOOK, longest)
        try:
            while True:
                await asyncio.sleep(wait)
                state = await self._patiently(under, lambda: under.server.look(remote))
                under.done = state.done
                if state.is_final:
                    break
                wait = min(longest, 2 * wait)
            await self._collect(under, state)
        except BaseException as error:
            under.fail(error)
            if isinstance(error, asyncio.CancelledError):
                raise
        finally:
            if self._under_way.get(under.batch.id) is under:
                del self._under_way[under.batch.id]

    async def _collect(self, under: UnderWay, state: BatchState) -> None:
        lines = []
        for file in state.files:
            lines += list(await self._patiently(under, partial(under.server.download, file)))
        options = under.model.runtime.batch or BatchOptions()
        is_refused = False
        if state.status == "failed" and state.is_full:
            half = self._limits[under.batch.endpoint] = max(options.least, under.batch.calls // 2)
            is_refused = half >= under.batch.calls
        elif state.status == "failed":
            is_refused = not any(line is not None for line, _ in state.errors)
        await collect(self._calls, under, state, lines, is_refused=is_refused)
        await under.server.release(under.batch.remote or under.batch.name)
        if is_refused:
            words = "; ".join(words for _, words in state.errors) or "it says nothing more"
            mend = f"lower `batch.calls` of the role, which is {options.calls:,}, or take `batch` out"
            what = f"it refused a batch of {under.batch.calls:,} calls: {words}"
            raise _Refused(what, where=_where(under), mend=mend)

    async def _look_after(self, replica: Replica, model: BoundModel) -> None:
        """Collect what came of batches that nobody waits for any more, so that no money stays reserved for them."""
        for batch in await self._book.under_way(self._account):
            if batch.endpoint != replica.address or batch.id in self._under_way:
                continue
            under = UnderWay(batch, model, self._server(model, replica))
            if batch.remote is None:
                await self._recover(under)
                continue
            try:
                state = await under.server.look(batch.remote)
            except BatchTrouble:
                continue
            if state.is_final:
                await self._collect(under, state)

    async def _patiently(self, under: UnderWay, do: Callable[[], Awaitable[T]]) -> T:
        """What ``do`` gives, as soon as the endpoint answers it.

        Raises:
            EndpointDown: it has not, for longer than the role's patience.
            _Refused: it says that it won't.
        """
        patience = under.model.patience
        loop = asyncio.get_running_loop()
        began = loop.time()
        number = 0
        while True:
            try:
                return await do()
            except BatchTrouble as failed:
                trouble = failed.trouble
            number += 1
            if trouble.scope is not Scope.ATTEMPT:
                raise _Refused(trouble.detail, where=_where(under), mend=trouble.mend or _KEPT)
            if number >= patience.attempts and loop.time() - began >= patience.seconds:
                what = f"its batch endpoint gives no answer: {trouble.kind.value}: {trouble.detail}"
                raise EndpointDown(what, where=_where(under), mend=_KEPT)
            await asyncio.sleep(max(trouble.wait or 0.0, backoff(patience, number + 1, under.batch.name)))


def _where(under: UnderWay) -> str:
    return f"model {under.model.name} at {under.batch.endpoint}"
