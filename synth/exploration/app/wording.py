"""What was done, in the words of a user who asks for it: one clause per call, and clauses as a message to a desk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEpisode
from synth.environments.app.requests import Ask, Left, Question
from synth.exploration.app.phrases import Said, put, sentence, usable
from synth.exploration.app.requests import AppRequests, Form, Values
from synth.exploration.app.walking import TriedCall
from synth.exploration.pipeline import Dropped
from synth.exploration.walks import choose
from synth.lexicon.reading import phrases
from synth.schemas.plans import Persona
from synth.schemas.rejections import Reason
from synth.text.inflection import capital

__all__ = ["Clause", "Wording", "body", "conditional", "message", "note"]

_WORDS, _USERS = phrases("app_requests"), phrases("users")

_ONE_LINE = 110
"""Characters of a clause up to which others may stand in its sentence."""

_BEGINNINGS = frozenset(phrases("word_lists")["beginnings"])

_USUAL = 0.6
"""Share of references that are made in the usual way where there are others."""
_STRAIGHT = 0.7
"""Share of the people who write straight quotation marks; one person never mixes the two kinds."""


@dataclass(frozen=True)
class Clause:
    """One thing that is asked for."""

    text: str
    imperative: bool
    """Whether ``text`` is what to do ("cancel it"); else it is whole sentences."""
    because: str | None
    said: tuple[Said, ...]


class Wording:
    """Words one request; remembers what it has mentioned."""

    def __init__(
        self, app: AppRequests, start: AppEpisode, speaker: Mapping[str, Any], generator: np.random.Generator
    ) -> None:
        """
        Args:
            start: An episode at its beginning: the state in which the person writes.
        """
        self.app = app
        self.start = start
        self.speaker = speaker
        self.generator = generator
        self.today = start.now[:10]
        self.quotes = '""' if generator.random() < _STRAIGHT else "“”"
        self._mentioned: list[tuple[str, Any, int]] = []
        """Table, key, and in which clause."""
        self._clauses = 0

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Within it nothing counts as mentioned: words that are said later can't refer back ("that booking")."""
        before, self._mentioned = self._mentioned, []
        try:
            yield
        finally:
            self._mentioned = before

    def introduction(self) -> tuple[str, tuple[Said, ...]]:
        """Who writes."""
        speaker = self.app.requests.speaker
        if speaker is None:
            raise ValueError("nobody introduces themselves here")
        return put(choose(self.generator, speaker.words), self.speaker, self.generator, self.today, quotes=self.quotes)

    def clause(
        self, name: str, row: Values, episode: AppEpisode, *, sentences: bool | None = None, reason: bool = True
    ) -> Clause:
        """One call in words.

        Args:
            episode: At the state in which it is carried out.
            sentences: Whether whole sentences are wanted; None = either.
            reason: Whether it may say why.

        Raises:
            Dropped: no words of it can be used, or none tell the rows apart.
        """
        self._clauses += 1
        ask = self.app.requests.asks[name]
        because = [words for words in ask.because if usable(words, row)]
        text, imperative, said = self._words(ask, name, row, episode, ask.do, ask.say, sentences)
        why = None
        if reason and because and self.generator.random() < 0.35:
            why, more = put(choose(self.generator, because), row, self.generator, self.today, quotes=self.quotes)
            said = (*more, *said)
        return Clause(text, imperative, why, said)

    def may_leave(self, step: TriedCall) -> list[Left]:
        """Ways to leave a value of a call open. A reference can only be left open where there is a choice."""
        ask = self.app.requests.asks[step.ask]
        specs = self.app.definition.tools[step.call.name].arguments
        found = []
        for left in ask.left:
            if step.row.get(left.argument) is None:
                continue
            if self.app.forms(ask, left.argument, specs.get(left.argument)):
                rows = {row[left.argument] for row in self.app.rows(self.start, ask, self.speaker["speaker"])}
                if len(rows) < 2:
                    continue
            found.append(left)
        return found

    def leaving(self, name: str, row: Values, episode: AppEpisode, left: Left) -> tuple[Clause, str, tuple[Said, ...]]:
        """The call in words that leave a value open; the person's answer, and what it says."""
        self._clauses += 1
        ask = self.app.requests.asks[name]
        text, imperative, said = self._words(ask, name, row, episode, left.do, left.say, None)
        answers = [words for words in left.says if usable(words, row)]
        if not answers:
            raise Dropped(Reason.UNNATURAL, f"{name}: no answer about {left.topic}")
        with self.anew():
            answer, told = self._put(ask, name, choose(self.generator, answers), row, episode)
        return Clause(text, imperative, None, said), sentence(answer), told

    def question(self, name: str, row: Values, episode: AppEpisode) -> Clause:
        """A question in words."""
        self._clauses += 1
        question = self.app.requests.questions[name]
        usual = [words for words in question.words if usable(words, row)]
        if not usual:
            raise Dropped(Reason.UNNATURAL, f"{name}: no words fit")
        text, said = self._put(question, name, choose(self.generator, usual), row, episode)
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
            raise Dropped(Reason.UNNATURAL, f"{name}: no words fit")
        template, imperative = choose(self.generator, options)
        text, said = self._put(ask, name, template, row, episode)
        return text, imperative, said

    def _put(
        self, source: Ask | Question, name: str, template: str, row: Values, episode: AppEpisode
    ) -> tuple[str, tuple[Said, ...]]:
        arguments = self._arguments(source, name)

        def noun(argument: str) -> tuple[str, tuple[Said, ...]] | None:
            forms = self.app.forms(source, argument, arguments.get(argument))
            return self._noun(name, argument, forms, row, episode) if forms else None

        return put(template, row, self.generator, self.today, noun, quotes=self.quotes)

    def _arguments(self, source: Ask | Question, name: str) -> dict[str, Argument]:
        if isinstance(source, Ask):
            return dict(self.app.definition.tools[self.app.tool(name)].arguments)
        # What a question is about has the names that the tools give it.
        named: dict[str, Argument] = {}
        for tool in self.app.definition.tools.values():
            for argument, spec in tool.arguments.items():
                named.setdefault(argument, spec)
        return named

    def _noun(
        self, name: str, argument: str, forms: Sequence[Form], row: Values, episode: AppEpisode
    ) -> tuple[str, tuple[Said, ...]] | None:
        key = row[argument]
        table = forms[0].table
        speaker = self.app.requests.speaker
        if speaker is not None and table == speaker.table and key == self.speaker["speaker"] and speaker.me:
            return speaker.me, (Said(argument, str(key), speaker.me),)
        place = (table or f"{name}.{argument}", key)
        last = next((one for one in reversed(self._mentioned) if one[0] == place[0]), None)
        again = [words for form in forms for words in form.reference.again]
        # Once something else was spoken of in between, such as a new booking, "that booking" may be another one.
        # Nor can it be told of two of a kind that were named side by side, such as two issues and their link.
        others = {one[1] for one in self._mentioned if one[0] == place[0] and last is not None and one[2] >= last[2]}
        just = last is not None and last[:2] == place and last[2] >= self._clauses - 1 and others == {key}
        if just and again:
            self._mentioned.append((*place, self._clauses))
            return put(choose(self.generator, again), row, self.generator, self.today, quotes=self.quotes)
        if again and last is not None and self._is_first(place, last):
            self._mentioned.append((*place, self._clauses))
            return choose(self.generator, _WORDS["first_again"]), ()
        if not any(form.reference.words for form in forms):
            return None
        told = [(form, found) for form in forms if (found := self._one(form, key, row, episode)) is not None]
        if not told:
            raise Dropped(Reason.AMBIGUOUS, f"{name}.{argument}: several rows fit whatever is said")
        usual = self.generator.random() < _USUAL
        form, found = told[0] if usual else choose(self.generator, told)
        words = [words for words in form.reference.words if usable(words, found)]
        if not words:
            raise Dropped(Reason.UNNATURAL, f"{name}.{argument}: no words fit")
        self._mentioned.append((*place, self._clauses))
        return put(choose(self.generator, words), found, self.generator, self.today, quotes=self.quotes)

    def _is_first(self, place: tuple[str, Any], last: tuple[str, Any, int]) -> bool:
        """Whether the clause before spoke of this row alone, and this one of one other: its name is not said again."""
        own = [one for one in self._mentioned if one[0] == place[0] and one[2] >= self._clauses - 1]
        before = {one[1] for one in own if one[2] == self._clauses - 1}
        now = {one[1] for one in own if one[2] == self._clauses}
        return last[2] == self._clauses and before == {place[1]} and len(now) == 1 and place[1] not in now

    def _one(self, form: Form, key: Any, row: Values, episode: AppEpisode) -> Values | None:
        """The row, if it is the only one that fits, now and when the person writes."""
        if not form.reference.words:
            return None
        bound = {**row, "speaker": self.speaker["speaker"]}
        found, count = self.app.referred(episode, form, key, bound)
        first, at_first = self.app.referred(self.start, form, key, bound)
        if found is None or count != 1 or (first is not None and at_first != 1):
            return None
        return found if first is None or _agree(first, found, form.reference.by) else None


