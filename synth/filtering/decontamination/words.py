"""Texts as sequences of words in which case, punctuation, accents and, if wanted, numbers make no difference."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b

from synth.text.numbers import NUMBER_WORDS

__all__ = ["NUMBER", "word_hash", "words_of"]

NUMBER = "#"
"""Stands for a number, or for several in a row (``1,000``, ``12 300``, ``3.14``)."""

_MARKS = re.compile(r"['’‘ʼ`´]")
_ONE_BY_ONE = "⺀-⿟々-〇぀-ヿㄅ-ㄯ㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
"""Scripts that put no spaces between words: each of their characters is a word."""
_TOKEN = re.compile(rf"[{_ONE_BY_ONE}]|(?:(?![{_ONE_BY_ONE}])[^\W_])+")
_DIGITS = re.compile(r"\d+(?:st|nd|rd|th)?")
_ENDINGS = frozenset(("s", "t", "d", "m", "ll", "ve"))
"""What stands behind an English apostrophe: joined to the word before, also where a blank stands in its place."""


def words_of(text: str, *, mask_numbers: bool = True) -> list[str]:
    """The words of ``text``, in order.

    Compatibility forms are made alike (NFKD), accents and other marks dropped, case folded, apostrophes closed up
    (``don't`` is ``dont``, and so is ``don t``); everything else that is neither a letter nor a digit separates words.

    Args:
        mask_numbers: Numbers, in digits or in English words, all become :data:`NUMBER`, several in a row one of them,
            so that a text with changed numbers has the same words. Digits within a word (``1980s``) count too.
    """
    plain = unicodedata.normalize("NFKD", text)
    if not plain.isascii():
        plain = "".join(one for one in plain if unicodedata.category(one) != "Mn")
        plain = unicodedata.normalize("NFKC", plain.casefold())
    found: list[str] = []
    for word in _TOKEN.findall(_MARKS.sub("", plain.casefold())):
        if word in _ENDINGS and found:
            found[-1] += word
        else:
            found.append(word)
    if not mask_numbers:
        return found
    masked: list[str] = []
    for word in found:
        if word in NUMBER_WORDS:
            word = NUMBER
        elif any("0" <= one <= "9" for one in word) or (not word.isascii() and _DIGITS.search(word)):
            word = _DIGITS.sub(NUMBER, word)
        if word != NUMBER or not masked or masked[-1] != NUMBER:
            masked.append(word)
    return masked


@lru_cache(maxsize=1 << 17)
def word_hash(word: str) -> int:
    """64 bits that stand for a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
