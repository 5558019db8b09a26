"""Episodes that somebody else steps through: one session each, with limits, gone when nobody comes back.

Every session has a thread of its own, in which all of its calls are made in order: an environment may hold a connection
that knows only one thread. Sessions never see each other.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from synth.agents.checklists import checklist_results
from synth.agents.plan_view import plan_of
from synth.environments.app.environment import AppEpisode
from synth.environments.contract import Environment, Episode, ToolCall, ToolResult
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["NoSession", "Session", "Sessions", "TaskSource", "Trouble"]

T = TypeVar("T")


class Trouble(StrEnum):
    """Why a session can't be had or used."""

    UNKNOWN_TASK = "unknown_task"
    """There is no such task."""
    FULL = "full"
    """As many sessions are open as may be."""
    UNKNOWN_SESSION = "unknown_session"
    """There is none by this name, or no more: it was scored, closed, or not used for too long."""
    SPENT = "spent"
    """It has made as many calls as a session may."""
    WRONG_CALL = "wrong_call"
    """What was sent is not a tool call: it has no place in a history."""


class NoSession(Exception):
    """``kind`` says why; ``str()`` is one line for whoever asked."""

    def __init__(self, kind: Trouble, what: str) -> None:
        super().__init__(what)
        self.kind = kind


class TaskSource(Protocol):
    """The tasks that sessions may be about."""

    def __len__(self) -> int: ...

    def by_id(self, task_id: str) -> Task | None: ...

    def by_number(self, number: int) -> Task:
        """Task ``number``, 0 to ``len - 1``."""


class Session:
    """One episode and its thread."""

    def __init__(self, key: str, task: Task, now: float) -> None:
        self.key = key
        self.task = task
        self.calls = 0
        self.made: list[tuple[ToolCall, ToolResult]] = []
        """What was called, with what came of it: kept where the task has a checklist."""
        self.checklist: tuple[bool | None, ...] = ()
        """Once it was scored: which items of the plan's checklist are met."""
        self.used = now
        self.busy = 0
        """Requests that are at work on it."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"episode-{key[:6]}")
        self.episode: Episode | None = None
        self.over = False

    def run(self, work: Callable[[], T]) -> T:
        """Do ``work`` on the session's thread, behind what was asked before."""
        try:
            future = self._thread.submit(work)
        except RuntimeError:  # it was closed meanwhile
            raise NoSession(Trouble.UNKNOWN_SESSION, "the session is over") from None
        return future.result()

    def end(self) -> None:
        """Release the episode, behind what was asked before. May be called twice."""
        self.over = True
        try:
            self._thread.submit(self._close)
        except RuntimeError:
            return
        self._thread.shutdown(wait=True)

    def _close(self) -> None:
        episode, self.episode = self.episode, None
        if episode is not None:
            episode.close()


