"""The plain form in which two ways to write one answer are the same."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalize"]

_QUOTES = "\"'“”‘’`*_«» \t\r\n"


def normalize(text: str) -> str:
    """NFKC, case folded, one space between words, no outer quotes, final full stop or leading article."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    previous = None
    while previous != folded:
        previous = folded
        folded = folded.strip(_QUOTES).rstrip(".").strip()
    return re.sub(r"^(?:the|an?) (?=\S)", "", folded)
