"""A run as data in a prompt: what scorers and judges are shown.

One JSON object a line, so that text of a page stays inside a string, whatever it says, and can neither end the data nor
pass for another line of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from synth.agents.contract import History, Step, Turn
from synth.models.asking import AskConfig

__all__ = ["ShownConfig", "one_line", "shown_history", "shown_question", "shown_step", "shown_turn", "wrong_citations"]


class ShownConfig(AskConfig):
    """How much of a run a role that judges is shown, beside how it is asked."""

    recent: int = Field(default=2, ge=0)
    """Observations of so many last steps are shown whole."""
    older: int | None = Field(default=1_500, ge=0)
    """Of earlier ones, so many characters each, and how many were left out; empty = all."""


def one_line(value: Any) -> str:
    """JSON on one line. Line and paragraph separators are escaped, too: some readers take them for line ends."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def shown_question(question: str) -> str:
    return one_line({"question": question})


def shown_turn(turn: Turn) -> dict[str, Any]:
    """What a turn thinks, says and does."""
    shown: dict[str, Any] = {}
    if turn.thought:
        shown["thought"] = turn.thought
    if turn.calls:
        if turn.said:
            shown["said"] = turn.said
        shown["calls"] = [{"tool": call.name, "arguments": call.arguments} for call in turn.calls]
    elif turn.answer is not None:
        shown["answer"] = turn.answer
    else:
        shown["gives_up"] = True
    return shown


def shown_history(history: History, config: ShownConfig) -> str:
    """A line per step; that nothing was done yet is said, too."""
    if not history:
        return one_line({"history": "nothing was done yet"})
    first_whole = len(history) - config.recent
    lines = []
    for number, step in enumerate(history):
        most = None if number >= first_whole else config.older
        lines.append(one_line(shown_step(number, step, most)))
    return "\n".join(lines)


def shown_step(number: int, step: Step, most: int | None = None) -> dict[str, Any]:
    """A step with its number; ``most`` characters of each observation, None = all."""
    return {"step": number, **shown_turn(step.turn), **_observed(step, most)}


def _observed(step: Step, most: int | None) -> dict[str, Any]:
    return {"observations": [_cut(result.content, most) for result in step.results]} if step.results else {}


def _cut(text: str, most: int | None) -> str:
    if most is None or len(text) <= most:
        return text
    return f"{text[:most]} [... {len(text) - most:,} more characters are not shown here]"


def wrong_citations(cites: Sequence[int], steps: int) -> str | None:
    """What is wrong with citations of ``steps`` steps, numbered from 0; None where each exists and there is one."""
    absent = [cited for cited in cites if not 0 <= cited < steps]
    if absent:
        return f"step {absent[0]} is cited, and there are {steps} steps"
    return None if cites else "no step is cited"
