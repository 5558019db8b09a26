"""Every sentence of the documents by its words: whether another one says what a question says."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synth.tasks.text import mentions
from synth.text.sentences import spans
from synth.text.words import content_words, stem

__all__ = ["Sentences", "plain_stem", "stems"]

_IDENTIFIER = re.compile(r"\w*[^\W_]_\w+|\w+(?=\(\))")
_ABOVE = 200
"""Characters above a sentence in which the term that it speaks of may stand."""


_SHORT = {"uses": "use", "used": "use", "using": "use"}
"""Forms of a verb that is too short to lose its endings by rule."""


def stems(text: str) -> set[str]:
    """Content words without the endings of verbs and plurals, so that "writes" meets "write" and "writing"."""
    return {plain_stem(word) for word in content_words(text)}


def plain_stem(word: str) -> str:
    """A word without its ending: what a clause says ("uses") meets what a description says ("Use")."""
    return _SHORT.get(word) or stem(word)


@dataclass(frozen=True)
class _Place:
    row: int
    start: int
    end: int
    words: frozenset[int]


class Sentences:
    """All sentences, rows of tables and lines of lists: what nobody read as a fact counts against uniqueness as well.

    Args:
        texts: text of each document; empty for those that only repeat what others say.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._numbers: dict[str, int] = {}
        self._places: list[_Place] = []
        self._postings: dict[int, list[int]] = defaultdict(list)
        for row, text in enumerate(texts):
            for start, end in _pieces(text):
                words = stems(text[start:end])
                if len(words) < 2:
                    continue
                held = frozenset(self._numbers.setdefault(word, len(self._numbers)) for word in words)
                for word in held:
                    self._postings[word].append(len(self._places))
                self._places.append(_Place(row, start, end, held))
        n = len(self._places) + 1
        self._weight = {word: math.log(1 + n / len(found)) for word, found in self._postings.items()}

    def rival(
        self,
        words: str,
        own: Sequence[tuple[int, int, int]],
        names: Sequence[str],
        *,
        share: float,
        within: int | None = None,
        outside: int | None = None,
    ) -> str | None:
        """Another sentence that holds ``share`` of the words, weighted by rarity, and is not said of the same thing.

        Args:
            words: what the question says.
            own: (row, start, end) of each piece of evidence.
            names: of the thing that is sought; a sentence that has one of them, or stands under it, says it of that.
            within: only sentences of this document count: the question names it.
            outside: sentences of this document do not count: it is what is sought.
        """
        found = stems(words)
        wanted = {n for word in found if (n := self._numbers.get(word)) is not None}
        weight = {n: self._weight[n] for n in wanted}
        named = {self._numbers.get(word, -1) for name in _IDENTIFIER.findall(words) for word in stems(name)} - {-1}
        heaviest = math.log(1 + len(self._places) + 1)
        total = sum(weight.values()) + heaviest * (len(found) - len(wanted))
        if not wanted:
            return "its words stand nowhere"
        # Whoever holds the share holds one of the rarest words that together outweigh the rest.
        seen: set[int] = set()
        left = total
        for number in sorted(wanted, key=lambda n: -weight[n]):
            if left < share * total:
                break
            left -= weight[number]
            seen.update(self._postings[number])
        for at in sorted(seen):
            place = self._places[at]
            if (within is not None and place.row != within) or place.row == outside:
                continue
            if any(place.row == row and place.start < end and start < place.end for row, start, end in own):
                continue
            if sum(weight[n] for n in wanted & place.words) < share * total or not named <= place.words:
                continue  # what speaks of set_sum says nothing of set_part
            text = self._texts[place.row]
            near = text[max(0, place.start - _ABOVE) : place.end]
            if not mentions(near, names) and not any(_stands_in(name, near) for name in names):
                return " ".join(text[place.start : place.end].split())[:120]
        return None


def _stands_in(name: str, text: str) -> bool:
    return len(name) > 2 and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^\n]+", text):
        if match.end() - match.start() >= 12:
            yield from spans(text, match.start(), match.end())
