"""Where a text may be cut off: after a sentence, else after a line, else after a word."""

from __future__ import annotations

import re

__all__ = ["line_ends", "sentence_ends", "word_ends"]

_SENTENCE = re.compile(r"[.!?][\"'”’)\]]*(?=\s+[\"'“‘(\[]*[A-Z0-9]|\s*\n|\s*\Z)|(?<=\S)(?=[ \t]*\n[ \t]*\n)")
_LINE = re.compile(r"(?<=\S)(?=[ \t]*\n)")
_WORD = re.compile(r"(?<=\S)(?=\s)")


def sentence_ends(text: str) -> list[int]:
    """Offsets just past each sentence of ``text`` (behind its closing quotes) and past each paragraph, ascending. The
    end of the text is among them when a sentence ends there."""
    return _ends(_SENTENCE, text)


def line_ends(text: str) -> list[int]:
    """Offsets just past each line that is followed by another and holds more than blanks."""
    return _ends(_LINE, text)


def word_ends(text: str) -> list[int]:
    """Offsets just past each word that is followed by a blank."""
    return _ends(_WORD, text)


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    return sorted({match.end() for match in pattern.finditer(text)})
