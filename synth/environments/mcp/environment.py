"""The environment ``mcp``: the tools of any Model Context Protocol servers, a fresh server for each rollout.

A server over stdio is a process of its own per episode, in a folder of its own; one over HTTP has a session per
episode. They start with the first call that needs them. Snapshots are the calls that were made
(``synth.environments.replay``), so there is a way back only where the recipe says ``replay_safe``.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from synth.environments.answers import check_state, check_task
from synth.environments.contract import (
    Environment,
    ToolCall,
    ToolResult,
    ToolSchema,
    unknown_tool,
    validate_arguments,
)
from synth.environments.mcp.config import VERSION, WORKSPACE, McpConfig, read_config
from synth.environments.mcp.connection import Broken, Connection, connect
from synth.environments.mcp.goals import McpGoal, call_of, canonical, difference, fits, open_parts
from synth.environments.mcp.tools import McpTool, read_tools, result_text, tool_digest
from synth.environments.replay import ReplayedEpisode
from synth.errors import InputError
from synth.identity import canonical_json, digest, versioned
from synth.schemas.plans import Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = [
    "McpEnvironment",
    "McpEpisode",
    "open_mcp",
]

_MAX_ARGUMENTS = 1_000_000
"""Characters of a call's arguments."""


class McpEnvironment(Environment):
    """Tools are those that the servers told when the environment was made; what they tell later changes nothing for an
    agent, and a tool that is another one by then fails."""

    name: ClassVar[str] = "mcp"
    version: ClassVar[str] = VERSION

    def __init__(self, config: McpConfig) -> None:
        """Start every server once, to learn its tools.

        Raises:
            InputError: a server does not start, or there is no tool that can be used.
        """
        self.config = config
        listed: dict[str, Any] = {}
        self.servers: dict[str, dict[str, str]] = {}
        """What each server says that it is, by its key."""
        for key in config.servers:
            held = _Held()
            try:
                connection = held.connection(key, config)
                listed[key], self.servers[key] = connection.tools, connection.info
            except Broken as error:
                said = f" ({error.said})" if error.said and error.said not in error.what else ""
                where, mend = (
                    f"environment.servers.{key}",
                    "run its command (or open its url) by hand to see what it says",
                )
                raise InputError(f"the server can't be used: {error.what}{said}", where=where, mend=mend) from None
            finally:
                held.drop(wait=True)
        self._tools, self.warnings = read_tools(listed, config)
        """What is wrong with tools goes with every run."""
        self._by_name = {tool.schema.name: tool for tool in self._tools}
        missing = [name for name in config.tools if name not in self._by_name]
        if missing or not self._tools:
            why = next((warning.detail for warning in self.warnings if warning.kind == "left_out"), "")
            what = f"no server has the tool {missing[0]!r}" if missing else "the servers have no tool that can be used"
            raise InputError(f"{what}{f' ({why})' if why else ''}", where="environment.tools")
        self.identity = digest(
            "mcp",
            [tool.schema.model_dump(mode="json") for tool in self._tools],
            [[tool.remote, tool.digest] for tool in self._tools],
            {key: _folder_hash(server.folder) for key, server in config.servers.items()},
            self.servers,
        )
        """Hash of what the servers showed and of the folders that they begin in: what a plan has to hold beside the
        recipe, for a server can become another one behind the same command."""

    def tools(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self._tools)

    def instructions(self) -> str:
        # Nothing that a server says of itself: its words do not belong into a system prompt.
        names = ", ".join(sorted(self.config.servers))
        count = len(self.config.servers)
        where = f"the server {names}" if count == 1 else f"the servers {names}; a tool's name begins with its server's"
        text = f"You have the tools of {where}."
        if any(server.command for server in self.config.servers.values()):
            text += f" Files that they see are in {WORKSPACE}."
        return text

    def settings(self, task: Task) -> JsonObject:
        """Which servers, which tools, and what is suspicious about them: the label of a poisoned tool."""
        found: dict[str, Any] = {"servers": self.servers, "identity": self.identity}
        if self.warnings:
            found["warnings"] = [warning.model_dump(mode="json") for warning in self.warnings]
        return found

    def same(self, one: ToolResult, other: ToolResult) -> bool:
        """Timestamps and other time-dependent values do not count as a difference."""
        return _timeless(one) == _timeless(other)

    def tool(self, name: str) -> McpTool | None:
        """What is known of a tool, by the name that agents see."""
        return self._by_name.get(name)

    def reset(self, task: Task) -> McpEpisode:
        return McpEpisode(self, task)


