"""An environment as a server of the Model Context Protocol: over stdio, or over streamable HTTP.

A client's session is an episode: tools are the environment's, a call is a step, and what one client does no other sees.
An episode that ends (too long idle) never begins anew behind the client's back. A result that answers a wrong call is
an error of the tool (``isError``), and its ``_meta`` names the kind under ``synth/error``. Neither answers nor verdicts
go over this protocol.
"""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from synth.episodes.sessions import NoSession, Sessions, Trouble
from synth.errors import InputError
from synth.schemas.tasks import Task

__all__ = ["McpServer"]

_STDIO = "stdio"
_GRACE_SECONDS = 1
"""So long a stopping server waits for what it has begun: clients keep a stream open for as long as it runs."""
for _name in ("mcp", "uvicorn"):
    # Said to whoever set up logging; without that Python would print warnings about clients to stderr.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class McpServer:
    """Serves one environment; every session works on the same task, or on none that it is told of."""

    def __init__(self, sessions: Sessions, task: Task, *, tell: bool) -> None:
        """
        Args:
            task: What episodes begin with.
            tell: Whether clients are told its question, in the server's instructions.
        """
        self.sessions = sessions
        self.task = task
        environment = sessions.environment
        words = environment.instructions()
        self._keys: dict[str, str] = {}
        self._lock = threading.Lock()
        self._server: Server[Any] = Server(
            f"synth-{environment.name}",
            version=environment.version,
            instructions=f"{words}\n\nTask: {task.question}" if tell else words,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    def run_stdio(self) -> None:
        """Serve the one client at the other end of stdin and stdout, until it closes them."""

        async def serve() -> None:
            async with stdio_server() as (read, write):
                await self._server.run(read, write, self._server.create_initialization_options())

        try:
            anyio.run(serve)
        finally:
            self.sessions.close_all()

    def run_http(self, host: str, port: int, *, say: Callable[[str], None] = lambda line: None) -> None:
        """Serve on ``http://host:port/mcp`` until SIGTERM or SIGINT. To be called on the main thread.

        ``say`` is called with the address once connections are taken.

        Raises:
            InputError: the address can't be listened on.
        """
        taken = _listen(host, port)
        place = taken.getsockname()
        url = f"http://{f'[{place[0]}]' if ':' in place[0] else place[0]}:{place[1]}/mcp"
        idle, most = self.sessions.idle_seconds, self.sessions.most
        app = self._server.streamable_http_app(host=host, session_idle_timeout=idle, max_sessions=most)
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS)
        try:
            with _stopped_by_signals(_Uvicorn(config, lambda: say(url))) as server:
                anyio.run(server.serve, [taken])
        finally:
            taken.close()
            self.sessions.close_all()

    # --- handlers ---------------------------------------------------------------------------------------------------

    async def _list(self, context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in self.sessions.environment.tools()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        client = _STDIO
        if context.request is not None:  # HTTP
            client = context.request.headers.get("mcp-session-id") or ""
            if not client:
                what = "an episode needs a session: connect with the initialize handshake"
                raise MCPError(types.INVALID_REQUEST, what)
        return await anyio.to_thread.run_sync(self._step, client, params.name, params.arguments or {})

    def _step(self, client: str, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        try:
            with self._lock:
                key = self._keys.get(client)
                if key is None:
                    key = self._keys[client] = self.sessions.begin(self.task).key
            (result,) = self.sessions.step(key, [(name, arguments)])
        except NoSession as error:
            if error.kind is Trouble.WRONG_CALL:
                raise MCPError(types.INVALID_PARAMS, str(error)) from None
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        meta = {"synth/error": result.error} if result.error else None
        return types.CallToolResult(
            content=[types.TextContent(text=result.content)], is_error=result.error is not None, _meta=meta
        )


class _Uvicorn(uvicorn.Server):
    """Says when it is there, and leaves signals to us: uvicorn would raise them again when it has ended."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _stopped_by_signals(server: _Uvicorn) -> Iterator[_Uvicorn]:
    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield server
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(128)
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or str(error)
        mend = "choose another --port, or 0 for a free one"
        raise InputError(f"can't listen ({reason})", where=f"{host}:{port}", mend=mend) from None
    return made
