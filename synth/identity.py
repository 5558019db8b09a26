"""Identity is content: canonical JSON, hashes, and random generators derived from names.

Nothing here reads a clock, an environment variable or global random state.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

__all__ = [
    "IDENTITY_SCHEME",
    "canonical_json",
    "derive_generator",
    "digest",
    "digests",
    "generator_of",
    "hash_64",
    "key_of",
    "split_of",
    "versioned",
]

T = TypeVar("T")

IDENTITY_SCHEME = 1
"""Bumped when canonical JSON or the derivation of generators changes: every fingerprint then changes."""


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8 kept, no NaN or infinity.

    Raises:
        ValueError: a float is not finite, or a key is not a string.
        TypeError: a value is of a type that JSON lacks.
    """
    _check(value)
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _check(value: Any) -> None:
    # Every message of every model call comes through here: exact types first, and no step into a text.
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value!r} has no canonical JSON: only finite numbers do")
    elif kind is dict or isinstance(value, Mapping):
        for key, item in value.items():
            if type(key) is not str and not isinstance(key, str):
                raise ValueError(f"key {key!r} is not a string")
            if type(item) is not str:
                _check(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item)


def digest(*parts: Any) -> str:
    """sha256 (64 hex) of the canonical JSON of ``parts`` and of the scheme's version."""
    return hashlib.sha256(canonical_json([IDENTITY_SCHEME, *parts]).encode()).hexdigest()


def digests(parts: Sequence[Any], each: Iterable[Any]) -> Iterator[str]:
    """The :func:`digest` of ``parts`` and one more part, for each such part: ``parts`` are hashed once."""
    begun = hashlib.sha256(canonical_json([IDENTITY_SCHEME, *parts])[:-1].encode())
    for last in each:
        one = begun.copy()
        one.update(f",{canonical_json(last)}]".encode())
        yield one.hexdigest()


def hash_64(text: str) -> int:
    """A signed 64-bit hash of a text, for columns that are compared a million rows at a time."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def derive_generator(seed: int, *names: str | int) -> np.random.Generator:
    """A generator that depends on nothing but ``seed`` and ``names`` (usually stage and row id).

    Philox is counter-based and keyed, so generators of different names are independent streams.
    """
    return generator_of(digest("generator", seed, *names)[:32])


def key_of(generator: np.random.Generator) -> str:
    """32 hex digits that name the stream of a generator made by :func:`derive_generator`, whatever was drawn from it.

    It names the sample that a model is asked for: one name per (seed, names), so none is ever served for another.

    Raises:
        ValueError: the generator is of another kind.
    """
    state = generator.bit_generator.state
    if state["bit_generator"] != "Philox":
        raise ValueError(f"a generator of {state['bit_generator']} has no name: take derive_generator")
    low, high = (int(word) for word in state["state"]["key"])
    return f"{high << 64 | low:032x}"


def generator_of(key: str) -> np.random.Generator:
    """The generator that :func:`key_of` named, at its beginning."""
    seed: Any = _Key(int(key, 16))  # any ISeedSequence will do, which the stubs do not say
    return np.random.Generator(np.random.Philox(seed))


class _Key(ISeedSequence):
    """A Philox key as a seed: ``Philox(key=...)`` makes the same generator, and asks the system for entropy first,
    which takes longer than all else."""

    def __init__(self, key: int) -> None:
        self.key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """The two words of 64 bits for which Philox asks."""
        assert (n_words, dtype) == (2, np.uint64)
        return np.array([self.key & (1 << 64) - 1, self.key >> 64], dtype=np.uint64)


def split_of(unit: str, fractions: Mapping[str, float], salt: str = "split") -> str:
    """The split that owns ``unit`` (an entity or page id): stable whatever else is in the source.

    ``fractions`` maps split name to its share; shares sum to 1. The order of its keys decides nothing.
    """
    point = int(digest(salt, unit)[:13], 16) / 16**13
    total = 0.0
    last = ""
    # Sorted: configs are equal, and so hashed equally, whatever order a user wrote their keys in.
    for name in sorted(fractions):
        total += fractions[name]
        if fractions[name] > 0:
            last = name
            if point < total:
                return name
    return last


def versioned(version: int | str, **more: tuple[str, ...]) -> Callable[[T], T]:
    """State the version of a collaborator on the function or class that makes it, and what else a stage asks of it:
    ``needs`` (tables and arrays that it is given), ``libraries`` (distributions that can change what it does).

    It is in the fingerprint of every stage run that is given the collaborator: bump it with every change that can
    change what the collaborator does. A lock of code hashes makes CI check it.
    """

    def state(factory: T) -> T:
        for name, value in {"version": int(version), **more}.items():
            setattr(factory, name, value)
        return factory

    return state
