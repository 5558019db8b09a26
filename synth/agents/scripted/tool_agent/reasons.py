"""Where a plan stands after a history, and what is thought of it: what was observed, what the next call is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from synth.agents.plan_view import ASK, stands_in, value_at
from synth.agents.scripted.tool_agent.details import as_quoted, details_of, marks_of, only_called, today_in
from synth.agents.scripted.tool_agent.grounds import Grounds
from synth.agents.scripted.tool_agent.narration import (
    LONGEST,
    is_clause,
    joined,
    line_with,
    listed_kind,
    listed_under,
    looks_at,
    named_in,
    outline_of,
    said_by,
    say_page_step,
    shown_values,
)
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.plans import PlannedCall, Policed, Twinned
from synth.text.lists import listed
from synth.text.sentences import sentences

__all__ = ["Reasons"]

_PRICING = frozenset(("quote", "price"))
"""Beginnings of the names of tools that say what something costs."""
_EXPLAINED = 0.25
"""Share of the changes before which a teacher says once more by what its ids are the ones that are meant."""
_NUMBERS = re.compile(r"\S*\d\S*")


class Reasons(Grounds):
    """What is known before one turn of an agent that carries out ``task``'s plan, put into thoughts."""

    def react(
        self,
        numbers: Sequence[int],
        arguments: dict[str, Any] | None = None,
        attempt: PlannedCall | None = None,
        *,
        ends: bool = False,
    ) -> None:
        """What the last observation is good for, for who makes the planned calls ``numbers`` next. ``arguments``: those
        of the first of them, where they are others than the plan's; or of the ``attempt`` that is made. ``ends``: it is
        the last turn."""
        if self.last is None:
            return
        self._react(numbers, arguments, attempt)
        planned = attempt if attempt is not None or not numbers else self.plan.calls[numbers[0]]
        right = self.view.arguments(numbers[0]) if numbers else arguments
        if (planned is not None or self.explains) and (arguments is None or arguments == right):
            self.say_amiss(planned, right)
        if not ends:
            self.say_open(numbers[0] if numbers else None)

    def _react(self, numbers: Sequence[int], arguments: dict[str, Any] | None, attempt: PlannedCall | None) -> None:
        assert self.last is not None
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
            refusal = said_by(wrong[-1]).rstrip(".")
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
            self._say_astray(numbers)
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
            if self.view.is_told(given)
            # Who takes another row than the plan's does not read the plan's line.
            and (place or not numbers or arguments is None or value_at(arguments, path) == value_at(mine, path))
        ]
        line = next((text for text in told if text in lines and self._may_quote(text)), None) or line_with(new, shown)
        first = self.plan.calls[numbers[0]] if numbers and arguments is None else None
        if first is not None and (both := self._both(first, lines)) is not None:
            self.thoughts.add("p_line_both", line=both[0], other=both[1])
            return
        if line is not None and first is not None and (mine_too := self._opened(numbers[0], line, shown)) is not None:
            # A line on the next of several look-ups of one kind: this one is about its own.
            if mine_too:
                self.thoughts.add("p_line_both", line=mine_too, other=line.removeprefix("- ").rstrip("."))
            return
        if line is None or self.gives_away(line.strip().removeprefix("- ").rstrip(".")):
            return
        line = line.removeprefix("- ").rstrip(".")
        other = [one for one in new if one in own and stands_in(*one, line) is None]
        beside = line_with(other, shown) if numbers and other else None
        if beside is not None and not self.gives_away(beside.removeprefix("- ").rstrip(".")):
            # Two values of the call: an airport to leave from and one to fly to, a flight and who pays.
            self._say_two(line, beside.removeprefix("- ").rstrip("."), own)
            return
        details = self._marks(line, shown)
        title = None if details else only_called(self.task.question, line, shown)
        header = listed_under(line, self.results)
        if header is not None and (details or title is not None) and self.draw(0.6):
            # That one fits is announced where it can be said by what.
            said = is_clause(header) and self.draw(0.5)
            self.thoughts.add("p_among" if said else "p_one_of", header=header)
        fits = bool(details) and not any(detail in line for detail in details if self.draw(0.35))
        fits = fits and not self.is_alone(line)
        if fits and self.draw(0.4):
            self.thoughts.add("p_line_fits", line=line, details=listed(details))
            return
        self.say_line(line)
        if fits:
            self.thoughts.add("p_fits", details=listed(details))
        elif title is not None:
            self.thoughts.add("p_only", title=f"“{title}”")

    def _marks(self, line: str, shown: Sequence[ToolResult]) -> list[str]:
        """By what of the request a line is the one that is meant; what the user has replaced since counts no more."""
        told = [fact.says for number, fact in enumerate(self.plan.user) if fact.changes and number in self.view.told]
        if not told:
            return marks_of(self.task.question, line, shown, self.results, today=today_in(self.prompt.system))
        return marks_of(" ".join(told), line, shown) or marks_of(_NUMBERS.sub(" ", self.task.question), line, shown)

    def _say_two(self, line: str, other: str, values: Sequence[tuple[str, Any]]) -> None:
        """Quote two lines that a call needs, with what each is for where they stand in one list."""
        tool = next((call.name for _, call, result in self.view.made if line in result.content), "")
        one_list = any(line in result.content and other in result.content for result in self.results)
        roles = [
            next((path for path, value in values if path.isalpha() and stands_in(path, value, text) is not None), None)
            for text in (line, other)
        ]
        if one_list and all(roles) and listed_kind(tool):
            kind, (first, second) = listed_kind(tool), roles
            self.thoughts.add("p_two", kind=kind, line=line, other=other, role=first, other_role=second)
            return
        if one_list:
            self.thoughts.add("p_line_both", line=line, other=other)
            return
        self.say_line(line)
        self.say_line(other)

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
            # What is done in place of something that a rule forbids was called allowed already.
            ruled = bool(call.grounds) or call.tool in Policed.of(self.task.details).rules
            ruled = ruled or (self.plan.outcome == "offered" and not self.plan.attempts)
            free = not ruled and "## Policy" in self.prompt.system
            self.say_grounds(number, arguments)
            if self.explains or self.draw(_EXPLAINED):
                self.say_meant(number, arguments, most=2 if self.explains else 1)
            if arguments == self.view.arguments(number):
                self.say_at_stake(call)
            if values and not self._corrected:
                self.thoughts.add(self.going_on(free=free), values=listed(as_quoted(values, self.task.question)))
            return
        self._behind(number, arguments)
        if self.explains and self.at_stake:
            self.say_meant(number, arguments, most=1)
        if any((one.name, one.arguments) == (call.tool, arguments) for _, one, _ in self.view.made):
            self.thoughts.add("p_look_again")
        elif not self.history:
            from_user = [value for value in values if value in self.task.question]
            who = any(name.endswith(("name", "email")) for name in arguments)
            if who and from_user:
                self.thoughts.add("p_start", value=joined(from_user, self.task.question))
            elif named := [value for value in from_user if not value.islower()]:
                self.thoughts.add("p_first", value=named[0])
            elif not listed_kind(call.tool) or self.draw(0.5):
                self.thoughts.add("p_start_plain")
            else:
                self._why_list(number)
        elif self.is_price(number):
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
            if kind and intent == "p_look_kinds" and self._only_decides(number):
                self.thoughts.add("p_list_decides", kind=f"{kind} of {found}")
            else:
                self.thoughts.add(intent, value=found, kind=kind)
        elif listed_kind(call.tool):
            self._why_list(number)
        else:
            self.thoughts.add("p_look_plain")

    def is_price(self, number: int) -> bool:
        """Whether a planned call looks up what the next one costs."""
        return self.plan.calls[number].tool.partition("_")[0] in _PRICING

    def _only_decides(self, number: int) -> bool:
        """Whether a look-up is made for a rule alone: no later call takes anything from it."""
        later = (*self.plan.calls, *self.plan.attempts)
        used = any(given.call == number for call in later for given in call.given.values())
        return self.plan.calls[number].decides and not used

    def _why_list(self, number: int) -> None:
        """What a list of all there is of a kind is for: something that the request names, or a rule."""
        kind, detail = listed_kind(self.plan.calls[number].tool), None
        told = [result.content for _, call, result in self.view.made if call.name == ASK]
        asked = " ".join((self.task.question, *told))
        for later in (*self.plan.calls, *self.plan.attempts):
            for given in later.given.values():
                if given.source == "observation" and given.call == number and detail is None:
                    detail = next(iter(details_of(asked, given.words)), None)
        if detail is not None:
            self.thoughts.add("p_list_for", kind=kind, detail=detail)
        else:
            self.thoughts.add("p_list_decides" if self._only_decides(number) else "p_list", kind=kind)

    def going_on(self, *, free: bool) -> str:
        """How to put a change that is made now. ``free``: no rule of the policy is about it, which may be said; a rule
        that is written nowhere shows only when it stops the call."""
        if free and float(self.generator.random()) < 0.5:
            return "p_try"
        return "p_write_next" if self.changes() else "p_write"

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
            sight = self.sight()
            if sight is not None and sight.words.removeprefix("- ") in new:
                return sight.words.removeprefix("- ")
            told = [
                (sum(len(str(value)) for name, value in values if stands_in(name, value, line) is not None), -at, line)
                for at, line in enumerate(new)
            ]
            return max((one for one in told if one[0]), default=(0, 0, None))[2]
        return None

    def _telling(self) -> str:
        """The sentences of a request that give it away: those that one in which no harm is meant does not have."""
        every = sentences(self.prompt.question, capital=True)
        twin = Twinned.of(self.task.details).twin
        own = [one for one in every if twin is not None and one not in twin.other.question]
        at = every.index(own[0]) if own else 0
        both = " ".join(every[at : at + 2])
        return both if own[1:2] == every[at + 1 : at + 2] != [] and len(both) <= 2 * LONGEST else every[at]

    def say_grounds(self, number: int, arguments: dict[str, Any]) -> None:
        """Why the policy allows a change, or what is done in place of one that it forbids: once in a run."""
        forbids: str | None = None
        if self.plan.outcome == "offered":
            forbids = self.rule()
            if self.plan.attempts:
                if self.view.tried and not self._is_confirmed(number):
                    self.thoughts.add("p_instead_try")
            elif forbids is not None and not self.changes() and not self._is_said(forbids):
                self._evidence()
                self.thoughts.add("p_forbidden", rule=forbids.rstrip("."))
                self.say_broken()
                self.thoughts.add("p_instead")
        self._behind(number, arguments)
        self.say_kept(self._grounds_of(number, arguments), forbids, agreed=self._is_confirmed(number))

    def _evidence(self) -> list[str]:
        """Say what was read that a rule of the policy is about; gives the lines."""
        if self.was_attempt():
            self.react(())
            return []
        if self.plan.attempts:
            return []
        if not self.plan.calls:
            # What needs no look to be refused: the message gives it away in its first sentence.
            self.thoughts.add("p_tell", line=self._telling().rstrip("."))
            return []
        lines = self.grounds()
        self._say_lines(lines)
        return lines
