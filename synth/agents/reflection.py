"""Reflect on a failed run, then try again (after R3L, arXiv 2601.03715).

A model reads the failed run, with its verdict and without the answer, and says what went wrong; the agent starts over
with these notes at the end of its system prompt. The notes must not give the answer away (:func:`gives_away`): else the
second run shows nothing. They do not count as read either: whoever checks a retry's words does it without them
(:func:`own_system`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from synth.agents.contract import History
from synth.agents.loop import Rollout
from synth.identity import canonical_json, versioned
from synth.models.asking import AskConfig, Asked, Asker
from synth.models.contract import Model, public_name
from synth.prompting import load_prompt
from synth.schemas.reflections import Reflected, Reflection
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.text.dates import parse_date
from synth.text.numbers import parse_quantity
from synth.text.words import words_of

__all__ = [
    "REFLECT_PROMPT",
    "RETRY_PROMPT",
    "NoReflection",
    "Reflector",
    "gives_away",
    "model_reflector",
    "own_system",
    "retry_system",
]

REFLECT_PROMPT = ("agents/reflect", 1)
RETRY_PROMPT = ("agents/retry", 1)
"""Id and version of the prompt files: what the model is asked, and what the agent is told."""
_SHOWN = 1_500
"""Code points of an observation that the one who reflects sees."""


class NoReflection(Exception):
    """There is none, so the run is not tried again."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


class _Diagnosis(Row):
    mistake: str = Field(min_length=1, max_length=4_000)
    advice: str = Field(min_length=1, max_length=4_000)


class Reflector:
    """Reflects on failed runs. Shared by all rows."""

    def __init__(self, model: Model, asking: AskConfig | None = None) -> None:
        prompt = load_prompt(*REFLECT_PROMPT)
        self._asker = Asker(model, prompt, _Diagnosis, asking)
        self._notes = load_prompt(*RETRY_PROMPT)
        self._by, self._prompt = public_name(model.name), str(prompt.ref)

    def reflect(self, failed: Rollout, sample: str) -> Reflection:
        """What went wrong in ``failed``.

        Args:
            sample: Names this sample of the reflection.

        Raises:
            NoReflection: the model gave none, or one that gives the answer away.
        """
        asked: Asked[_Diagnosis] = self._asker.ask(sample, run=canonical_json(_told(failed)))
        if asked.answer is None:
            raise NoReflection(asked.reason or Reason.MALFORMED, asked.detail)
        mistake, advice = (" ".join(text.split()) for text in (asked.answer.mistake, asked.answer.advice))
        if not mistake or not advice:
            raise NoReflection(Reason.EMPTY_REPLY, "a part of it is blank")
        leak = gives_away(f"{mistake}\n{advice}", failed.task)
        if leak is not None:
            raise NoReflection(Reason.ANSWER_IN_REFLECTION, f"it holds {leak!r}: {mistake} {advice}")
        return Reflection(
            mistake=mistake,
            advice=advice,
            notes=self._notes.render(mistake=mistake, advice=advice),
            by=self._by,
            prompt=self._prompt,
            calls=asked.calls,
        )


def _told(failed: Rollout) -> dict[str, Any]:
    """The run as the one who reflects sees it: all that the agent did, and no word of the right answer."""
    ended = f"It answered {failed.answer!r}, which is wrong." if failed.answer is not None else "It gave no answer."
    return {
        "question": failed.task.question,
        "turns": list(_turns(failed.history)),
        "end": f"{ended} ({failed.stop_reason.value})",
    }


def _turns(history: History) -> Iterator[dict[str, Any]]:
    for step in history:
        turn: dict[str, Any] = {"thought": step.turn.thought, "said": step.turn.said, "answer": step.turn.answer}
        turn["calls"] = [{"tool": call.name, "arguments": call.arguments} for call in step.turn.calls]
        turn["observations"] = [
            result.content if len(result.content) <= _SHOWN else f"{result.content[:_SHOWN]}…"
            for result in step.results
        ]
        yield {name: value for name, value in turn.items() if value}


def gives_away(text: str, task: Task) -> str | None:
    """What in ``text`` is the answer of ``task`` or a part of it, as far as the question does not hold it; None when
    nothing is.

    Fails closed: a number or year that happens to be the answer's counts, whatever it is said about.
    """
    said, asked = words_of(text), words_of(task.question)
    golds = [(task.answer, task.answer_aliases, task.answer_kind)]
    golds += [(part.answer, part.aliases, part.kind) for part in task.answer_parts]
    for answer, aliases, kind in golds:
        for name in (answer, *aliases):
            words = words_of(name)
            if words.strip() and words in said and words not in asked:
                return name
        value = _value(answer, kind)
        if value is not None:
            for word in said.split():
                found = parse_quantity(word)
                if found is not None and found.number == value and f" {word} " not in asked:
                    return word
    return None


def _value(answer: str, kind: str) -> float | None:
    """The number that would give an answer away: of a date its year."""
    if kind in ("date", "year"):
        date = parse_date(answer)
        return None if date is None else float(date[0])
    quantity = parse_quantity(answer) if kind in ("number", "quantity") else None
    return None if quantity is None else quantity.number


def retry_system(system: str, reflection: Reflection) -> str:
    """The system prompt of a second try."""
    return f"{system}\n\n{reflection.notes}"


def own_system(row: TrajectoryRow) -> str:
    """The system prompt of ``row`` without notes on an earlier run."""
    if row.retry_of is None:
        return row.system_prompt
    return row.system_prompt.removesuffix(f"\n\n{Reflected.of(row.details).reflection.notes}")


@versioned(8)
def model_reflector(*, model: Model, **options: Any) -> Reflector:
    """The role ``reflector``, played by ``model``; ``options`` are those of :class:`AskConfig`."""
    return Reflector(model, AskConfig(**options))
