"""What is known of a site beside its pages: the file ``site.yaml`` in its folder. Every key is optional.

A folder without one is a site too: then requests are worded from the names of what was clicked and typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from synth.environments.contract import EnvironmentKeys
from synth.errors import InputError
from synth.inputs import checked, parse_yaml, read_text
from synth.schemas.described import Described
from synth.schemas.row import JsonObject

__all__ = [
    "SITE_FILE",
    "FactWords",
    "RequestWords",
    "SiteDefinition",
    "SiteStart",
    "WebConfig",
    "WebPages",
    "load_site",
]

Argument = Annotated[str, Field(min_length=1, max_length=16_384)]
Pixels = Annotated[int, Field(ge=200, le=4000)]

SITE_FILE = "site.yaml"
_SHIPPED = Path(__file__).parent / "site"
Words = Annotated[str, Field(min_length=1, max_length=2000)]


class SiteStart(Described):
    """A beginning of episodes."""

    storage: JsonObject = {}
    """Key of the browser's localStorage -> its value; one that is not text is stored as JSON."""


class RequestWords(Described):
    """How a person asks for one change of what the site keeps."""

    at: Words
    """Where the change is: keys with dots, from the storage key on (``holds``, ``settings.email``)."""
    change: Literal["added", "removed", "changed", "set"]
    """``added`` / ``removed``: an entry of a list; ``changed``: a field of an entry; ``set``: any other value."""
    field: Words | None = None
    """Of ``changed``: which field."""
    words: tuple[Words, ...] = Field(min_length=1)
    """Clauses that go behind "please", in Jinja: ``before`` and ``after`` are the values (of ``changed``, of the
    field) and ``entry`` is the entry with its fields."""


class FactWords(Described):
    """How a person asks for something that a page states."""

    term: Words
    """The term as the page has it, before the value."""
    words: tuple[Words, ...] = Field(min_length=1)
    """Questions, in Jinja: ``page`` is the heading of the page."""
    kind: Literal["text", "number", "quantity", "date", "year", "entity"] = "text"
    """What kind of value it is."""


class SiteDefinition(Described):
    """A site."""

    title: Words = "a site"
    """What it is, for the agent's instructions."""
    address: Words = "http://site.test"
    """What agents see as its address; nothing is ever looked up under it."""
    licence: str | None = None
    """SPDX id of the licence of what it holds. Empty: datasets made of it say that none was stated."""
    about: str = ""
    """More for the agent's instructions."""
    starts: dict[Words, SiteStart] = {}
    """Beginnings by name; a task says which is its own. Empty: an empty storage."""
    volatile: tuple[Words, ...] = ()
    """What does not count when states are compared (times, what was looked at last), as ``at`` of requests."""
    keys: dict[Words, Words] = {}
    """List, as ``at`` -> the field that tells its entries apart, so that a change of one is seen as such."""
    follows: tuple[Words, ...] = ()
    """Fields that change together with another (``loans.renewals``) and are not asked for by themselves."""
    values: dict[Words, tuple[Words, ...]] = {}
    """Name of a text box -> what an explorer may type into it."""
    avoid: tuple[Words, ...] = ()
    """Names of elements that an explorer leaves alone."""
    requests: tuple[RequestWords, ...] = ()
    """Empty: requests are worded from what was clicked and typed."""
    facts: tuple[FactWords, ...] = ()
    """Empty: any term with a value is asked for."""

    def texts(self) -> Iterator[str]:
        """Texts of what episodes begin with, and of what may be typed: values that requests speak of."""
        yield from _texts([start.storage for start in self.starts.values()])
        yield from _texts(list(self.values.values()))

    @model_validator(mode="after")
    def _address(self) -> Self:
        parts = urlsplit(self.address)
        plain = parts.scheme == "http" and parts.hostname and parts.port is None and parts.path in ("", "/")
        if not plain or parts.query or parts.fragment or "@" in parts.netloc or not parts.netloc.endswith(".test"):
            raise ValueError("address must be http:// and a name that ends in .test, with nothing behind it")
        return self


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def load_site(site: str) -> tuple[Path, SiteDefinition]:
    """The folder of a shipped site or of a path, and its definition.

    Raises:
        InputError: there is no such site, or its file is wrong.
    """
    shipped = sorted(path.name for path in _SHIPPED.iterdir() if path.is_dir())
    folder = _SHIPPED / site if site in shipped else Path(site)
    if not folder.is_dir():
        mend = f"give a folder of pages, or a shipped site: {', '.join(shipped)}"
        raise InputError(f"there is no site {site!r}", where="environment.site", mend=mend)
    path = folder / SITE_FILE
    if not path.exists():
        return folder, SiteDefinition()
    loaded = parse_yaml(read_text(path, mend="write it as UTF-8 YAML"), SITE_FILE, mend="mend the line")
    return folder, checked(SiteDefinition, loaded if loaded is not None else {}, SITE_FILE)


