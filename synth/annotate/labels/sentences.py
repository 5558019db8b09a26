"""Thoughts as sentences of plain English, quotations apart: for whoever reads what a run says of what it found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from synth.annotate.evidence.view import EvidenceView
from synth.text.sentences import borders
from synth.text.words import words_of

__all__ = ["Sentence", "names_in", "sentences_of", "without_names"]

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_CHAPTER = re.compile(r"(?:^|\s)(\d+(?:\.\d+)*)\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a thought."""

    text: str
    quoted: str
    """The quotation that comes last before it, without its marks; empty where there is none."""


def sentences_of(view: EvidenceView, thought: str) -> list[Sentence]:
    """The sentences of ``thought`` that hold a word. The number of a chapter that begins a title seen ("9. Classes")
    ends no sentence; a quotation does."""
    found: list[Sentence] = []
    quoted = ""
    at = 0
    for quotation in (*_QUOTED.finditer(thought), None):
        end = len(thought) if quotation is None else quotation.start()
        found += (Sentence(text, quoted) for text in _split(view, thought[at:end]) if words_of(text).strip())
        if quotation is not None:
            quoted, at = quotation.group()[1:-1], quotation.end()
    return found


def _split(view: EvidenceView, text: str) -> Iterator[str]:
    start = 0
    for end, begin in borders(text):
        if not _within_title(view, text[start:end], text[begin:]):
            yield text[start:end].strip()
            start = begin
    yield text[start:].strip()


def _within_title(view: EvidenceView, before: str, after: str) -> bool:
    number = _CHAPTER.search(before)
    if number is None:
        return False
    text = words_of(f"{number.group(1)} {after[:200]}")
    return any(text.startswith(name) for name in view.named if name.startswith(words_of(number.group(1))))


def names_in(view: EvidenceView, text: str) -> set[str]:
    """Names seen that stand in ``text`` (as ``words_of`` gives it), none within a longer one."""
    found = {name for name in view.named if name.strip() and name in text}
    return {name for name in found if not any(name != other and name in other for other in found)}


def without_names(sentence: str, names: set[str]) -> str:
    """The sentence with a dash for every name: a title may hold words that say something else outside it."""
    for name in sorted(names, key=lambda name: (-len(name), name)):
        words = r"\W+".join(re.escape(word) + r"(?:['’]s?)?" for word in name.split())
        sentence = re.sub(rf"(?<!\w){words}(?!\w)", "–", sentence, flags=re.IGNORECASE)
    return sentence
