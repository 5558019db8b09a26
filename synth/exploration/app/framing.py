"""Clauses to a message: the way in which somebody writes to a desk, in one of many ways."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from synth.exploration.app.phrases import pick, sentence
from synth.exploration.app.telling import Clause
from synth.lexicon.reading import phrases

__all__ = ["body", "conditional", "message"]

_WORDS = phrases("app_requests")

_ONE_LINE = 110
"""Characters of a clause up to which others may stand in its sentence."""

_BEGINNINGS = frozenset(
    """a according am an another are as book can could did do does for from has have how in is it it's kindly let's my
    nobody not nothing of on our please put somebody someone that the there there's they this to we we'd we've
    what whatever when which who will would you""".split()
)
"""First words of a sentence that are no names: within a sentence they are written small."""


def message(
    clauses: Sequence[Clause], introduction: str | None, generator: np.random.Generator, ending: str = ""
) -> str:
    """The whole request.

    Args:
        clauses: In the order in which they are to be done.
        introduction: Who writes, as sentences; None where it does not matter.
        ending: Further sentences behind the clauses.
    """
    told = body(clauses, generator)
    if ending:
        told = f"{told} {ending}"
    parts: list[str] = []
    greeting = str(pick(generator, _WORDS["greetings"])) if generator.random() < 0.4 else ""
    if introduction is not None:
        # At the end, as people sign what they write, now and then.
        if generator.random() < 0.2:
            parts = [sentence(told), sentence(introduction)]
        else:
            parts = [sentence(introduction), sentence(told)]
    else:
        parts = [sentence(told)]
    if generator.random() < 0.3:
        parts.append(str(pick(generator, _WORDS["thanks"])))
    text = " ".join(parts)
    if not greeting:
        return text
    if introduction is None and generator.random() < 0.5:
        return f"{greeting} {_small(text)}"
    return f"{greeting.removesuffix(',')}{pick(generator, ('.', '!'))} {text}"


def conditional(clause: Clause, generator: np.random.Generator) -> str:
    """What else would do, as a sentence that says it is meant for when the rest is not allowed."""
    if clause.imperative:
        return sentence(str(pick(generator, _WORDS["otherwise"])).format(do=clause.text))
    return sentence(str(pick(generator, _WORDS["otherwise_said"])).format(say=_small(clause.text)))


def body(clauses: Sequence[Clause], generator: np.random.Generator) -> str:
    """What is asked for, without who asks."""
    short = all(clause.imperative and len(clause.text) <= _ONE_LINE and "." not in clause.text for clause in clauses)
    if short and len(clauses) == 2 and generator.random() < 0.75:
        return _because(clauses) + _filled(str(pick(generator, _WORDS["pairs"])), clauses)
    if short and len(clauses) == 3 and sum(len(clause.text) for clause in clauses) < 260 and generator.random() < 0.6:
        return _because(clauses) + _filled(str(pick(generator, _WORDS["triples"])), clauses)
    turns, following = _WORDS["turns"], _WORDS["next"]
    sentences: list[str] = []
    used: list[str] = []
    for number, clause in enumerate(clauses):
        if clause.because is not None:
            sentences.append(sentence(clause.because))
        if number == 0:
            sentences.append(_alone(clause, generator))
            continue
        if not clause.imperative:
            turn = str(pick(generator, [turn for turn in turns if not turn or turn.split(" ")[0] not in used]))
            used.append(turn.split(" ")[0])
            sentences.append(sentence(turn + (_small(clause.text) if turn else clause.text)))
            continue
        options = (
            _WORDS["last"] if number == len(clauses) - 1 and number > 1 and generator.random() < 0.5 else following
        )
        frame = str(pick(generator, [frame for frame in options if frame.split(" ")[0] not in used] or following))
        used.append(frame.split(" ")[0])
        sentences.append(sentence(frame.format(do=clause.text)))
    return " ".join(sentences)


def _alone(clause: Clause, generator: np.random.Generator) -> str:
    if not clause.imperative:
        return sentence(clause.text)
    frames: tuple[str, ...] = _WORDS["asked"] if "." not in clause.text else _WORDS["asked"][:2]
    if re.search(r"\b(?:me|my|I)\b", clause.text):
        frames = tuple(frame for frame in frames if "for me" not in frame)
    text = str(pick(generator, frames))
    return sentence(text.format(do=clause.text, Do=_capital(clause.text)))


def _because(clauses: Sequence[Clause]) -> str:
    reasons = [sentence(clause.because) for clause in clauses if clause.because is not None]
    return f"{reasons[0]} " if reasons else ""


def _filled(frame: str, clauses: Sequence[Clause]) -> str:
    texts = [clause.text for clause in clauses]
    names = dict(zip("abc", texts, strict=False))
    return frame.format(**names, A=_capital(texts[0]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    """Without its capital, where that is only there because a sentence begins."""
    first = text.split(" ", 1)[0].casefold()
    return text[:1].lower() + text[1:] if first in _BEGINNINGS else text