class Window(Described):
    """The browser, and what is kept of the pages that it shows."""

    executable: str | None = None
    """Chromium's program; None = the first of chromium-headless-shell (the fastest), chromium, chromium-browser,
    google-chrome that is there."""
    sandbox: bool | None = None
    """Chromium's own sandbox; None = on, except for root, as whom it does not start with it."""
    viewport: tuple[Pixels, Pixels] = (1000, 700)
    """Width and height of the window in pixels."""
    html: bool = True
    """Keep the markup of every page shown, in the web observations."""
    screenshots: bool = False
    """Keep a picture of the window of every page shown, in the web observations as ``data:image/png;base64,...`` (some
    50 kB each)."""
    max_chars: int = Field(default=8_000, ge=500)
    """Characters of an accessibility tree that are shown at once; a longer one comes in parts."""


class WebConfig(Window):
    """The environment ``web``: a folder of pages, or a local application, in a real browser."""

    site: str = Field(default="library", min_length=1)
    """A shipped site, or a folder of pages (with a ``site.yaml``, if there is more to know)."""
    command: tuple[Argument, ...] = ()
    """Program and arguments of an application that serves HTTP, started anew for each rollout: ``{port}`` in an
    argument stands for the port of 127.0.0.1 that it must listen on, ``{workspace}`` for the copy of ``site``, the
    folder that it begins in. Empty: the pages of the folder are served as they are."""
    state_path: str | None = Field(default=None, pattern=r"^/")
    """Of a command: an address in the application that answers GET with its state as JSON. It counts to the state of
    a task, and agents can't open it."""
    state_database: str | None = Field(default=None, min_length=1, max_length=1000)
    """Of a command: an SQLite file in its folder, by its path there. What its tables hold counts to the state of a
    task; entries are told apart by the primary key."""
    fixed_clock: bool = False
    """Of a command: its clock shows ``now`` and takes a second a call, as the pages' does (libfaketime). An application
    that shows or stores times needs it."""
    restart: bool = True
    """Of a command: False = it is not started anew for each rollout: it goes on running, and its files are put back as
    they were when it began, which is many times as fast where it starts slowly. For an application that keeps in memory
    nothing but what follows from its files. What is asked is carried out once more in one that has just started."""
    replay_safe: bool = True
    """Of a command: False = calls must not be made again, so there are no branches and no critical steps."""
    now: str = Field(default="2026-03-02T09:00:00Z", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """The time on the site's clock when a rollout begins (UTC); each call takes a second of it."""
    seed: int = 0
    """Seed of ``Math.random`` and the like in the pages."""
    element_seconds: float = Field(default=3.0, gt=0, le=60)
    """How long an element may take to become usable."""
    call_seconds: float = Field(default=30.0, gt=0, le=600)
    """How long a call may take; a page that takes longer is given up for the rest of the rollout."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        for name in ("state_path", "state_database", "fixed_clock"):
            if not self.command and getattr(self, name):
                raise ValueError(f"{name} goes with a command")
        place = PurePosixPath(self.state_database or "")
        if place.is_absolute() or ".." in place.parts:
            raise ValueError("state_database is a path in the folder of the site")
        if self.state_path is not None and self.state_database is not None:
            raise ValueError("state_path and state_database are two ways to say the same: name one")
        if not self.command and not self.restart:
            raise ValueError("restart: false goes with a command")
        if not self.command and not self.replay_safe:
            raise ValueError("replay_safe: false goes with a command: pages of a folder can always be opened again")
        return self


class WebPages(Window, EnvironmentKeys):
    """The environment: the site that is the source, in a fresh browser context for every run."""

    kind: Literal["web"]
