"""Keys of recipes whose tasks are derived from what was explored: an application, and whatever else can be acted in."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from synth.environments.app.tools import Failures
from synth.exploration.config import ExplorationConfig

__all__ = [
    "AppSource",
    "Application",
    "McpServers",
    "McpSource",
    "ReverseQuestions",
    "WebPages",
    "WebSource",
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class AppSource(_Part):
    """An application on a database: tools that read and change it, and a written policy."""

    kind: Literal["app"]
    application: str = Field(default="airline", min_length=1)
    """A shipped one (``airline``, ``ledger``, ``tracker``), the path of a YAML file of yours, or the text of such a
    file."""
    variant: str | None = None
    """Which of the application's variants: one whose rules are kept and not all written; empty = as it is written."""
    size: int = Field(default=1, ge=1, le=10_000)
    """Multiple of the data of size 1. Every few tasks are set in data of their own."""
    licence: str | None = None
    """SPDX id of the licence of what the application holds, where its file states none."""


class McpSource(_Part):
    """Servers of the Model Context Protocol (extra ``mcp``)."""

    kind: Literal["mcp"]
    servers: dict[str, dict[str, Any]] = Field(min_length=1)
    """By a short name: ``command`` (program and arguments; ``{workspace}``, ``{python}`` and ``{shipped}`` stand for
    the folder of a run, this Python and the servers that come with this package) or ``url``; ``folder`` that each run
    gets a copy of; ``env`` and ``headers`` by names of variables; ``licence`` of what it answers."""
    tools: tuple[str, ...] = ()
    """The only tools that are used; empty = all."""
    licence: str | None = None
    """SPDX id of the licence of what servers answer that state none."""


class McpServers(_Part):
    """The environment: the servers that are the source, new ones for every run."""

    kind: Literal["mcp"]
    replay_safe: bool = False
    """True: the same calls may be made many times and do no harm outside the server. Tasks are proved by that, so
    without it there are none."""
    call_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long a call may take."""
    start_seconds: float = Field(default=30.0, gt=0, le=3600)
    """How long a server may take until it has told its tools."""
    max_chars: int = Field(default=20_000, ge=200)
    """Code points of a result that an agent is shown."""


class WebSource(_Part):
    """A web site, in a real browser (extra ``web``)."""

    kind: Literal["web"]
    site: str = Field(default="library", min_length=1)
    """A shipped one (``library``), or a folder of pages of yours, with a ``site.yaml`` if there is more to know."""
    command: tuple[str, ...] = ()
    """Program and arguments of an application that serves the site over HTTP, started anew for each run: ``{port}``
    and ``{workspace}`` stand for its port and the copy of the folder that it begins in. Empty: the pages of the folder
    are served as they are."""
    state_path: str | None = None
    """Of a command: an address that answers with the application's state as JSON."""
    licence: str | None = None
    """SPDX id of the licence of the pages, where ``site.yaml`` states none."""


class WebPages(_Part):
    """The environment: the site that is the source, in a fresh browser context for every run."""

    kind: Literal["web"]
    viewport: tuple[int, int] = (1000, 700)
    """Width and height of the window in pixels."""
    html: bool = True
    """Keep the markup of every page shown."""
    screenshots: bool = False
    """Keep a picture of every page shown, in the rows themselves (some 50 kB each)."""
    executable: str | None = None
    """Chromium's program; empty = the one that is found."""
    sandbox: bool | None = None
    """Chromium's own sandbox; empty = on, except for root."""
    max_chars: int = Field(default=8_000, ge=500)
    """Characters of a page's outline that are shown at once; a longer one comes in parts."""


class ReverseQuestions(ExplorationConfig):
    """Explore first, ask afterwards: what was done becomes the request, and its least part the solution. Of servers
    and sites there are the kinds ``done`` and ``answered`` alone."""

    kind: Literal["reverse"]


class Application(_Part):
    """The environment: the application that is the source."""

    kind: Literal["app"]
    failures: Failures | None = None
    """Calls that fail through no fault of the agent, so that it learns to try again; empty = none do."""
