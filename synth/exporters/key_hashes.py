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
import shutil
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
    length: int
    """Bytes."""
    fingerprint: int
    hash: str


class KeyHashes(Row):
    """Keys that are known by their hashes."""

    salt: str
    keys: tuple[_Hash, ...] = ()

    def holds(self, text: bytes) -> bool:
        """Whether one of the keys stands in ``text``."""
        return next(self.places(text), None) is not None

    def places(self, text: bytes) -> Iterator[int]:
        """Where in ``text`` a key begins."""
        longest = max((key.length for key in self.keys), default=0)
        for start in range(0, len(text) if longest else 0, _CHUNK):
            part = text[start : start + _CHUNK + longest - 1]
            sums = self._sums(part)
            for length in {key.length for key in self.keys}:
                if len(part) < length:
                    continue
                found = ((sums[length:] - sums[:-length]) * _powers(self._inverse)[: len(sums) - length]) >> (
                    64 - _BITS
                )
                for key in self.keys:
                    for at in np.flatnonzero(found == key.fingerprint) if key.length == length else ():
                        window = part[at : at + length]
                        if hmac.compare_digest(self._slow(window), key.hash):
                            yield start + int(at)

    def with_secret(self, secret: str) -> KeyHashes:
        """With ``secret`` and its encodings, unless it is too short or known."""
        if len(secret) < _SHORTEST or self.holds(secret.encode()):
            return self
        forms = [form.encode() for form in encodings(secret)]
        added = (
            _Hash(length=len(form), fingerprint=self._print(form), hash=self._slow(form))
            for form in forms
            if len(form) <= _LONGEST
        )
        return self.model_copy(update={"keys": (*self.keys, *added)})

    @property
    def _base(self) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.salt} base".encode()).digest()[:8], "big") | 1

    @property
    def _inverse(self) -> int:
        return pow(self._base, -1, 1 << 64)

    def _sums(self, text: bytes) -> Numbers:
        """(n + 1,): the polynomial of every beginning of ``text``, modulo 2**64."""
        values = np.frombuffer(text, np.uint8).astype(np.uint64) + np.uint64(1)
        sums = np.zeros(len(text) + 1, np.uint64)
        np.cumsum(values * _powers(self._base)[: len(text)], out=sums[1:])
        return sums

    def _print(self, text: bytes) -> int:
        return int(self._sums(text)[-1] >> np.uint64(64 - _BITS))

    def _slow(self, text: bytes) -> str:
        return hashlib.scrypt(text, salt=bytes.fromhex(self.salt), n=2**14, r=8, p=1, dklen=32).hex()


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
    known = before or KeyHashes(salt=secrets.token_hex(16))
    for key in sorted(keys):
        known = known.with_secret(key)
    if known.keys and known is not before:
        plain: dict[str, Any] = known.model_dump(mode="json")
        write_file(folder / KEYS_FILE, json.dumps(plain).encode())
        os.chmod(folder / KEYS_FILE, 0o600)


def carry(folder: Path, into: Path) -> None:
    """Let ``into``, which was made of ``folder``, remember the same keys."""
    if (folder / KEYS_FILE).is_file():
        shutil.copy(folder / KEYS_FILE, into / KEYS_FILE)
