"""A session with a server, for plain functions: one loop in a thread of its own talks to all servers of a process.

Callers may be threads or greenlets on another loop (``synth.models.bridge``): those stand still alone, not their loop.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from synth.distribution import install
from synth.environments.mcp.config import McpConfig, McpServer, program_of
from synth.environments.suspicion import clean
from synth.errors import InputError
from synth.models import bridge

try:
    import anyio
    import httpx2
    from mcp import ClientSession, MCPError, types
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.message import SessionMessage

    from synth.environments.mcp.process import NO_ANSWER, Streams, stdio_streams
except ImportError as error:
    raise InputError("the library mcp is not installed", where="environment mcp", mend=install("mcp")) from error

__all__ = ["Broken", "Connection", "Reply", "connect"]

T = TypeVar("T")
for _name in ("mcp", "client"):
    # The SDK's, said to whoever set up logging; without that Python would print what servers do wrong to stderr.
    logging.getLogger(_name).addHandler(logging.NullHandler())
_MOST_PAGES = 100
_STOP_SECONDS = 10.0
"""How long a caller waits for a server to be gone: it has a few seconds in which to go by itself."""


class Broken(Exception):
    """There is no answer, through no fault of the call. ``lasting``: there will be none from this session any more."""

    def __init__(self, what: str, *, lasting: bool, said: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.lasting = lasting
        self.said = said
        """The last line of the server's stderr: for a person, never for an observation."""


@dataclass(frozen=True)
class Reply:
    """The answer to a call, in the protocol's own words."""

    blocks: Sequence[Mapping[str, Any]]
    structured: Any
    is_error: bool
    """The tool's own error."""
    wrong_arguments: str | None = None
    """The server refused the arguments."""


