"""A server's process, and the messages on its pipes, under limits that the server does not set.

Messages are lines of JSON. A line that is not a message is dropped (servers print to stdout by mistake); a line that
grows over the limit ends the connection. The process leads a session of its own and ends with all that it started.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCMessage, jsonrpc_message_adapter

from synth.guardian import END, guarded

__all__ = ["NO_ANSWER", "Streams", "stdio_streams"]

Streams = tuple[Any, Any]
"""What a session reads from and writes to."""

NO_ANSWER = "its answer is not what the protocol allows"
"""The error that stands for an answer that is none: whoever asked must not wait for another."""
_CHUNK = 1 << 16
_LAST_WORDS = 2000
"""Bytes of stderr that are kept."""
_GRACE = 1.0
"""Seconds that a server has after its stdin was closed, and again after SIGTERM."""

_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
_FIXED = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
"""So that answers depend neither on the machine's place nor on a hash seed."""


class _Broken(Exception):
    """The server sent what is not borne."""


@asynccontextmanager
async def stdio_streams(
    command: Sequence[str], *, env: Sequence[str], folder: str, max_bytes: int, problem: list[str]
) -> AsyncIterator[Streams]:
    """Start ``command`` in ``folder`` and end it, with all that it started, when the block ends.

    Args:
        env: Names of further variables of ours that it gets.
        max_bytes: Bytes of a line at most.
        problem: Gets one line when the server broke the connection, and what it last said on stderr.

    Raises:
        OSError: no process could be started.
    """
    process = await asyncio.create_subprocess_exec(
        *guarded(*command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(os.environ, env),
        cwd=folder,
        start_new_session=True,
    )
    into, messages = anyio.create_memory_object_stream[Any](0)
    outgoing, out_of = anyio.create_memory_object_stream[Any](0)
    tail = bytearray()
    work = [
        asyncio.ensure_future(_read(process, into, max_bytes, problem)),
        asyncio.ensure_future(_write(process, out_of, into)),
        asyncio.ensure_future(_listen(process, tail)),
    ]
    try:
        yield messages, outgoing
    finally:
        # Nothing here waits without a limit, so that a cancelled caller leaves no process behind.
        with anyio.CancelScope(shield=True):
            for stream in (messages, outgoing, into, out_of):
                stream.close()
            await _end(process)
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            transport = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()  # what it started may hold its pipes open
            words = bytes(tail).decode("utf-8", "replace").strip().splitlines()
            if words:
                problem.append(words[-1].strip()[:300])


def _environment(ours: Mapping[str, str], further: Sequence[str]) -> dict[str, str]:
    """Nothing of ours that was not named: no key, and no PYTHONPATH that would bring our libraries into the server."""
    kept = {name: ours[name] for name in _INHERITED if name in ours}
    return kept | _FIXED | {name: ours[name] for name in further if name in ours}


async def _read(process: asyncio.subprocess.Process, into: Any, max_bytes: int, problem: list[str]) -> None:
    assert process.stdout is not None
    pending: list[bytes] = []
    size = 0
    try:
        while chunk := await process.stdout.read(_CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                if size + len(line) > max_bytes:
                    raise _Broken
                message = _message(b"".join((*pending, line)))
                pending, size = [], 0
                if message is not None:
                    await into.send(SessionMessage(message))
            pending.append(rest)
            size += len(rest)
            if size > max_bytes:
                raise _Broken
    except _Broken:
        problem.append(f"its answer has over {max_bytes:,} bytes")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        pass  # the session is over
    finally:
        into.close()


def _message(line: bytes) -> JSONRPCMessage | None:
    """None for a line that is not a message."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    try:  # half a character in a text, or bytes that are not UTF-8, must not cost the whole answer
        text = json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False)
        value = json.loads(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    for whole in (
        value,
        {"jsonrpc": "2.0", "id": value.get("id"), "error": {"code": INTERNAL_ERROR, "message": NO_ANSWER}},
    ):
        with suppress(ValueError):
            return jsonrpc_message_adapter.validate_python(whole, by_name=False)
    return None


async def _write(process: asyncio.subprocess.Process, out_of: Any, into: Any) -> None:
    assert process.stdin is not None
    try:
        async for item in out_of:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        into.close()  # a request must see the end rather than wait for it


async def _listen(process: asyncio.subprocess.Process, tail: bytearray) -> None:
    assert process.stderr is not None
    while chunk := await process.stderr.read(_CHUNK):
        tail += chunk[-_LAST_WORDS:]
        del tail[:-_LAST_WORDS]


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    for wanted in (None, signal.SIGTERM, END, signal.SIGKILL):
        if wanted is not None:
            _signal(process.pid, wanted)
        if await _gone(process):
            break


async def _gone(process: asyncio.subprocess.Process) -> bool:
    # Not process.wait(): that also waits for the pipes, which a child of the server may hold.
    until = time.monotonic() + _GRACE
    while process.returncode is None:
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.005)
    return True


def _signal(group: int, wanted: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, wanted)
