"""How well a plan takes a question apart (the decomposition reward of APEX-Searcher, arXiv 2603.13853).

A plan is lines of sub-questions; ``#n`` in one stands for what line n finds. Lines are matched one to one with the
parts that the walk proves, the most alike first; a pair counts as much as their words agree (F1), and only where the
line waits for the lines that found what the part needs. The reward is the sum over the longer of the two lists: what is
left out and what is added cost the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from synth.annotate.rewards.response import read_response
from synth.errors import InputError
from synth.text.words import words_of

__all__ = ["plan_reward", "plan_score"]

_LINE = re.compile(r"^\s*(?:(\d+)\s*[.):]|[-*])?\s*(.*\S)\s*$")
_PLACE = re.compile(r"#(\d+)")


def plan_reward(
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    parts: Sequence[Sequence[str]] | None = None,
    **columns: Any,
) -> list[float]:
    """A reward function for TRL's ``GRPOTrainer`` over the rows of ``trl-plans``.

    Raises:
        InputError: the column ``parts`` is not there, or something is of another form.
    """
    if parts is None or len(parts) != len(completions):
        mend = "keep the columns of the rows: GRPOConfig(remove_unused_columns=False) does"
        raise InputError("the reward function got no parts", where="parts", mend=mend)
    said = [one if isinstance(one, str) else read_response(one, where="completions").answer for one in completions]
    return [plan_score(text or "", wanted) for text, wanted in zip(said, parts, strict=True)]


def plan_score(plan: str, parts: Sequence[str]) -> float:
    """0 to 1: how well the lines of ``plan`` are the ``parts``, which name each other by ``#n``."""
    lines = [match.groups() for line in plan.splitlines() if (match := _LINE.match(line))]
    if not lines or not parts:
        return 0.0
    numbers = {int(number) if number else place: place for place, (number, _) in enumerate(lines, 1)}
    made = [_PLACE.sub(lambda m: f"#{numbers.get(int(m[1]), 0)}", text) for _, text in lines]
    alike = sorted(
        ((_agree(text, part), -line, -place) for line, text in enumerate(made) for place, part in enumerate(parts)),
        reverse=True,
    )
    found: dict[int, int] = {}
    """Part -> line, from 1."""
    value: dict[int, float] = {}
    for score, line, place in alike:
        if score and 1 - place not in found and 1 - line not in found.values():
            found[1 - place], value[1 - place] = 1 - line, score
    held = [
        value[part]
        for part, line in found.items()
        if {found.get(need) for need in _needs(parts[part - 1])} == _needs(made[line - 1])
    ]
    return sum(held) / max(len(lines), len(parts))


def _needs(text: str) -> set[int]:
    return {int(number) for number in _PLACE.findall(text)}


def _agree(one: str, other: str) -> float:
    """F1 of the words of two sub-questions, places aside."""
    ours, theirs = (Counter(words_of(_PLACE.sub(" ", text)).split()) for text in (one, other))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0
