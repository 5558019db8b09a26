"""Model-bound stage runs: all shards at once, on one event loop in the engine's own process.

Hundreds of rows wait for a model at the same time; each is a plain function in a greenlet (``synth.models.bridge``). A
row goes to its shard's journal when it is finished, in whatever order that happens; a shard is committed when the last
of its rows is. So no shard waits for another's slowest row, and the bytes depend on no order.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from synth.engine.rowshard import PendingRow, RowShard
from synth.engine.signals import LOOK_SECONDS, end, held_back
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import Interrupted, SynthError
from synth.models import bridge
from synth.stages.contract import CandidateStage, RowStage, Stage
from synth.store.claims import Claims, Share

__all__ = ["BuildLoop", "Multiplexer"]

T = TypeVar("T")

_TELL_SECONDS = 0.5
_LOOK_ELSEWHERE = 0.3
"""Seconds between two looks at a row that another build does."""
_SHARE = 4
"""A build that shares its rows with others has at most one of so many in flight."""
_CUT_OFF = 3
"""So many times a run is asked to end before all of it is cut off."""
_OPEN_JOURNALS = 128
"""Journals whose files stay open between two records; more shards than that may be in the making."""


class Multiplexer:
    """Does ``tasks`` of ``work``, with up to ``in_flight`` rows (or, of other stages, shards) at once. Used once.

    With ``claims``, other builds do some of the rows, and their records are taken; no more than a quarter of all rows
    are in flight here, so that a build that comes later finds some.

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
        claims: Claims | None = None,
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
        self._claims = claims
        self._elsewhere: deque[tuple[Any, PendingRow | None]] = deque()
        self._told_elsewhere = False
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
            total = sum(task.units for task in self._tasks)
            count = min(self._in_flight, total if self._claims is None else math.ceil(total / _SHARE))
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
            if not await self._counted(stage, place, row):
                self._elsewhere.append((place, row))
            if self._stopping:
                return
        if self._elsewhere and not self._told_elsewhere:
            self._told_elsewhere = True
            self._note(
                f"{self._work.label}: other builds are at the last {len(self._elsewhere):,} rows; waiting for them"
            )
        while self._elsewhere and not self._stopping:
            place, row = self._elsewhere.popleft()
            if not await self._counted(stage, place, row):
                self._elsewhere.append((place, row))
                await asyncio.sleep(_LOOK_ELSEWHERE)

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

    async def _counted(self, stage: Stage[Any], place: RowShard | ShardTask, row: PendingRow | None) -> bool:
        self._rows_in_flight += 1
        try:
            return await self._one(stage, place, row)
        finally:
            self._rows_in_flight -= 1

    async def _one(self, stage: Stage[Any], place: RowShard | ShardTask, row: PendingRow | None) -> bool:
        """Whether it is done; False: another build is at it."""
        share = None
        unit = None if row is None else " ".join(row.name)
        if isinstance(place, ShardTask) and isinstance(stage, CandidateStage):
            unit = f"{place.start}-{place.stop}"
        if self._claims is not None and unit is not None:
            share = await self._claims.take(self._work.folder.name, unit)
            if share is None:
                return False
        if isinstance(place, ShardTask):
            await bridge.run(self._work.run, stage, place, self._observer, share)
        else:
            assert isinstance(stage, RowStage)
            await self._row(stage, place, row, share)
        return True

    async def _row(
        self, stage: RowStage[Any, Any], shard: RowShard, row: PendingRow | None, share: Share | None
    ) -> None:
        if row is not None:
            record = None if share is None else share.record
            if record is None:
                record = await bridge.run(self._work.process, stage, shard, row)
                if share is not None:
                    await share.deliver(record)
            shard.finish(row, record)
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
    """The event loop of a build, in a thread of its own: made when first needed, the same for all its stages. No signal
    is raised in that thread, where it could cut a step of the store of calls in two."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._thread = ThreadPoolExecutor(1, "synth-loop")
        self._main: asyncio.Task[Any] | None = None
        self._asked = 0

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``main()`` to its end.

        Raises:
            KeyboardInterrupt: Ctrl-C, or a signal that raises it, while called from the main thread. The first one
                cancels ``main()`` and lets it clean up, the second ends it at once, and the third returns without
                waiting for it.
            asyncio.CancelledError: another thread called :meth:`stop`.
        """
        future: Future[T] | None = None
        try:
            with held_back():
                future = self._thread.submit(self._run, main)
            while not future.done():
                wait([future], timeout=LOOK_SECONDS)
            return future.result()
        except KeyboardInterrupt:
            if future is not None:
                end(future, self.stop)
            raise

    def _run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def known() -> T:
            self._asked, self._main = 0, asyncio.current_task()
            try:
                return await main()
            finally:
                self._main = None

        return self._runner.run(known())

    def stop(self) -> bool:
        """From another thread: ask what runs to end. First it takes the time that it wants, then it ends at once, then
        all that it began is cut off. False when nothing runs."""
        main = self._main
        if main is None:
            return False
        self._asked += 1
        self._runner.get_loop().call_soon_threadsafe(main.cancel if self._asked < _CUT_OFF else _cancel_all)
        return True

    def close(self) -> None:
        """Wait for what runs. Called once."""
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()


def _cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()