class Sessions:
    """All sessions with one environment. Threads may share it."""

    def __init__(
        self,
        environment: Environment,
        tasks: TaskSource,
        *,
        most: int = 64,
        idle_seconds: float = 900.0,
        max_calls: int = 200,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            most: Sessions that may be open at once.
            idle_seconds: A session that is not used for so long is ended.
            max_calls: Tool calls that one session may make.
            clock: Seconds from any beginning.
        """
        self.environment = environment
        self.tasks = tasks
        self.most = most
        self.idle_seconds = idle_seconds
        self.max_calls = max_calls
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, Session] = {}

    def __len__(self) -> int:
        with self._lock:
            return len(self._open)

    def reset(self, task: str | int) -> Session:
        """A fresh episode of a task, by id or number.

        Raises:
            NoSession: no such task, or too many sessions.
        """
        return self.begin(self._task(task))

    def begin(self, task: Task) -> Session:
        """A fresh episode of ``task``.

        Raises:
            NoSession: too many sessions.
        """
        self.sweep()
        session = Session(secrets.token_hex(16), task, self._clock())
        with self._lock:
            if len(self._open) >= self.most:
                what = f"{self.most} sessions are open, and no more may be: score or close one"
                raise NoSession(Trouble.FULL, what)
            session.busy = 1
            self._open[session.key] = session

        def begin() -> None:
            session.episode = self.environment.reset(task)

        try:
            session.run(begin)
        except BaseException:
            self.close(session.key)
            raise
        with self._lock:
            session.busy -= 1
            session.used = self._clock()
        return session

    def step(self, key: str, calls: Sequence[tuple[str, Any]]) -> tuple[ToolResult, ...]:
        """Make calls (name, arguments), in order; their results. A wrong call is answered in words, as agents get it.

        Raises:
            NoSession: there is no such session, its calls are used up, or something is not a call at all.
        """
        session = self._session(key)

        def made() -> tuple[ToolResult, ...]:
            episode = session.episode
            if episode is None or session.over:
                raise NoSession(Trouble.UNKNOWN_SESSION, "the session is over")
            if session.calls + len(calls) > self.max_calls:
                left = self.max_calls - session.calls
                raise NoSession(Trouble.SPENT, f"a session has {self.max_calls} calls, of which {left} are left")
            asked = [_call(number, *one) for number, one in enumerate(calls, start=session.calls)]
            session.calls += len(asked)
            results = tuple(episode.step(one) for one in asked)
            if plan_of(session.task) is not None:
                session.made += zip(asked, results, strict=True)
            return results

        try:
            return session.run(made)
        finally:
            with self._lock:
                session.busy -= 1
                session.used = self._clock()

    def score(self, key: str, answer: str | None) -> tuple[Session, Verdict]:
        """The verdict on an answer (or, where the task is about a state, on the state); the session is over with it.

        Raises:
            NoSession: there is no such session.
        """
        session = self._session(key)

        def checked() -> Verdict:
            if session.episode is None or session.over:
                raise NoSession(Trouble.UNKNOWN_SESSION, "the session is over")
            session.over = True
            verdict, plan = session.episode.check(answer), plan_of(session.task)
            if plan is not None:
                end = session.episode.difference() if isinstance(session.episode, AppEpisode) else None
                met = checklist_results(plan.checklist, session.made, end, answer, correct=verdict.correct)
                session.checklist = met
            return verdict

        try:
            return session, session.run(checked)
        finally:
            self.close(key)

    def close(self, key: str) -> bool:
        """End a session. False when there was none."""
        with self._lock:
            session = self._open.pop(key, None)
        if session is None:
            return False
        session.end()
        return True

    def sweep(self) -> int:
        """End the sessions that nobody uses any more; how many there were."""
        late = self._clock() - self.idle_seconds
        with self._lock:
            gone = [key for key, session in self._open.items() if session.used < late and not session.busy]
        return sum(self.close(key) for key in gone)

    def close_all(self) -> None:
        """End every session."""
        with self._lock:
            keys = list(self._open)
        for key in keys:
            self.close(key)

    def _task(self, task: str | int) -> Task:
        if isinstance(task, str):
            found = self.tasks.by_id(task)
            if found is None:
                raise NoSession(Trouble.UNKNOWN_TASK, f"there is no task {task[:100]!r}")
            return found
        if not 0 <= task < len(self.tasks):
            raise NoSession(
                Trouble.UNKNOWN_TASK, f"there is no task {task}: they are numbered 0 to {len(self.tasks) - 1}"
            )
        return self.tasks.by_number(task)

    def _session(self, key: str) -> Session:
        self.sweep()
        with self._lock:
            session = self._open.get(key)
            if session is not None:
                session.busy += 1  # however long a call takes, its session is in use
        if session is None:
            what = "there is no such session (any more): it was scored, closed, or not used for too long"
            raise NoSession(Trouble.UNKNOWN_SESSION, what)
        return session


def _call(number: int, name: Any, arguments: Any) -> ToolCall:
    try:
        return ToolCall(id=f"call_{number}", name=name, arguments=arguments)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "call"
        raise NoSession(Trouble.WRONG_CALL, f"{place}: {str(first['msg']).removeprefix('Value error, ')}") from None
