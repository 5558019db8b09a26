"""Plain functions that wait for an event loop without stopping it.

Agents, searches and stages are written as plain functions. ``run`` lets one run inside a greenlet on the loop; where it
calls ``wait``, the greenlet stands still and the loop goes on with the others. So hundreds of rollouts are in flight in
one thread, and none of their code knows of it.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ParamSpec, TypeVar, cast

from greenlet import getcurrent, greenlet

__all__ = ["run", "together", "wait", "waiting_is_cheap"]

P = ParamSpec("P")
T = TypeVar("T")


class _Function(greenlet):
    """A plain function that stands on a loop."""


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call ``function`` on the running loop; its ``wait`` gives way to others. It has a copy of the context variables.

    A cancellation is raised inside ``function``, at the ``wait`` where it stands.
    """
    child = _Function(function)
    child.gr_context = contextvars.copy_context()
    given: Any = child.switch(*args, **kwargs)
    while not child.dead:
        try:
            value = await given
        except BaseException as error:
            given = child.throw(error)
        else:
            given = child.switch(value)
    return cast(T, given)


def waiting_is_cheap() -> bool:
    """Whether the caller stands in a function that ``run`` called."""
    return isinstance(getcurrent(), _Function)


def wait(awaitable: Coroutine[Any, Any, T]) -> T:
    """What ``awaitable`` gives. Inside ``run`` the loop goes on meanwhile; elsewhere this thread waits for a loop of
    its own.

    Raises:
        RuntimeError: called on a loop's thread outside ``run``, which would stop that loop for good.
    """
    current = getcurrent()
    if isinstance(current, _Function):
        assert current.parent is not None
        return cast(T, current.parent.switch(cast(Awaitable[T], awaitable)))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run_coroutine_threadsafe(awaitable, _background()).result()
    awaitable.close()
    raise RuntimeError(
        "a plain function that waits was called on an event loop: call it through synth.models.bridge.run"
    )


def together(functions: Sequence[Callable[[], T]]) -> list[T]:
    """What ``functions`` give, in order. Inside ``run`` one goes on where another waits; elsewhere they are called one
    after the other. They share the caller's context variables, each in a copy.

    When one raises, the others are cut off where they stand and its exception passes.
    """
    if not waiting_is_cheap() or len(functions) < 2:
        return [function() for function in functions]
    contexts = [contextvars.copy_context() for _ in functions]  # the loop's task below stands in one of its own

    async def gather() -> list[T]:
        loop = asyncio.get_running_loop()
        tasks = [
            loop.create_task(run(function), context=context)
            for function, context in zip(functions, contexts, strict=True)
        ]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    return wait(gather())


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background() -> asyncio.AbstractEventLoop:
    """A loop for callers that stand on none, in a thread of its own; one per process."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="synth-models", daemon=True).start()
            _loop = loop
        return _loop
