"""The Hub as this machine talks to it: patience, a quiet session, and what went wrong in one vocabulary."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from synth.errors import SynthError
from synth.identity import derive_generator

__all__ = [
    "Announce",
    "Failure",
    "FailureKind",
    "Patience",
    "PushFailed",
    "classify",
    "polite",
    "without_addresses",
    "without_xet",
    "xet_is_on",
]


@dataclass(frozen=True)
class Patience:
    """Waits of a push. They change no byte of what is published."""

    timeout: float = 60.0
    """Seconds without a byte after which a request counts as hung."""
    attempts: int = 4
    """How often the whole exchange is tried. Within one, uploads of single files have retries of their own."""
    first_wait: float = 2.0
    """Seconds before the second attempt; each further wait is twice as long."""
    longest_wait: float = 900.0
    """Seconds; the Hub's ``Retry-After`` beyond this ends the push, and the same command goes on later."""
    jitter: float = 1.0
    """Seconds that a wait within an attempt is stretched by at most, so that clients refused together do not come back
    together."""

    def wait(self, attempt: int, name: str, asked: float | None) -> float:
        """Seconds to wait after attempt number ``attempt`` (from 0): what the Hub asked for, or doubling, and up to
        half as much again."""
        base = asked if asked is not None else self.first_wait * 2**attempt
        return base + self._drawn(name, attempt) * 0.5 * max(base, self.first_wait)

    def stretch(self, number: int, name: str) -> float:
        """Seconds that the ``number``-th refusal within an attempt is answered later."""
        return self._drawn(f"{name}/inside", number) * self.jitter

    @staticmethod
    def _drawn(name: str, number: int) -> float:
        # The process takes part, because two machines that push the same dataset are those that should not meet.
        return float(derive_generator(0, "push", name, os.getpid(), number).random())


Announce = Callable[[str], None]

_XET_PATIENCE = "HF_XET_CLIENT_RETRY_MAX_DURATION"
"""hf_xet's own variable; it tries for six minutes otherwise."""


def xet_is_on() -> bool:
    """Whether huggingface_hub uploads by Xet: hf_xet is installed, and HF_HUB_DISABLE_XET is not set."""
    from huggingface_hub.utils._runtime import is_xet_available

    return bool(is_xet_available())


@contextmanager
def without_xet() -> Iterator[None]:
    """Within the block huggingface_hub uploads by LFS, in the whole process."""
    from huggingface_hub import constants

    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before


@contextmanager
def polite(patience: Patience, name: str, announce: Announce) -> Iterator[None]:
    """Within the block every request of huggingface_hub has a timeout (by itself it has none, and waits for ever), and
    each refusal that it will retry by itself is first stretched by a drawn time (by itself it draws none).

    Xet sends its requests itself; the time it may spend on retries is bounded, too.

    The client is set for the whole process and is the library's default again afterwards.
    """
    from huggingface_hub import close_session, set_client_factory
    from huggingface_hub.utils._http import default_client_factory
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    refusals = 0

    def bounded(request: Any) -> None:
        limits = dict(request.extensions.get("timeout") or {})
        request.extensions["timeout"] = {
            part: patience.timeout if limits.get(part) is None else limits[part]
            for part in ("connect", "read", "write", "pool")
        }

    def refused(response: Any) -> None:
        nonlocal refusals
        if response.status_code != 429 and response.status_code < 500:
            return
        refusals += 1
        asked = response.headers.get("Retry-After")
        announce(
            f"the Hub answers {response.status_code}"
            + (f" and asks to wait {asked} s" if asked else "")
            + ": trying again"
        )
        time.sleep(patience.stretch(refusals, name))

    def client() -> Any:
        made = default_client_factory()
        hooks = made.event_hooks
        made.event_hooks = {
            "request": [*hooks.get("request", ()), bounded],
            "response": [*hooks.get("response", ()), refused],
        }
        return made

    patient = _XET_PATIENCE not in os.environ
    if patient:
        os.environ[_XET_PATIENCE] = f"{patience.timeout:.0f}s"
    log = logging.getLogger("huggingface_hub")
    level, bars = log.level, are_progress_bars_disabled()
    set_client_factory(client)
    log.setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield
    finally:
        if patient:
            os.environ.pop(_XET_PATIENCE, None)
        log.setLevel(level)
        if not bars:
            enable_progress_bars()
        set_client_factory(default_client_factory)
        close_session()
        for text in dict.fromkeys(" ".join(str(one.message).split()) for one in said if one.category is UserWarning):
            announce(text)


class PushFailed(SynthError):
    """The Hub did not take the dataset; the repository is as it was before, or complete."""

    exit_code: ClassVar[int] = 8


class FailureKind(StrEnum):
    """What a failed request means for the push."""

    TRANSIENT = "transient"
    """Rate limit, a server in trouble, a hung or broken connection: try again."""
    MOVED = "moved"
    """The branch is no longer where we saw it: look again."""
    DENIED = "denied"
    """The token does not open this repository."""
    ABSENT = "absent"
    """No such repository or branch, for this token."""
    REFUSED = "refused"
    """The Hub read the request and said no: trying again changes nothing."""


@dataclass(frozen=True)
class Failure:
    kind: FailureKind
    what: str
    """One line, without a URL: those of uploads carry a signature."""
    wait: float | None = None
    """Seconds that the Hub asked to wait."""


_MOVED = (409, 412)
_DENIED = (401, 403)
_TRANSIENT = (408, 425, 429)
_ADDRESS = re.compile(r"(?:,? ?\b(?:domain:|for url))? ?\(?\w+://[^\s)]*\)?")


def classify(error: BaseException) -> Failure | None:
    """What ``error``, raised by huggingface_hub, means; None where it is none of the Hub's.

    Its library wraps what a thread of an upload raised: the first HTTP error along the causes counts.
    """
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    transport = HfHubHTTPError.__bases__[0]  # the root of the HTTP library's errors, whichever library it is
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OfflineModeIsEnabled):
            return Failure(FailureKind.REFUSED, "HF_HUB_OFFLINE is set")
        if isinstance(seen, HfHubHTTPError):
            return _answered(seen)
        if isinstance(seen, transport):
            return Failure(FailureKind.TRANSIENT, f"the connection failed ({type(seen).__name__})")
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, ValueError) and "metadata" in str(error):  # what HfApi makes of a refused front matter
        return Failure(FailureKind.REFUSED, " ".join(str(error).split()))
    return None


def without_addresses(error: BaseException) -> str:
    """``error`` as one line without a URL."""
    return " ".join(_ADDRESS.sub("", str(error)).split()) or type(error).__name__


def _answered(error: BaseException) -> Failure:
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    said = " ".join(str(getattr(error, "server_message", None) or "").split())
    what = f"status {status}" + (f": {said}" if said else "")
    if type(error).__name__ in ("RepositoryNotFoundError", "RevisionNotFoundError"):
        return Failure(FailureKind.ABSENT, what)
    if status in _MOVED:
        return Failure(FailureKind.MOVED, what)
    if status in _DENIED:
        return Failure(FailureKind.DENIED, what)
    if status in _TRANSIENT or (isinstance(status, int) and status >= 500):
        return Failure(FailureKind.TRANSIENT, what, _retry_after(response))
    return Failure(FailureKind.REFUSED, what)


def _retry_after(response: object) -> float | None:
    """Seconds of a ``Retry-After``; a date in it counts as nothing said."""
    headers = getattr(response, "headers", {})
    try:
        return max(0.0, float(headers.get("Retry-After", "")))
    except ValueError:
        return None
