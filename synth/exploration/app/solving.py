"""From words to calls: the reading calls by which somebody who hears a request comes to every id that it needs.

Fail-closed: an argument whose value neither the request nor an earlier observation says is an error of the candidate,
never a guess. A reference has to be said in full, fit one row only, and be told by what the tools show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEpisode
from synth.environments.app.requests import Ask, Look, Question
from synth.environments.app.words import PageNote
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.app.deciding import (
    Amount,
    priced,
    seen_by,
    sights,
    sum_in,
)
from synth.exploration.app.grounds import Grounds
from synth.exploration.app.phrases import Said, said_in
from synth.exploration.app.requests import AppRequests, Form, Values
from synth.exploration.app.shown import canonical, first_line, holds, instruction, line_with
from synth.exploration.pipeline import Dropped
from synth.schemas.plans import Given, PlannedCall
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task

__all__ = ["Solver"]

_LINE = 400


class Solver(Grounds):
    """Carries out one plan in an episode of its own, step by step, and notes where each value comes from."""

    def __init__(
        self,
        app: AppRequests,
        task: Task,
        speaker: Any,
        said: Sequence[Said],
        told: Mapping[str, Sequence[Said]] | None = None,
    ) -> None:
        """
        Args:
            said: What the request says.
            told: The person's answers when asked, with what each says.
        """
        self.app = app
        self.speaker = speaker
        self.said = tuple(said)
        self.told = told or {}
        self.start = app.environment.reset(task)
        self.episode: AppEpisode = app.environment.reset(task)
        self.calls: list[PlannedCall] = []
        self.results: list[ToolResult] = []
        self.attempts: list[PlannedCall] = []
        """Calls that a hidden rule stops: they are not part of what is done."""
        self.amounts: list[Amount] = []
        """Sums that the person has to agree to."""
        self._priced = None
        self._known: dict[tuple[str, Any], Given] = {}

    def close(self) -> None:
        self.start.close()
        self.episode.close()

    def write(self, name: str, row: Values, words: str) -> ToolResult:
        """Carry out an ask's call, with all the reading that it needs before it, and that decides on it.

        Raises:
            Dropped: a value comes from nowhere, a reference fits several rows, or the call does not go through.
        """
        self.decide(name, row)
        given = self.reach(name, row, words)
        line = self.price(name, row, given)
        grounds = self._grounds(name, row)
        if line is not None:
            self._waits(name, row, line, len(self.calls), attempt=False)
        arguments = self.app.arguments(name, row)
        before = sights(self.episode, self.calls, arguments)
        result = self._call(self.app.tool(name), arguments, given, changes=True)
        shown = seen_by(before, sights(self.episode, self.calls, arguments), result.content)
        self.calls[-1] = self.calls[-1].model_copy(update={"grounds": grounds, "shown": shown})
        if result.error is not None:
            raise Dropped(
                Reason.NOT_REPLAYED, f"{name}: the call goes wrong once the reading is done: {result.content}"
            )
        return result

    def reach(self, name: str, row: Values, words: str) -> dict[str, Given]:
        """Do the reading that an ask's call needs; where each of its values comes from."""
        ask = self.app.requests.asks[name]
        given: dict[str, Given] = {}
        for argument, spec, value in self.app.holes(name, row):
            given |= self._given(ask, row, argument, spec, value, argument, words)
        return given

    def attempt(self, name: str, row: Values, given: dict[str, Given]) -> None:
        """Make an ask's call that a hidden rule stops; ``given`` as :meth:`reach` said.

        Raises:
            Dropped: it goes through, or goes wrong in itself.
        """
        planned = self._planned(self.app.tool(name), self.app.arguments(name, row), given, changes=True)
        result = self.episode.step(ToolCall(id="attempt", name=planned.tool, arguments=planned.arguments))
        if result.error != "refused":
            raise Dropped(Reason.NOT_FORBIDDEN, f"{name}: no rule stops it once the reading is done")
        line = self.price(name, row, given)
        if line is not None:
            self._waits(name, row, line, len(self.attempts), attempt=True)
        self.attempts.append(planned.model_copy(update={"grounds": self._grounds(name, row)}))

    def price(self, name: str, row: Values, given: Mapping[str, Given]) -> str | None:
        """Look up the amount that an ask's call moves; the line that shows it. None where it moves no money."""
        confirm = self.app.requests.asks[name].confirm
        if confirm is None:
            return None
        takes = self.app.definition.tools[confirm.tool].arguments
        call = {argument: value for argument, value in self.app.arguments(name, row).items() if argument in takes}
        at = self._looked(confirm.tool, call, since=self._last_change())
        if at is None:
            at = len(self.calls)
            own = {path: one for path, one in given.items() if path.partition(".")[0] in call}
            if self._call(confirm.tool, call, own, changes=False).error is not None:
                raise Dropped(Reason.NOT_RETRIEVABLE, f"{confirm.tool}: {self.results[-1].content}")
        self._mark(at, decides=True)
        self._priced = priced(confirm, self.results[at].content)
        return self._priced if self._priced is not None and sum_in(confirm, self._priced) else None

    def _waits(self, name: str, row: Values, line: str, number: int, *, attempt: bool) -> None:
        confirm = self.app.requests.asks[name].confirm
        assert confirm is not None
        self.amounts.append(Amount.of(confirm, row, line, number, self.episode.now[:10], attempt=attempt))

    def decide(self, name: str, row: Values) -> None:
        """Do the reading by which the policy decides on an ask's call: the same whether it is allowed or not."""
        ask = self.app.requests.asks[name]
        for look in ask.looks:
            if all(row[column] is not None for column in look.arguments.values()):
                self._look(look, row, ask, decides=True)

    def look(self, source: Question, row: Values) -> None:
        """Do the reading that a question needs."""
        for look in source.look:
            self._look(look, row, source)

    def shows(self, value: Any) -> bool:
        """Whether the last observation holds ``value``."""
        return bool(self.results) and holds(self.results[-1].content, value)

    # -- where a value comes from ------------------------------------------------------------------------------------

    def _given(
        self,
        source: Ask | Question | None,
        row: Values,
        name: str,
        spec: Argument,
        value: Any,
        path: str,
        words: str,
        column: str | None = None,
    ) -> dict[str, Given]:
        if spec.type == "list":
            return self._parts(source, row, spec, value, path, words)
        forms = self.app.forms(source, name, spec)
        direct = self._direct(column or name, value)
        if direct is not None and not (forms and self._is_me(forms, value)):
            return {path: direct}
        if column is not None and (seen := self._seen(value, column)) is not None:
            return {path: seen}
        today = self.episode.now[:10]
        if column is not None and value in (today, today[:7]):
            # What the day is, every agent is told.
            return {path: Given(source="schema", words=str(value))}
        if forms:
            meant = self._reference(forms, name, value, row)
            if isinstance(source, Ask) and column is None and meant.call is not None:
                self._mark(meant.call, decides=True)  # which one is changed, or pays, is looked up and never assumed
            return {path: meant}
        if isinstance(source, Ask) and name in (*source.tells, *source.free):
            return {path: Given(source="question", words=words)}
        place = self._seen(value, column or name)
        if place is not None:
            return {path: place}
        raise Dropped(Reason.UNGROUNDED, f"{path}: nothing says {value!r}")

    def _parts(
        self, source: Ask | Question | None, row: Values, spec: Argument, value: Any, path: str, words: str
    ) -> dict[str, Given]:
        given: dict[str, Given] = {}
        for number, item in enumerate(value):
            at = f"{path}.{number}"
            if spec.of is not None:
                given |= self._given(source, row, path, spec.of, item, at, words)
                continue
            for field, inner in spec.fields.items():
                if field in item:
                    given |= self._given(source, row, field, inner, item[field], f"{at}.{field}", words)
        return given

    def _direct(self, name: str, value: Any) -> Given | None:
        text = int(value) if isinstance(value, bool) else value
        found = said_in(self.said, name, text)
        if found is not None:
            return Given(source="question", words=found.words)
        answer = self._told_by(name, text)
        return Given(source="user", words=answer) if answer else None

    def _is_me(self, forms: Sequence[Form], value: Any) -> bool:
        speaker = self.app.requests.speaker
        return speaker is not None and forms[0].table == speaker.table and value == self.speaker

    def _seen(self, value: Any, column: str) -> Given | None:
        """The first observation that holds a value which is long enough not to be there by chance."""
        found = first_line(self.results, value, column)
        if found is None:
            return None
        told = next((one.told for (_, key), one in self._known.items() if key == value), "")
        return Given(source="observation", words=found[1][:_LINE], call=found[0], told=told)

    # -- references --------------------------------------------------------------------------------------------------

    def _reference(self, forms: Sequence[Form], name: str, key: Any, row: Values) -> Given:
        place = (forms[0].table or canonical(name, row), key)
        if place not in self._known:
            self._known[place] = self._found(forms, name, key, row)
            self._wait_for(key, self._known[place].told)
        return self._known[place]

    def _found(self, forms: Sequence[Form], name: str, key: Any, row: Values) -> Given:
        """The look-up that shows the row that is meant by the first of ``forms`` that tells it from others."""
        bound = {**row, "speaker": self.speaker}
        problem = Dropped(Reason.UNGROUNDED, f"{name}: what is said tells no row apart")
        for form in forms:
            found, count = self.app.referred(self.episode, form, key, bound)
            first, at_first = self.app.referred(self.start, form, key, bound)
            if found is None or not all(self._is_said(column, found[column]) for column in form.reference.by):
                continue
            if count != 1 or (first is not None and at_first != 1):
                problem = Dropped(Reason.AMBIGUOUS, f"{name}: {max(count, at_first)} rows fit what is said")
                continue
            if first is None and (made := self._seen(key, name)) is not None:
                return made
            shown = form.reference.by if form.reference.shown is None else form.reference.shown
            values, tools = [found[column] for column in shown], {look.tool for look in form.reference.look}
            given = self._shown(key, values, tools)
            if given is None:
                for look in form.reference.look:
                    self._look(look, found, None)
                given = self._shown(key, values, tools) or self._turn_pages(key, values, tools)
            if given is not None:
                told = (self._told_by(column, found[column]) for column in form.reference.by)
                return given.model_copy(update={"told": next((answer for answer in told if answer), "")})
            problem = Dropped(Reason.NOT_RETRIEVABLE, f"{name}: the look-up does not show {key} with what is said")
        raise problem

    def _told_by(self, column: str, value: Any) -> str:
        """The answer that says a value which the request leaves open; empty where it says it, or nothing has to."""
        if value is None or said_in(self.said, column, value) is not None:
            return ""
        return next((answer for answer, told in self.told.items() if said_in(told, column, value) is not None), "")

    def _wait_for(self, key: Any, told: str) -> None:
        """Let look-ups that are about a row wait for the answer by which it is the one that is meant."""
        for number, call in enumerate(self.calls if told else ()):
            mine = {
                path: given.model_copy(update={"told": told})
                for path, given in call.given.items()
                if given.source == "observation" and call.arguments.get(path) == key
            }
            self.calls[number] = call.model_copy(update={"given": {**call.given, **mine}})

    def _is_said(self, column: str, value: Any) -> bool:
        return value is None or said_in(self.said, column, value) is not None or bool(self._told_by(column, value))

    def _look(self, look: Look, row: Values, source: Ask | Question | None, *, decides: bool = False) -> None:
        arguments = self.app.definition.tools[look.tool].arguments
        given: dict[str, Given] = {}
        call: Values = {}
        for name, column in look.arguments.items():
            value, spec = row[column], arguments[name]
            if value is None:
                continue
            value = bool(value) if spec.type == "boolean" else value
            given |= self._given(source, row, name, spec, value, name, "", column)
            call[name] = value
        at = self._looked(look.tool, call, since=0 if decides else self._last_change())
        if at is not None and not (decides and self._is_outdated(at, look, row, source)):
            self._mark(at, decides=decides)
            return
        result = self._call(look.tool, call, given, changes=False)
        self._mark(len(self.calls) - 1, decides=decides)
        if result.error is not None:
            raise Dropped(Reason.NOT_RETRIEVABLE, f"{look.tool}: {result.content}")

    def _mark(self, at: int, *, decides: bool) -> None:
        if decides:
            self.calls[at] = self.calls[at].model_copy(update={"decides": True})

    def _shown(self, key: Any, values: Sequence[Any], tools: Collection[str]) -> Given | None:
        """Where one of ``tools`` shows a key with all that is said of its row."""
        for number in reversed(range(len(self.results))):
            result = self.results[number]
            if result.error is None and self.calls[number].tool in tools:
                line = line_with(result.content, key, values, self.calls[number].arguments)
                if line is not None:
                    return Given(source="observation", words=line.strip()[:_LINE], call=number)
        return None

    def _turn_pages(self, key: Any, values: Sequence[Any], tools: Collection[str]) -> Given | None:
        last = self.calls[-1]
        note = PageNote.read(self.results[-1].content) if self.results else None
        if note is None or "page" in last.arguments:
            return None
        at = len(self.calls) - 1
        for page in range(2, note.pages + 1):
            given = {**last.given, "page": Given(source="observation", words=note.line(), call=at)}
            self._call(last.tool, {**last.arguments, "page": page}, given, changes=False)
            place = self._shown(key, values, tools)
            if place is not None:
                return place
        return None

    def _call(self, tool: str, arguments: Values, given: dict[str, Given], *, changes: bool) -> ToolResult:
        result = self.episode.step(ToolCall(id=f"plan_{len(self.calls)}", name=tool, arguments=arguments))
        self.calls.append(self._planned(tool, arguments, given, changes=changes))
        self.results.append(result)
        return result

    def _planned(self, tool: str, arguments: Values, given: dict[str, Given], *, changes: bool) -> PlannedCall:
        about = self.app.definition.tools[tool].about
        return PlannedCall(
            tool=tool, arguments=arguments, changes=changes, instruction=instruction(about, arguments), given=given
        )
