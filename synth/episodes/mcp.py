"""An environment as a server of the Model Context Protocol: over stdio, or over streamable HTTP.

A client's session is an episode: tools are the environment's, a call is a step, and what one client does no other sees.
An episode that ends (too long idle) never starts over behind the client's back. A result that answers a wrong call is
an error of the tool (``isError``), and its ``_meta`` names the kind under ``synth/error``. Neither answers nor verdicts
go over this protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import anyio
import anyio.to_thread
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from synth.episodes.sessions import NoSession, Sessions, Trouble
from synth.schemas.tasks import Task
from synth.serving.http import CONNECTIONS, HttpServer, serve

__all__ = ["McpServer"]

_STDIO = "stdio"
_GRACE_SECONDS = 1
"""So long a stopping server waits for what it has begun: clients keep a stream open for as long as it runs."""


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

    def run_http(
        self, host: str, port: int, *, allow_hosts: Collection[str] = (), say: Callable[[str], None] = lambda line: None
    ) -> None:
        """Serve on ``http://host:port/mcp`` until SIGTERM or SIGINT. To be called on the main thread.

        ``say`` is called with the address once connections are taken.

        Raises:
            InputError: the address can't be listened on.
        """
        sessions = self.sessions
        app = self._server.streamable_http_app(
            host=host,
            session_idle_timeout=sessions.idle_seconds,
            max_sessions=sessions.most,
            # Our server has looked at Host and Origin already.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        # Clients keep a stream open for as long as they run, beside the connection of a call.
        connections = CONNECTIONS + 2 * sessions.most
        server = HttpServer(
            app,
            host,
            port,
            allow_hosts=allow_hosts,
            connections=connections,
            grace_seconds=_GRACE_SECONDS,
            lifespan=True,
        )
        try:
            serve(server, say=lambda url: say(f"{url}/mcp"))
        finally:
            sessions.close_all()

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
