"""Model-bound stage runs: all shards at once, on one event loop in the engine's own process.

Hundreds of rows wait for a model at the same time; each is a plain function in a greenlet (``synth.models.bridge``). A
row goes to its shard's journal when it is finished, in whatever order that happens; a shard is committed when the last
of its rows is. So no shard waits for another's slowest row, and the bytes depend on no order.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from types import FrameType
from typing import Any, TypeVar

from synth.engine.rowshard import PendingRow, RowShard
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import Interrupted, SynthError
from synth.models import bridge
from synth.stages.contract import RowStage, Stage

__all__ = ["BuildLoop", "Multiplexer"]

T = TypeVar("T")

_TELL_SECONDS = 0.5
_INTERRUPTS = 2
"""So many times the loop is asked to end: first when its calls have, then at once."""
_OPEN_JOURNALS = 128
"""Journals whose files stay open between two records; more shards than that may be in the making."""


class Multiplexer:
    """Does ``tasks`` of ``work``, with up to ``in_flight`` rows (or, of other stages, shards) at once. Used once.

    ``tell`` hears about twice a second how many are in flight, ``note`` what else the user should know. When the run is
    interrupted, ``ending`` is entered with the seconds of the grace: inside, no call begins, and those that were out
    have ended.
    """

    def __init__(
        self,
        work: Work,
        tasks: Sequence[ShardTask],
        observer: Observer,
        *,
        in_flight: int,
        grace: float,
        tell: Callable[[int], None] = lambda rows: None,
        note: Callable[[str], None] = lambda line: None,
        ending: Callable[[float], AbstractAsyncContextManager[None]] | None = None,
    ) -> None:
        self._work = work
        self._tasks = tasks
        self._observer = observer
        self._in_flight = in_flight
        self._grace = grace
        self._stopping = False
        self._open: set[RowShard] = set()
        self._files: OrderedDict[RowShard, None] = OrderedDict()
        # One thread writes shards: their fsyncs must not hold up the loop.
        self._committer = ThreadPoolExecutor(1, "synth-commit")
        self._tell = tell
        self._note = note
        self._ending = ending
        self._rows_in_flight = 0

    async def run(self) -> None:
        """All of it.

        Raises:
            SynthError: the first one that a row ended with. No row began after it, those in flight had the grace to
                end, and everything that was finished is kept.
            asyncio.CancelledError: it was interrupted. No call began after it; those that were out had the grace to
                end, since they are paid for.
            Exception: a bug of the stage, with a note that says where; rows in flight were cut off at once.
        """
        workers: set[asyncio.Task[None]] = set()
        try:
            stage = await bridge.run(self._work.open)
            units = self._rows(stage) if isinstance(stage, RowStage) else ((task, None) for task in self._tasks)
            count = min(self._in_flight, sum(task.units for task in self._tasks))
            workers = {asyncio.create_task(self._worker(stage, units)) for _ in range(count)}
            talker = asyncio.create_task(self._talk())
            workers.add(talker)
            try:
                await self._watch(workers - {talker})
            except asyncio.CancelledError:
                await self._end_calls(workers - {talker})
                raise
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            self._committer.shutdown()
            for shard in self._open:
                shard.close()

    async def _watch(self, workers: Iterable[asyncio.Task[None]]) -> None:
        if not workers:
            return
        done, others = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        error = _first_error(done)
        if error is None:
            return
        self._stopping = True
        if others and isinstance(error, SynthError) and not isinstance(error, Interrupted):
            await asyncio.wait(others, timeout=self._grace)
        raise error

    async def _end_calls(self, workers: Iterable[asyncio.Task[None]]) -> None:
        """Let calls that are out end, since they are paid for, and rows that need no other one."""
        self._stopping = True
        left = [worker for worker in workers if not worker.done()]
        if self._ending is None or self._grace <= 0 or not left:
            return
        self._note(
            f"stopping: calls that are out have {self._grace:.0f} s to end, since they are paid for; "
            "once more (Ctrl-C) ends it at once"
        )
        async with self._ending(self._grace):
            # Each row goes on to its end, or to its next call, which is refused.
            await asyncio.wait(left, timeout=self._grace)

    async def _talk(self) -> None:
        while True:
            await asyncio.sleep(_TELL_SECONDS)
            self._tell(self._rows_in_flight)

    async def _worker(self, stage: Stage[Any], units: Iterator[tuple[Any, PendingRow | None]]) -> None:
        """One of ``in_flight`` that take units from the same iterator until none is left."""
        for place, row in units:
            self._rows_in_flight += 1
            try:
                if isinstance(place, ShardTask):
                    await bridge.run(self._work.run, stage, place, self._observer)
                else:
                    assert isinstance(stage, RowStage)
                    await self._one(stage, place, row)
            finally:
                self._rows_in_flight -= 1
            if self._stopping:
                return

    def _rows(self, stage: RowStage[Any, Any]) -> Iterator[tuple[RowShard, PendingRow | None]]:
        """All rows that are to be processed, shard by shard; after its last one, every shard once more without a row.
        A shard is opened when its first row is asked for."""
        committed = self._work.folder.committed()
        for task in self._tasks:
            shard = RowShard(self._work, task, committed=committed, locked=False, appending=self._use_file)
            self._open.add(shard)
            self._use_file(shard)
            for row in shard.rows(stage.key):
                if row is None:
                    self._observer.units(1)
                else:
                    yield shard, row
            shard.given_out = True
            yield shard, None

    async def _one(self, stage: RowStage[Any, Any], shard: RowShard, row: PendingRow | None) -> None:
        if row is not None:
            shard.finish(row, await bridge.run(self._work.process, stage, shard, row))
            self._observer.units(1)
        if shard.given_out and not shard.outstanding:
            self._files.pop(shard, None)
            shard.park(sync=False)  # others may wait for the committer before it
            await asyncio.get_running_loop().run_in_executor(self._committer, self._seal, shard)
            self._open.discard(shard)

    def _seal(self, shard: RowShard) -> None:
        self._work.commit_rows(shard)
        shard.drop()
        shard.close()

    def _use_file(self, shard: RowShard) -> None:
        """The shard's journal is open now: close the one that was longest not written to, when there are many."""
        self._files[shard] = None
        self._files.move_to_end(shard)
        if len(self._files) > _OPEN_JOURNALS:
            self._files.popitem(last=False)[0].park()


