"""How far a run has come with the plan of a reverse task: which of its calls were made, what the user said, and what
was changed that nobody asked for.

Read from the calls and observations alone, for whoever acts by a plan and for whoever judges by it. What a call of the
plan needs may be an id that this run was handed and the plan's was not: it is read again from this run's own
observation, at the place where the plan's stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from synth.agents.contract import Step, Turn
from synth.agents.grounding.written import written_forms
from synth.environments.contract import ToolCall, ToolResult
from synth.identity import canonical_json
from synth.schemas.plans import Given, Plan, Planned, PlannedCall, Request, UserFact
from synth.schemas.tasks import Task

__all__ = ["ASK", "Made", "PlanView", "alike", "plan_of", "reread", "shape_of", "stands_in", "value_at"]

ASK = "ask_user"
"""The tool by which an agent asks the user, in environments where a task leaves something open."""
_LONG = 3
"""Characters of a value that is not met by chance."""
_FREE = 5
"""Words from which on a text says something in words of one's own: two such texts may do the same."""


def plan_of(task: Task) -> Plan | None:
    """The plan of a reverse task; None for any other task.

    Raises:
        ValueError: the task holds something else by that name.
    """
    return Planned.of(task.details).plan if Planned.stand_in(task.details) else None


@dataclass(frozen=True)
class Made:
    """A call that was made and, but for attempts, not refused."""

    turn: int
    call: ToolCall
    result: ToolResult


