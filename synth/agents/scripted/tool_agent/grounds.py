"""What decides on what is asked for: the rules of the policy, and what was read that they go by."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from synth.agents.grounding.weighed import brief, comparisons, is_compared
from synth.agents.plan_view import stands_in, value_at
from synth.agents.scripted.tool_agent.corrections import Corrections
from synth.agents.scripted.tool_agent.details import details_of, marks_of, today_in
from synth.agents.scripted.tool_agent.narration import (
    LONGEST,
    cut,
    ended,
    line_with,
    lines_about,
    lines_on,
    listed_kind,
    lists_one,
    looked_up,
    of_number,
    rule_for,
)
from synth.environments.contract import ToolResult
from synth.schemas.plans import Given, Ground, PlannedCall, Policed
from synth.text.lists import listed
from synth.text.words import words

__all__ = ["Grounds"]

_ID = re.compile(r"^(?=.*[A-Z])(?=.*\d)")
_ASKED = Given(source="question", words="")
_MANY = 4
"""Rules before one change from which on each is checked as soon as it can be."""


class Grounds(Corrections):
    """What speaks for and against the next call of an agent that carries out a plan, as it was read."""

    def say_line(self, line: str) -> None:
        """Quote a line that was read, now and then with what kind of thing the look-up was for."""
        tool, _ = self._held(line)
        kind = "" if self.draw(0.4) else looked_up(tool)
        intent = "p_line" if not kind else "p_line_among" if listed_kind(tool) else "p_line_of"
        self.thoughts.add("p_line_only" if self.is_alone(line) else intent, line=line, kind=kind)

    def _held(self, line: str) -> tuple[str, ToolResult | None]:
        """The latest tool that showed a line, and its observation."""
        made = ((call.name, result) for _, call, result in reversed(self.view.made) if line in result.content)
        return next(made, ("", None))

    def is_alone(self, line: str) -> bool:
        """Whether a line is all that its list holds: no choice is told of where there was none."""
        tool, result = self._held(line)
        return result is not None and bool(listed_kind(tool) or tool.startswith("find_")) and lists_one(result)

    def _grounds_of(self, number: int, arguments: dict[str, Any]) -> Sequence[Ground]:
        """The rules that are kept before a planned change, with what was read for them: those of the plan, for who
        makes its call, else the one of its tool."""
        call = self.plan.calls[number]
        alike = any(other.grounds for other in self.plan.calls if other.tool == call.tool)
        if alike and arguments == self.view.arguments(number):
            return call.grounds  # none, where the rule is about something else that the tool does
        rule = self._governs(call.tool)
        return [] if rule is None else [Ground(rule=rule, lines=tuple(self._decisive(rule, arguments)))]

    def _is_said(self, rule: str) -> bool:
        return any(brief(rule) in (step.turn.thought or "") for step in self.history)

    def _is_confirmed(self, number: int) -> bool:
        """Whether the user has agreed to what a planned call costs."""
        return any(fact.before == number and n in self.view.told for n, fact in enumerate(self.plan.user))

    def _seen(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if any(line in result.content for result in self.results)]

    def _say_lines(self, lines: Sequence[str]) -> None:
        """Quote what decides, each line once."""
        new = self._unsaid(lines)
        if len(new) > 1:
            self.thoughts.add("p_lines", lines=listed([f'"{line}"' for line in new]))
        elif new:
            self.thoughts.add("p_ground", line=new[0])

    def _unsaid(self, lines: Sequence[str]) -> list[str]:
        """Those that this turn has not quoted yet."""
        return [line for line in lines if line not in self.thoughts.said]

    def say_kept(self, grounds: Sequence[Ground], forbids: str | None = None, *, agreed: bool = False) -> None:
        """The rules that are kept before a call, with what was read for them. ``agreed``: that was said already, before
        the user was asked whether to go on."""
        kept = [one for one in grounds if one.rule != forbids and not (agreed and self._is_said(one.rule))]
        kept = [one for one in kept if not is_compared(one.weighed, self._since_change())]
        # A rule that was told for another row is told again with what was read of this one.
        new = [one for one in kept if one.lines or one.nothing or not self._is_said(one.rule) or self._uncompared(one)]
        rules = list(dict.fromkeys(ground.rule for ground in new))
        several = len({line for one in new for line in one.lines}) > 2
        by_rule = len(rules) > 2 or (len(rules) == 2 and (several or self.draw(0.5)))
        checks = self._checks(new) if by_rule else []
        if checks:
            self.thoughts.add("p_rules_by", what="; ".join(checks))
        else:
            self._say_rules(kept, new, rules)
        if rules and any(ground.lines or ground.nothing for ground in kept) and self.draw(0.4):
            self.thoughts.add("p_kept")
        same = [one for one in grounds if one.rule == forbids]
        told = [said for one in same if (said := self._comparison(one)) is not None]
        lines = [f'"{line}"' for one in same for line in self._seen(one.lines)]
        if told:
            self.thoughts.add("p_same_rule_by", what="; ".join(dict.fromkeys(told)))
        elif lines:
            self.thoughts.add("p_same_rule", lines=listed(lines))

    def say_early(self) -> None:
        """Of many rules that apply to the next change, say those that can be checked already, so that not all
        come in one thought."""
        tries, changes = self.attempts(), [n for n in self.open() if self.plan.calls[n].changes]
        if not (tries or changes) or (self.plan.outcome == "offered" and not self.plan.attempts):
            return  # a refusal comes before what is done instead
        coming = self.plan.attempts[tries[0]] if tries else self.plan.calls[changes[0]]
        grounds, view = coming.grounds, self.view
        by_user = [(path, one) for path, one in coming.given.items() if one.told or one.source == "user"]
        if any(not view.is_told(one) or view.value(coming, path, one) is None for path, one in by_user):
            return  # what the user was not asked yet is not gone by
        if len({one.rule for one in grounds}) < _MANY:
            return
        told = self._since_change()
        new = [one for one in grounds if one.weighed and one.lines and not is_compared(one.weighed, told)]
        known = [one for one in new if self._comparison(one) is not None]
        if known:
            self.thoughts.add("p_rules_early", what="; ".join(self._checks(known)))

    def _since_change(self) -> str:
        """What was thought since something was changed last: of another row the same may have been said before."""
        thoughts: list[str] = []
        for step in reversed(self.history):
            pairs = zip(step.turn.calls, step.results, strict=False)
            if any(call.name in self.view.changing and result.error is None for call, result in pairs):
                break
            thoughts.append(step.turn.thought or "")
        return " ".join(reversed(thoughts))

    def _checks(self, grounds: Sequence[Ground]) -> list[str]:
        """Each rule with how what was read compares with it, or else with the lines that it goes by: several are gone
        through one by one. Empty where one of them has neither."""
        found: dict[str, list[str]] = {}
        for one in grounds:
            said = self._comparison(one) or listed([f'"{line}"' for line in self._seen(one.lines)])
            if not said:
                return []
            found.setdefault(brief(one.rule), []).append(said)
        return [f'"{rule}": {listed(list(dict.fromkeys(said)))}' for rule, said in found.items()]

    def _say_rules(self, kept: Sequence[Ground], new: Sequence[Ground], rules: Sequence[str]) -> None:
        """The lines that were read, the rules that go by them, and how they compare."""
        told = [said for one in new if (said := self._comparison(one)) is not None]
        lines = list(dict.fromkeys(line for ground in kept for line in self._seen(ground.lines)))
        if len(rules) == 1 and len(told) == 1 and len(lines) > 2:
            lines = _nearest(lines, told[0])  # of several cases of a rule, the one that lets the call through
        together = len(rules) == 1 and bool(lines) and lines == self._unsaid(lines) and self.draw(0.4)
        if not together:
            self._say_lines(lines)
        known = [self.task.question, *(result.content for result in self.results)]
        for tool, missing in {tool: one for ground in kept for tool, one in ground.nothing.items()}.items():
            forms = (missing, missing.removesuffix(".00"))
            value = next((form for form in forms if any(form in text for text in known)), None)
            if value is not None:
                self.thoughts.add("p_nothing", kind=listed_kind(tool) or "lines that came back", value=value)
        if together:
            self.thoughts.add("p_rule_by", rule=rules[0].rstrip("."), lines=listed([f'"{line}"' for line in lines]))
        elif len(rules) > 1:
            self.thoughts.add("p_rules", rules=listed([f'"{ended(rule)[:-1]}"' for rule in rules]))
        elif rules:
            self.thoughts.add("p_rule", rule=rules[0].rstrip("."))
        if told:
            self.thoughts.add("p_weighed", what="; ".join(dict.fromkeys(told)))

    def say_broken(self) -> None:
        """Say how what was read compares with the rule that forbids what was asked for."""
        said = self.broken()
        if said is not None:
            self.thoughts.add("p_weighed", what=said)

    def broken(self) -> str | None:
        """How what was read compares with the rule that forbids what was asked for, where all of it was read."""
        forbidden = Policed.of(self.task.details).forbidden
        read = forbidden is not None and self._seen(forbidden.evidence) == list(forbidden.evidence)
        return self._told_of(forbidden.weighed) if forbidden is not None and read else None

    def _uncompared(self, one: Ground) -> bool:
        """Whether a rule was not compared with this row yet: the day of a second change, where no look is needed."""
        told = " ".join(step.turn.thought or "" for step in self.history)
        return bool(one.weighed) and not is_compared(one.weighed, told)

    def _comparison(self, one: Ground) -> str | None:
        """How what was read compares with a rule, in one of the forms that was seen in all its parts. None where none
        was, or something that the rule goes by was not read."""
        looked = {call.name for _, call, result in self.view.made if result.error is None}
        read = self._seen(one.lines) == list(one.lines) and looked.issuperset(one.nothing)
        return self._told_of(one.weighed) if read else None

    def _told_of(self, forms: Sequence[str]) -> str | None:
        seen = comparisons(forms, self.prompt, self.history)
        return seen[int(self.generator.integers(len(seen)))] if seen else None

    def say_meant(self, number: int, arguments: Mapping[str, Any], most: int) -> None:
        """By what of the request the ids of a change are the ones that are meant."""
        said = 0
        given_by_stake = sorted(self.plan.calls[number].given.items(), key=lambda one: one[0] not in self.at_stake)
        for path, given in given_by_stake:
            value, made = value_at(arguments, path), self.view.done.get(-1 if given.call is None else given.call)
            if made is None or not isinstance(value, str) or not _ID.search(value):
                continue
            line = line_with([(path, value)], [made.result])
            if said == most or line is None or line in self.thoughts.said or value not in line:
                continue
            details = marks_of(
                self.task.question, line, [made.result], self.results, today=today_in(self.prompt.system)
            )
            if details and not self.gives_away(line):
                self.thoughts.add("p_meant", value=value, details=listed(details))
                said += 1

    def _opened(self, number: int, line: str, shown: Sequence[ToolResult]) -> str | None:
        """The line of the row that look-up ``number`` opens, for use when ``line`` comes from a different row, one that
        a later look-up of the same kind opens. Empty if the opened row has no line in view; None if ``line`` is from
        the opened row, or no later look-up opens the other one."""
        call, mine = self.plan.calls[number], self.view.arguments(number) or {}
        ids = [(path, value) for path, value in mine.items() if call.given.get(path, _ASKED).source == "observation"]
        later = [
            self.view.arguments(n) or {} for n in self.open() if n != number and self.plan.calls[n].tool == call.tool
        ]
        if call.changes or not ids or any(stands_in(path, value, line) is not None for path, value in ids):
            return None
        if not any(stands_in(path, one[path], line) is not None for path, _ in ids for one in later if path in one):
            return None
        own = line_with(ids, shown) or ""
        return own.removeprefix("- ").rstrip(".")

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
        if tool not in self.tools or own is None or len(own) > 1:
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
            if not any(sign.isdigit() for sign in value):
                continue  # a code that stands in many lines
            if any(value in call.arguments.values() for _, call, _ in self.view.made):
                continue  # what was gone by already needs no word now
            line = line_with([(path, value)], [made.result])
            told = line is not None and (line in spoken or line in self.thoughts.said)
            if line is not None and not told and details_of(self.task.question, line) and not self.gives_away(line):
                now = self.last is not None and any(line in result.content for result in self.last.results)
                self.thoughts.add("p_line" if now else "p_line_before", line=line)

    def marks_on(self, number: int) -> list[str]:
        """What of the request belongs to the row that a planned look-up is about: on the line by which it is found, and
        in what later calls take from it."""
        calls = (*self.plan.calls, *self.plan.attempts)
        own = [given.words for given in self.plan.calls[number].given.values() if given.source == "observation"]
        own += [given.words for call in calls for given in call.given.values() if given.call == number]
        return list(dict.fromkeys(mark for words in own for mark in details_of(self.task.question, words)))

    def _say_astray(self, numbers: Sequence[int]) -> None:
        """Why the row that was looked at last is not the one that is meant, and by what the next one is."""
        shown = " ".join(result.content for result in self.last.results) if self.last is not None else ""
        missing = [mark for number in numbers[:1] for mark in self.marks_on(number) if not details_of(mark, shown)]
        if not missing:
            self.thoughts.add("p_maybe_this")
            return
        self.thoughts.add("p_not_this", details=listed(missing[:2]))
        for given in self.plan.calls[numbers[0]].given.values():
            line = given.words.removeprefix("- ").rstrip(".")
            marks = [mark for mark in missing[:2] if details_of(mark, line)]
            if given.source == "observation" and marks and self._may_quote(line) and self._seen([line]):
                self.thoughts.add("p_line_fits", line=line, details=listed(marks))
                return

    def _may_quote(self, line: str) -> bool:
        """Whether it can be quoted, and was not yet."""
        if len(line) > LONGEST or '"' in line or line.endswith(":"):
            return False
        return not any(line.rstrip(".") in (step.turn.thought or "") for step in self.history)

    def _both(self, first: PlannedCall, lines: Collection[str]) -> tuple[str, str] | None:
        """The line that a look-up is made for, with the one that another look-up by the same tool is made for, where
        both were shown at once: which of them comes first means nothing."""
        alike = [call for n, call in enumerate(self.plan.calls) if call.tool == first.tool and n in self.open()]
        shown = [
            [given.words for given in call.given.values() if given.source == "observation" and given.words in lines]
            for call in alike
        ]
        found = [cut(words[0].removeprefix("- ").rstrip(".")) for words in shown if len(words) == 1]
        own = list(dict.fromkeys(line for line in found if self._may_quote(line) and not self.gives_away(line)))
        return (own[0], own[1]) if len(own) == 2 and not first.changes else None

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


def _nearest(lines: Sequence[str], said: str) -> list[str]:
    """Those lines that have most words in common with what is said of them."""
    wanted = set(words(said))
    common = [len(wanted & set(words(line))) for line in lines]
    return [line for line, shared in zip(lines, common, strict=True) if shared == max(common)]
