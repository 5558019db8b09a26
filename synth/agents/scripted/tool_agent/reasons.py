"""Where a plan stands after a history, and what is thought of it: what was observed, what the next call is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from synth.agents.contract import History, Prompt, Step
from synth.agents.plan_view import ASK, PlanView, stands_in, value_at
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.tool_agent.narration import (
    LONGEST,
    GroundedNarration,
    details_of,
    joined,
    line_on,
    line_with,
    lines_on,
    listed_kind,
    listed_under,
    looked_up,
    looks_at,
    named_in,
    of_number,
    outline_of,
    rule_for,
    said_by,
    say_page_step,
    shown_values,
)
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.plans import PlannedCall, Policed
from synth.schemas.tasks import Task
from synth.text.lists import listed
from synth.text.sentences import sentences

__all__ = ["Reasons"]


class Reasons:
    """What is known before one turn of an agent that carries out ``task``'s plan, put into thoughts."""

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

    # What can be done.

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
            if any(re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-]|\.\d)", text) for text in texts):
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

    def changes(self) -> list[ToolResult]:
        """Observations of calls that changed something, in order."""
        return [
            result for _, call, result in self.view.made if result.error is None and call.name in self.view.changing
        ]

    # Words.

    def react(
        self, numbers: Sequence[int], arguments: dict[str, Any] | None = None, attempt: PlannedCall | None = None
    ) -> None:
        """What the last observation is good for, for who makes the planned calls ``numbers`` next. ``arguments``: those
        of the first of them, where they are others than the plan's; or of the ``attempt`` that is made."""
        if self.last is None:
            return
        pairs = list(zip(self.last.turn.calls, self.last.results, strict=False))
        wrong = [result for _, result in pairs if result.error not in (None, "failure")]
        if wrong and self._was_attempt():
            refusal = said_by(wrong[-1])
            if refusal and '"' not in refusal:
                self.thoughts.add("p_unwritten", line=refusal.rstrip("."))
            return
        if wrong:
            self.thoughts.add("p_wrong")
            return
        asked = [result for call, result in pairs if call.name == ASK]
        if asked:
            says = " ".join(asked[-1].content.split())
            if '"' not in says:
                self.thoughts.add("p_told", says=says.rstrip("."))
            if any(fact.changes and fact.says in says for fact in self.plan.user):
                self.thoughts.add("p_changed")
            return
        changed = [result for call, result in pairs if call.name in self.view.changing and result.error is None]
        if changed:
            done = said_by(changed[-1], 200)
            if done and '"' not in done:
                self.thoughts.add("p_done", line=done.rstrip("."))
            return
        if self.is_astray():
            self.thoughts.add("p_not_this")
            return
        news = self._news(pairs)
        if news is not None:
            self.thoughts.add("p_checked", line=news.rstrip("."))
            return
        needs = [
            (path, value_at((arguments if place == 0 else None) or self.view.arguments(number) or {}, path))
            for place, number in enumerate((*numbers, *self.open()))
            for path, given in self.plan.calls[number].given.items()
            if given.source == "observation" and (place or given.call is not None)
        ]
        if attempt is not None:
            seen = [path for path, given in attempt.given.items() if given.source == "observation"]
            needs = [(path, value_at(arguments or {}, path)) for path in seen]
        shown = [result for _, result in pairs]
        known = [result.content for result in self.results[: -len(pairs)]]
        new = [
            (path, value)
            for path, value in needs
            if value is not None and not any(stands_in(path, value, text) is not None for text in known)
        ]
        lines = {text.strip() for result in shown if result.error is None for text in result.content.split("\n")}
        calls = [self.plan.calls[n] for n in (*numbers, *self.open())] if attempt is None else [attempt]
        told = [given.words for one in calls for given in one.given.values()]
        line = next((words for words in told if words in lines and self._may_quote(words)), None) or line_with(
            new, shown
        )
        if line is None:
            return
        line = line.removeprefix("- ").rstrip(".")
        if (header := listed_under(line, self.results)) is not None:
            said = bool(header) and self.draw(0.5)
            self.thoughts.add("p_among" if said else "p_one_of", header=header)
        details = details_of(self.task.question, line)
        fits = bool(details) and not any(detail in line for detail in details if self.draw(0.35))
        if fits and self.draw(0.4):
            self.thoughts.add("p_line_fits", line=line, details=listed(details))
            return
        self.say_line(line)
        if fits:
            self.thoughts.add("p_fits", details=listed(details))

    def say_line(self, line: str) -> None:
        """Quote a line that was read, now and then with what kind of thing the look-up was for."""
        tool = next((call.name for _, call, result in reversed(self.view.made) if line in result.content), "")
        kind = "" if self.draw(0.4) else looked_up(tool)
        intent = "p_line" if not kind else "p_line_among" if listed_kind(tool) else "p_line_of"
        self.thoughts.add(intent, line=line, kind=kind)

    def _may_quote(self, line: str) -> bool:
        """Whether it can be quoted, and was not yet."""
        if len(line) > LONGEST or '"' in line or line.endswith(":"):
            return False
        return not any(line.rstrip(".") in (step.turn.thought or "") for step in self.history)

    def why(self, number: int, arguments: dict[str, Any]) -> None:
        """What a planned call is for."""
        call = self.plan.calls[number]
        outline = next((one for one in map(outline_of, reversed(self.results)) if one is not None), None)
        if outline is not None:
            say_page_step(self.thoughts, self.task.question, outline, call.tool, arguments)
            return
        if not self.history and arguments == {"url": "/"}:
            # A site is opened before anything else: why is all in the request.
            name = named_in(self.task.question)
            asks = "p_open_ask" if self.plan.outcome == "answered" else "p_open_do"
            self.thoughts.add(asks if name is None else "p_open_named", name=name)
            return
        texts = [self.task.question, *(result.content for result in self.results)]
        values = shown_values(arguments, texts)
        if call.changes:
            rule = self._governs(call.tool)
            free = rule is None and "## Policy" in self.prompt.system
            if self.plan.outcome == "offered":
                forbids = self.rule()
                if self.plan.attempts:
                    self.thoughts.add("p_instead_try")
                    rule = None
                elif forbids is not None and not self.changes():
                    self._evidence()
                    self.thoughts.add("p_forbidden", rule=forbids.rstrip("."))
                    self.thoughts.add("p_instead")
                    rule = None
            self._behind(number)
            if rule is not None and not any(rule.rstrip(".") in (step.turn.thought or "") for step in self.history):
                for line in self._decisive(rule, [value for value in arguments.values() if isinstance(value, str)]):
                    if line not in self.thoughts.said:
                        self.say_line(line)
                self.thoughts.add("p_rule", rule=rule.rstrip("."))
            if values:
                self.thoughts.add(self.going_on(free=free), values=listed(values))
            return
        if not self.history:
            from_user = [value for value in values if value in self.task.question]
            if from_user:
                self.thoughts.add("p_start", value=joined(from_user, self.task.question))
            else:
                self.thoughts.add("p_start_plain")
        elif len(values) > 1 and not any(name.endswith("_id") for name in arguments):
            kinds = listed_kind(call.tool)
            self.thoughts.add("p_search_kind" if kinds else "p_search", values=listed(values), kind=kinds)
        elif values:
            found = next((value for value in values if value not in self.task.question), values[0])
            # what a look has shown rather than a date that was said
            intent, kind = looks_at(call.tool, arguments, found)
            self.thoughts.add(intent, value=found, kind=kind)
        else:
            self.thoughts.add("p_look_plain")

    def going_on(self, *, free: bool) -> str:
        """How to put a change that is made now. ``free``: no rule of the policy is about it, which may be said; a rule
        that is written nowhere shows only when it stops the call."""
        if free and float(self.generator.random()) < 0.5:
            return "p_try"
        return "p_write_next" if self.changes() else "p_write"

    def _decisive(self, rule: str, about: Sequence[str] = ()) -> list[str]:
        """What was looked up to decide on something that a rule is about: the line of it; of a rule with several cases
        each line that speaks of one."""
        looked = [
            self.view.done[n].result for n, one in enumerate(self.plan.calls) if one.decides and n in self.view.done
        ]
        if rule.count(" or ") > 1:
            return next((lines for result in reversed(looked) if len(lines := lines_on(rule, result)) > 1), [])
        return [line for result in reversed(looked) if (line := line_on(rule, result, about)) is not None][:1]

    def _governs(self, tool: str) -> str | None:
        """A rule of the policy that is kept before a tool, where the task says which are."""
        own = Policed.of(self.task.details).rules.get(tool)
        if tool not in self.tools or own is None:
            return None
        return rule_for(self.prompt.system, self.tools[tool], own)

    def _behind(self, number: int) -> None:
        """What an id rests on that was read earlier and not spoken of yet."""
        spoken = " ".join(step.turn.thought or "" for step in self.history)
        for path, given in self.plan.calls[number].given.items():
            made = self.view.done.get(-1 if given.call is None else given.call)
            value = value_at(self.view.arguments(number) or {}, path)
            if made is None or not isinstance(value, str):
                continue
            line = line_with([(path, value)], [made.result])
            if (
                line is not None
                and line not in spoken
                and line not in self.thoughts.said
                and details_of(self.task.question, line)
            ):
                self.say_line(line)

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

    def _news(self, pairs: Sequence[tuple[ToolCall, ToolResult]]) -> str | None:
        """What a look-up shows that the same one did not show before."""
        for call, result in pairs:
            before = [
                old.content
                for step in self.history[:-1]
                for made, old in zip(step.turn.calls, step.results, strict=False)
                if (made.name, made.arguments) == (call.name, call.arguments) and old.error is None
            ]
            if result.error is not None or not self.is_check():
                continue
            known = before[-1] if before else "\n".join(old.content for old in self.results[: -len(pairs)])
            lines = [line.strip().removeprefix("- ") for line in result.content.split("\n")]
            values = [
                (name, value)
                for made in self.history[-2].turn.calls[-1:]
                for name, value in made.arguments.items()
                if not isinstance(value, bool) and value not in call.arguments.values()
            ]
            new = [line for line in lines if line and line not in known and '"' not in line and len(line) <= 170]
            told = [
                (sum(len(str(value)) for name, value in values if stands_in(name, value, line) is not None), -at, line)
                for at, line in enumerate(new)
            ]
            return max((one for one in told if one[0]), default=(0, 0, None))[2]
        return None

    def is_check(self) -> bool:
        """Whether the last turn looked at what the one before had changed."""
        if len(self.history) < 2 or self.last is None or self.open():
            return False
        before = self.history[-2]
        return any(
            result.error is None and call.name in self.view.changing
            for call, result in zip(before.turn.calls, before.results, strict=False)
        )

    def _was_attempt(self) -> bool:
        """Whether the last turn made an attempt of the plan."""
        return any(made.turn == len(self.history) - 1 for made in self.view.tried.values())

    def _evidence(self) -> None:
        """What was read that a rule of the policy is about."""
        if self._was_attempt():
            self.react(())
            return
        if self.plan.attempts:
            return
        if not self.plan.calls:
            # What needs no look to be refused: the message gives it away in its first sentence.
            tell = sentences(self.prompt.question, capital=True)[0]
            self.thoughts.add("p_tell", line=tell.rstrip("."))
            return
        forbidden = Policed.of(self.task.details).forbidden
        given = {} if forbidden is None else forbidden.arguments
        lines = self._decisive(self.plan.rule or "", [one for one in given.values() if isinstance(one, str)])
        for line in of_number(lines, given):
            self.say_line(line)
