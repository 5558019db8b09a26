"""Which keys a dataset was built with, so that a push finds them when their variables are not set any more.

A file beside the tables, never published, holds of every key and of its encodings the length, a fingerprint of 24
bits and a salted scrypt hash (RFC 7914; N = 2**14, r = 8). Text is scanned by the fingerprint of each window of
that length, a polynomial modulo 2**64 (Rabin and Karp 1987); what it hits, about one window of 16.8 million, is
hashed. A key gives away 24 of its bits: keys of fewer than twelve characters, as could be guessed, are not kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from synth.errors import DatasetError
from synth.redaction import encodings
from synth.schemas.row import Row
from synth.store.files import write_file

__all__ = ["KEYS_FILE", "KeyHashes", "carry", "hashes_in", "remember"]

KEYS_FILE = ".keys.json"
_SHORTEST = 12
_LONGEST = 1 << 16
"""Bytes of an encoded key; longer ones are left out."""
_BITS = 24
_CHUNK = 1 << 20
"""Bytes of text that are looked at together."""

Numbers = npt.NDArray[np.uint64]


class _Hash(Row):
    salt: str
    length: int
    """Bytes."""
    fingerprint: int
    hash: str


class KeyHashes(Row):
    """Keys that are known by their hashes."""

    keys: tuple[_Hash, ...] = ()
    """Those of several stores have several salts."""

    def holds(self, text: bytes) -> bool:
        """Whether ``text`` contains one of the keys."""
        return next(self.places(text), None) is not None

    def places(self, text: bytes) -> Iterator[int]:
        """Where in ``text`` a key begins."""
        longest = max((key.length for key in self.keys), default=0)
        for start in range(0, len(text) if longest else 0, _CHUNK):
            part = text[start : start + _CHUNK + longest - 1]
            for salt in {key.salt for key in self.keys}:
                mine = [key for key in self.keys if key.salt == salt]
                sums = _sums(salt, part)
                for length in {key.length for key in mine if key.length <= len(part)}:
                    inverse = _powers(pow(_base(salt), -1, 1 << 64))
                    found = ((sums[length:] - sums[:-length]) * inverse[: len(sums) - length]) >> (64 - _BITS)
                    for key in mine:
                        for at in np.flatnonzero(found == key.fingerprint) if key.length == length else ():
                            if hmac.compare_digest(_slow(salt, part[at : at + length]), key.hash):
                                yield start + int(at)

    def with_secret(self, secret: str) -> KeyHashes:
        """With ``secret`` and its encodings, unless it is too short or known."""
        if len(secret) < _SHORTEST or self.holds(secret.encode()):
            return self
        salt = self.keys[0].salt if self.keys else secrets.token_hex(16)
        forms = [form.encode() for form in encodings(secret)]
        added = (
            _Hash(salt=salt, length=len(form), fingerprint=_print(salt, form), hash=_slow(salt, form))
            for form in forms
            if len(form) <= _LONGEST
        )
        return self.model_copy(update={"keys": (*self.keys, *added)})


def _base(salt: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{salt} base".encode()).digest()[:8], "big") | 1


def _sums(salt: str, text: bytes) -> Numbers:
    """(n + 1,): the polynomial of every beginning of ``text``, modulo 2**64."""
    values = np.frombuffer(text, np.uint8).astype(np.uint64) + np.uint64(1)
    sums = np.zeros(len(text) + 1, np.uint64)
    np.cumsum(values * _powers(_base(salt))[: len(text)], out=sums[1:])
    return sums


def _print(salt: str, text: bytes) -> int:
    return int(_sums(salt, text)[-1] >> np.uint64(64 - _BITS))


def _slow(salt: str, text: bytes) -> str:
    return hashlib.scrypt(text, salt=bytes.fromhex(salt), n=2**14, r=8, p=1, dklen=32).hex()


@lru_cache(maxsize=4)
def _powers(base: int) -> Numbers:
    """0th, 1st, ... power of ``base`` modulo 2**64, for a chunk and a key."""
    factors = np.full(_CHUNK + _LONGEST, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)


def hashes_in(folder: Path) -> KeyHashes | None:
    """What ``folder`` remembers of keys; None where it remembers none.

    Raises:
        DatasetError: the file can't be read.
    """
    path = folder / KEYS_FILE
    try:
        return KeyHashes.model_validate_json(path.read_bytes()) if path.is_file() else None
    except (OSError, ValidationError) as error:
        raise DatasetError(
            f"can't be read ({type(error).__name__})", where=str(path), mend="build the dataset again"
        ) from None


def remember(folder: Path, keys: Iterable[str]) -> None:
    """Add ``keys`` to what ``folder`` remembers."""
    before = hashes_in(folder)
    known = before or KeyHashes()
    for key in sorted(keys):
        known = known.with_secret(key)
    if known is not before:
        _write(known, folder)


def carry(folders: Iterable[Path], into: Path) -> None:
    """Let ``into``, which was made of ``folders``, remember the keys of all of them."""
    found = [key for folder in folders if (known := hashes_in(folder)) is not None for key in known.keys]
    _write(KeyHashes(keys=tuple(dict.fromkeys(found))), into)


def _write(known: KeyHashes, folder: Path) -> None:
    if known.keys:
        plain: dict[str, Any] = known.model_dump(mode="json")
        write_file(folder / KEYS_FILE, json.dumps(plain).encode())
        os.chmod(folder / KEYS_FILE, 0o600)
