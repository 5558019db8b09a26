"""Where things lie: folders and files of this machine, or of storage that fsspec reaches."""

from __future__ import annotations

import re
from pathlib import Path

from synth.errors import InputError

__all__ = ["STORAGE", "hub_dataset", "is_remote", "refuse_remote", "url_of"]

STORAGE = {
    "az": "adlfs",
    "file": None,
    "gs": "gcsfs",
    "hf": None,
    "memory": None,
    "s3": "s3fs",
}
"""Scheme -> the package that its driver needs; None = it comes with the base."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
"""One slash: a ``Path`` of ``s3://bucket`` is ``s3:/bucket``. One letter is a drive."""


_HUB = re.compile(r"hf:/{1,2}datasets/(.+)")


def hub_dataset(place: Path | str) -> str | None:
    """``owner/name`` of ``hf://datasets/owner/name``; None for any other place."""
    found = _HUB.fullmatch(str(place))
    return None if found is None else found[1]


def is_remote(place: Path | str) -> bool:
    """Whether ``place`` begins with a scheme, as URLs do."""
    return _SCHEME.match(str(place)) is not None


def url_of(place: Path | str) -> str:
    """A place as a person writes it: URLs with the slashes that a ``Path`` took from them."""
    found = _SCHEME.match(str(place))
    if found is None:
        return str(place)
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{str(place)[found.end() :].rstrip('/')}"


def refuse_remote(place: Path | str | None, where: str | None = None) -> None:
    """
    Raises:
        InputError: ``place`` is a URL.
    """
    if place is not None and is_remote(place):
        raise InputError(f"{url_of(place)} is not on this machine", where=where, mend="give a local path")
