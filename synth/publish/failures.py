"""What goes wrong between us and the Hub: one classifier, called where its library is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from synth.errors import SynthError

__all__ = ["Failure", "FailureKind", "PushFailed", "classify", "without_addresses"]


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
