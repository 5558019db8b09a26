"""The error tree.

    SynthError                 one line for the user: what, where, how to mend it
    |- InputError    exit 2    what the user gave can't be used: recipe, source, option, file
    |- BuildError    exit 3    the build ran and could not reach what was asked (too few candidates, ...)
    |- StoreError    exit 4    the store or the output folder can't be used (full, read-only, other version, locked)
    |- DatasetError  exit 5    a finished dataset does not hold what it says (``synth validate``)
    |- BudgetReached exit 6    the cap on cost or tokens allows no further model call (``synth.models.contract``)
    |- EndpointDown  exit 7    a model endpoint does not answer (``synth.models.contract``)
    |- PushFailed    exit 8    the Hub did not take a dataset (``synth.publish``)
    `- Interrupted   exit 130  someone stopped the build (Ctrl-C, SIGTERM); what was finished is kept

Expected ends of a row are data (``Rejection``), not errors. Bugs propagate as they are.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import PurePath
from typing import ClassVar, TypeVar

from synth.redaction import hide_credentials

__all__ = [
    "BuildError",
    "DatasetError",
    "InputError",
    "Interrupted",
    "StoreError",
    "SynthError",
    "fault_of",
    "is_ours",
    "returned",
]


class SynthError(Exception):
    """An end that a user can do something about. ``str(error)`` is one line; URLs in it hold no password."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str | None = None, mend: str | None = None) -> None:
        self.what = what
        self.where = where
        self.mend = mend
        line = f"{where}: {what}" if where else what
        if mend:
            line = f"{line.rstrip('.')}. {mend[0].upper()}{mend[1:]}"
        super().__init__(hide_credentials(" ".join(line.split())))

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (workers): the default reduce would drop the keyword arguments.
        return (_rebuild, (type(self), self.what, self.where, self.mend))


def _rebuild(kind: type[SynthError], what: str, where: str | None, mend: str | None) -> SynthError:
    return kind(what, where=where, mend=mend)


class InputError(SynthError):
    exit_code = 2


class BuildError(SynthError):
    exit_code = 3


class StoreError(SynthError):
    exit_code = 4


class DatasetError(SynthError):
    exit_code = 5


class Interrupted(SynthError):
    exit_code = 130


T = TypeVar("T")


def is_ours(thing: object) -> bool:
    """Whether an object is of a class of this package, and not of a user's."""
    return type(thing).__module__.partition(".")[0] == "synth"


def fault_of(owner: object, method: str, error: Exception, mend: str | None = None) -> InputError:
    """What went wrong in a method of a user's object, and on which line of whose file."""
    name = type(owner).__qualname__.rpartition(".")[2]
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(type(owner).__module__), "__file__", None)
    last = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    told = f"{name}.{method} raised {type(error).__name__}: {error}"
    return InputError(told, where=f"{PurePath(last.filename).name}, line {last.lineno}", mend=mend)


def returned(owner: object, method: str, value: object, kind: type[T]) -> T:
    """What a method of a user's object returned.

    Raises:
        InputError: it is no ``kind``.
    """
    if isinstance(value, kind):
        return value
    name = type(owner).__qualname__.rpartition(".")[2]
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise InputError(
        f"{name}.{method} returned {type(value).__name__}",
        where=type(owner).__module__,
        mend=f"it returns {article} {kind.__name__}",
    )