class _Held:
    """What an episode has to give back: sessions, processes, folders."""

    def __init__(self) -> None:
        self.connections: dict[str, Connection] = {}
        self.folders: dict[str, str] = {}

    def connection(self, key: str, config: McpConfig) -> Connection:
        """The session with the server ``key``; begun where there is none.

        Raises:
            Broken: it does not begin.
        """
        if key not in self.connections:
            server = config.servers[key]
            if server.command and key not in self.folders:
                self.folders[key] = _fresh_folder(server.folder)
            self.connections[key] = connect(key, server, config, self.folders.get(key, ""))
        return self.connections[key]

    def drop(self, *, wait: bool = False) -> None:
        """End everything; with ``wait`` it is gone when this returns."""
        connections, self.connections = list(self.connections.values()), {}
        folders, self.folders = list(self.folders.values()), {}
        for connection in connections:
            connection.leave()
        if wait:
            for connection in connections:
                connection.close()
        for folder in folders:
            shutil.rmtree(Path(folder).parent, ignore_errors=True)


class McpEpisode(ReplayedEpisode):
    """State: the calls that reached a server, with a hash of each answer."""

    def __init__(self, environment: McpEnvironment, task: Task) -> None:
        safe = environment.config.replay_safe
        super().__init__(environment, task, identity=environment.identity, replay_safe=safe)
        self.environment = environment
        self._held = _Held()
        self._gone: set[str] = set()
        # Who forgets to close an episode leaves no process behind either.
        self._forgotten = weakref.finalize(self, self._held.drop)

    def refusal(self, call: ToolCall) -> ToolResult | None:
        tool = self.environment.tool(call.name)
        if tool is None:
            return unknown_tool(call, (schema.name for schema in self.environment.tools()))
        problem = _check(tool, call.arguments)
        return (
            None if problem is None else call.answered(f"Wrong arguments for {call.name}: {problem}.", "bad_arguments")
        )

    def answer(self, call: ToolCall) -> ToolResult:
        tool = self.environment.tool(call.name)
        assert tool is not None  # it was not refused
        return self._answer(call, tool)

    def _answer(self, call: ToolCall, tool: McpTool) -> ToolResult:
        key, config = tool.server, self.environment.config
        if key in self._gone:
            return _failed(call, "its server is gone since an earlier call")
        try:
            connection = self._held.connection(key, config)
        except Broken:
            # Why is for a person who looks at the server; the observation must be the same in every run.
            self._gone.add(key)
            return _failed(call, "its server did not start")
        if not any(raw.get("name") == tool.remote and tool_digest(raw) == tool.digest for raw in connection.tools):
            return _failed(call, "its server now lists another tool under this name, or none")
        folder = self._held.folders.get(key, "")
        try:
            reply = connection.call(tool.remote, _put(call.arguments, WORKSPACE, folder) if folder else call.arguments)
        except Broken as error:
            if error.lasting:
                self._gone.add(key)
                connection.leave()
            return _failed(call, _without(error.what, folder))
        if reply.wrong_arguments is not None:
            words = _without(reply.wrong_arguments, folder)
            return call.answered(f"Wrong arguments for {call.name}: {words}", "bad_arguments")
        replace = {folder: WORKSPACE} if folder else {}
        try:
            text = result_text(reply.blocks, reply.structured, replace=replace, max_chars=config.max_chars)
        except (ValueError, TypeError, RecursionError):
            return _failed(call, "its answer is not what the protocol allows")
        return call.answered(text, "refused" if reply.is_error else None)

    def mark(self, result: ToolResult) -> str:
        return digest("mcp-result", _timeless(result))

    def begin_anew(self) -> None:
        self._held.drop(wait=True)
        self._gone = set()

    def look(self, call: ToolCall) -> ToolResult:
        """The answer to a call that is not on record: for who watches an episode. Of tools that change nothing."""
        tool = self.environment.tool(call.name)
        if tool is None:
            return call.answered(f"There is no tool {call.name!r}.", "unknown_tool")
        return self._answer(call, tool)

    def check(self, answer: str | None) -> Verdict:
        """Does the server show what the task wants of its state, and is the answer right where one is asked for? Of a
        task that says nothing about a state, the answer alone counts. A server that is gone shows nothing: then it
        abstains."""
        given = Wanted.of(self.task.details).goal
        if given is None:
            return check_task(self.task, answer)
        goal = McpGoal.model_validate(given)
        other = []
        for number, probe in enumerate(goal.probes):
            result = self.look(call_of(probe, number))
            if result.error == "failure" and probe.error != "failure":
                return Verdict(correct=None, rule="abstained", evidence=f"{probe.tool} can't be asked any more.")
            if not fits(result, probe):
                other.append(f"{probe.tool} {canonical_json(probe.arguments)}: {difference(result, probe)}")
        changes = "; ".join(goal.changes)
        wanted = f"Wanted: {changes}." if changes else "Nothing was to be changed."
        wrong = f"{'; '.join(other[:3])}. {wanted}" if other else None
        return check_state(self.task, answer, wrong, changes or "Nothing was changed.", asks=goal.answer == "required")

    def lost(self) -> str | None:
        """A server that has to show whether the task is done is gone: it ended, is silent, or did not start.
        Which of these it was stands in the observation."""
        given = Wanted.of(self.task.details).goal
        if given is None or not self._gone:
            return None
        tools = (self.environment.tool(probe.tool) for probe in McpGoal.model_validate(given).probes)
        missing = sorted({tool.server for tool in tools if tool is not None} & self._gone)
        return f"the server {missing[0]} is gone" if missing else None

    def close(self) -> None:
        """End the servers of this episode; their processes are gone when this returns."""
        self._held.drop(wait=True)
        self._gone = set(self.environment.config.servers)


