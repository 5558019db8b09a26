"""A teacher's thoughts rephrased by the model that is to learn from them (RAFT): a student learns more easily from
what it would have said itself.

Calls, observations and the answer stay as they are, and so does the verdict. A new thought is kept if it names nothing
that had not been seen by then and drops nothing that the teacher's thought names; otherwise the teacher's stays.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.trajectory import history_of
from synth.annotate.refinement.refiner import Unrefined
from synth.identity import canonical_json, digest, versioned
from synth.models.asking import AskConfig, Asker
from synth.models.contract import Model, public_name
from synth.prompting import load_prompt
from synth.schemas.rejections import Reason
from synth.schemas.reworked import Rework
from synth.schemas.row import Row
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["REWORD_PROMPT", "Rewriter", "model_rewriter", "reworded"]

REWORD_PROMPT = ("agents/reword", 1)
"""Id and version of the prompt file."""


class _Thought(Row):
    thought: str = Field(min_length=1, max_length=4_000)


class Rewriter:
    """Rephrases thoughts, one at a time."""

    def __init__(self, model: Model, asking: AskConfig | None = None) -> None:
        prompt = load_prompt(*REWORD_PROMPT)
        self._asker = Asker(model, prompt, _Thought, asking)
        self.by, self.prompt = public_name(model.name), str(prompt.ref)

    def say(self, sample: str, question: str, turn: Turn) -> tuple[str | None, tuple[str, ...]]:
        """The thought of ``turn`` in other words (None: there are none), and the keys of the calls."""
        done: dict[str, Any] = {"question": question, "thought": turn.thought}
        done["calls"] = [{"tool": call.name, "arguments": call.arguments} for call in turn.calls]
        asked = self._asker.ask(sample, request=canonical_json(done))
        return None if asked.answer is None else asked.answer.thought.strip(), asked.calls


def reworded(row: TrajectoryRow, rewriter: Rewriter, *, computed: bool) -> tuple[History, Rework]:
    """``row`` with as many thoughts as hold in the rewriter's words.

    Args:
        computed: The answer is a number that stands nowhere.

    Raises:
        Unrefined: the run failed, or no thought holds.
    """
    if row.verdict.correct is not True:
        raise Unrefined(Reason.NOT_REWORDED, "its answer is not right")
    prompt, history = history_of(row)
    made, turns, calls = list(history), [], list[str]()
    why = "it thinks nothing"
    for number, step in enumerate(history):
        if not step.turn.thought:
            continue
        said, keys = rewriter.say(digest("reword", row.id, number)[:32], prompt.question, step.turn)
        calls += keys
        other = step.model_copy(update={"turn": step.turn.model_copy(update={"thought": said})})
        problem = "no words were given" if not said else _problem(prompt, (*made[:number], other), step, computed)
        if problem is None:
            made[number] = other
            turns.append(number)
        else:
            why = f"turn {number}: {problem}"
    if not turns:
        raise Unrefined(Reason.NOT_REWORDED, why)
    return tuple(made), Rework(how="reworded", steps=tuple(turns), by=rewriter.by, calls=tuple(calls))


def _problem(prompt: Prompt, history: History, old: Step, computed: bool) -> str | None:
    """Why the thought of the last turn can't stand in the place of that of ``old``."""
    number, turn = len(history) - 1, history[-1].turn
    if turn.thought == old.turn.thought:
        return "these are the teacher's words"
    loose = ungrounded(prompt, history, start=number, computed=computed, own_words=True)
    if loose:
        return str(loose[0])
    asked = canonical_json([call.arguments for call in turn.calls])
    told = prompt.model_copy(update={"question": f"{turn.thought}\n{asked}", "system": ""})
    bare = Turn(thought=(old.turn.thought or "").replace('"', ""))
    lost = ungrounded(told, (Step(turn=bare),), own_words=True)
    return f"it leaves out {lost[0].text!r}" if lost else None


@versioned(45)
def model_rewriter(*, model: Model, **options: Any) -> Rewriter:
    """The words of the role ``policy``, played by ``model``; ``options`` are those of :class:`AskConfig`."""
    return Rewriter(model, AskConfig(**options))
