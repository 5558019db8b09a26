"""The recipe keys of the environment ``web``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from synth.environments.contract import EnvironmentKeys
from synth.errors import InputError

__all__ = ["WebConfig", "WebPages", "read_config"]

Argument = Annotated[str, Field(min_length=1, max_length=16_384)]
Pixels = Annotated[int, Field(ge=200, le=4000)]


class WebConfig(BaseModel):
    """The environment ``web``: a folder of pages, or a local application, in a real browser."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    site: str = Field(default="library", min_length=1)
    """A shipped site, or a folder of pages (with a ``site.yaml``, if there is more to know)."""
    command: tuple[Argument, ...] = ()
    """Program and arguments of an application that serves HTTP, started anew for each rollout: ``{port}`` in an
    argument stands for the port of 127.0.0.1 that it must listen on, ``{workspace}`` for the copy of ``site``, the
    folder that it begins in. Empty: the pages of the folder are served as they are."""
    state_path: str | None = Field(default=None, pattern=r"^/")
    """Of a command: an address in the application that answers GET with its state as JSON. It counts to the state of
    a task, and agents can't open it."""
    replay_safe: bool = True
    """Of a command: False = calls must not be made again, so there are no branches and no critical steps."""
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
    """Keep a picture of the window of every page shown, in the web observations as ``data:image/png;base64,...``."""
    now: str = Field(default="2026-03-02T09:00:00Z", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """The time on the site's clock when a rollout begins (UTC); each call takes a second of it."""
    seed: int = 0
    """Seed of ``Math.random`` and the like in the pages."""
    max_chars: int = Field(default=8_000, ge=500)
    """Characters of an accessibility tree that are shown at once; a longer one comes in parts."""
    element_seconds: float = Field(default=3.0, gt=0, le=60)
    """How long an element may take to become usable."""
    call_seconds: float = Field(default=30.0, gt=0, le=600)
    """How long a call may take; a page that takes longer is given up for the rest of the rollout."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if not self.command and self.state_path is not None:
            raise ValueError("state_path goes with a command")
        if not self.command and not self.replay_safe:
            raise ValueError("replay_safe: false goes with a command: pages of a folder can always be opened again")
        return self


def read_config(options: Mapping[str, Any]) -> WebConfig:
    """The options of a recipe.

    Raises:
        InputError: a key is wrong.
    """
    try:
        return WebConfig.model_validate(dict(options))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in ("environment", *first["loc"]))
        raise InputError(str(first["msg"]).removeprefix("Value error, "), where=place) from None


class WebPages(EnvironmentKeys):
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
