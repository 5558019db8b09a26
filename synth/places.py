"""Where things lie: folders and files of this machine, and no storage elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from synth.errors import InputError

__all__ = ["hub_dataset", "is_remote", "refuse_remote"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""One slash: a ``Path`` of ``s3://bucket`` is ``s3:/bucket``. One letter is a drive."""


_HUB = re.compile(r"hf:/{1,2}datasets/(.+)")


def hub_dataset(place: Path | str) -> str | None:
    """``owner/name`` of ``hf://datasets/owner/name``; None for any other place."""
    found = _HUB.fullmatch(str(place))
    return None if found is None else found[1]


def is_remote(place: Path | str) -> bool:
    """Whether ``place`` begins with a scheme, as URLs do."""
    return _SCHEME.match(str(place)) is not None


def refuse_remote(place: Path | str | None, where: str | None = None) -> None:
    """
    Raises:
        InputError: ``place`` is a URL.
    """
    if place is not None and is_remote(place):
        scheme, _, rest = str(place).partition(":")
        raise InputError(
            f"{scheme}://{rest.lstrip('/')} is not on this machine, and no other storage is supported",
            where=where,
            mend="give a local path",
        )
