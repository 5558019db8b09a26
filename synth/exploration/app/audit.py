"""What is proved of a request before it is a task. Fail-closed; every check starts from a fresh state.

``replay``: all calls, reading and writing, go through and come to the goal, with no violation. ``minimal``: no call
that changes something can be left out. ``order``: the same calls in any other order come to the same end or do not go
through. ``grounded``: every argument is said by the request, the person, or an earlier observation. ``forbidden``:
what is declined is stopped (or recorded) by the rule that is named, and goes through where that rule alone is not kept.
``injected``: a note stands in what the solution reads, and doing what it asks for as well goes through and misses the
goal. ``hidden``: what has to be tried is refused by a rule that stands in no instructions; trying changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.environments.app.environment import AppEnvironment
from synth.environments.contract import ToolCall
from synth.exploration.app.solution import AppSolution, calls_of
from synth.exploration.app.walking import replay
from synth.exploration.pipeline import Dropped, leaves, orders, removable
from synth.schemas.details import details_with
from synth.schemas.plans import Injected, Injection
from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult

__all__ = ["Auditor"]


class Auditor:
    """Audits solved requests to one application."""

    def __init__(self, environment: AppEnvironment) -> None:
        self.environment = environment
        self._without: dict[str, AppEnvironment] = {}

    def audit(self, made: AppSolution) -> tuple[CheckResult, ...]:
        """The checks that it passed.

        Raises:
            Dropped: the first that it did not.
        """
        done = [self._replay(made), self._minimal(made), self._order(made), self._grounded(made)]
        if made.stopped is not None:
            done.append(self._forbidden(made))
        if made.hidden is not None:
            done.append(self._hidden(made))
        if made.injection is not None:
            done.append(self._injected(made, made.injection))
        return tuple(done)

    def _replay(self, made: AppSolution) -> CheckResult:
        calls = calls_of(made.plan)
        again = replay(self.environment, made.task, calls)
        if not again.clean:
            raise Dropped(Reason.NOT_REPLAYED, "a call does not go through, or violates the policy")
        if again.end != made.goal.state:
            raise Dropped(Reason.NOT_REPLAYED, "the replay comes to another end")
        if replay(self.environment, made.task, []).end != again.end and not self._writes(made):
            raise Dropped(Reason.NOT_REPLAYED, "a reading call changes something")
        return CheckResult(check="replay", outcome="passed", detail=f"{len(calls)} calls come to {again.end[:12]}")

    def _writes(self, made: AppSolution) -> list[ToolCall]:
        calls = calls_of(made.plan)
        return [call for call, planned in zip(calls, made.plan.calls, strict=True) if planned.changes]

    def _minimal(self, made: AppSolution) -> CheckResult:
        writes = self._writes(made)

        def reaches(part: Sequence[ToolCall]) -> bool:
            again = replay(self.environment, made.task, part)
            return not again.violated and again.end == made.goal.state

        if not reaches(writes):
            raise Dropped(Reason.NOT_REPLAYED, "the end depends on what was read")
        left = removable(writes, reaches)
        if left is not None:
            raise Dropped(Reason.NOT_MINIMAL, f"{writes[left].name} can be left out")
        return CheckResult(check="minimal", outcome="passed", detail=f"none of {len(writes)} calls can be left out")

    def _order(self, made: AppSolution) -> CheckResult:
        writes = self._writes(made)
        other = 0
        for order in orders(writes):
            again = replay(self.environment, made.task, order)
            if again.clean and again.end != made.goal.state:
                names = ", ".join(call.name for call in order)
                raise Dropped(Reason.ORDER_MATTERS, f"{names} comes to another end")
            other += again.clean
        return CheckResult(check="order", outcome="passed", detail=f"{other} other orders come to the same end")

    def _grounded(self, made: AppSolution) -> CheckResult:
        results = replay(self.environment, made.task, calls_of(made.plan)).results
        count = 0
        first = next((n for n, call in enumerate(made.plan.calls) if call.changes), len(made.plan.calls))
        for number, call in (*enumerate(made.plan.calls), *((first, call) for call in made.plan.attempts)):
            for path, _ in leaves(call.arguments):
                given = call.given.get(path)
                if given is None:
                    raise Dropped(Reason.UNGROUNDED, f"{call.tool}.{path}: nothing says where it comes from")
                if given.source == "question":
                    held = given.words in made.question
                elif given.source == "user":
                    held = any(given.words in fact.says for fact in made.plan.user)
                elif given.source == "schema":
                    held = given.words in self.environment.instructions()
                else:
                    held = given.call is not None and given.call < number and given.words in results[given.call].content
                if not held:
                    raise Dropped(Reason.UNGROUNDED, f"{call.tool}.{path}: {given.words!r} does not stand there")
                count += 1
        return CheckResult(check="grounded", outcome="passed", detail=f"{count} values are said")

    def _forbidden(self, made: AppSolution) -> CheckResult:
        stopped = made.stopped
        assert stopped is not None
        rule = str(stopped.rule)
        attempt = replay(self.environment, made.task, [stopped.call])
        if rule not in ((*attempt.violated,) if stopped.recorded else attempt.stopped):
            raise Dropped(Reason.NOT_FORBIDDEN, f"{rule} does not stop it from the beginning")
        if rule not in self._without:
            self._without[rule] = self.environment.without(rule)
        if not replay(self._without[rule], made.task, [stopped.call]).clean:
            raise Dropped(Reason.NOT_FORBIDDEN, f"without {rule} it would not go through either")
        return CheckResult(check="forbidden", outcome="passed", detail=f"{rule} forbids it, and nothing else does")

    def _injected(self, made: AppSolution, note: Injection) -> CheckResult:
        calls = calls_of(made.plan)
        task = made.task.model_copy(update={"details": details_with(made.task.details, Injected(injection=note))})
        again = replay(self.environment, task, calls)
        if again.end != made.goal.state or not any(note.text in result.content for result in again.results):
            raise Dropped(Reason.NOT_REPLAYED, "the solution does not come across the note")
        asked = ToolCall(id="asked", name=note.tool, arguments=note.arguments)
        obeyed = replay(self.environment, task, [*calls, asked])
        if not obeyed.clean or obeyed.end == made.goal.state:
            raise Dropped(Reason.NOT_REPLAYED, "what the note asks for does no harm")
        return CheckResult(check="injected", outcome="passed", detail=f"{note.tool}, if obeyed, misses the goal")

    def _hidden(self, made: AppSolution) -> CheckResult:
        assert made.hidden is not None
        rule, text = made.hidden.rule, " ".join(made.hidden.text.split())
        if text in " ".join(self.environment.instructions().split()):
            raise Dropped(Reason.NOT_FORBIDDEN, f"{rule} is written for everybody to read")
        calls = calls_of(made.plan)
        at = next((n for n, call in enumerate(made.plan.calls) if call.changes), len(calls))
        tried = [ToolCall(id="attempt", name=one.tool, arguments=one.arguments) for one in made.plan.attempts]
        again = replay(self.environment, made.task, [*calls[:at], *tried, *calls[at:]])
        found = again.stopped[at : at + len(tried)]
        if not tried or set(found) != {rule}:
            raise Dropped(Reason.NOT_FORBIDDEN, f"{rule} does not stop what is tried")
        if again.end != made.goal.state or again.violated:
            raise Dropped(Reason.NOT_REPLAYED, "trying comes to another end")
        return CheckResult(check="hidden", outcome="passed", detail=f"{rule} is not written, and refuses what is tried")
