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

from typing import ClassVar

from synth.redaction import hide_credentials

__all__ = ["BuildError", "DatasetError", "InputError", "Interrupted", "StoreError", "SynthError"]


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
