"""Actions with which an agent assesses its own situation. They change nothing and get a one-line acknowledgement;
whether they are true is measured afterwards from the record (:mod:`synth.annotate.labels.judged`).

``judge`` (after ReSeek, arXiv 2510.00568) goes with the next call and says whether the last result helps
(:func:`synth.agents.helping.helps`). ``check`` (after MOSAIC) comes before the first change, or before the agent
declines, and says whether it may act.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.actions import CHECK, JUDGE, SAID, said_of
from synth.agents.contract import Decision, History, Policy, Prompt, Step, Turn
from synth.agents.helping import helps
from synth.agents.scripted.phrases import Thoughts
from synth.environments.contract import ToolCall, ToolSchema
from synth.environments.observed import observe
from synth.environments.rendering import plain
from synth.schemas.plans import Planned, Request
from synth.schemas.tasks import Task

__all__ = ["Judging"]


class Judging:
    """A scripted policy that takes these actions where the environment offers them. It says what its next move implies:
    a result helped if the move builds on it, and acting is allowed if it acts. A teacher knows the walk,
    and judges results by it."""

    def __init__(self, policy: Policy, task: Task) -> None:
        self.privileged = policy.privileged
        self._policy, self._task = policy, task
        self._changing = frozenset(Request.of(task.details).changing)
        self._asks = Planned.stand_in(task.details) and Planned.of(task.details).plan.outcome != "answered"

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        names = {tool.name for tool in prompt.tools}
        if not names & SAID.keys():
            return self._policy.act(prompt, history, generator)
        tools = tuple(tool for tool in prompt.tools if tool.name not in SAID)
        decision = self._policy.act(prompt.model_copy(update={"tools": tools}), _without(history), generator)
        turn = decision.turn
        words = Thoughts(prompt.question, generator, earlier=[step.turn.thought or "" for step in history])
        if CHECK.name in names and self._decides(turn, history):
            allowed = self._changes(turn)
            words.add("p_may" if allowed else "p_may_not")
            thought = " ".join(filter(None, (turn.thought, words.text())))
            return Decision(Turn(thought=thought, calls=(_call(CHECK, allowed),)), decision.injected)
        checked = said_of(history[-1], CHECK) if history else None
        ends = checked == self._changes(turn) and (checked or not turn.calls)
        if checked is not None and ends and not decision.injected:
            words.add("p_as_checked" if checked else "p_not_as_checked")  # why, the check said
            turn = turn.model_copy(update={"thought": words.text()})
            return Decision(turn, (), decision.source, decision.shown)
        if JUDGE.name in names and turn.calls and history and history[-1].results:
            known = helps(self._task, history, len(history) - 1) if self.privileged else None
            said = _call(JUDGE, _goes_on(turn, history[-1]) if known is None else known)
            turn = turn.model_copy(update={"calls": (said, *turn.calls)})
        return Decision(turn, decision.injected, decision.source, decision.shown)

    def _decides(self, turn: Turn, history: History) -> bool:
        """Whether the turn is the first to change something, or declines to."""
        if not self._asks or any(said_of(step, CHECK) is not None for step in history):
            return False
        changed = any(self._changes(step.turn) for step in history)
        return not changed and (not turn.calls or self._changes(turn))

    def _changes(self, turn: Turn) -> bool:
        return any(call.name in self._changing for call in turn.calls)


def _without(history: History) -> History:
    """What the policy inside knows of."""
    made: list[Step] = []
    for step in history:
        kept = [place for place, call in enumerate(step.turn.calls) if call.name not in SAID]
        if len(kept) == len(step.turn.calls):
            made.append(step)
        elif kept:
            calls = tuple(step.turn.calls[place] for place in kept)
            results = tuple(step.results[place] for place in kept if place < len(step.results))
            made.append(Step(turn=step.turn.model_copy(update={"calls": calls}), results=results))
    return tuple(made)


def _call(tool: ToolSchema, said: bool) -> ToolCall:
    return ToolCall(id="x", name=tool.name, arguments={SAID[tool.name]: said})


def _goes_on(turn: Turn, last: Step) -> bool:
    """Whether a turn opens what the last observations list, or quotes what they say."""
    shown = [observe(result.content) for result in last.results if result.error is None]
    listed = {hit.document.partition("#")[0] for one in shown for hit in one.results}
    listed |= {link.place.partition("#")[0] for one in shown for passage in one.passages for link in passage.links}
    opened = {str(call.arguments.get("document", "")).partition("#")[0] for call in turn.calls}
    return bool(listed & opened) or _quotes(turn.thought or "", [plain(result.content) for result in last.results])


def _quotes(thought: str, texts: Sequence[str]) -> bool:
    quoted = [quote for quote in thought.split('"')[1::2] if quote]
    return any(quote in text for quote in quoted for text in texts)
