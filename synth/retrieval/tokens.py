"""The tokenizer of search, the same for documents and queries, and exact mentions of a phrase.

Rules, in order:

* Text is brought to Unicode NFKC; tokens are case-folded. There is no stemming and no list of stop words: names of
  look-alike entities must stay apart, and a frequent word weighs next to nothing in BM25 anyway.
* An *atom* is a number ("3.11", "412"; "1,204" becomes "1204") or a run of letters, digits and combining marks.
* Atoms joined without a space by ``. - ' : :: _`` (and digits joined by a comma) form a *surface*. Its atoms are
  tokens, and so is the whole: "os.path" -> ``os``, ``path``, ``os.path``; "1987-03-14" -> ``1987``, ``03``, ``14``,
  ``1987-03-14``. A possessive 's makes no whole.
* An ASCII camel-case word also gives its parts: "OrderedDict" -> ``ordereddict``, ``ordered``, ``dict``.
* Han and kana, written without spaces, give single characters as atoms and pairs of neighbours as wholes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = [
    "TOKENIZER_VERSION",
    "joined",
    "phrase_atoms",
    "surface_tokens",
    "surfaces",
    "tokenize",
]

TOKENIZER_VERSION = 1
"""Stored in every index; an index of another version is not opened."""

_LONGEST_WHOLE = 64
"""Compounds longer than this (in characters) are not tokens as a whole; their atoms are."""

_HAS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_UNSPACED_SET = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = re.compile(f"([{_UNSPACED_SET}]+)")
_QUOTES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})


class _Patterns:
    """The regular expressions for text whose words may also hold ``marks`` (a set of characters, as in ``[...]``)."""

    def __init__(self, marks: str) -> None:
        run = rf"[\w{marks}]+"
        word = rf"(?:[^\W_]+|[{marks}]+)+" if marks else r"[^\W_]+"
        number = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)*"
        self.surface = re.compile(rf"{run}(?:(?:[.'\-]|::?|(?<=\d),(?=\d)){run})*")
        self.atom = re.compile(rf"{number}(?![^\W_]{f'|[{marks}]' if marks else ''})|{word}")
        self.edge = re.compile(rf"[^\w{marks}]+")
        self.inner = re.compile(rf"[\w{marks}]")


_ASCII = _Patterns("")


@lru_cache(maxsize=1)
def _unicode() -> _Patterns:
    """Combining marks are not ``\\w`` for ``re``; without them Devanagari or decomposed Latin would fall apart."""
    places = (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0))  # all marks lie here
    marks = [code for code in places if unicodedata.category(chr(code))[0] == "M"]
    starts = [code for i, code in enumerate(marks) if i == 0 or marks[i - 1] != code - 1]
    ends = [code for i, code in enumerate(marks) if i == len(marks) - 1 or marks[i + 1] != code + 1]
    return _Patterns("".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True)))


def _patterns(text: str) -> _Patterns:
    return _ASCII if text.isascii() else _unicode()


def _normalize(text: str) -> str:
    """NFKC, with typographic apostrophes and hyphens as the ASCII ones. Case is kept."""
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return text.translate(_QUOTES)


def surfaces(text: str) -> list[str]:
    """The surfaces of ``text``, in order, case kept. ``surface_tokens`` of each are the tokens of the text."""
    text = _normalize(text)
    return _patterns(text).surface.findall(text)


def surface_tokens(surface: str) -> tuple[str, ...]:
    """Tokens of one item of ``surfaces``: its atoms in order, then wholes and parts."""
    atoms, extras = _split(surface)
    return (*atoms, *extras)


@lru_cache(maxsize=1 << 16)
def _cached_tokens(surface: str) -> tuple[str, ...]:
    return surface_tokens(surface)


def tokenize(text: str) -> list[str]:
    """All tokens of ``text``."""
    return [token for surface in surfaces(text) for token in _cached_tokens(surface)]


def _split(surface: str) -> tuple[list[str], list[str]]:
    atoms: list[str] = []
    extras: list[str] = []
    pieces = _patterns(surface).atom.findall(surface)
    for piece in pieces:
        if "," in piece:
            atoms.append(piece.replace(",", ""))
        elif piece.isascii():
            atoms.append(piece.lower())
            if _HAS_CAMEL.search(piece):
                extras.extend(part.lower() for part in _CAMEL.findall(piece))
        else:
            for part in _UNSPACED.split(piece):
                if _UNSPACED.fullmatch(part):
                    atoms.extend(part)
                    extras.extend(part[i : i + 2] for i in range(len(part) - 1))
                elif part:
                    atoms.append(part.casefold())
    whole = surface[:-2] if surface[-2:] in ("'s", "'S") else surface
    several = len(pieces) > 1 and not (len(pieces) == 2 and whole != surface)
    if (several or (pieces and "_" in whole)) and len(whole) <= _LONGEST_WHOLE:
        extras.append(whole.casefold())
    return atoms, extras


def phrase_atoms(phrase: str) -> list[str]:
    """Atoms of ``phrase``. A text that mentions the phrase, word for word, has all of them among its tokens."""
    return [atom for surface in surfaces(phrase) for atom in _split(surface)[0]]


def joined(one: str, other: str) -> bool:
    """Do two neighbouring characters belong to one word? (Marks aside.) Han and kana belong to none."""
    return one.isalnum() and other.isalnum() and not (_UNSPACED.match(one) and _UNSPACED.match(other))
