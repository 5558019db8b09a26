"""What a thought claims of matches within a page and of names that resemble each other, against what was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.agents.grounding.said import SaidRun, SaidTurn, found_in, says
from synth.agents.scripted.matching import likeness, same_name
from synth.environments.observed import observe

__all__ = ["unlike", "wrong_matches"]


def wrong_matches(run: SaidRun, turn: SaidTurn) -> Iterator[str]:
    """What is wrong with a claim about matches: another number was shown, or none of them was quoted before."""
    once, often = says(("verified_once",), turn.bare), says(("verified_often",), turn.bare)
    if once is None and often is None:
        return
    told = re.search(r"\d+", often.group()) if often is not None else None
    finds = _finds(run, turn.number)
    shown = re.search(r"^(\d+) match", finds[-1]) if finds else None
    if shown is None:
        yield "no search within a page"
    elif int(shown[1]) != (int(told.group()) if told is not None else 1):
        yield f"{shown[1]} were shown"
    elif often is not None:
        lines = {passage.text.replace('"', "”") for content in finds for passage in observe(content).passages}
        said = [one.thought for one in run.turns[: turn.number + 1]]
        if not any(line in thought for line in lines for thought in said):
            yield "no line among them was quoted"


def unlike(turn: SaidTurn) -> Iterator[str]:
    """What is said to resemble a name with which it shares no word."""
    for match in found_in("hit_alike", turn.bare):
        names = [group for group in match.groups() if group]
        if len(names) > 1 and not likeness(names[0], names[1]) and not same_name(names[0], names[1]):
            yield match.group()


def _finds(run: SaidRun, before: int) -> list[str]:
    """What searches within a page showed, in order."""
    return [
        result.content
        for step in run.history[:before]
        for call, result in zip(step.turn.calls, step.results, strict=False)
        if call.name == "find" and result.error is None
    ]
