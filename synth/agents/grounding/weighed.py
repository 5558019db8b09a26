"""How what was read compares with a rule: which forms of an application's words can be said after a history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded

__all__ = ["comparisons", "is_compared"]

_EVEN = re.compile(r"(\$[\d,]+)\.00")


def comparisons(forms: Iterable[str], prompt: Prompt, history: History) -> list[str]:
    """Those of ``forms`` that name nothing that was not seen. Even sums are written as they were read."""
    texts = [prompt.question, *(result.content for step in history for result in step.results)]

    def read(match: re.Match[str]) -> str:
        return match.group() if any(match.group() in text for text in texts) else match[1]

    written = [_EVEN.sub(read, form) for form in forms]
    return [
        form
        for form in written
        if not ungrounded(prompt, (*history, Step(turn=Turn(thought=_begun(form)))), start=len(history))
    ]


def is_compared(forms: Sequence[str], said: str) -> bool:
    """Whether one of ``forms`` stands in ``said``."""
    plain = _EVEN.sub(r"\1", said)
    return any(_EVEN.sub(r"\1", form)[1:] in plain for form in forms)


def _begun(form: str) -> str:
    return f"{form[:1].upper()}{form[1:]}."