class PlanView:
    """Grows step by step."""

    def __init__(self, plan: Plan, question: str, changing: Iterable[str] = (), history: Iterable[Step] = ()) -> None:
        """
        Args:
            changing: Tools that change the state, where more is known of that than what the plan's own calls say.
        """
        self.plan = plan
        self.question = question
        self.changing = frozenset(changing) | {call.tool for call in plan.calls if call.changes}
        self.done: dict[int, Made] = {}
        """Number of a planned call -> how it was made."""
        self.told: set[int] = set()
        """Numbers of the facts that the user has said."""
        self.strays: list[Made] = []
        """Calls that changed something and stand in no plan."""
        self.made: list[tuple[int, ToolCall, ToolResult]] = []
        """Every call with its turn and observation."""
        self.tried: dict[int, Made] = {}
        """Number of an attempt of the plan -> how it was made, and refused."""
        self.swapped: dict[str, Any] = {}
        """What an agent goes on with in the place of a value of the plan (as text), where it took another one."""
        self._turns = 0
        for step in history:
            self.take(step)

    @classmethod
    def of(cls, task: Task, history: Iterable[Step] = ()) -> PlanView | None:
        """For a task that has a plan."""
        plan = plan_of(task)
        return None if plan is None else cls(plan, task.question, Request.of(task.details).changing, history)

    @property
    def needed(self) -> int:
        """Planned calls, open facts and attempts."""
        return len(self.plan.calls) + len(self.plan.user) + len(self.plan.attempts)

    @property
    def had(self) -> frozenset[int]:
        """Numbers of the planned calls that were made, or whose observation is of no use any more; behind them, those
        of the facts that were told; behind those, of the attempts that were made."""
        calls = {number for number in range(len(self.plan.calls)) if number in self.done or self.covered(number)}
        told = {len(self.plan.calls) + number for number in self.told}
        return frozenset(calls | told | {len(self.plan.calls) + len(self.plan.user) + n for n in self.tried})

    @property
    def complete(self) -> bool:
        """Everything that was to be changed is, and what was to be seen was seen."""
        return all(number in self.had for number in range(len(self.plan.calls)))

    def missing(self) -> tuple[str, ...]:
        """What of the plan is still to be done, in words."""
        calls = [call for number, call in enumerate(self.plan.calls) if number not in self.had]
        return tuple(call.instruction for call in (*calls, *(self.plan.attempts[n] for n in self.untried())))

    def take(self, step: Step) -> frozenset[int]:
        """Add the next step; gives what it brought."""
        before = self.had
        for call, result in zip(step.turn.calls, step.results, strict=False):
            self.made.append((self._turns, call, result))
            if result.error is None:
                self._take(Made(self._turns, call, result))
            elif result.error == "refused":
                number = self.attempt(call)
                if number is not None:
                    self.tried[number] = Made(self._turns, call, result)
        self._turns += 1
        return self.had - before

    def _take(self, made: Made) -> None:
        if made.call.name == ASK:
            question, said = str(made.call.arguments.get("question", "")), _squeezed(made.result.content)
            put = UserFact.put_by(self.plan.user, question)
            facts = [(n, fact) for n, fact in enumerate(self.plan.user) if fact is put or not fact.amount]
            self.told |= {number for number, fact in facts if _squeezed(fact.says) in said}
            return
        number = self.match(made.call)
        if number is not None:
            self.done[number] = made
        elif made.call.name in self.changing:
            self.strays.append(made)

    def match(self, call: ToolCall) -> int | None:
        """The planned call that ``call`` is, of those that were not made yet."""
        for number, planned in enumerate(self.plan.calls):
            if number not in self.done and planned.tool == call.name and self._same(number, call.arguments):
                return number
        return None

    def untried(self) -> tuple[int, ...]:
        """Numbers of the attempts that were not made yet."""
        return tuple(number for number in range(len(self.plan.attempts)) if number not in self.tried)

    def attempt(self, call: ToolCall) -> int | None:
        """The attempt that ``call`` is, of those that were not made yet."""
        for number in self.untried():
            planned = self.plan.attempts[number]
            wanted = self.arguments_of(planned) or planned.arguments
            if planned.tool == call.name and (
                _plain(wanted) == _plain(call.arguments) or _alike(wanted, call.arguments)
            ):
                return number
        return None

    def unagreed(self, number: int) -> UserFact | None:
        """The sum of money that the user has not agreed to yet, where planned call ``number`` charges or refunds one;
        attempts are counted on behind the calls."""
        facts = enumerate(self.plan.user)
        return next((fact for n, fact in facts if fact.before == number and n not in self.told), None)

    def repeats(self, call: ToolCall) -> bool:
        """Whether it is a planned call that was made already."""
        return any(self.plan.calls[n].tool == call.name and self._same(n, call.arguments) for n in self.done)

    def would_bring(self, call: ToolCall, result: ToolResult) -> frozenset[int]:
        """What of the plan a call would bring forward. Changes nothing."""
        other = PlanView(self.plan, self.question, self.changing)
        other.done, other.told, other.strays = dict(self.done), set(self.told), list(self.strays)
        other.tried = dict(self.tried)
        other.made, other._turns, other.swapped = list(self.made), self._turns, dict(self.swapped)
        return other.take(Step(turn=Turn(calls=(call,)), results=(result,)))

    def name_of(self, number: int) -> str:
        """A part of ``had`` in words."""
        calls = len(self.plan.calls)
        if number < calls:
            return self.plan.calls[number].instruction.rstrip(".")
        if number < calls + len(self.plan.user):
            return f"ask the user: {self.plan.user[number - calls].topic}"
        tried = self.plan.attempts[number - calls - len(self.plan.user)]
        return f"find out what the application says to this: {tried.instruction.rstrip('.')}"

    def meant_by(self, call: ToolCall) -> tuple[str, str] | None:
        """(what it looks at, what was meant) where the call is a planned look-up but for an id, and the right id was in
        view; None for any other call."""
        for number, planned in enumerate(self.plan.calls):
            arguments = self.arguments(number)
            if number in self.had or planned.changes or planned.tool != call.name or arguments is None:
                continue
            differing = [name for name in arguments if _plain(arguments[name]) != _plain(call.arguments.get(name))]
            if set(arguments) == set(call.arguments) and len(differing) == 1:
                given = planned.given.get(differing[0])
                if given is not None and given.source == "observation":
                    return str(call.arguments[differing[0]]), str(arguments[differing[0]])
        return None

    def checks(self, call: ToolCall) -> bool:
        """Whether a look-up is about something that was changed: all that it is given, a change was given too."""
        changed = [made.arguments for _, made, result in self.made if made.name in self.changing and not result.error]
        mine = [value for value in call.arguments.values() if isinstance(value, str)]
        return bool(mine) and any(all(value in given.values() for value in mine) for given in changed)

    def covered(self, number: int) -> bool:
        """Whether a planned look-up is of no use any more: all that later calls take from it is in view. One that
        decides whether the policy allows something is always of use."""
        planned = self.plan.calls[number]
        if planned.changes or planned.decides:
            return False
        taken = [
            (path, call, given)
            for call in (*self.plan.calls, *self.plan.attempts)
            for path, given in call.given.items()
            if given.source == "observation" and given.call == number
        ]
        return bool(taken) and all(self._known(path, value_at(call.arguments, path)) for path, call, _ in taken)

    def shows(self, path: str, value: Any) -> bool:
        """Whether an observation has shown the value."""
        return any(
            result.error is None and stands_in(path, value, result.content) is not None for _, _, result in self.made
        )

    def _known(self, path: str, value: Any) -> bool:
        """Whether it was shown, and is long enough not to stand there by chance: "1" stands in every other line."""
        return len(str(value)) >= _LONG and self.shows(path, value)

    # Arguments in this run.

    def arguments(self, number: int) -> dict[str, Any] | None:
        """Arguments of a planned call as this run has to give them; None where it has not seen them yet."""
        return self.arguments_of(self.plan.calls[number])

    def arguments_of(self, planned: PlannedCall) -> dict[str, Any] | None:
        """The same for any call whose values come from the plan's calls: an attempt."""
        arguments: dict[str, Any] = {name: _copied(value) for name, value in planned.arguments.items()}
        for path, given in planned.given.items():
            value = self.value(planned, path, given)
            if value is None:
                return None
            _put(arguments, path, value)
        return arguments

    def unseen(self, number: int) -> Iterator[tuple[str, Given]]:
        """Arguments of a planned call that this run has not seen yet."""
        planned = self.plan.calls[number]
        for path, given in planned.given.items():
            if self.value(planned, path, given) is None:
                yield path, given

    def value(self, planned: PlannedCall, path: str, given: Given) -> Any:
        """An argument of a planned call in this run; None where it was not seen yet."""
        value = value_at(planned.arguments, path)
        if str(value) in self.swapped:
            return self.swapped[str(value)]
        if not self.is_told(given):
            return None
        if given.source == "user":
            told = [result.content for _, call, result in self.made if call.name == ASK]
            return value if any(given.words in text or stands_in(path, value, text) for text in told) else None
        if given.source != "observation" or given.call is None:
            return value
        made = self.done.get(given.call)
        if made is None:
            # What decides is waited for, even where the value has been seen beside something else.
            return value if self._known(path, value) and not self.plan.calls[given.call].decides else None
        if stands_in(path, value, made.result.content) is not None:
            return value
        again = reread(value, given.words, made.result.content, self.question)
        return again if again is not None else value if self.shows(path, value) else None

    def is_told(self, given: Given) -> bool:
        """Whether the user has said by what a value is the one that is meant, where the request leaves that open."""
        said = _squeezed(given.told)
        return not said or any(said in _squeezed(result.content) for _, call, result in self.made if call.name == ASK)

    def _same(self, number: int, arguments: dict[str, Any]) -> bool:
        planned = self.plan.calls[number]
        wanted = self.arguments(number) or planned.arguments
        return _plain(wanted) == _plain(arguments) or _alike(wanted, arguments)


