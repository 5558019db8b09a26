"""Minimal edits by a model (FinTrace-Training, Plan-RewardBench, arXiv 2604.08178): a right turn, changed in one thing.

Those systems take a model's word that its edit is wrong. Here it only proposes: an edit that is not minimal or not
grounded is dropped, and what is left is carried out from the exact state like every other perturbation, and becomes a
pair only where the environment shows that it is worse. All that is dropped is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np
from pydantic import Field

from synth.agents.contract import Turn
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.identity import canonical_json, digest, key_of, versioned
from synth.models.asking import AskConfig, Asker
from synth.models.contract import Model, public_name
from synth.prompting import load_prompt
from synth.schemas.row import JsonObject, Row

__all__ = ["EDIT_PROMPT", "MinimalEdit", "model_perturber"]

EDIT_PROMPT = ("preferences/minimal_edit", 1)
"""Id and version of the prompt file."""
_STEPS = 4
"""Turns of one run that the model is asked about, at most: each is a call."""
_SHOWN = 1_500
"""Code points of an observation that it sees."""
_ALIKE = 0.6
"""An edited thought is as similar to the recorded one as this, at least (``difflib`` ratio)."""

Kind = Literal["wrong_entity", "wrong_value", "wrong_property", "overlooked_condition", "none"]


class _Edit(Row):
    kind: Kind
    change: str = Field(max_length=1_000)
    thought: str


class _CallEdit(_Edit):
    arguments: JsonObject


class _AnswerEdit(_Edit):
    answer: str


class MinimalEdit:
    """The role ``perturber``. ``count(name)`` hears what becomes of each edit: ``edits_proposed``, or ``edits_missing``
    (the model gave none), ``edits_none`` (it says that there is none), ``edits_not_minimal``, ``edits_ungrounded``."""

    name = "minimal_edit"
    family = "decision"

    def __init__(self, model: Model, asking: AskConfig | None = None) -> None:
        prompt = load_prompt(*EDIT_PROMPT)
        self._calls = Asker(model, prompt, _CallEdit, asking)
        self._answers = Asker(model, prompt, _AnswerEdit, asking)
        self._by, self.prompt = public_name(model.name), str(prompt.ref)
        self.count: Callable[[str], None] = lambda name: None

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        """Edits of at most four turns, asked for one at a time."""
        key = key_of(generator)
        steps = [int(at) for at in generator.permutation(len(run.history)) if _editable(run.history[int(at)].turn)]
        for step in steps[:_STEPS]:
            proposal = self._propose(run, step, key)
            if proposal is not None:
                self.count("edits_proposed")
                yield proposal

    def _propose(self, run: GoodRun, step: int, key: str) -> Proposal | None:
        turn = run.history[step].turn
        request = canonical_json(_told(run, step))
        sample = digest("minimal edit", key, step)[:32]
        asker: Asker[Any] = self._calls if turn.calls else self._answers
        asked = asker.ask(sample, request=request)
        edit: _CallEdit | _AnswerEdit | None = asked.answer
        if edit is None:
            self.count("edits_missing")
            return None
        if edit.kind == "none":
            self.count("edits_none")
            return None
        other = _edited(turn, edit)
        if other is None:
            self.count("edits_not_minimal")
            return None
        if not run.grounded(step, other):
            self.count("edits_ungrounded")
            return None
        what = edit.kind.replace("_", " ")
        note = f"Proposed by {self._by} as {what} (calls {', '.join(asked.calls)}): {' '.join(edit.change.split())}"
        if turn.calls:
            call, was = other.calls[0], turn.calls[0]
            words = f"{call.name} {canonical_json(call.arguments)} in place of {canonical_json(was.arguments)}, {what}"
            return Proposal(step, other, ("nothing", "error", "repeat"), words, note)
        words = f"answers {other.answer!r} in place of {turn.answer!r}, {what}"
        return Proposal(step, other, ("wrong_answer",), words, note)


def _editable(turn: Turn) -> bool:
    return len(turn.calls) == 1 or (not turn.calls and turn.answer is not None)


def _told(run: GoodRun, step: int) -> dict[str, Any]:
    """What the model sees: the question, the turns before, and the right turn. No gold walk, no answer beyond that."""
    turn = run.history[step].turn
    before = [
        {
            "thought": past.turn.thought,
            "calls": [{"tool": call.name, "arguments": call.arguments} for call in past.turn.calls],
            "observations": [
                result.content if len(result.content) <= _SHOWN else f"{result.content[:_SHOWN]}…"
                for result in past.results
            ],
        }
        for past in run.history[:step]
    ]
    this: dict[str, Any] = {"thought": turn.thought or ""}
    if turn.calls:
        this |= {"tool": turn.calls[0].name, "arguments": turn.calls[0].arguments}
    else:
        this |= {"answer": turn.answer}
    return {"question": run.task.question, "before": before, "step": this}


def _edited(turn: Turn, edit: _CallEdit | _AnswerEdit) -> Turn | None:
    """``turn`` with the edit; None where more was changed than one argument or the answer, and words of the thought."""
    thought = edit.thought.strip() or None
    if (thought is None) != (turn.thought is None):
        return None
    if SequenceMatcher(None, turn.thought or "", thought or "", autojunk=False).ratio() < _ALIKE:
        return None
    if isinstance(edit, _AnswerEdit):
        answer = edit.answer.strip()
        same = not answer or answer == turn.answer
        return None if same else turn.model_copy(update={"thought": thought, "answer": answer})
    call = turn.calls[0]
    changed = [name for name, value in edit.arguments.items() if call.arguments.get(name) != value]
    if set(edit.arguments) != set(call.arguments) or len(changed) != 1:
        return None
    other = call.model_copy(update={"arguments": edit.arguments})
    return turn.model_copy(update={"thought": thought, "calls": (other,)})


@versioned(39)
def model_perturber(*, model: Model, **options: Any) -> MinimalEdit:
    """The role ``perturber``, played by ``model``; ``options`` are those of :class:`AskConfig`."""
    return MinimalEdit(model, AskConfig(**options))
