"""The verdict on an answer to a task of any shape: one gold answer, or a list of parts. How one answer is compared with
one gold answer is :mod:`synth.environments.verdicts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from synth.environments.restated import is_choice, restated
from synth.environments.verdicts import answer_core, judge
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import AnswerPart, Task
from synth.schemas.trajectories import Verdict
from synth.text.forms import normalize
from synth.text.lists import first_lines, listed
from synth.text.numbers import UNITS, parse_quantity

__all__ = [
    "Asked",
    "answer_pieces",
    "check_state",
    "check_task",
    "differing_lines",
    "final_answer",
    "judge",
    "judge_parts",
]

_BULLET = re.compile(r"^(?:[-*•–]|\(?(?:\d{1,2}|[a-z])[.)])\s+", re.IGNORECASE)
_BORDER = re.compile(r"\s*(?:[;\n]|,(?!\d{3}\b)(?:\s*and\b)?|\band\b|&)\s*", re.IGNORECASE)
_MOST_BORDERS = 60
"""A list with more borders than that is not a list of parts; a bound on the work."""


def judge_parts(answer: str | None, parts: Sequence[AnswerPart], *, ordered: bool = False) -> Verdict:
    """Compare ``answer`` with a gold answer in several parts: a sentence list ("A, B and C"), lines, bullets.

    Every part must be there and nothing else; in this order where ``ordered``, else in any, and then naming one twice
    does no harm. A part may itself hold commas and "and": the answer is cut so that all of it is parts.

    Raises:
        ValueError: there are no parts.
    """
    if not parts:
        raise ValueError("an answer in parts needs parts")
    if answer is None or not normalize(answer):
        return Verdict(correct=False, rule="no_answer", evidence="There is no answer.")
    rule = "ordered_parts" if ordered else "parts"
    for given in dict.fromkeys((answer_core(answer), answer)):
        borders = [(match.start(), match.end()) for match in _BORDER.finditer(given)][:_MOST_BORDERS]
        cut = _Cutting(given, borders, parts, ordered)
        if cut.fits(0, frozenset()):
            said = f"All {len(parts)} parts are there{' in order' if ordered else ''} and nothing else."
            return Verdict(correct=True, rule=rule, evidence=said)
    pieces = answer_pieces(given)
    missing = [part.answer for part in parts if not _is_held(part, given)]
    extra = [piece for piece in pieces if not any(_is_part(piece, part) for part in parts)]
    if ordered and not missing and not extra:
        return Verdict(correct=False, rule=rule, evidence="The parts are not in the order that was asked for.")
    return Verdict(correct=False, rule=rule, evidence=_differing(missing, extra))


def _differing(missing: Sequence[str], extra: Sequence[str]) -> str:
    """What is missing and what is too much, in words."""
    told = [
        *([f"It leaves out {listed([f'“{part}”' for part in missing])}."] if missing else []),
        *([f"It adds {listed([f'“{piece}”' for piece in extra])}, which is not asked for."] if extra else []),
    ]
    return " ".join(told) or "It can't be cut into the parts that are asked for."


def answer_pieces(answer: str) -> list[str]:
    """What stands between the borders of a list, bullets taken off; a name that holds a border is cut, too."""
    return [piece for piece in map(_piece, _BORDER.split(answer)) if piece]


class _Cutting:
    """Cuts an answer at some of its borders so that every piece is a part."""

    def __init__(
        self, text: str, borders: Sequence[tuple[int, int]], parts: Sequence[AnswerPart], ordered: bool
    ) -> None:
        self._text, self._parts, self._ordered = text, parts, ordered
        self._starts = [0, *(end for _, end in borders)]
        self._ends = [*(start for start, _ in borders), len(text)]
        self._failed: set[tuple[int, frozenset[int]]] = set()

    def fits(self, at: int, used: frozenset[int]) -> bool:
        """Whether the text from border ``at`` on can be cut into the parts that are not ``used``."""
        if at == len(self._starts):
            return len(used) == len(self._parts)
        if (at, used) in self._failed:
            return False
        for stop in range(at, len(self._ends)):
            piece = _piece(self._text[self._starts[at] : self._ends[stop]])
            if not piece:
                if self.fits(stop + 1, used):
                    return True
                continue
            for number in self._candidates(piece, used):
                if self.fits(stop + 1, used | {number}):
                    return True
        self._failed.add((at, used))
        return False

    def _candidates(self, piece: str, used: frozenset[int]) -> list[int]:
        if self._ordered:
            number = len(used)
            return [number] if number < len(self._parts) and _is_part(piece, self._parts[number]) else []
        found = [number for number, part in enumerate(self._parts) if _is_part(piece, part)]
        return [number for number in found if number not in used] or found


def _piece(text: str) -> str:
    return _BULLET.sub("", text.strip()).strip().rstrip(".").strip()


def _is_part(piece: str, part: AnswerPart) -> bool:
    return judge(piece, gold=part.answer, aliases=part.aliases, kind=part.kind, whole=False).correct is True


def _is_held(part: AnswerPart, text: str) -> bool:
    """For the evidence only: whether a part's name stands somewhere in an answer that is wrong anyway."""
    folded = normalize(text)
    return any(normalize(name) in folded for name in (part.answer, *part.aliases) if normalize(name))


