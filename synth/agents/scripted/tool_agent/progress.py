"""Where a plan stands after a history: what can be done now, and what came of the last turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from synth.agents.contract import History, Prompt, Step
from synth.agents.plan_view import PlanView, stands_in
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.tool_agent.details import answers, untold_given
from synth.agents.scripted.tool_agent.narration import GroundedNarration, said_by, things_of
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.plans import Given, UserFact
from synth.schemas.tasks import Task
from synth.text.words import words

__all__ = ["Progress"]


class Progress:
    """What is known before one turn of an agent that carries out ``task``'s plan."""

    def __init__(
        self, task: Task, prompt: Prompt, history: History, generator: np.random.Generator, view: PlanView
    ) -> None:
        self.task, self.prompt, self.history, self.generator, self.view = task, prompt, history, generator, view
        self.plan = view.plan
        self.tools = {tool.name: tool for tool in prompt.tools}
        self.thoughts: Thoughts = GroundedNarration(prompt, history, generator)

    @property
    def results(self) -> list[ToolResult]:
        """Every observation so far."""
        return [result for step in self.history for result in step.results]

    @property
    def last(self) -> Step | None:
        return self.history[-1] if self.history else None

    def draw(self, rate: float) -> bool:
        return bool(self.generator.random() < rate)

    def open(self) -> list[int]:
        """Numbers of planned calls that are still to be made, in order."""
        return [number for number in range(len(self.plan.calls)) if number not in self.view.had]

    def ready(self) -> list[int]:
        """Those of them that can be made now: everything that they need was seen, and no change waits before them."""
        found: list[int] = []
        for number in self.open():
            if self.plan.calls[number].changes and found:
                break
            if self.view.arguments(number) is not None:
                found.append(number)
            if self.plan.calls[number].changes:
                break
        return found

    def attempts(self) -> list[int]:
        """Numbers of attempts that are still to be made and can be now; none once something was changed."""
        if self.changes():
            return []
        return [n for n in self.view.untried() if self.view.arguments_of(self.plan.attempts[n]) is not None]

    def failed(self) -> tuple[ToolCall, ...]:
        """Calls of the last turn that failed through no fault of theirs."""
        if self.last is None:
            return ()
        pairs = zip(self.last.turn.calls, self.last.results, strict=False)
        return tuple(call for call, result in pairs if result.error == "failure")

    def meant(self, call: ToolCall) -> bool:
        """Whether it is one that the plan still makes or tries, as it would be made now."""
        still = [(self.plan.calls[number].tool, self.view.arguments(number)) for number in self.open()]
        tries = [(self.plan.attempts[n].tool, self.view.arguments_of(self.plan.attempts[n])) for n in self.attempts()]
        return (call.name, call.arguments) in (*still, *tries)

    def was_refused(self, number: int) -> bool:
        """Whether the planned call, as it would be made now, was refused before."""
        planned, arguments = self.plan.calls[number], self.view.arguments(number)
        return any(
            result.error not in (None, "failure") and (call.name, call.arguments) == (planned.tool, arguments)
            for _, call, result in self.view.made
        )

    def changed_now(self) -> bool:
        """Whether the last turn changed something."""
        pairs = zip(self.last.turn.calls, self.last.results, strict=False) if self.last is not None else ()
        return any(result.error is None and call.name in self.view.changing for call, result in pairs)

    def strayed(self, call: ToolCall) -> bool:
        """Whether it is a look-up by a tool of the plan that the plan does not make."""
        planned = [n for n, one in enumerate(self.plan.calls) if one.tool == call.name and not one.changes]
        made = [self.view.done[n].call for n in planned if n in self.view.done]
        return bool(planned) and not any(one.arguments == call.arguments for one in made)

    def read_answer(self) -> str:
        """The answer, in a form in which an observation shows it, where one does."""
        texts = [" ".join(result.content.split()) for result in reversed(self.results)]
        forms = [self.task.answer, *self.task.answer_aliases]
        for form in list(forms):
            if re.fullmatch(r"\$[\d,]+", form):
                forms.insert(0, f"{form}.00")
        for form in forms:
            if any(
                re.search(rf"(?<!\w){'' if form.startswith('$') else '(?<!-)'}{re.escape(form)}(?![\w-]|\.\d)", text)
                for text in texts
            ):
                return form
        return self.task.answer

    def rule(self) -> str | None:
        """The rule that forbids what was asked for, where the agent has it before it: in the policy or in a refusal."""
        texts = [self.prompt.system, *(result.content for result in self.results)]
        rule = " ".join((self.plan.rule or "").split())
        if rule and '"' not in rule and any(rule in " ".join(text.split()) for text in texts):
            return rule
        refused = [said_by(result) for result in self.results if result.error == "refused"]
        return refused[-1] if refused and '"' not in refused[-1] else None

    def untold(self) -> list[UserFact]:
        """What the request leaves open and the user has not said yet; sums of money apart."""
        return [fact for n, fact in enumerate(self.plan.user) if n not in self.view.told and not fact.amount]

    def gives_away(self, line: str) -> bool:
        """Whether a line has what the user was not asked yet: that it is the one that is meant can't be known."""
        question, facts = self.task.question, self.untold()
        return untold_given(self.view, line) is not None or any(answers(fact, line, question) for fact in facts)

    def changes(self) -> list[ToolResult]:
        """Observations of calls that changed something, in order."""
        return [
            result for _, call, result in self.view.made if result.error is None and call.name in self.view.changing
        ]

    def was_attempt(self) -> bool:
        """Whether the last turn made an attempt of the plan."""
        return any(made.turn == len(self.history) - 1 for made in self.view.tried.values())

    def is_check(self) -> bool:
        """Whether the last turn looked at what the one before had changed."""
        if len(self.history) < 2 or self.last is None or self.open():
            return False
        before = self.history[-2]
        return any(
            result.error is None and call.name in self.view.changing
            for call, result in zip(before.turn.calls, before.results, strict=False)
        )

    def sight(self) -> Given | None:
        """The planned look-up that shows the last change when it is made again, with the line by which it does."""
        made = [
            (one.turn, n)
            for n, one in self.view.done.items()
            if n < len(self.plan.calls) and self.plan.calls[n].changes
        ]
        shown = self.plan.calls[max(made)[1]].shown if made else None
        return shown if shown is not None and shown.call in self.view.done else None

    def would_tell(self, changed: ToolCall, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether a look can show that ``changed`` had an effect: at something new, or once more at what has a line
        that is called after what was changed and did not hold the value then."""
        if self._is_new(arguments, self.history[:-1]):
            return True
        before = [
            result.content
            for _, call, result in self.view.made
            if (call.name, call.arguments) == (tool, arguments) and result.error is None
        ]
        kinds = things_of(changed.name) - things_of(tool)
        for name, value in changed.arguments.items():
            if not before or name in arguments or isinstance(value, bool):
                continue
            called = {word for word in (*name.split("_"), *kinds, changed.name.split("_")[0]) if len(word) > 3}
            stems = tuple(word.removesuffix("s") for word in called)
            named = [
                line
                for line in before[-1].split("\n")
                if ":" in line and stems and any(word.startswith(stems) for word in words(line.partition(":")[0]))
            ]
            if named and not any(stands_in(name, value, line) is not None for line in named):
                return True
        return False

    def _is_new(self, arguments: dict[str, Any], history: Sequence[Step]) -> bool:
        """Whether nothing of ``history`` shows what a look takes: what a change has just made."""
        values = [str(value) for value in arguments.values()]
        return not any(value in result.content for step in history for result in step.results for value in values)

    def is_astray(self) -> bool:
        """Whether the last turn looked at another row than the one that is meant."""
        if self.last is None:
            return False
        return any(
            result.error is None
            and self.strayed(call)
            and any(self.plan.calls[n].tool == call.name for n in self.open())
            for call, result in zip(self.last.turn.calls, self.last.results, strict=False)
        )

    def seen_anew(self) -> list[tuple[ToolCall, ToolResult]]:
        """Calls of the last turn with their observations; where it made failed calls again, also what stood beside
        those, which nothing was said of."""
        found: list[tuple[ToolCall, ToolResult]] = []
        again: list[ToolCall] | None = None
        for step in reversed(self.history):
            pairs = list(zip(step.turn.calls, step.results, strict=False))
            failed = [call for call, result in pairs if result.error == "failure"]
            if again is not None and [(c.name, c.arguments) for c in failed] != [(c.name, c.arguments) for c in again]:
                break
            found = [pair for pair in pairs if pair[1].error is None] + found
            again = list(step.turn.calls)
        return found
