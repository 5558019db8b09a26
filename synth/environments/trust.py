"""What a stranger's dataset may open: only what ships with this package.

The recipe in a dataset's report names the environment of its tasks, and an environment may start programs, read folders
and reach servers. A key that is not listed here, or a value that does not pass, needs a person's trust.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["untrusted"]

_HERE = Path(__file__).parent
_APPLICATIONS = frozenset(path.stem for path in (_HERE / "app" / "shipped").glob("*.yaml"))
_PROGRAMS = frozenset(path.name for path in (_HERE / "mcp" / "shipped").glob("*.py"))
_SITES = frozenset(path.name for path in (_HERE / "web" / "site").iterdir() if path.is_dir())
_RETRIEVERS = ("bm25", "dense", "hybrid")
_FLAGS = frozenset({"-I", "-S"})
_LONGEST = 200
"""Characters of a value that a refusal quotes."""

_LARGEST = 100
"""Size of an application's data."""

Check = Callable[[Any], str | None]
"""What opening a value would do beyond what ships with us; None = nothing."""


def _plain(value: Any) -> str | None:
    return None


def _application(value: Any) -> str | None:
    text = str(value)
    return None if "\n" in text or text in _APPLICATIONS else f"read the file {_short(text)}"


def _site(value: Any) -> str | None:
    return None if value in _SITES else f"read the folder {_short(str(value))}"


def _size(value: Any) -> str | None:
    return None if isinstance(value, int) and value <= _LARGEST else f"make data of size {_short(str(value))[1:-1]}"


def _runs(value: Any) -> str | None:
    return f"run {_short(shlex.join(map(str, value)) if isinstance(value, list | tuple) else str(value))}"


def _sandbox(value: Any) -> str | None:
    return None if value is True else "start the browser without its sandbox"


def _retriever(value: Any) -> str | None:
    return None if value in _RETRIEVERS else f"search by {_short(str(value))}, which does not ship with synth"


def _vectors(value: Any) -> str | None:
    given = value if isinstance(value, Mapping) else {"encoder": value}
    if given.get("model") is None and given.get("encoder", "hashed") == "hashed":
        return None
    return f"load the encoder {_short(str(given.get('model') or given.get('encoder')))}"


def _reranker(value: Any) -> str | None:
    given = value if isinstance(value, Mapping) else {"kind": value}
    if value is None or (given.get("model") is None and given.get("kind", "proximity") == "proximity"):
        return None
    return f"load the reranker {_short(str(given.get('model') or given.get('kind')))}"


def _tools(value: Any) -> str | None:
    names = value if isinstance(value, list | tuple) else [value]
    return next((f"run {_short(str(name))}" for name in names if ":" in str(name)), None)


def _servers(value: Any) -> str | None:
    if not isinstance(value, Mapping) or not value:
        return "start servers that it does not describe"
    return next((said for server in value.values() if (said := _server(server)) is not None), None)


def _server(server: Any) -> str | None:
    given = {key: part for key, part in server.items() if part} if isinstance(server, Mapping) else {}
    if "url" in given:
        return f"connect to {_short(str(given['url']))}"
    command = given.get("command")
    if not isinstance(command, list | tuple):
        return "start a server that it does not describe"
    program, *rest = [str(part) for part in command]
    while rest and rest[0] in _FLAGS:
        rest.pop(0)
    script, *arguments = rest or [""]
    ours = program == "{python}" and script.removeprefix("{shipped}/") in _PROGRAMS and script.startswith("{shipped}/")
    if not ours or not all(re.fullmatch(r"\w+", one) for one in arguments):
        return _runs(command)
    if "folder" in given:
        return f"read the folder {_short(str(given['folder']))}"
    other = sorted(set(given) - {"command", "licence"})
    return f"give a server {', '.join(other)}" if other else None


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


_KINDS: Mapping[str, Mapping[str, Check]] = {
    "search": {
        "retriever": _retriever,
        "vectors": _vectors,
        "reranker": _reranker,
        "tools": _tools,
        **dict.fromkeys(
            ("snippet_size", "page_size", "default_k", "context", "max_matches", "noise", "collections"),
            _plain,
        ),
    },
    "graph": dict.fromkeys(("default_k", "page_size"), _plain),
    "app": {
        "application": _application,
        "size": _size,
        **dict.fromkeys(("variant", "seed", "failures", "user"), _plain),
    },
    "mcp": {
        "servers": _servers,
        **dict.fromkeys(("tools", "replay_safe", "call_seconds", "start_seconds", "max_chars"), _plain),
    },
    "recorded": {},
    "code": dict.fromkeys(("seconds", "memory_mb", "page", "max_chars"), _plain),
    "own": {"made_by": lambda value: f"import {_short(str(value))}", "options": _plain},
    "web": {
        "site": _site,
        "command": _runs,
        "executable": _runs,
        "sandbox": _sandbox,
        **dict.fromkeys(
            ("replay_safe", "restart", "fixed_clock", "viewport", "html", "screenshots", "now", "seed", "max_chars"),
            _plain,
        ),
    },
}


def untrusted(options: Mapping[str, Any]) -> str | None:
    """What opening an environment with these options (``kind`` and its keys) would do beyond what ships with this
    package, as a verb phrase for ``the dataset would ...``; None = nothing.
    """
    given = dict(options)
    kind = given.pop("kind", "search")
    checks = _KINDS.get(kind) if isinstance(kind, str) else None
    if checks is None:
        return f"open an environment of kind {_short(str(kind))}, which does not ship with synth"
    for key, value in given.items():
        if value in (None, (), [], {}):
            continue
        said = checks[key](value) if key in checks else f"set environment.{_short(str(key))[1:-1]}"
        if said is not None:
            return said
    return None
