"""Where a plan stands after a history, and what is thought of it: what was observed, what the next call is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synth.agents.plan_view import ASK, stands_in, value_at
from synth.agents.scripted.tool_agent.details import details_of, marks_of
from synth.agents.scripted.tool_agent.narration import (
    LONGEST,
    as_quoted,
    is_clause,
    joined,
    line_with,
    lines_about,
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
from synth.agents.scripted.tool_agent.progress import Progress
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.plans import PlannedCall, Policed, UserFact
from synth.text.lists import listed
from synth.text.sentences import sentences
from synth.text.words import words

__all__ = ["Reasons"]

_PRICING = frozenset(("quote", "price"))
"""Beginnings of the names of tools that say what something costs."""


class Reasons(Progress):
    """What is known before one turn of an agent that carries out ``task``'s plan, put into thoughts."""

    def react(
        self,
        numbers: Sequence[int],
        arguments: dict[str, Any] | None = None,
        attempt: PlannedCall | None = None,
        left_open: UserFact | None = None,
    ) -> None:
        """What the last observation is good for, for who makes the planned calls ``numbers`` next. ``arguments``: those
        of the first of them, where they are others than the plan's; or of the ``attempt`` that is made. ``left_open``:
        what the user is asked now."""
        if self.last is None:
            return
        pairs = list(zip(self.last.turn.calls, self.last.results, strict=False))
        wrong = [result for _, result in pairs if result.error not in (None, "failure")]
        if wrong and self.was_attempt():
            refusal = said_by(wrong[-1])
            if refusal and '"' not in refusal:
                self.thoughts.add("p_unwritten", line=refusal.rstrip("."))
            return
        if wrong and self.is_check() and all(result.error == "not_found" for result in wrong):
            gone = said_by(wrong[-1]).rstrip(".")
            if gone and '"' not in gone:
                self.thoughts.add("p_gone", line=gone)
            return
        if wrong:
            forbidden = Policed.of(self.task.details).forbidden
            kept = forbidden is not None and any(call.name == forbidden.tool for call, result in pairs if result.error)
            refusal = said_by(wrong[-1]).rstrip(".") if kept else ""
            self.thoughts.add("p_refused" if refusal and '"' not in refusal else "p_wrong", line=refusal)
            return
        asked = [result for call, result in pairs if call.name == ASK]
        if asked:
            says = " ".join(asked[-1].content.split())
            agreed = any(fact.amount and fact.says in says for fact in self.plan.user)
            if '"' not in says:
                self.thoughts.add("p_agreed" if agreed else "p_told", says=says.rstrip("."))
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
        pairs = self.seen_anew()
        looks = {id(call) for call, _ in pairs}
        own: list[tuple[str, Any]] = []
        needs: list[tuple[str, Any]] = []
        coming = list(dict.fromkeys((*numbers, *self.open())))
        for place, number in enumerate(coming):
            for path, given in self.plan.calls[number].given.items():
                made = self.view.done.get(-1 if given.call is None else given.call)
                # What a later call needs is of interest where this look was made for it.
                if given.source == "observation" and (
                    given.call is not None if place == 0 else made is not None and id(made.call) in looks
                ):
                    given_now = (arguments if place == 0 else None) or self.view.arguments(number) or {}
                    (needs if place else own).append((path, value_at(given_now, path)))
        if attempt is not None:
            seen = [path for path, given in attempt.given.items() if given.source == "observation"]
            own, needs = [(path, value_at(arguments or {}, path)) for path in seen], []
        shown = [result for _, result in pairs]
        known = [result.content for result in self.results if not any(result is one for one in shown)]
        new = [
            (path, value)
            for path, value in (*own, *needs)
            if value is not None and not any(stands_in(path, value, text) is not None for text in known)
        ]
        lines = {text.strip() for result in shown if result.error is None for text in result.content.split("\n")}
        calls = [self.plan.calls[n] for n in coming] if attempt is None else [attempt]
        mine = (self.view.arguments(numbers[0]) if numbers else None) or {}
        told = [
            given.words
            for place, one in enumerate(calls)
            for path, given in one.given.items()
            # Who takes another row than the plan's does not read the plan's line.
            if place or not numbers or arguments is None or value_at(arguments, path) == value_at(mine, path)
        ]
        line = next((text for text in told if text in lines and self._may_quote(text)), None) or line_with(new, shown)
        if line is None or (left_open is not None and self._answers(left_open, line)):
            return
        line = line.removeprefix("- ").rstrip(".")
        other = [one for one in new if one in own and stands_in(*one, line) is None]
        beside = line_with(other, shown) if numbers and other else None
        if beside is not None and any(line in result.content and beside in result.content for result in shown):
            # One list shows two values of the call: an airport to leave from and one to fly to.
            self.say_line(line)
            self.say_line(beside.removeprefix("- ").rstrip("."))
            return
        if (header := listed_under(line, self.results)) is not None:
            said = is_clause(header) and self.draw(0.5)
            self.thoughts.add("p_among" if said else "p_one_of", header=header)
        details = marks_of(self.task.question, line, shown)
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

    def _answers(self, fact: UserFact, line: str) -> bool:
        """Whether a line has what the user has not said yet: who asks for that can't know that it is wanted."""
        return not set(details_of(fact.says, line)) <= set(details_of(self.task.question, line))

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
            free = self._governs(call.tool) is None and "## Policy" in self.prompt.system
            self.say_grounds(number, arguments)
            if values:
                self.thoughts.add(self.going_on(free=free), values=listed(as_quoted(values, self.task.question)))
            return
        if not self.history:
            from_user = [value for value in values if value in self.task.question]
            who = any(name.endswith(("name", "email")) for name in arguments)
            if who and from_user:
                self.thoughts.add("p_start", value=joined(from_user, self.task.question))
            elif named := [value for value in from_user if not value.islower()]:
                self.thoughts.add("p_first", value=named[0])
            else:
                self.thoughts.add("p_start_plain")
        elif call.tool.partition("_")[0] in _PRICING:
            self.thoughts.add("p_price")
        elif len(values) > 1 and not any(name.endswith("_id") for name in arguments):
            kinds = listed_kind(call.tool)
            self.thoughts.add(
                "p_search_kind" if kinds else "p_search",
                values=listed(as_quoted(values, self.task.question)),
                kind=kinds,
            )
        elif values:
            found = next((value for value in values if value not in self.task.question), values[0])
            # what a look has shown rather than a date that was said
            intent, kind = looks_at(call.tool, arguments, found)
            self.thoughts.add(intent, value=found, kind=kind)
        else:
            self.thoughts.add("p_look_plain")

    def say_grounds(self, number: int, arguments: dict[str, Any]) -> None:
        """Why the policy allows a change, or what is done in place of one that it forbids: once in a run."""
        rule = self._governs(self.plan.calls[number].tool)
        if self.plan.outcome == "offered":
            forbids = self.rule()
            if self.plan.attempts:
                if not self._is_confirmed(number):
                    self.thoughts.add("p_instead_try")
                rule = None
            elif forbids is not None and not self.changes() and not self._is_said(forbids):
                self._evidence()
                self.thoughts.add("p_forbidden", rule=forbids.rstrip("."))
                self.thoughts.add("p_instead")
            rule = None if rule == forbids else rule
        self._behind(number, arguments)
        if rule is not None and not self._is_said(rule):
            own = self.plan.calls[number].evidence if arguments == self.view.arguments(number) else ()
            self._say_lines(self._seen(own) or self._decisive(rule, arguments))
            self.thoughts.add("p_rule", rule=rule.rstrip("."))

    def _is_said(self, rule: str) -> bool:
        return any(rule.rstrip(".") in (step.turn.thought or "") for step in self.history)

    def _is_confirmed(self, number: int) -> bool:
        """Whether the user has agreed to what a planned call costs."""
        return any(fact.before == number and n in self.view.told for n, fact in enumerate(self.plan.user))

    def _seen(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if any(line in result.content for result in self.results)]

    def _say_lines(self, lines: Sequence[str]) -> None:
        """Quote what decides, each line once."""
        new = [line for line in lines if line not in self.thoughts.said]
        if len(new) > 1:
            self.thoughts.add("p_lines", lines=listed([f'"{line}"' for line in new]))
        elif new:
            self.say_line(new[0])

    def going_on(self, *, free: bool) -> str:
        """How to put a change that is made now. ``free``: no rule of the policy is about it, which may be said; a rule
        that is written nowhere shows only when it stops the call."""
        if free and float(self.generator.random()) < 0.5:
            return "p_try"
        return "p_write_next" if self.changes() else "p_write"

    def _decisive(self, rule: str, arguments: Mapping[str, Any]) -> list[str]:
        """What was looked up to decide on something that a rule is about: the line of it, or those of two look-ups of
        one kind; of a rule with several cases each line that speaks of one."""
        looked = [self.view.done[n] for n, one in enumerate(self.plan.calls) if one.decides and n in self.view.done]
        several = (lines_on(rule, made.result) for made in reversed(looked)) if rule.count(" or ") > 1 else ()
        if (cases := next((lines for lines in several if len(lines) > 1), None)) is not None:
            return of_number(cases, arguments)
        about = [value for value in arguments.values() if isinstance(value, str)]
        asked = " ".join((self.task.question, *about))
        told: list[tuple[str, int, list[str]]] = []
        for made in looked:
            common, lines = lines_about(rule, made.result, about, arguments=arguments, asked=asked)
            # A look at a day is about a rule on days, whatever stands there.
            told.append((made.call.name, common + 3 * len(set(made.call.arguments) & set(words(rule))), lines))
        most = max((common for _, common, lines in told if lines), default=0)
        tool = next((tool for tool, common, lines in reversed(told) if lines and common == most), None)
        return list(dict.fromkeys(line for name, _, lines in told if name == tool for line in lines))

    def _governs(self, tool: str) -> str | None:
        """A rule of the policy that is kept before a tool, where the task says which are."""
        own = Policed.of(self.task.details).rules.get(tool)
        if tool not in self.tools or own is None:
            return None
        return rule_for(self.prompt.system, self.tools[tool], own)

    def _behind(self, number: int, arguments: dict[str, Any]) -> None:
        """What an id rests on that was read earlier and not spoken of yet."""
        spoken = " ".join(step.turn.thought or "" for step in self.history)
        for path, given in self.plan.calls[number].given.items():
            made = self.view.done.get(-1 if given.call is None else given.call)
            value = value_at(arguments, path)
            if made is None or not isinstance(value, str):
                continue
            line = line_with([(path, value)], [made.result])
            if (
                line is not None
                and line not in spoken
                and line not in self.thoughts.said
                and details_of(self.task.question, line)
            ):
                self.thoughts.add("p_line", line=line)

    def _news(self, pairs: Sequence[tuple[ToolCall, ToolResult]]) -> str | None:
        """What a look-up shows of a change that the same one did not show before."""
        for call, result in pairs:
            before = [
                old.content
                for step in self.history[:-1]
                for made, old in zip(step.turn.calls, step.results, strict=False)
                if (made.name, made.arguments) == (call.name, call.arguments) and old.error is None
            ]
            if result.error is not None or not self.is_check():
                continue
            if not before and not self._is_new(call.arguments, self.history[:-2]):
                continue  # nothing was seen that it could be compared with
            known = [line.strip().removeprefix("- ") for old in before[-1:] for line in old.split("\n")]
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

    def _evidence(self) -> list[str]:
        """Say what was read that a rule of the policy is about; gives the lines."""
        if self.was_attempt():
            self.react(())
            return []
        if self.plan.attempts:
            return []
        if not self.plan.calls:
            # What needs no look to be refused: the message gives it away in its first sentence.
            tell = sentences(self.prompt.question, capital=True)[0]
            self.thoughts.add("p_tell", line=tell.rstrip("."))
            return []
        lines = self.grounds()
        self._say_lines(lines)
        return lines

    def deciding(self) -> list[str]:
        """The same, where the application says which they are."""
        forbidden = Policed.of(self.task.details).forbidden
        return [] if forbidden is None else self._seen(forbidden.evidence)

    def grounds(self) -> list[str]:
        """The lines of what was looked up by which the policy forbids what was asked for."""
        if told := self.deciding():
            return told
        forbidden = Policed.of(self.task.details).forbidden
        given = {} if forbidden is None else forbidden.arguments
        return of_number(self._decisive(self.plan.rule or "", given), given)