def _agree(left: Values, right: Values, columns: Sequence[str]) -> bool:
    return all(left[column] == right[column] for column in columns)


def message(
    clauses: Sequence[Clause],
    introduction: str | None,
    generator: np.random.Generator,
    ending: str = "",
    persona: Persona = "plain",
) -> str:
    """The whole request.

    Args:
        clauses: In the order in which they are to be done.
        introduction: Who writes, as sentences; None where it does not matter.
        ending: Further sentences behind the clauses.
    """
    opening, closing = (
        [choose(generator, options)] if (options := _USERS.get(f"{place}_{persona}")) else []
        for place in ("opening", "closing")
    )
    told = " ".join((*opening, body(clauses, generator), *([ending] if ending else []), *closing))
    parts: list[str] = []
    polite = {"chatty": 2.0, "terse": 0.0}.get(persona, 1.0)
    greeting = choose(generator, _WORDS["greetings"]) if generator.random() < 0.4 * polite else ""
    if introduction is not None:
        # At the end, as people sign what they write, now and then.
        if generator.random() < 0.2:
            parts = [sentence(told), sentence(introduction)]
        else:
            parts = [sentence(introduction), sentence(told)]
    else:
        parts = [sentence(told)]
    if not closing and generator.random() < 0.3 * polite:
        parts.append(choose(generator, _WORDS["thanks"]))
    text = " ".join(parts)
    if not greeting:
        return text
    goes_on = _small(text) != text or text.startswith(("I ", "I'"))  # no capital stands within a sentence
    if introduction is None and goes_on and generator.random() < 0.5:
        return f"{greeting} {_small(text)}"
    return f"{greeting.removesuffix(',')}{choose(generator, ('.', '!'))} {text}"


