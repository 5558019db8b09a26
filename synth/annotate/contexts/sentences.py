"""Where a text may be cut off: after a sentence, else after a line, else after a word."""

from __future__ import annotations

import re

from synth.text.sentences import spans

__all__ = ["line_ends", "sentence_ends", "word_ends"]

_STOPPED = re.compile(r"[.!?][\"'”’)\]]*$")
_LINE = re.compile(r"(?<=\S)(?=[ \t]*\n)")
_WORD = re.compile(r"(?<=\S)(?=\s)")


def sentence_ends(text: str) -> list[int]:
    """Offsets just past each sentence of ``text`` (behind its closing quotes) and past each paragraph, ascending. The
    end of the text is among them when a sentence ends there."""
    found: list[int] = []
    lines = text.split("\n")
    at = 0
    for number, line in enumerate(lines):
        ends = [end for _, end in spans(text, at, at + len(line), capital=True)]
        paragraph = number + 2 < len(lines) and not lines[number + 1].strip()
        found += ends if ends and (paragraph or _STOPPED.search(text, at, ends[-1])) else ends[:-1]
        at += len(line) + 1
    return found


def line_ends(text: str) -> list[int]:
    """Offsets just past each line that is followed by another and holds more than blanks."""
    return _ends(_LINE, text)


def word_ends(text: str) -> list[int]:
    """Offsets just past each word that is followed by a blank."""
    return _ends(_WORD, text)


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    return sorted({match.end() for match in pattern.finditer(text)})
