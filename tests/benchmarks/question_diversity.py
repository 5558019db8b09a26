"""How varied the wording of a set of questions is: distinct n-grams, self-BLEU, templates.

Names are what makes two questions differ anyway, so everything is measured on *skeletons*: questions with every name
and value that they start from replaced by one sign. Figures that are measured with the names left in look far better
and say nothing about the wording.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from synth.schemas.tasks import Task
from synth.tasks.draft import Draft

__all__ = ["Diversity", "distinct", "measure", "measure_texts", "self_bleu", "skeleton", "words"]

SLOT = "_"
"""What stands in a skeleton where a name stood."""
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_ORDERS = 4
_EPSILON = 0.1


@dataclass(frozen=True)
class Diversity:
    """Figures of one set of questions, all between 0 and 1 but the counts."""

    questions: int
    distinct_1: float
    """Distinct words / words, of the skeletons. Falls with the number of questions: compare equal numbers only."""
    distinct_2: float
    distinct_3: float
    self_bleu_4: float
    """Mean BLEU-4 of each skeleton against all others: 1 = all alike, lower is more varied (Texygen, 1802.01886)."""
    skeletons: int
    """Distinct skeletons."""
    top_skeleton: float
    """Share of the most frequent skeleton."""
    families: int
    """Distinct families of sentences (``Task.surface``)."""
    top_family: float
    """Share of the most frequent family."""


def measure(tasks: Sequence[Task | Draft]) -> Diversity:
    """The figures of ``tasks``.

    Raises:
        ValueError: no tasks.
    """
    return measure_texts([(task.question, _names(task), task.surface) for task in tasks])


def measure_texts(texts: Sequence[tuple[str, Iterable[str], str]]) -> Diversity:
    """The figures of (question, the names in it, its family).

    Raises:
        ValueError: no texts.
    """
    if not texts:
        raise ValueError("no questions, no diversity")
    bare = [skeleton(question, names) for question, names, _ in texts]
    split = [words(text) for text in bare]
    skeletons = Counter(bare)
    families = Counter(surface for *_, surface in texts)
    return Diversity(
        questions=len(texts),
        distinct_1=distinct(split, 1),
        distinct_2=distinct(split, 2),
        distinct_3=distinct(split, 3),
        self_bleu_4=self_bleu(split),
        skeletons=len(skeletons),
        top_skeleton=skeletons.most_common(1)[0][1] / len(texts),
        families=len(families),
        top_family=families.most_common(1)[0][1] / len(texts),
    )


def _names(task: Task | Draft) -> list[str]:
    named = [hop.source.name for hop in task.walk.hops if not hop.needs]
    named += [operation.bound.name for operation in task.walk.operations if operation.bound is not None]
    return named


def skeleton(question: str, names: Iterable[str]) -> str:
    """``question`` with every one of ``names`` replaced by one sign, the longest names first."""
    found = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    if not found:
        return question
    pattern = "|".join(re.escape(name) for name in found)
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", SLOT, question, flags=re.IGNORECASE)


def words(text: str) -> list[str]:
    """Case-folded words and punctuation marks."""
    return [word.casefold() for word in _WORD.findall(text)]


def _grams(text: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]


def distinct(texts: Sequence[Sequence[str]], n: int) -> float:
    """Distinct-n (1510.03055): distinct n-grams of all texts over all their n-grams; 0 where there are none."""
    grams = [gram for text in texts for gram in _grams(text, n)]
    return len(set(grams)) / len(grams) if grams else 0.0


def self_bleu(texts: Sequence[Sequence[str]]) -> float:
    """Mean BLEU-4 of every text with all others as its references.

    Clipped counts, closest reference length, no match counted as 0.1 (method 1 of Chen and Cherry, 2014). Linear in
    the number of words: of each n-gram only its two highest counts matter.
    """
    if len(texts) < 2:
        return 0.0
    counts = [[Counter(_grams(text, n)) for n in range(1, _ORDERS + 1)] for text in texts]
    best: list[dict[tuple[str, ...], tuple[int, int, int]]] = [{} for _ in range(_ORDERS)]
    for number, orders in enumerate(counts):
        for order, grams in enumerate(orders):
            for gram, count in grams.items():
                most, owner, second = best[order].get(gram, (0, -1, 0))
                if count > most:
                    best[order][gram] = (count, number, most)
                elif count > second:
                    best[order][gram] = (most, owner, count)
    lengths = Counter(len(text) for text in texts)
    return sum(_bleu(number, counts[number], best, len(texts[number]), lengths) for number in range(len(texts))) / len(
        texts
    )


def _bleu(
    number: int,
    orders: Sequence[Counter[tuple[str, ...]]],
    best: Sequence[dict[tuple[str, ...], tuple[int, int, int]]],
    length: int,
    lengths: Counter[int],
) -> float:
    if length == 0:
        return 0.0
    logs = []
    for order, grams in enumerate(orders):
        total = sum(grams.values())
        if total == 0:
            continue  # a text of three words has no 4-grams
        matched = 0
        for gram, count in grams.items():
            most, owner, second = best[order][gram]
            matched += min(count, second if owner == number else most)
        logs.append(math.log((matched or _EPSILON) / total))
    others = lengths.copy()
    others[length] -= 1
    closest = min((size for size, count in others.items() if count > 0), key=lambda size: (abs(size - length), size))
    penalty = 1.0 if length > closest else math.exp(1 - closest / length)
    return penalty * math.exp(sum(logs) / len(logs))
