"""What was done, in the words of somebody who asks for it: one clause per call, references that tell one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEpisode
from synth.environments.app.requests import Ask, Left, Question
from synth.exploration.app.asking import Asking, Form, Values
from synth.exploration.app.phrases import Said, pick, put, sentence, usable
from synth.schemas.rejections import Reason

__all__ = ["Clause", "NotTold", "Teller"]

_USUAL = 0.6
"""Share of references that are made in the usual way where there are others."""
_AGAIN = 0.8
"""Share of the references to what was just mentioned that say so."""


class NotTold(Exception):
    """The candidate can't be put into words, or not so that it is understood in one way only."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Clause:
    """One thing that is asked for."""

    text: str
    imperative: bool
    """Whether ``text`` is what to do ("cancel it"); else it is whole sentences."""
    because: str | None
    said: tuple[Said, ...]


class Teller:
    """Words one request; remembers what it has mentioned."""

    def __init__(
        self, asking: Asking, start: AppEpisode, speaker: Mapping[str, Any], generator: np.random.Generator
    ) -> None:
        """
        Args:
            start: An episode at its beginning: the state in which the person writes.
        """
        self.asking = asking
        self.start = start
        self.speaker = speaker
        self.generator = generator
        self.today = start.now[:10]
        self._mentioned: list[tuple[str, Any]] = []

    def introduction(self) -> tuple[str, tuple[Said, ...]]:
        """Who writes."""
        speaker = self.asking.requests.speaker
        if speaker is None:
            raise ValueError("nobody introduces themselves here")
        return put(str(pick(self.generator, speaker.words)), self.speaker, self.generator, self.today)

    def clause(
        self, name: str, row: Values, episode: AppEpisode, *, sentences: bool | None = None, reason: bool = True
    ) -> Clause:
        """One call in words.

        Args:
            episode: At the state in which it is carried out.
            sentences: Whether whole sentences are wanted; None = either.
            reason: Whether it may say why.

        Raises:
            NotTold: no words of it can be used, or none tell the rows apart.
        """
        ask = self.asking.requests.asks[name]
        because = [words for words in ask.because if usable(words, row)]
        text, imperative, said = self._words(ask, name, row, episode, ask.do, ask.say, sentences)
        why = None
        if reason and because and self.generator.random() < 0.35:
            why, more = put(str(pick(self.generator, because)), row, self.generator, self.today)
            said = (*more, *said)
        return Clause(text, imperative, why, said)

    def leaving(self, name: str, row: Values, episode: AppEpisode, left: Left) -> tuple[Clause, str, tuple[Said, ...]]:
        """The call in words that leave a value open; the person's answer, and what it says."""
        ask = self.asking.requests.asks[name]
        text, imperative, said = self._words(ask, name, row, episode, left.do, left.say, None)
        answers = [words for words in left.says if usable(words, row)]
        if not answers:
            raise NotTold(Reason.UNNATURAL, f"{name}: no answer about {left.topic}")
        answer, told = self._put(ask, name, str(pick(self.generator, answers)), row, episode)
        return Clause(text, imperative, None, said), sentence(answer), told

    def question(self, name: str, row: Values, episode: AppEpisode) -> Clause:
        """A question in words."""
        question = self.asking.requests.questions[name]
        usual = [words for words in question.words if usable(words, row)]
        if not usual:
            raise NotTold(Reason.UNNATURAL, f"{name}: no words fit")
        text, said = self._put(question, name, str(pick(self.generator, usual)), row, episode)
        return Clause(text, False, None, said)

    def _words(
        self,
        ask: Ask,
        name: str,
        row: Values,
        episode: AppEpisode,
        do: Sequence[str],
        say: Sequence[str],
        sentences: bool | None,
    ) -> tuple[str, bool, tuple[Said, ...]]:
        options = [(words, True) for words in do if not sentences and usable(words, row)]
        options += [(words, False) for words in say if sentences is not False and usable(words, row)]
        if not options:
            raise NotTold(Reason.UNNATURAL, f"{name}: no words fit")
        template, imperative = options[int(self.generator.integers(len(options)))]
        text, said = self._put(ask, name, template, row, episode)
        return text, imperative, said

    def _put(
        self, source: Ask | Question, name: str, template: str, row: Values, episode: AppEpisode
    ) -> tuple[str, tuple[Said, ...]]:
        arguments = self._arguments(source, name)

        def noun(argument: str) -> tuple[str, tuple[Said, ...]] | None:
            forms = self.asking.forms(source, argument, arguments.get(argument))
            return self._noun(name, argument, forms, row, episode) if forms else None

        return put(template, row, self.generator, self.today, noun)

    def _arguments(self, source: Ask | Question, name: str) -> dict[str, Argument]:
        if isinstance(source, Ask):
            return dict(self.asking.definition.tools[self.asking.tool(name)].arguments)
        # What a question is about has the names that the tools give it.
        named: dict[str, Argument] = {}
        for tool in self.asking.definition.tools.values():
            for argument, spec in tool.arguments.items():
                named.setdefault(argument, spec)
        return named

    def _noun(
        self, name: str, argument: str, forms: Sequence[Form], row: Values, episode: AppEpisode
    ) -> tuple[str, tuple[Said, ...]] | None:
        key = row[argument]
        table = forms[0].table
        speaker = self.asking.requests.speaker
        if speaker is not None and table == speaker.table and key == self.speaker["speaker"] and speaker.me:
            return speaker.me, (Said(argument, str(key), speaker.me),)
        place = (table or f"{name}.{argument}", key)
        last = next((one for one in reversed(self._mentioned) if one[0] == place[0]), None)
        again = [words for form in forms for words in form.reference.again]
        if last == place and again and self.generator.random() < _AGAIN:
            self._mentioned.append(place)
            return put(str(pick(self.generator, again)), row, self.generator, self.today)
        if not any(form.reference.words for form in forms):
            return None
        told = [(form, found) for form in forms if (found := self._one(form, key, row, episode)) is not None]
        if not told:
            raise NotTold(Reason.AMBIGUOUS, f"{name}.{argument}: several rows fit whatever is said")
        usual = self.generator.random() < _USUAL
        form, found = told[0] if usual else told[int(self.generator.integers(len(told)))]
        words = [words for words in form.reference.words if usable(words, found)]
        if not words:
            raise NotTold(Reason.UNNATURAL, f"{name}.{argument}: no words fit")
        self._mentioned.append(place)
        return put(str(pick(self.generator, words)), found, self.generator, self.today)

    def _one(self, form: Form, key: Any, row: Values, episode: AppEpisode) -> Values | None:
        """The row, if it is the only one that fits, now and when the person writes."""
        if not form.reference.words:
            return None
        bound = {**row, "speaker": self.speaker["speaker"]}
        found, count = self.asking.referred(episode, form, key, bound)
        first, at_first = self.asking.referred(self.start, form, key, bound)
        if found is None or count != 1 or (first is not None and at_first != 1):
            return None
        return found if first is None or _agree(first, found, form.reference.by) else None


def _agree(left: Values, right: Values, columns: Sequence[str]) -> bool:
    return all(left[column] == right[column] for column in columns)