def _timeless(result: ToolResult) -> list[Any]:
    """An answer without its time-dependent parts."""
    return [result.error, *open_parts(canonical(result.content))]


@versioned(McpEnvironment.version)
def open_mcp(*, inputs: Any = None, **options: Any) -> McpEnvironment:
    """The environment of a recipe: ``options`` are the keys of :class:`McpConfig`. It reads no tables.

    Raises:
        InputError: an option is wrong, or a server can't be used.
    """
    return McpEnvironment(read_config(options))


def _check(tool: McpTool, arguments: dict[str, Any]) -> str | None:
    try:
        size = len(canonical_json(arguments))
        if size > _MAX_ARGUMENTS:
            return f"they have {size:,} characters, over {_MAX_ARGUMENTS:,}"
        problem = validate_arguments(tool.checked, arguments)
    except RecursionError:
        return "they are nested too deeply"
    return None if problem is None else problem if len(problem) <= 500 else f"{problem[:500]}..."


def _failed(call: ToolCall, why: str) -> ToolResult:
    return call.answered(f"The tool failed: {why}.", "failure")


def _without(words: str, folder: str) -> str:
    return words.replace(folder, WORKSPACE) if folder else words


def _put(value: Any, old: str, new: str) -> Any:
    """``value`` with ``old`` in every text replaced."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {key: _put(item, old, new) for key, item in value.items()}
    return [_put(item, old, new) for item in value] if isinstance(value, list) else value


def _fresh_folder(source: str | None) -> str:
    """A folder for one server of one episode, with a copy of ``source`` in it."""
    folder = Path(tempfile.mkdtemp(prefix="synth-mcp-")).resolve() / "workspace"
    if source is None:
        folder.mkdir()
    else:
        shutil.copytree(source, folder, symlinks=True)
    return str(folder)


def _folder_hash(source: str | None) -> str | None:
    """Hash of the names and contents of all files in a folder."""
    if source is None:
        return None
    found = sha256()
    for path in sorted(Path(source).rglob("*")):
        name = str(path.relative_to(source))
        if path.is_symlink():
            found.update(f"link {name} {path.readlink()}\n".encode())
        elif path.is_file():
            with path.open("rb") as file:
                inner = sha256()
                while block := file.read(1 << 20):
                    inner.update(block)
            found.update(f"file {name} {inner.hexdigest()}\n".encode())
    return found.hexdigest()
