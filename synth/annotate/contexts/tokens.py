"""Counting tokens: a counter that needs no download by default, or the user's own ``tokenizers`` file."""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from synth.distribution import install
from synth.errors import InputError
from synth.inputs import read_input

__all__ = ["FileTokenizer", "Tokenizer", "WordTokenizer", "open_tokenizer", "tokenizer_digest"]


class Tokenizer(Protocol):
    """Says where the tokens of a text begin."""

    @property
    def name(self) -> str:
        """Names what counts, with its version: stands in every row."""

    def starts(self, text: str) -> NDArray[np.int64]:
        """Where each token of ``text`` begins, in code points: ``(n_tokens,) int64``, ascending (bytes of one character
        may be several tokens)."""

    def count(self, text: str) -> int:
        """How many tokens ``text`` has."""


_PIECE = re.compile(r"[A-Za-zÀ-ɏ]{1,8}|[0-9]{1,3}|[\r\n]+|[ \t]{2,}|[^\s0-9A-Za-zÀ-ɏ]|[\f\v\x85\u2028\u2029]")

_LAST = 0x3001
"""No space stands behind it."""
_SPACE, _LETTER, _DIGIT, _BREAK, _BLANK, _OTHER = range(6)
_EVERY = np.array([0, 8, 3, 1 << 62, 1 << 62, 1])
"""In a run of one kind of characters a token begins at every so-manyth; 0 = at none."""


@cache
def _kinds() -> NDArray[np.uint8]:
    """Of each character up to ``_LAST``, by what of ``_PIECE`` takes it."""
    kinds = np.full(_LAST + 1, _OTHER, dtype=np.uint8)
    for code in range(_LAST):
        char = chr(code)
        piece = _PIECE.match(char)
        if piece is None:
            kinds[code] = _BLANK if char in " \t" else _SPACE
        elif char in "\r\n":
            kinds[code] = _BREAK
        elif char.isdecimal() and char.isascii():
            kinds[code] = _DIGIT
        elif _PIECE.fullmatch(2 * char):
            kinds[code] = _LETTER
    return kinds


class WordTokenizer:
    """``words-1``: up to eight Latin letters, up to three digits, a run of line breaks, a run of two or more blanks, or
    any other single character is a token; a single blank belongs to what follows.

    This is not a model's tokenizer. The rule has the shape of byte-pair vocabularies of 100,000 entries and more, which
    keep frequent words whole, cut long and rare ones, and group digits by three, but it was fitted to none of them. It
    gives 4.65 code points per token (1.36 tokens per word) on 2,000 pages of the fictional world, and 3.82 (1.84) on
    the 530 pages of Python's documentation. Where a limit must hold exactly, give the model's own file.
    """

    name = "words-1"

    def starts(self, text: str) -> NDArray[np.int64]:
        """See :class:`Tokenizer`."""
        # Of a page's 100,000 tokens, in a twentieth of the time that matches would take.
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds = _kinds()[np.minimum(codes, _LAST)]
        border = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
        begins = np.concatenate(([0], border)) if len(codes) else border
        lengths = np.diff(np.append(begins, len(codes)))
        kind = kinds[begins]  # of each run
        every = _EVERY[kind]
        first = begins[(every > 0) & ((kind != _BLANK) | (lengths > 1))]
        # Few runs hold more than one token: only these are divided.
        long = (lengths > every) & (every > 0)
        begins, every, more = begins[long], every[long], (lengths[long] - 1) // every[long]
        place = np.arange(1, more.sum() + 1) - np.repeat(np.cumsum(more) - more, more)  # of each token in its run
        return np.sort(np.concatenate((first, np.repeat(begins, more) + place * np.repeat(every, more))), kind="stable")

    def count(self, text: str) -> int:
        """See :class:`Tokenizer`."""
        return len(_PIECE.findall(text))


class FileTokenizer:
    """A tokenizer of the ``tokenizers`` library (``tokenizer.json`` of a model), without special tokens."""

    def __init__(self, path: str | Path) -> None:
        """
        Raises:
            InputError: the library is not installed, or the file is missing or holds no tokenizer.
        """
        data = _read(path)
        try:
            from tokenizers import Tokenizer as Loaded
        except ImportError:
            raise InputError(
                "a tokenizer file needs the library tokenizers",
                where="contexts.tokenizer",
                mend=f"install it with `{install('tokenizers')}`, or leave the file out",
            ) from None
        try:
            self._tokenizer: Any = Loaded.from_buffer(data)
        except Exception:  # the library raises bare Exception
            mend = "give the tokenizer.json of a model"
            raise InputError("is not a file of the library tokenizers", where=str(path), mend=mend) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.name = f"file:{hashlib.sha256(data).hexdigest()}"

    def starts(self, text: str) -> NDArray[np.int64]:
        """See :class:`Tokenizer`."""
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        found = np.fromiter((start for start, _ in encoded.offsets), dtype=np.int64)
        return np.maximum.accumulate(found) if len(found) else found

    def count(self, text: str) -> int:
        """See :class:`Tokenizer`."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def _read(path: str | Path) -> bytes:
    return read_input(path, mend="give the tokenizer.json of a model")


def tokenizer_digest(path: str | Path | None) -> str | None:
    """sha256 of the file; None for the counter that ships. Raises InputError when it can't be read."""
    return None if path is None else hashlib.sha256(_read(path)).hexdigest()


@lru_cache(maxsize=4)
def open_tokenizer(path: str | Path | None = None) -> Tokenizer:
    """The tokenizer in ``path``; without one :class:`WordTokenizer`. Raises InputError as :class:`FileTokenizer`."""
    return WordTokenizer() if path is None else FileTokenizer(path)