def _first_error(tasks: Iterable[asyncio.Task[None]]) -> BaseException | None:
    """What ended any of them; a bug before an end that a user can mend."""
    errors = [error for task in tasks if (error := task.exception()) is not None]
    return min(errors, key=lambda error: isinstance(error, SynthError), default=None)


class BuildLoop:
    """The event loop of a build: made when first needed, the same for all its stages.

    Where the caller stands on a loop already (a notebook), it runs in a thread of its own.
    """

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._main: asyncio.Task[Any] | None = None

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``main()`` to its end.

        Raises:
            KeyboardInterrupt: Ctrl-C or a signal that raises it. ``main()`` was cancelled, and took the time that it
                wanted; at the second one all that ran on the loop was cut off and cleaned up at once.
        """
        if self._runner is None:
            self._runner = asyncio.Runner()
        if self._thread is None and _stands_on_a_loop():
            self._thread = ThreadPoolExecutor(1, "synth-loop")
        if self._thread is None:
            return self._run(main)
        future = self._thread.submit(self._run, main)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._runner.get_loop().call_soon_threadsafe(self._interrupt)
            try:
                future.exception()
            except KeyboardInterrupt:  # once more: now at once
                self._runner.get_loop().call_soon_threadsafe(_cancel_all)
                future.exception()
            raise

    def _run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        assert self._runner is not None

        async def known() -> T:
            self._main = asyncio.current_task()
            try:
                return await main()
            finally:
                self._main = None

        with _ending_by_cancellation(self._runner.get_loop(), self._interrupt):
            try:
                return self._runner.run(known())
            except KeyboardInterrupt:
                # A handler raised it wherever the process stood, when it was asked for the third time: what is left
                # on the loop must end before anything else does.
                self._runner.run(_all_cancelled())
                raise

    def _interrupt(self) -> None:
        """On the loop: cancel what was given to :meth:`run`, which ends all that it began."""
        if self._main is not None:
            self._main.cancel()
        else:
            _cancel_all()

    def close(self) -> None:
        """Nothing runs on it any more. May be called twice."""
        if self._runner is not None:
            if self._thread is not None:
                self._thread.submit(self._runner.close).result()
                self._thread.shutdown()
            else:
                self._runner.close()
        self._runner = self._thread = None


@contextmanager
def _ending_by_cancellation(loop: asyncio.AbstractEventLoop, interrupt: Callable[[], None]) -> Iterator[None]:
    """A Ctrl-C or SIGTERM whose handler would raise ``KeyboardInterrupt`` calls ``interrupt`` on ``loop``: raised
    wherever the process stands, it could cut a step of the store of calls in two. It is raised when everything has
    ended. A second one calls ``interrupt`` again, which ends what the first one left time for; a third is raised at
    once."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    ours = {number: handler for number, handler in before.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not ours:
        yield
        return
    raised: list[KeyboardInterrupt] = []

    def handle(number: int, frame: FrameType | None) -> None:
        try:
            ours[signal.Signals(number)](number, frame)
        except KeyboardInterrupt as stop:
            raised.append(stop)
            if len(raised) > _INTERRUPTS:
                raise
            loop.call_soon_threadsafe(interrupt)

    for number in ours:
        signal.signal(number, handle)
    try:
        yield
    except asyncio.CancelledError:
        if not raised:
            raise
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    if raised:
        raise raised[0]


def _stands_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()


async def _all_cancelled() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
