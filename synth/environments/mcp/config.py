"""Which servers there are and how far they are trusted: the recipe keys of the environment ``mcp``."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from synth.environments.contract import EnvironmentKeys
from synth.errors import InputError
from synth.inputs import checked
from synth.schemas.described import Described

__all__ = ["VERSION", "WORKSPACE", "McpConfig", "McpServer", "McpServers", "program_of", "read_config"]

VERSION = "32"
"""Bumped when an observation or a verdict of the environment can change."""

SHIPPED = Path(__file__).parent / "shipped"
"""Servers that come with this package; standard library only."""
WORKSPACE = "/workspace"
"""What agents see in place of the folder that a server works in, which has another name in every run."""

_KEY = re.compile(r"[a-z][a-z0-9_]{0,23}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Name = Annotated[str, Field(min_length=1, max_length=200)]
Argument = Annotated[str, Field(min_length=1, max_length=16_384)]


class McpServer(Described):
    """One server: a ``command`` (stdio) or a ``url`` (streamable HTTP)."""

    command: tuple[Argument, ...] = ()
    """Program and arguments of a server over stdio. Each rollout has a process of its own, in a folder of its own;
    ``{workspace}`` in an argument stands for that folder, ``{python}`` for the Python that runs this, ``{shipped}`` for
    the folder of the servers that come with it (``organizer.py``), so that a recipe names no place on a machine."""
    url: str | None = None
    """Address of a server over streamable HTTP. Each rollout has a session of its own; what the server keeps beside
    sessions is shared by all."""
    env: tuple[Name, ...] = ()
    """NAMES of environment variables that a command gets beside PATH, HOME and the like. Values never stand in a
    recipe."""
    headers: dict[Name, Name] = {}
    """HTTP headers of a ``url``: the header's name -> the NAME of the environment variable that holds its value."""
    folder: str | None = None
    """A folder of which each rollout gets a copy, in which a command begins; empty = an empty folder."""
    licence: str | None = None
    """SPDX id of the licence of what it answers. Empty: datasets made of it say that none was stated."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give either a command or a url")
        if self.url is not None:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("url must begin with http:// or https:// and name a host")
            if parts.username is not None or parts.password is not None:
                raise ValueError("url holds a user or a password: name variables in headers instead")
        if self.url is not None and (self.env or self.folder):
            raise ValueError("env and folder go with a command, not with a url")
        if self.command and self.headers:
            raise ValueError("headers go with a url, not with a command")
        for name in (*self.env, *self.headers.values()):
            if not _VARIABLE.fullmatch(name):
                raise ValueError("env and headers take names of environment variables, never their values")
        return self


class ServerLimits(Described):
    """What is borne from servers."""

    replay_safe: bool = False
    """True: the same calls may be made again, on a fresh server, and do no harm (nothing is sent, bought or deleted
    outside it). Only then are there tasks, snapshots, branches and critical steps, and only where the answers come out
    equal."""
    call_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long a call may take; a server that takes longer is given up for the rest of the rollout."""
    start_seconds: float = Field(default=30.0, gt=0, le=3600)
    """How long a server may take until it has told its tools."""
    max_chars: int = Field(default=20_000, ge=200)
    """Code points of a result that an agent is shown; what is left out is counted behind them."""


class McpConfig(ServerLimits):
    """The environment ``mcp``: its servers, and what is borne from them."""

    servers: dict[str, McpServer] = Field(min_length=1, max_length=32)
    """By a short name of yours. With several, a tool is called ``<name>__<tool>``."""
    tools: tuple[Name, ...] = ()
    """The only tools that agents get, by the names that agents see; empty = all."""
    max_bytes: int = Field(default=64 * 1024 * 1024, ge=1024)
    """Bytes of one message of a server; a longer one breaks the connection."""
    max_schema_bytes: int = Field(default=32 * 1024, ge=256)
    """Bytes of a tool's JSON Schema; a tool with a larger one is left out."""
    max_tools: int = Field(default=256, ge=1, le=4096)
    """Tools per server; those behind are left out."""

    @model_validator(mode="after")
    def _names(self) -> Self:
        for key in self.servers:
            if not _KEY.fullmatch(key) or "__" in key:
                raise ValueError(f"servers.{key}: take a letter, then letters, digits and single _ (24 at most)")
        return self


def program_of(server: McpServer, folder: str) -> list[str]:
    """The command line of a server that works in ``folder``."""
    places = {"{workspace}": folder, "{python}": sys.executable, "{shipped}": str(SHIPPED)}
    found = []
    for part in server.command:
        for name, place in places.items():
            part = part.replace(name, place)
        found.append(part)
    return found


def read_config(options: Mapping[str, Any]) -> McpConfig:
    """The options of a recipe, checked against this machine: programs, folders and variables are there.

    Raises:
        InputError: a key is wrong, or something that it names is not there.
    """
    config = checked(McpConfig, dict(options), "environment")
    for key, server in config.servers.items():
        where = f"environment.servers.{key}"
        if server.command and shutil.which(program_of(server, "")[0]) is None:
            mend = "install the server in an environment of its own and name its program with its folder"
            raise InputError(f"there is no program {server.command[0]!r}", where=where, mend=mend)
        if server.folder is not None and not Path(server.folder).is_dir():
            raise InputError(f"there is no folder {server.folder!r}", where=f"{where}.folder")
        for name in (*server.env, *server.headers.values()):
            if name not in os.environ:
                raise InputError(f"the environment variable {name} is not set", where=where, mend=f"export {name}=...")
    return config


class McpServers(ServerLimits, EnvironmentKeys):
    """The environment: the servers that are the source, new ones for every run."""

    kind: Literal["mcp"]