class _Overheard:
    """A stream of messages that keeps the tools of lists to itself: for one tool that is not as it should be, the SDK
    would refuse the whole list."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.tools: list[Mapping[str, Any]] | None = None
        """Where they are put; None while no list is asked for."""

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        item = await self._inner.receive()
        message = getattr(item, "message", None)
        if self.tools is None or not isinstance(message, types.JSONRPCResponse):
            return item
        listed = message.result.get("tools")
        if not isinstance(listed, list):
            return item
        self.tools += [tool for tool in listed if isinstance(tool, dict)]
        return SessionMessage(message.model_copy(update={"result": {**message.result, "tools": []}}), item.metadata)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> _Overheard:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Overheard:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


class Connection:
    """One session. Made by :func:`connect`; every method is for any thread but the loop's own."""

    def __init__(self, key: str, server: McpServer, config: McpConfig, folder: str) -> None:
        self.key = key
        self.server = server
        self.config = config
        self.folder = folder
        self.tools: Sequence[Mapping[str, Any]] = ()
        """As the server lists them, in the protocol's own words."""
        self.info: dict[str, str] = {}
        """What the server says that it is: ``name``, ``version``, ``protocol``."""
        self._problem: list[str] = []
        self._session: ClientSession | None = None
        self._heard: _Overheard
        self._ready: Future[None] = Future()
        self._stop = asyncio.Event()
        self._ended: Future[None] | None = None

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Call a tool.

        Raises:
            Broken: there is no answer.
        """
        return _wait(_submit(self._call(tool, dict(arguments))))

    def close(self) -> None:
        """End the session and the server's process; gone when this returns. May be called twice."""
        self.leave()
        if self._ended is not None:
            with suppress(TimeoutError):
                _wait(self._ended, _STOP_SECONDS)

    def leave(self) -> None:
        """The same without waiting."""
        with suppress(RuntimeError):  # the loop is gone, and all servers with it
            _loop().call_soon_threadsafe(self._stop.set)

    # --- on the loop ------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """The whole life of the session, in one task: what it enters it must leave itself."""
        try:
            async with self._streams() as (read, write), ClientSession(self._overhear(read), write) as session:
                stopped = asyncio.ensure_future(self._stop.wait())
                started = asyncio.ensure_future(self._start(session))
                try:
                    await asyncio.wait({stopped, started}, return_when=asyncio.FIRST_COMPLETED)
                    if started.done():
                        started.result()
                        self._session = session
                        self._ready.set_result(None)
                        await stopped
                finally:
                    for task in (stopped, started):
                        task.cancel()
                    await asyncio.gather(stopped, started, return_exceptions=True)
        except BaseException as error:
            if not self._ready.done():
                what = "; ".join(dict.fromkeys((_first(error), *self._problem)))
                said = self._problem[-1] if self._problem else ""
                self._ready.set_exception(Broken(what, lasting=True, said=said))
            if not isinstance(error, Exception):
                raise
        finally:
            self._session = None
            if not self._ready.done():
                self._ready.set_exception(Broken("it was stopped", lasting=True))

    def _streams(self) -> AbstractAsyncContextManager[Streams]:
        config, server = self.config, self.server
        if server.url is not None:
            headers = {name: os.environ.get(variable, "") for name, variable in server.headers.items()}
            return _http_streams(server.url, headers, config)
        command = program_of(server, self.folder)
        return stdio_streams(
            command, env=server.env, folder=self.folder, max_bytes=config.max_bytes, problem=self._problem
        )

    async def _start(self, session: ClientSession) -> None:
        """Shake hands and list the tools.

        Raises:
            Broken: it does not get that far.
        """
        try:
            with anyio.fail_after(self.config.start_seconds):
                hello = await session.initialize()
                self.tools = await self._list(session)
        except TimeoutError:
            raise Broken(f"it said nothing within {self.config.start_seconds:g} seconds", lasting=True) from None
        except MCPError as error:
            raise Broken(self._why(error), lasting=True) from None
        except (ValidationError, RuntimeError) as error:
            raise Broken(f"its handshake is not what the protocol allows ({_line(error)})", lasting=True) from None
        self.info = {
            "name": clean(hello.server_info.name)[:100],
            "version": clean(hello.server_info.version)[:100],
            "protocol": clean(str(hello.protocol_version))[:40],
        }

    def _overhear(self, read: Any) -> _Overheard:
        self._heard = _Overheard(read)
        return self._heard

    async def _list(self, session: ClientSession) -> list[Mapping[str, Any]]:
        found = self._heard.tools = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await session.send_request(
                types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor)), types.ListToolsResult
            )
            cursor = page.next_cursor
            # One more than is taken shows that there are more; a server may page for ever.
            if not cursor or len(found) > self.config.max_tools:
                break
        self._heard.tools = None
        return found

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        session = self._session
        if session is None:
            raise Broken("its server is gone", lasting=True)
        # Not session.call_tool: that checks results by schemas of the server, which may be endless.
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        try:
            with anyio.fail_after(self.config.call_seconds):
                result = await session.send_request(request, types.CallToolResult)
        except TimeoutError:
            raise Broken(f"no answer within {self.config.call_seconds:g} seconds", lasting=True) from None
        except MCPError as error:
            if error.code == types.INVALID_PARAMS:
                return Reply((), None, is_error=True, wrong_arguments=clean(error.message)[:2000])
            lost = error.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT)
            raise Broken(self._why(error), lasting=lost) from None
        except (ValidationError, ValueError, TypeError, AttributeError, RecursionError):
            raise Broken(NO_ANSWER, lasting=False) from None
        except (RuntimeError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise Broken("its server ended the connection", lasting=True) from None
        blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
        return Reply(blocks, result.structured_content, bool(result.is_error))

    def _why(self, error: MCPError) -> str:
        if error.code == types.CONNECTION_CLOSED:
            return self._problem[0] if self._problem else "its server ended the connection"
        if error.message == NO_ANSWER:
            return NO_ANSWER
        return f"the server answered with an error: {clean(error.message)[:500]}"


def connect(key: str, server: McpServer, config: McpConfig, folder: str = "") -> Connection:
    """Start a session in ``folder`` and wait until the server has told its tools.

    Raises:
        Broken: it does not come to that; nothing is left behind.
    """
    made = Connection(key, server, config, folder)
    made._ended = _submit(made._run())
    _open.add(made)
    try:
        _wait(made._ready)
    except BaseException:
        made.close()
        raise
    return made


@asynccontextmanager
async def _http_streams(url: str, headers: Mapping[str, str], config: McpConfig) -> AsyncIterator[Streams]:
    async def small(response: httpx2.Response) -> None:
        length = response.headers.get("Content-Length", "")
        if length.isdigit() and int(length) > config.max_bytes:
            raise httpx2.RequestError(f"its answer has over {config.max_bytes:,} bytes")

    timeout = httpx2.Timeout(min(config.start_seconds, 30.0), read=config.call_seconds + config.start_seconds)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, event_hooks={"response": [small]}) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams[0], streams[1]


def _first(error: BaseException) -> str:
    """One line about the first real error in a group of them."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error.what if isinstance(error, Broken) else _line(error)


def _line(error: BaseException) -> str:
    return clean((str(error) or type(error).__name__).splitlines()[0])[:200]


# --- the loop ---------------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None
_open: weakref.WeakSet[Connection] = weakref.WeakSet()


def _loop() -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked child has one of its own."""
    global _running
    with _lock:
        if _running is None or _running[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="synth-mcp", daemon=True).start()
            _running = (os.getpid(), loop)
        return _running[1]


def _submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


def _wait(future: Future[T], seconds: float | None = None) -> T:
    """What ``future`` gives; a greenlet on a loop gives way to the others meanwhile."""
    if not bridge.waiting_is_cheap():
        return future.result(seconds)

    async def joined() -> T:
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)

    return bridge.wait(joined())


def _at_exit(still: Callable[[], Sequence[Connection]] = lambda: tuple(_open)) -> None:
    if _running is None or _running[0] != os.getpid():
        return
    for connection in still():
        connection.leave()
    for connection in still():
        if connection._ended is not None:
            with suppress(Exception):
                connection._ended.result(_STOP_SECONDS)


atexit.register(_at_exit)
