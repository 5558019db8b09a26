"""From a plan and a history to the next turn: what can be done now, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.plan_view import ASK, PlanView, value_at
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.tool_agent.details import as_it_stands, as_quoted
from synth.agents.scripted.tool_agent.narration import answer_line, ended, said_by, shown_values, things_of
from synth.agents.scripted.tool_agent.page_deeds import page_deeds
from synth.agents.scripted.tool_agent.reasons import Reasons
from synth.environments.contract import ToolCall
from synth.lexicon.reading import phrases
from synth.schemas.plans import Injected, Injection, Policed, UserFact
from synth.schemas.tasks import Task
from synth.text.lists import listed
from synth.text.words import FUNCTION_WORDS

__all__ = ["AT_ONCE", "TurnBuilder"]

AT_ONCE = 3
"""Look-ups in one turn at most."""

_QUOTES = 2
"""Lines that a message quotes at most, where what they come to can be said."""

_ASKING = phrases("plans")["asking"]


class TurnBuilder(Reasons):
    """One turn of an agent that carries out ``task``'s plan."""

    def __init__(
        self, task: Task, prompt: Prompt, history: History, generator: np.random.Generator, view: PlanView
    ) -> None:
        super().__init__(task, prompt, history, generator, view)
        note = Injected.of(task.details).injection
        met = [] if note is None else [_carries(step, note) for step in history]
        self._note = note if any(met) else None
        self._newly = sum(met) == 1 and met[-1]
        if self._note is not None:
            # What the rows show is read without it; what is said of it rests on what was seen.
            self.history = tuple(_without(step, self._note) for step in history)

    def left_open(self) -> UserFact | None:
        """What the request leaves open and the user was not asked yet."""
        return None if ASK not in self.tools else next(iter(self.untold()), None)

    def to_confirm(self, number: int) -> UserFact | None:
        """The sum that the user has to agree to before a planned call, or an attempt, counted on behind the calls. None
        where they can't be asked, were asked before, or nothing shows the sum."""
        fact = self.view.unagreed(number) if ASK in self.tools else None
        if fact is None or not any(fact.amount in result.content for result in self.results):
            return None
        asked = [str(call.arguments.get("question")) for _, call, _ in self.view.made if call.name == ASK]
        return None if any(UserFact.put_by(self.plan.user, question) is fact for question in asked) else fact

    def fact(self) -> UserFact | None:
        """What the user has to be asked before the next call can be made."""
        if ASK not in self.tools:
            return None
        for number in self.open():
            for path, given in self.view.unseen(number):
                if given.source == "user" or not self.view.is_told(given):
                    value = str(value_at(self.plan.calls[number].arguments, path))
                    told, says = self.untold(), given.told or given.words
                    return next((f for f in told if says in f.says or value in f.says), told[0] if told else None)
            if self.view.arguments(number) is None:
                return None
        return None

    def retry(self, calls: Sequence[ToolCall]) -> Turn:
        self.thoughts.add("p_again")
        return self._turn([(call.name, call.arguments) for call in calls])

    def call(self, *numbers: int, react: bool = True) -> Turn:
        """Make planned calls, all of which are ready."""
        if react:
            self.react(numbers)
        if not self.plan.calls[numbers[0]].changes:
            self.say_early()
        made = []
        for place, number in enumerate(numbers):
            arguments = self.view.arguments(number)
            assert arguments is not None
            made.append((self.plan.calls[number].tool, arguments))
            if place == 0:
                self.why(number, arguments)
            else:
                self._behind(number, arguments)
        if len(numbers) > 1:
            self.thoughts.add("p_both" if len(numbers) == 2 else "p_several")
        return self._turn(made)

    def attempt(self, number: int) -> Turn:
        """Try what is asked for, and nothing written forbids."""
        planned = self.plan.attempts[number]
        arguments = self.view.arguments_of(planned)
        assert arguments is not None
        self.react((), arguments, planned)
        self.say_kept(planned.grounds, agreed=self._is_confirmed(len(self.plan.calls) + number))
        texts = [self.task.question, *(result.content for result in self.results)]
        values = shown_values(arguments, texts)
        if values:
            self.thoughts.add(
                self.going_on(free=not planned.grounds), values=listed(as_quoted(values, self.task.question))
            )
        return self._turn([(planned.tool, arguments)])

    def act(self, tool: str, arguments: dict[str, Any]) -> Turn:
        """Make any call; the thoughts are what was added before."""
        return self._turn([(tool, arguments)])

    def ask(self, fact: UserFact) -> Turn:
        self.react(())
        self.thoughts.add("p_ask", topic=fact.topic)
        start = int(self.generator.integers(len(_ASKING)))
        forms = [_ASKING[(start + n) % len(_ASKING)].format(topic=fact.topic) for n in range(len(_ASKING))]
        forms += [f"What about the {word}?" for word in fact.keywords if word not in FUNCTION_WORDS] + [
            "Is there anything that I should know?"
        ]
        for form in forms:
            turn = Turn(calls=(ToolCall(id="call_0", name=ASK, arguments={"question": form}),))
            if not ungrounded(self.prompt, (*self.history, Step(turn=turn)), start=len(self.history)):
                break
        return self._turn([(ASK, {"question": form})])

    def confirm(self, fact: UserFact) -> Turn:
        """Put a sum to the user before it is charged or refunded: what is decided by the rules is decided before."""
        number = fact.before or 0
        if number < len(self.plan.calls):
            arguments = self.view.arguments(number) or {}
            self.react((number,))
            self.say_grounds(number, arguments)
        else:
            planned = self.plan.attempts[number - len(self.plan.calls)]
            self.react((), self.view.arguments_of(planned), planned)
            self.say_kept(planned.grounds)
        if fact.amount not in self.thoughts.said or self.draw(0.6):
            self.thoughts.add("p_confirm", amount=fact.amount)
        start = int(self.generator.integers(len(fact.asks)))
        forms = [fact.asks[(start + n) % len(fact.asks)] for n in range(len(fact.asks))]
        for form in (*forms, f"This is about {fact.amount}. Shall I go ahead?"):
            turn = Turn(calls=(ToolCall(id="call_0", name=ASK, arguments={"question": form}),))
            if not ungrounded(self.prompt, (*self.history, Step(turn=turn)), start=len(self.history)):
                break
        return self._turn([(ASK, {"question": form})])

    def check(self) -> Turn | None:
        """Look at what was changed last; None where no look-up takes just what that call was given."""
        if self.last is None or not self.last.turn.calls:
            return None
        changed = self.last.turn.calls[-1]
        if (sight := self.sight()) is not None and (again := self.view.arguments(sight.call or 0)) is not None:
            self.react(())
            self.thoughts.add("p_check")
            return self._turn([(self.plan.calls[sight.call or 0].tool, again)])
        given, kind = changed.arguments, things_of(changed.name)
        said = " ".join(said_by(result) for result in self.last.results)
        for tool in self.prompt.tools:
            needs = tool.parameters.get("required")
            if tool.name in self.view.changing or not isinstance(needs, list) or not needs:
                continue
            by_id = all(str(name).endswith("id") for name in needs)
            if not by_id and kind and (shown := things_of(tool.name)) and kind.isdisjoint(shown):
                continue  # the title of a task is no title of a note
            values = [given.get(str(name)) for name in needs]
            called = (tool.name, {str(name): given[str(name)] for name in needs if name in given})
            # what was changed, not who pays
            if all(isinstance(value, str) and value in said for value in values) and self.would_tell(changed, *called):
                self.react(())
                self.thoughts.add("p_check")
                return self._turn([called])
        return None

    def noted(self) -> Injection | None:
        """Instructions that are not the user's, in what was read last and not before."""
        return self._note if self._newly else None

    def leave(self, note: Injection) -> None:
        """Say that a note is not followed."""
        self.thoughts.add("p_injected", beside=note.beside, tool=note.tool)

    def _left(self) -> str:
        """What the last message says of a note that was read and not followed."""
        note = self._note
        if note is None:
            return ""
        obeyed = any((call.name, call.arguments) == (note.tool, note.arguments) for _, call, _ in self.view.made)
        return "" if obeyed else f" {self.said('m_noted', beside=note.beside)}"

    def end(self) -> Turn:
        """The last message, as the plan's outcome wants it."""
        outcome = self.plan.outcome
        if outcome == "answered":
            self.react((), ends=True)
            answer = self.read_answer()
            line = answer_line(self.task.question, answer, self.results)
            if line is not None and line not in self.thoughts.said:
                self.say_line(line)
            self.thoughts.add("p_answer", answer=answer)
            return self.message(answer)
        if outcome == "refused":
            if self.explains:
                self.say_amiss(None, None)
            self._evidence()
            rule = self.rule()
            if self.plan.attempts and self.view.tried and rule is not None:
                self.thoughts.add("p_refuse")
                return self.message(self.said("m_not_accepted", rule=rule) + self._left())
            if rule is not None:
                self.thoughts.add("p_forbidden", rule=rule.rstrip("."))
                self.say_broken()
            self.thoughts.add("p_refuse")
            said = self.said("m_refuse", rule=self._with_grounds(rule)) if rule else self.said("m_refuse_plain")
            forbidden = Policed.of(self.task.details).forbidden
            offer = "" if forbidden is None or rule is None or not forbidden.offer else f" {forbidden.offer}"
            return self.message(said + offer + self._left())
        self.react((), ends=True)
        self.thoughts.add("p_finish")
        what = " ".join(dict.fromkeys(ended(said) for said in self._told() if said))
        what = what or page_deeds(self.history)
        rule = self.rule() if outcome == "offered" else None
        if rule is not None and what:
            said = "m_instead_tried" if self.plan.attempts else "m_instead"
            return self.message(self.said(said, rule=self._with_grounds(rule), what=what) + self._left())
        return self.message((self.said("m_done", what=what) if what else self.said("m_done_plain")) + self._left())

    def _told(self) -> list[str]:
        """What the changes said, in order; of several to one thing by one tool that say how it stands now, the last."""
        found: dict[tuple[str, ...], str] = {}
        for at, (_, call, result) in enumerate(self.view.made):
            if result.error is not None or call.name not in self.view.changing:
                continue
            said = said_by(result)
            own = next((str(v) for v in call.arguments.values() if isinstance(v, str) and said.startswith(v)), None)
            key = (call.name, own) if own is not None else (str(at),)
            found.pop(key, None)
            found[key] = said
        return as_it_stands(list(found.values()))

    def _with_grounds(self, rule: str) -> str:
        """A rule and what was found that it is about, for the user."""
        looks = [result for _, call, result in self.view.made if any(name.endswith("_id") for name in call.arguments)]
        told = self.deciding()
        broken = self.broken() if len(told) > _QUOTES and not self.plan.attempts else None
        if broken is not None:
            return f"{ended(rule)} {self.said('m_weighed', what=broken)}"
        known = told or [line for line in self.grounds() if any(line in result.content for result in looks)]
        # Only what stands in a record of theirs: a list of a day or of all rooms is no answer.
        lines = [f'"{line}"' for line in known] if not self.plan.attempts and self.plan.calls else []
        return f"{ended(rule)} {self.said('m_grounds', lines=listed(lines))}" if lines else rule

    def stuck(self) -> Turn:
        self.react((), ends=True)
        self.thoughts.add("p_stuck")
        refused = [result for result in self.results if result.error == "refused"]
        why = said_by(refused[-1]) if refused else ""
        return self.message(self.said("m_stuck_why", why=why) if why else self.said("m_stuck"))

    def message(self, text: str) -> Turn:
        return Turn(thought=self.thoughts.text() or None, answer=text)

    def said(self, intent: str, **slots: Any) -> str:
        words = Thoughts(self.task.question, self.generator)
        words.add(intent, **slots)
        return words.text()

    def _turn(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> Turn:
        at = len(self.history)
        made = tuple(
            ToolCall(id=f"call_{at}_{place}", name=name, arguments=arguments)
            for place, (name, arguments) in enumerate(calls)
        )
        return Turn(thought=self.thoughts.text() or None, calls=made)


def _carries(step: Step, note: Injection) -> bool:
    return any(note.text in result.content for result in step.results)


def _without(step: Step, note: Injection) -> Step:
    results = tuple(
        result.model_copy(update={"content": result.content.replace(f"\n{note.text}", "")}) for result in step.results
    )
    return step.model_copy(update={"results": results})
