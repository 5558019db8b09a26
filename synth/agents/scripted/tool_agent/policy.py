"""The scripted policy that carries out plans, and errs.

It goes by the plan, as nobody without a language model could read a request in free words, and its rows say so
(``privileged``). Its errors are those of agents in applications: drawn turn by turn from what is visible, never
planned, each logged. What it did wrong it goes on with: who looked at another customer's reservation changes that one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.plan_view import Made, PlanView, alike, stands_in, value_at
from synth.agents.scripted.choosing import Mistakes
from synth.agents.scripted.config import ToolPolicyConfig
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.tool_agent.details import as_quoted
from synth.agents.scripted.tool_agent.error_injection import improvised, made_up, other_value
from synth.agents.scripted.tool_agent.narration import Narration, shown_values
from synth.agents.scripted.tool_agent.turn_builder import AT_ONCE, TurnBuilder
from synth.environments.contract import ToolCall
from synth.schemas.details import details_with
from synth.schemas.plans import Given, Planned, Policed, Request, Twinned, UserFact
from synth.schemas.tasks import Task
from synth.tasks.safety_pairs import twin_of
from synth.text.lists import listed

__all__ = ["ToolPolicy"]

_REMARKS = 0.5
"""Share of the notes not followed of which it says so."""


class ToolPolicy:
    """A policy (``synth.agents.contract.Policy``) for one task with a plan."""

    privileged = True

    def __init__(self, task: Task, config: ToolPolicyConfig | None = None) -> None:
        self._task = task
        self._config = config or ToolPolicyConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if not prompt.tools:
            thoughts = Thoughts(prompt.question, generator)
            thoughts.add("no_result")
            return Decision(Turn(thought=thoughts.text()))
        acting = self._acting(self._task, prompt, history, generator)
        chain = _harmful_chain(self._task)
        if chain is None:
            if (
                not acting.builder.changes()
                and twin_of(self._task) is not None
                and acting.errs(self._config.over_refuses)
            ):
                return Decision(acting.refuses(), tuple(acting.injected))
            return Decision(acting.turn(), tuple(acting.injected))
        # Whoever means harm gets what they ask for where it is not seen through; it may still be, until it is done.
        bent = self._acting(chain, prompt, history, generator)
        if not history and acting.errs(self._config.gives_in):
            bent.log("gives_in", "goes about what is asked for with harm in mind")
        elif not history or (not bent.builder.changes() and acting.notices()):
            return Decision(acting.turn(), tuple(acting.injected))
        return Decision(bent.turn(), tuple(bent.injected))

    def _acting(self, task: Task, prompt: Prompt, history: History, generator: np.random.Generator) -> _Acting:
        view = PlanView.of(task, history)
        assert view is not None
        return _Acting(task, prompt, history, generator, view, self._config)


def _harmful_chain(task: Task) -> Task | None:
    """Of a harmful safety twin, a task that has what is asked for as its plan; None for any other task."""
    twin = Twinned.of(task.details).twin if Request.of(task.details).kind == "harmful" else None
    if twin is None:
        return None
    return task.model_copy(update={"details": details_with(task.details, Planned(plan=twin.other.plan))})


class _Acting(Mistakes):
    def __init__(
        self,
        task: Task,
        prompt: Prompt,
        history: History,
        generator: np.random.Generator,
        view: PlanView,
        config: ToolPolicyConfig,
    ) -> None:
        super().__init__(config.skill, len(history), generator)
        self.view, self.config, self.generator = view, config, generator
        self.builder = TurnBuilder(task, prompt, history, generator, view)
        self.builder.thoughts = Narration(prompt.question, generator)

    def notices(self) -> bool:
        return self.builder.draw(min(0.95, self.config.notices * 2 * self.config.skill))

    def refuses(self) -> Turn:
        """Say no to what may be done, since it sounds like what may not."""
        self.log("over_refuses", "refuses what does no harm")
        self.builder.thoughts.add("p_suspect")
        return self.builder.message(self.builder.said("m_refuse_plain"))

    def turn(self) -> Turn:
        builder = self.builder
        if len(builder.history) >= self.config.patience:
            return builder.message(builder.said("m_done_plain"))
        after = self._after_errors()
        if after is not None:
            return after
        self._adopt()
        note = builder.noted()
        if note is not None and self.errs(self.config.obeys):
            self.log("obeys_note", f"{note.tool}, which a note asks for and the user does not")
            builder.thoughts.add("p_obey", beside=note.beside, tool=note.tool)
            return builder.act(note.tool, note.arguments)
        if note is not None and builder.draw(_REMARKS):
            builder.leave(note)
        if builder.history and builder.open() and self.errs(self.config.early_stop):
            self.log("early_stop", f"stopped with {len(builder.open())} calls to make")
            return self._stops()
        if builder.changed_now() and self.errs(self.config.twice):
            assert builder.last is not None
            call = builder.last.turn.calls[-1]
            self.log("twice", f"{call.name} once more")
            return self._as_if_right(call.name, call.arguments)
        bent = self._gives_in()
        if bent is not None:
            return bent
        attempts = builder.attempts()
        if attempts:
            if not self.errs(self.config.untried):
                leave = self._to_agree(len(builder.plan.calls) + attempts[0])
                return builder.attempt(attempts[0]) if leave is None else builder.confirm(leave)
            self.log("untried", f"goes on without trying {builder.plan.attempts[attempts[0]].tool}")
        ready = builder.ready()
        if ready:
            looks = [number for number in ready if not builder.plan.calls[number].changes]
            if looks[1:] and looks[0] == ready[0] and builder.draw(self.config.parallel):
                return builder.call(*looks[:AT_ONCE])
            return self._call(ready[0])
        fact = builder.fact()
        if fact is not None:
            assumed = self._assumes() if self.errs(self.config.assumes) else None
            return assumed if assumed is not None else builder.ask(fact)
        if not self.view.complete:
            return self._finds_a_way()
        return self._answers() if self.view.plan.outcome == "answered" else builder.end()

    # After what went wrong before.

    def _after_errors(self) -> Turn | None:
        builder = self.builder
        failed = builder.failed()
        if failed:
            if self.errs(self.config.gives_up):
                self.log("gives_up", f"gave up after {failed[0].name} failed")
                return builder.stuck()
            return builder.retry(failed)
        if builder.last is None:
            return None
        wrong = [
            call
            for call, result in zip(builder.last.turn.calls, builder.last.results, strict=False)
            if result.error not in (None, "failure")
        ]
        if wrong and self.errs(self.config.again):
            self.log("again", f"made the refused call of {wrong[0].name} again")
            return builder.retry(wrong[:1])  # it takes it for the tool's fault
        return None

    def _adopt(self) -> None:
        """Go on with what was done wrong as if it had been right. A look at a wrong row may be noticed."""
        notices = self.notices()
        used = {id(made.call) for made in self.view.done.values()}
        for number, planned in enumerate(self.view.plan.calls):
            if number in self.view.had or (notices and not planned.changes):
                continue
            for turn, call, result in self.view.made:
                if call.name != planned.tool or result.error is not None or id(call) in used:
                    continue
                swapped = self._swapped(number, call)
                if swapped is None:
                    continue
                self.view.done[number] = Made(turn, call, result)
                self.view.swapped |= swapped
                used.add(id(call))
                break

    def _swapped(self, number: int, call: ToolCall) -> dict[str, Any] | None:
        """Values of a planned call -> what ``call`` took in their place. None where it is another call altogether."""
        planned = self.view.plan.calls[number]
        found: dict[str, Any] = {}
        for path, given in planned.given.items():
            mine, theirs = value_at(planned.arguments, path), value_at(call.arguments, path)
            if mine == theirs:
                continue
            if not planned.changes and (given.source != "observation" or theirs is None):
                return None
            if given.source == "observation" and isinstance(theirs, str):
                found[str(mine)] = theirs
        return found

    # Errors of its own.

    def _answers(self) -> Turn:
        """The answer as far as it was read: of another row where it looked at one, or another value that stood near."""
        builder = self.builder
        right, texts = (
            builder.read_answer(),
            [result.content for result in reversed(builder.results) if not result.error],
        )
        others = [t for text in texts[:1] for t in alike(right, text, builder.task.question) if t != right]
        seen = any(right in text for text in texts)
        if not others or (seen and not self.errs(self.config.misread)):
            return builder.end() if seen else builder.stuck()
        other = others[int(self.generator.integers(len(others)))]
        if seen:
            self.log("misread", f"answered {other} where {right} was meant")
        builder.react((), ends=True)
        builder.thoughts.add("p_answer", answer=other)
        return builder.message(other)

    def _as_if_right(self, tool: str, arguments: dict[str, Any]) -> Turn:
        """Make a change that is wrong. It is said as any other one is: who errs does not know it, and no wording may
        tell the worse side of a pair."""
        builder = self.builder
        builder.react(())
        values = shown_values(arguments, [builder.task.question, *(result.content for result in builder.results)])
        if values:
            builder.thoughts.add(builder.going_on(free=False), values=listed(as_quoted(values, builder.task.question)))
        return builder.act(tool, arguments)

    def _stops(self) -> Turn:
        self.builder.thoughts.add("p_finish")  # it takes it to be done, and says so as who is done
        return self.builder.message(self.builder.said("m_done_plain"))

    def _gives_in(self) -> Turn | None:
        """What the policy forbids, or whatever else is near, in place of saying no."""
        builder, plan = self.builder, self.view.plan
        if plan.outcome not in ("refused", "offered") or self.view.strays or builder.changes():
            return None
        tried = any(result.error == "refused" for _, _, result in self.view.made)
        if plan.attempts and not tried:
            return None  # nothing that it knows of forbids it
        looked = all(number in self.view.had for number, call in enumerate(plan.calls) if not call.changes)
        if not looked or not self.errs(self.config.gives_in):
            return None
        call = (
            improvised(builder, self.generator) if tried else self._forbidden() or improvised(builder, self.generator)
        )
        if call is None:
            return None
        self.log("gives_in", f"{call[0]} although the policy forbids what is asked for")
        if not plan.attempts:
            return self._as_if_right(*call)
        builder.thoughts.add("p_around")
        return builder.act(*call)

    def _forbidden(self) -> tuple[str, dict[str, Any]] | None:
        """The call that the policy forbids, where the task says which it is and all that it takes was seen."""
        forbidden = Policed.of(self.builder.task.details).forbidden
        if forbidden is None:
            return None
        arguments = dict(forbidden.arguments)
        texts = [self.builder.task.question, *(result.content for result in self.builder.results)]
        ids = [(name, value) for name, value in arguments.items() if name.endswith("_id")]
        if not all(any(stands_in(name, value, text) for text in texts) for name, value in ids):
            return None
        return forbidden.tool, arguments

    def _call(self, number: int) -> Turn:
        builder, plan = self.builder, self.view.plan
        planned = plan.calls[number]
        changes = [n for n in builder.open() if plan.calls[n].changes]
        if planned.changes and len(changes) == 1 and builder.changes() and self.errs(self.config.forgotten):
            self.log("forgotten", f"left out {planned.instruction}")
            return self._stops()
        if not planned.changes:
            skipped = self._skips(number) if self.errs(self.config.made_up_id) else None
            if skipped is not None:
                return skipped
        leave = self._to_agree(number)
        if leave is not None:
            return builder.confirm(leave)
        arguments = self.view.arguments(number)
        assert arguments is not None
        spoilt = self._other_id(number, arguments)
        if spoilt is None and planned.changes and self.errs(self.config.wrong_value):
            spoilt = other_value(builder, number, arguments, self.generator)
            if spoilt is not None:
                self.log("wrong_value", f"{planned.tool}: {spoilt[0]} = {spoilt[1]!r}")
        if spoilt is None:
            return builder.call(number)
        path, value = spoilt
        made = {**arguments, path: value}
        builder.react((number,), made)
        builder.why(number, made)
        return builder.act(planned.tool, made)

    def _to_agree(self, number: int) -> UserFact | None:
        """The amount that the user must confirm before a call; None if there is none, or if the policy skips it."""
        fact = self.builder.to_confirm(number)
        if fact is None or not self.errs(self.config.unconfirmed):
            return fact
        self.log("unconfirmed", f"goes on before the user has agreed to {fact.amount}")
        return None

    def _ids(self, number: int) -> list[tuple[str, Given]]:
        planned = self.view.plan.calls[number]
        return [(p, g) for p, g in planned.given.items() if g.source == "observation" and "." not in p]

    def _other_id(self, number: int, arguments: dict[str, Any]) -> tuple[str, Any] | None:
        """Another id than the one that is meant, of the same list or of something that was done before."""
        planned = self.view.plan.calls[number]
        for path, given in self._ids(number):
            value = arguments.get(path)
            if not isinstance(value, str) or given.call not in self.view.done:
                continue
            if self.errs(self.config.wrong_row):
                assert given.call is not None
                shown = self.view.done[given.call].result.content
                others = [token for token in alike(value, shown, self.builder.task.question) if token != value]
                if others:
                    other = others[int(self.generator.integers(len(others)))]
                    self.log("wrong_row", f"{planned.tool}: took {other} where {value} was meant")
                    return path, other
            if self.errs(self.config.stale_id):
                used = [call.arguments.get(path) for _, call, _ in self.view.made]
                older = [one for one in dict.fromkeys(used) if isinstance(one, str) and one != value]
                if older:
                    self.log("stale_id", f"{planned.tool}: took {older[-1]} again where {value} was meant")
                    return path, older[-1]
        return None

    def _skips(self, number: int) -> Turn | None:
        """Leave a look-up out and make up what it would have shown."""
        plan = self.view.plan
        for later, call in enumerate(plan.calls):
            paths = [path for path, given in self._ids(later) if given.call == number]
            known = self.view.unseen(later)
            if not paths or later in self.view.had or {path for path, _ in known} - set(paths):
                continue
            arguments = dict(call.arguments)
            for path, _ in self._ids(later):
                if path in paths:
                    arguments[path] = made_up(str(arguments[path]), self.generator)
            self.log("made_up_id", f"{call.tool} without {plan.calls[number].tool}")
            self.builder.why(later, arguments)
            return self.builder.act(call.tool, arguments)
        return None

    def _assumes(self) -> Turn | None:
        builder, plan = self.builder, self.view.plan
        number = builder.open()[0]
        if not plan.calls[number].changes:
            return None  # an invented value would find nothing
        arguments = dict(plan.calls[number].arguments)
        for path, given in self.view.unseen(number):
            if given.source != "user" or "." in path:
                return None
            other = other_value(builder, number, arguments, self.generator, only=path)
            if other is None:
                return None
            arguments[path] = other[1]
        for path, given in self._ids(number):
            seen = self.view.value(plan.calls[number], path, given)
            if seen is not None:
                arguments[path] = seen
        self.log("assumes", f"{plan.calls[number].tool} without asking")
        builder.react((number,), arguments)
        builder.why(number, arguments)
        return builder.act(plan.calls[number].tool, arguments)

    def _finds_a_way(self) -> Turn:
        """What it needs is not in view by the plan's way: the first thing of that make, else it goes back."""
        builder, plan = self.builder, self.view.plan
        for number in builder.open():
            arguments = dict(plan.calls[number].arguments)
            for path, given in self.view.unseen(number):
                value = value_at(plan.calls[number].arguments, path)
                shown = self.view.done[given.call].result.content if given.call in self.view.done else ""
                found = alike(str(value), shown, builder.task.question)
                if not found or "." in path:
                    return builder.stuck()
                arguments[path] = found[0]
            if re.search(r"\w", plan.calls[number].tool):
                builder.why(number, arguments)
                return builder.act(plan.calls[number].tool, arguments)
        return builder.stuck()
