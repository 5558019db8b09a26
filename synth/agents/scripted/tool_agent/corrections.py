"""What an agent that carries out a plan says of earlier mistakes, and of what a change depends on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from synth.agents.grounding.mistakes import guessed_id, is_unasked, unnamed_mistake
from synth.agents.grounding.weighed import comparisons
from synth.agents.plan_view import value_at
from synth.agents.scripted.tool_agent.details import as_quoted
from synth.agents.scripted.tool_agent.narration import LONGEST, shown_values
from synth.agents.scripted.tool_agent.progress import Progress
from synth.environments.contract import ToolCall
from synth.schemas.plans import PlannedCall
from synth.text.inflection import article
from synth.text.lists import listed
from synth.text.words import FUNCTION_WORDS

__all__ = ["Corrections"]

_ADVERBS = frozenset(("aside", "over"))
"""Second parts of the names of tools that are no things."""
_WORDS = 5
"""Words of a request that may stand for a value."""
_REMARKS = 0.04
"""Share of the look-ups before which any agent remarks that something is still open: if only corrected turns said so,
the words alone would give away the better side of a pair."""


class Corrections(Progress):
    """Names mistakes of the run so far, what is still open, and the values that a change depends on."""

    explains = False
    """Whether each change says by what its ids are the ones that are meant: the reason for it beside another one."""
    goes_on = False
    """Whether the turn stands beside one that ends the run: it says that something is left to do."""
    at_stake: Collection[str] = ()
    """Arguments in which the turn differs from the one that it stands beside."""
    _corrected = False

    def say_amiss(self, planned: PlannedCall | None, arguments: Mapping[str, Any] | None) -> None:
        """Name the run's latest mistake that has not been mentioned yet: a value other than the one that is meant, a
        guessed id, or a change the user never asked for.

        Args:
            planned: The call that is made now, if any, with its ``arguments``.
        """
        mistake = unnamed_mistake(self.task, self.view, self.history)
        if mistake is None:
            return
        call = mistake.call
        guessed = guessed_id(self.task.question, self.history, mistake)
        if guessed is not None:
            self.thoughts.add("p_amiss_unseen" if guessed else "p_amiss_guess", wrong=guessed)
            return
        if is_unasked(self.task, self.view, call.name):
            deed = _deed(call.name)
            named = bool(comparisons([f"It was wrong to {deed}"], self.prompt, self.history))
            self.thoughts.add("p_unasked" if named else "p_unasked_plain", deed=deed)
            return
        known = [self.task.question, *(result.content for result in self.results)]
        own = planned is not None and planned.tool == call.name
        meant = planned if own else self._meant_by(call)
        if meant is None:
            return
        wanted = dict(arguments or {}) if own else self._known_of(meant)
        differing = {name: value for name, value in wanted.items() if call.arguments.get(name) != value}
        wrong = shown_values({name: call.arguments.get(name) for name in differing}, known)
        right = self._in_words(meant, differing, known)
        if wrong and right:
            self.thoughts.add("p_correct" if own else "p_amiss", wrong=listed(wrong), right=listed(right))
        elif right:
            self.thoughts.add("p_amiss_right", right=listed(right))
        elif untold := shown_values(self._untold_of(meant, call), known):
            self.thoughts.add("p_amiss_untold", wrong=listed(untold))
        self._corrected = own and bool(right)

    def _meant_by(self, call: ToolCall) -> PlannedCall | None:
        """The planned call of the same tool that is still to be made and has most in common with ``call``."""
        every = [self.plan.attempts[n] for n in self.attempts()] + [self.plan.calls[n] for n in self.open()]
        alike = [one for one in every if one.tool == call.name]
        return max(alike, key=lambda one: _in_common(one.arguments, call.arguments), default=None)

    def _known_of(self, planned: PlannedCall) -> dict[str, Any]:
        """The arguments of a planned call that this run has seen."""
        known = {path: self.view.value(planned, path, given) for path, given in planned.given.items()}
        return {path: value for path, value in known.items() if value is not None and "." not in path}

    def _untold_of(self, planned: PlannedCall, call: ToolCall) -> dict[str, Any]:
        """Values that a call was given for what only the user could say, and has not said so far."""
        own = {path for path, given in planned.given.items() if given.source == "user"}
        missing = {path for path in own if self.view.value(planned, path, planned.given[path]) is None}
        return {name: value for name, value in call.arguments.items() if name in missing}

    def _in_words(self, planned: PlannedCall, values: Mapping[str, Any], known: Sequence[str]) -> list[str]:
        """Values of a call as the request writes them, or else as they were shown."""
        found = []
        for name, value in values.items():
            given = planned.given.get(name)
            words = given.words.strip('"“”').rstrip(".") if given is not None else ""
            told = given is not None and given.source in ("question", "user") and 0 < len(words.split()) <= _WORDS
            if told and any(words in text for text in known):
                found.append(f"“{words}”" if f"“{words}”" in self.task.question else words)
            else:
                found += as_quoted(shown_values({name: value}, known), self.task.question)
        return found

    def say_open(self, number: int | None = None) -> None:
        """That something is left to do, for who might end the run here; ``number``: the call that is made now."""
        if not self.history or not (self.goes_on or float(self.thoughts.generator.random()) < _REMARKS):
            return
        waits = any(self.plan.calls[n].changes for n in self.open()) or bool(self.attempts())
        if self.plan.outcome == "answered":
            self.thoughts.add("p_no_answer_yet")
        elif waits and not self.changes():
            self.thoughts.add("p_none_yet")
        elif waits:
            self.thoughts.add("p_some_left")
        elif number is not None and self.plan.calls[number].decides:
            self.thoughts.add("p_undecided")

    def say_at_stake(self, planned: PlannedCall) -> None:
        """What the request, or the user when asked, says of the values that the turn depends on."""
        for path in self.at_stake:
            given, value = planned.given.get(path), value_at(planned.arguments, path)
            if given is None or given.source not in ("question", "user") or value is None:
                continue
            words = " ".join(given.words.split()).strip('"“”').rstrip(".")
            if words in self.thoughts.said or len(words) > LONGEST or '"' in words:
                continue
            where = [self.task.question] if given.source == "question" else [r.content for r in self.results]
            if any(words in " ".join(text.split()) for text in where):
                self.thoughts.add("p_words", words=words)


def _deed(tool: str) -> str:
    """What a tool does, by its name (``give_voucher``: give a voucher; ``hand_over``: hand over)."""
    verb, _, thing = tool.partition("_")
    if not thing or thing in FUNCTION_WORDS or thing in _ADVERBS:
        return tool.replace("_", " ")
    one = "" if thing.endswith("s") else f"{article(thing)} "
    return f"{verb} {one}{thing.replace('_', ' ')}"


def _in_common(wanted: Mapping[str, Any], made: Mapping[str, Any]) -> int:
    return sum(name in made and made[name] == value for name, value in wanted.items())