class Asked(Protocol):
    """What a verdict needs to know: a task knows it, and so does the ground truth that a trainer holds."""

    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def answer_aliases(self) -> Sequence[str]: ...
    @property
    def answer_kind(self) -> ValueKind: ...
    @property
    def answer_parts(self) -> Sequence[AnswerPart]: ...
    @property
    def answer_ordered(self) -> bool: ...


def check_task(asked: Asked, answer: str | None) -> Verdict:
    """The verdict on ``answer``, whatever the shape of the task: the one function for all who judge answers.

    ``answer_parts`` make it a list. A number may be followed by words of the question ("three" or "three rivers" for
    how many rivers).
    """
    if asked.answer_parts:
        return judge_parts(answer, asked.answer_parts, ordered=asked.answer_ordered)
    if answer is not None and asked.answer_kind in ("number", "quantity"):
        answer = _without_echo(answer, asked)
    verdict = judge(answer, gold=asked.answer, aliases=asked.answer_aliases, kind=asked.answer_kind)
    chosen = verdict.rule == "sentence" and is_choice(asked.question)
    if answer is None or (verdict.correct is not None and not chosen):
        return verdict
    again = restated(asked.question, answer, (asked.answer, *asked.answer_aliases))
    unsure = f"{answer!r} says something of {asked.answer!r}, and the question names other things to choose from."
    return again or (Verdict(correct=None, rule="abstained", evidence=unsure) if chosen else verdict)


def differing_lines(missing: Iterable[str], extra: Iterable[str]) -> str:
    """What a state lacks and what is too much in it, as evidence."""
    return first_lines([*(f"missing: {line}" for line in missing), *(f"not wanted: {line}" for line in extra)])


def check_state(task: Task, answer: str | None, differing: str | None, done: str, *, asks: bool) -> Verdict:
    """The verdict where a task wants something of a state.

    Args:
        differing: How the state is another one than is wanted, in words; None = it is the one.
        done: What was changed.
        asks: Whether the answer must be right, too.
    """
    if differing is not None:
        return Verdict(correct=False, rule="state", evidence=differing)
    return check_task(task, answer) if asks else Verdict(correct=True, rule="state", evidence=done)


def _without_echo(answer: str, task: Asked) -> str:
    """A number without words behind it that only repeat the question; a unit counts where the gold answer has one."""
    got = parse_quantity(answer_core(answer))
    gold = parse_quantity(task.answer)
    if got is None or not got.unit or (gold is not None and gold.unit and got.unit in UNITS):
        return answer
    asked = {word.rstrip("s") for word in normalize(task.question).replace("?", " ").replace(",", " ").split()}
    if all(word.rstrip("s") in asked for word in got.unit.split()):
        return f"{got.number:.12g}"
    return answer


_THOUGHT = re.compile(r"\A.*</think>", re.S)
_TAGGED = re.compile(r"<(?:answer|finish)>(.*?)</(?:answer|finish)>", re.S | re.I)
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_LINE = re.compile(r"^[ \t>*_#-]*(?:the\s+)?(?:final\s+)?answers?[ \t*_]*(?:[:：]|\bis:)[ \t*_]*", re.I | re.M)
_ITEM = re.compile(r"^[ \t]*(?:[-*•–]|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+\S", re.I)


def final_answer(text: str) -> str | None:
    """What stands in the last ``<answer>`` or ``<finish>`` element, or the last ``\\boxed{}``, or behind the last line
    that begins with "Answer:" (with the list below it); else the whole text after the thoughts. None where that is
    empty."""
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
        if kept and not _ITEM.match(line):
            break
        kept.append(line.strip())
    return "\n".join(kept) or None