def value_at(arguments: Any, path: str) -> Any:
    """The value of an argument, or of a part of one: ``items.0.amount``; None where there is none."""
    at = arguments
    for part in path.split("."):
        if isinstance(at, dict) and part in at:
            at = at[part]
        elif isinstance(at, list | tuple) and part.isdigit() and int(part) < len(at):
            at = at[int(part)]
        else:
            return None
    return at


def stands_in(path: str, value: Any, text: str) -> str | None:
    """The form in which ``text`` shows the value as a word of its own; None where it does not."""
    name = next((part for part in reversed(path.split(".")) if not part.isdigit()), path)
    if isinstance(value, list | dict):
        return None
    for form in written_forms(name, value):
        if form and re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text, re.IGNORECASE):
            return form
    return None


def reread(value: Any, words: str, text: str, question: str) -> str | None:
    """Where ``words`` once showed ``value``, what ``text`` shows in its place; None where that is not one thing.

    First by the words around it, then by its form: the one token of the same make that the question does not say.
    """
    if not isinstance(value, str) or not value:
        return None
    if value in words and words != value:
        left, _, right = words.partition(value)
        pattern = rf"{re.escape(left)}(\S+?){re.escape(right)}" if right else rf"{re.escape(left)}(\S+)"
        found = list(dict.fromkeys(str(match).strip(".,;:") for match in re.findall(pattern, text)))
        if len(found) == 1:
            return found[0]
    tokens = alike(value, text, question)
    return tokens[0] if len(tokens) == 1 else None


def alike(value: str, text: str, question: str) -> list[str]:
    """Tokens of ``text`` of the same make as ``value``, each once, without those that the question says. None for a
    value without a digit: words are of one make too easily."""
    if not any(sign.isdigit() for sign in value):
        return []
    found = re.findall(rf"(?<![\w-]){shape_of(value)}(?![\w-])", text)
    return list(dict.fromkeys(token for token in found if token not in question))


def shape_of(value: str) -> str:
    """The make of a value, as a pattern: which signs are capitals, small letters, digits, or themselves."""
    return "".join(
        "[A-Z]" if sign.isupper() else "[a-z]" if sign.islower() else r"\d" if sign.isdigit() else re.escape(sign)
        for sign in value
    )


def _put(arguments: dict[str, Any], path: str, value: Any) -> None:
    *front, last = path.split(".")
    at: Any = arguments
    for part in front:
        at = at[int(part)] if isinstance(at, list) else at[part]
    if isinstance(at, list):
        at[int(last)] = value
    elif last in at:
        at[last] = value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(arguments: Any) -> str:
    """Equal for arguments that say the same: case and blanks of texts apart, and what says nothing left out."""
    return canonical_json(_squeezed_all(arguments))


def _squeezed_all(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _squeezed_all(item)
            for name, item in value.items()
            if item is not None and not (name == "page" and item == 1)
        }
    if isinstance(value, list | tuple):
        return [_squeezed_all(item) for item in value]
    return _squeezed(value) if isinstance(value, str) else value


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def _alike(wanted: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """The same but for texts in words of one's own."""
    if set(wanted) != set(arguments):
        return False
    differing = [name for name in wanted if _plain(wanted[name]) != _plain(arguments[name])]
    return bool(differing) and all(_is_free(wanted[name]) and _is_free(arguments[name]) for name in differing)


def _is_free(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) >= _FREE
