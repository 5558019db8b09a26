"""What of a last message is the final answer: the one extraction for rewards, imports and labels."""

from __future__ import annotations

import re

__all__ = ["final_answer"]

_THOUGHT = re.compile(r"\A.*</think>", re.S)
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.S | re.I)
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_LINE = re.compile(r"^[ \t>*_#-]*(?:the\s+)?(?:final\s+)?answers?[ \t*_]*(?:[:：]|\bis:)[ \t*_]*", re.I | re.M)
_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+\S", re.I)


def final_answer(text: str) -> str | None:
    """What stands in the last ``<answer>`` element, or the last ``\\boxed{}``, or behind the last line that begins with
    "Answer:" (with the list below it); else the whole text after the thoughts. None where that is empty."""
    said = _THOUGHT.sub("", text)
    for pattern in (_TAGGED, _BOXED):
        marked = pattern.findall(said)
        if marked:
            return marked[-1].strip() or None
    lines = list(_LINE.finditer(said))
    if lines:
        return _below(said[lines[-1].end() :])
    return said.strip() or None


def _below(rest: str) -> str | None:
    """The rest of the line; where that is empty, the list or the line below it."""
    first, _, more = rest.partition("\n")
    if first.strip(" \t*_"):
        return first.strip()
    kept: list[str] = []
    for line in more.split("\n"):
        if not line.strip():
            if kept:
                break
            continue
        if kept and not _BULLET.match(line):
            break
        kept.append(line.strip())
    return "\n".join(kept) or None