def conditional(clause: Clause, generator: np.random.Generator) -> str:
    """What else would do, as a sentence that says it is meant for when the rest is not allowed."""
    if clause.imperative:
        # Nothing follows a quotation: a comment that ends with "instead" is another comment.
        last = "{do}." if ":" in clause.text or clause.text.endswith("instead") else "."
        frames = [frame for frame in _WORDS["otherwise"] if frame.endswith(last)]
        return sentence(choose(generator, frames).format(do=clause.text))
    return sentence(choose(generator, _WORDS["otherwise_said"]).format(say=_small(clause.text)))


def note(clause: Clause, tool: str, arguments: Mapping[str, Any], beside: str, generator: np.random.Generator) -> str:
    """What somebody left beside a row: one thing that is asked for, with the call that does it."""
    given = ", ".join(
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )
    call = f"{tool} with {given}" if given else tool
    said = _alone(clause, generator).replace('"', "'")
    return str(choose(generator, _WORDS["notes"]).format(beside=beside, say=said, call=call.replace('"', "'")))


def body(clauses: Sequence[Clause], generator: np.random.Generator) -> str:
    """What is asked for, without who asks."""
    short = all(
        clause.imperative and len(clause.text) <= _ONE_LINE and not set(".:") & set(clause.text) for clause in clauses
    )
    if short and len(clauses) == 2 and generator.random() < 0.75:
        return _because(clauses) + _filled(choose(generator, _WORDS["pairs"]), clauses)
    if short and len(clauses) == 3 and sum(len(clause.text) for clause in clauses) < 260 and generator.random() < 0.6:
        return _because(clauses) + _filled(choose(generator, _WORDS["triples"]), clauses)
    turns, following = _WORDS["turns"], _WORDS["next"]
    sentences: list[str] = []
    used: list[str] = []
    for number, clause in enumerate(clauses):
        if clause.because is not None:
            sentences.append(sentence(clause.because))
        if number == 0:
            sentences.append(_alone(clause, generator))
            continue
        if not clause.imperative:
            turn = str(choose(generator, [turn for turn in turns if not turn or turn.split(" ")[0] not in used]))
            used.append(turn.split(" ")[0])
            sentences.append(sentence(turn + (_small(clause.text) if turn else clause.text)))
            continue
        options = (
            _WORDS["last"] if number == len(clauses) - 1 and number > 1 and generator.random() < 0.5 else following
        )
        frame = str(choose(generator, [frame for frame in options if frame.split(" ")[0] not in used] or following))
        used.append(frame.split(" ")[0])
        sentences.append(sentence(frame.format(do=clause.text)))
    return " ".join(sentences)


def _alone(clause: Clause, generator: np.random.Generator) -> str:
    if not clause.imperative:
        return sentence(clause.text)
    frames: tuple[str, ...] = _WORDS["asked"] if not re.search(r"[.:]", clause.text) else _WORDS["asked"][:2]
    if re.search(r"\b(?:me|my|I)\b", clause.text):
        frames = tuple(frame for frame in frames if "for me" not in frame)
    text = choose(generator, frames)
    return sentence(text.format(do=clause.text, Do=capital(clause.text)))


def _because(clauses: Sequence[Clause]) -> str:
    reasons = [sentence(clause.because) for clause in clauses if clause.because is not None]
    return f"{reasons[0]} " if reasons else ""


def _filled(frame: str, clauses: Sequence[Clause]) -> str:
    texts = [clause.text for clause in clauses]
    names = dict(zip("abc", texts, strict=False))
    return frame.format(**names, A=capital(texts[0]))


def _small(text: str) -> str:
    """Without its capital, where that is only there because a sentence begins."""
    first = re.split(r"[ ,:']", text, maxsplit=1)[0].casefold()
    return text[:1].lower() + text[1:] if first in _BEGINNINGS else text
