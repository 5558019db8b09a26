"""The plain form in which two ways to write one answer are the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["normalize"]

_QUOTES = "\"'“”‘’`*_«» \t\r\n"
_ARTICLE = re.compile(r"^(?:the|an?) (?=\S)")


@lru_cache(maxsize=8192)  # one answer is compared with many
def normalize(text: str) -> str:
    """NFKC, case folded, one space between words, no outer quotes, final full stop or leading article."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    previous = None
    while previous != folded:
        previous = folded
        folded = folded.strip(_QUOTES).rstrip(".").strip()
    return _ARTICLE.sub("", folded)
