"""An entity that the question names, described by a model instead (OpenSeeker, 2603.15594; ASearcher, 2508.07976).

The model chooses facts by number and words them; it is not told the name. That they are true is known: they are edges
of the graph, each with the span that states it. That they are enough, and that each is needed, is asked of the whole
graph by the checks of every task. Only the words are the model's: rules compare them with the facts, and a second
reader is asked whether they say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from synth.graph.walks import WalkStep
from synth.identity import digest
from synth.models.asking import Asked, Asks, quoted
from synth.schemas.details import details_with
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Hop, Reworded
from synth.sources.world.schema import ENTITY_TYPES
from synth.tasks.checks import run_checks
from synth.tasks.contract import CheckConfig, Failed, Surroundings
from synth.tasks.draft import Draft
from synth.tasks.text import distinctive_words, gives_away, mentions
from synth.tasks.world.lookups import incoming, own_values
from synth.tasks.world.view import Answer, WorldView
from synth.tasks.writing.asked import CONFIRM, DESCRIBE, Compared, NewDescription, schema_of
from synth.tasks.writing.parts import Part
from synth.tasks.writing.words import strangers
from synth.tasks.writing.writer import Attempt, Confirmed, differences

__all__ = ["Describer"]

_FACTS = 8
"""Facts that the model may choose from."""
_MOST = 3
"""Facts that it may choose."""
_SIBLINGS = 12
"""A fact fits so many entities at most: search shows few results, and a solver tests each."""


@dataclass(frozen=True)
class _Fact:
    step: WalkStep
    statement: str
    name: str
    """Of the other end, as a sentence writes it."""


class Describer:
    """
    Args:
        view: The world.
        around: What the checks look at.
        checks: Their thresholds.
        writer: Who describes (``tasks/describe``).
        reader: Who compares (``tasks/confirm``); None = no one.
        attempts: Descriptions that are asked for until one is accepted: each time the facts come in another order.
    """

    def __init__(
        self,
        view: WorldView,
        around: Surroundings,
        checks: CheckConfig,
        writer: Asks,
        reader: Asks | None,
        *,
        attempts: int = 1,
    ) -> None:
        self._view = view
        self.around = around
        self.checks = checks
        self._writer = writer
        self._reader = reader
        self._attempts = attempts

    def describe(
        self, draft: Draft, sample: Callable[[int], str], rng: np.random.Generator
    ) -> tuple[Draft | None, tuple[Attempt, ...]]:
        """The draft with one entity described (None: it stays as it is), and every attempt at it.

        Args:
            sample: Name of the sample of attempt n.
            rng: Draws the entity, and the order of the facts about it.
        """
        if draft.shape not in ("composition", "conjunction") or draft.obfuscation:
            return None, ()
        numbers = [number for number, hop in enumerate(draft.walk.hops) if self._may_be_described(draft, hop)]
        attempts: list[Attempt] = []
        for place in rng.permutation(len(numbers)).tolist():
            for at in range(self._attempts):
                facts = self._facts(draft, draft.walk.hops[numbers[place]], rng)
                if not facts:
                    break
                made, attempt = self._attempt(draft, numbers[place], facts, at, sample(at))
                attempts.append(attempt)
                if made is not None:
                    return made, tuple(attempts)
            if attempts:
                break
        return None, tuple(attempts)

    # --- what may be said ---------------------------------------------------------------------------------------------

    def _may_be_described(self, draft: Draft, hop: Hop) -> bool:
        if hop.needs or hop.source.document_id is None:
            return False
        node = self._view.facts.number(hop.source)
        if node is None or not self._view.may_be_gold(node, draft.split):
            return False
        name = self._spoken(node, draft.question)
        # Once, and not "X's": a phrase takes its place.
        return bool(name) and name in hop.cue and not draft.question.split(name, 1)[1].startswith(("'s", "’s"))

    def _spoken(self, node: int, question: str) -> str:
        names = (self._view.spoken(node), self._view.node(node).name)
        return next((name for name in names if question.count(name) == 1), "")

    def _facts(self, draft: Draft, hop: Hop, rng: np.random.Generator) -> list[_Fact]:
        """Facts about the hop's source that have nothing to do with the rest of the walk, in random order."""
        view = self._view
        node = view.facts.number(hop.source)
        assert node is not None
        ends = {end for one in draft.walk.hops for end in (one.source, one.target)}
        visited = {number for end in ends if (number := view.facts.number(end)) is not None} - {node}
        used = {one.relation for one in draft.walk.hops}
        words = distinctive_words(hop.source.name, (), person=hop.source.kind == "person")
        found = []
        for step in [*incoming(view, node, 1, _SIBLINGS, _SIBLINGS), *own_values(view, node, used, rng)]:
            name = view.spoken(step.source)
            if step.source in visited or step.relation in used or gives_away(name, words):
                continue
            relation = step.relation
            statement = f"{name} {relation} X" if step.forward else f"X {relation} {name}"
            found.append(_Fact(step, statement, name))
        return [found[place] for place in rng.permutation(len(found)).tolist()[:_FACTS]]

    # --- what is said -------------------------------------------------------------------------------------------------

    def _attempt(
        self, draft: Draft, number: int, facts: Sequence[_Fact], at: int, sample: str
    ) -> tuple[Draft | None, Attempt]:
        entity = draft.walk.hops[number].source
        numbered = [{"fact": one, "statement": fact.statement} for one, fact in enumerate(facts, 1)]
        asked: Asked[NewDescription] = self._writer.ask(
            sample, schema=schema_of(DESCRIBE), thing=quoted(kind=_noun(entity.kind), facts=numbered)
        )
        if asked.answer is None:
            return None, Attempt(at, reason=asked.reason, detail=asked.detail[:1000], calls=asked.calls)
        phrase = asked.answer.description
        if phrase is None:
            return None, Attempt(at, reason=Reason.UNNATURAL, detail="left as it is", calls=asked.calls)
        chosen: dict[int, str] = {part.fact: part.words for part in asked.answer.parts}
        told = {facts[one - 1].statement: words for one, words in chosen.items() if 1 <= one <= len(facts)}
        calls = asked.calls

        def refused(reason: Reason, detail: str, confirmed: Confirmed = None) -> tuple[None, Attempt]:
            return None, Attempt(at, phrase, told, reason, detail[:1000], confirmed, calls, asked.thought)

        if len(chosen) < len(asked.answer.parts) or len(told) < len(chosen) or not 1 <= len(chosen) <= _MOST:
            return refused(Reason.MEANING_CHANGED, f"facts {sorted(chosen)}: one to {_MOST} of those given, each once")
        ordered = [(facts[one - 1], words) for one, words in sorted(chosen.items())]
        problem = self._problem(draft, number, phrase, ordered)
        if problem is not None:
            return refused(*problem)
        made = self._made(draft, number, phrase, ordered)
        (verdict,) = run_checks([made], self.around, self.checks)
        if isinstance(verdict, Failed):
            return refused(verdict.reason, verdict.detail)
        confirmed: Confirmed = None
        if self._reader is not None:
            new = f"Which one is {phrase}?"
            parts = [Part(fact.statement, ()) for fact, _ in ordered]
            compared: Asked[Compared] = self._reader.ask(
                digest("compare", sample)[:32],
                schema=schema_of(CONFIRM),
                questions=quoted(
                    old=f"Which {_noun(entity.kind)} X is it? {'; '.join(part.cue for part in parts)}.",
                    parts=[{"number": one, "words": part.cue} for one, part in enumerate(parts, 1)],
                    new=new,
                ),
            )
            calls = (*calls, *compared.calls)
            if compared.answer is None:
                return refused(Reason.NOT_CONFIRMED, f"{compared.reason}: {compared.detail}", "abstained")
            against = differences(compared.answer, new, parts)
            if against is not None:
                return refused(Reason.NOT_CONFIRMED, against[1], against[0])
            confirmed = "same"
        return made, Attempt(at, made.question, told, confirmed=confirmed, calls=calls, thought=asked.thought)

    def _problem(
        self, draft: Draft, number: int, phrase: str, told: Sequence[tuple[_Fact, str]]
    ) -> tuple[Reason, str] | None:
        entity = draft.walk.hops[number].source
        if not phrase.startswith("the "):
            return Reason.UNNATURAL, "the description does not begin with 'the'"
        person = entity.kind == "person"
        names = (entity.name, *entity.aliases)
        generic = frozenset(_noun(entity.kind).split())
        if found := mentions(phrase, names) or gives_away(
            phrase, distinctive_words(entity.name, self.around.generic | generic, person=person)
        ):
            return Reason.MEANING_CHANGED, f"the description names what it describes: {found!r}"
        for fact, words in told:
            if not words.strip() or words not in phrase:
                return Reason.MEANING_CHANGED, f"the words for {fact.statement!r} are not in it: {words!r}"
            if fact.name not in words:
                return Reason.MEANING_CHANGED, f"the words for {fact.statement!r} do not hold {fact.name!r}"
        known = f"the {_noun(entity.kind)} {' '.join(fact.name for fact, _ in told)}"
        problem = strangers(known, phrase, {fact.statement: words for fact, words in told})
        return None if problem is None else (Reason.MEANING_CHANGED, problem)

    def _made(self, draft: Draft, number: int, phrase: str, told: Sequence[tuple[_Fact, str]]) -> Draft:
        """The draft whose walk first finds what is described."""
        view = self._view
        node = view.facts.number(draft.walk.hops[number].source)
        assert node is not None
        name = self._spoken(node, draft.question)
        shift = len(told)
        hops = [view.hop(fact.step, words) for fact, words in told]
        for at, hop in enumerate(draft.walk.hops):
            needs = tuple(range(shift)) if at == number else tuple(need + shift for need in hop.needs)
            hops.append(hop.model_copy(update={"cue": hop.cue.replace(name, phrase), "needs": needs}))
        question = draft.question.replace(name, phrase)
        question = question[0].upper() + question[1:]
        hops = [hop if hop.cue in question else _opening(hop) for hop in hops]
        answer = Answer(draft.answer, draft.answer_kind, draft.answer_aliases, draft.answer_parts, draft.answer_ordered)
        made = view.draft(draft.shape, draft.split, question, hops, answer, "described")
        details = details_with(draft.details, Reworded(question_before=draft.question))
        kept = {"environment": draft.environment, "details": details}
        return made.model_copy(update={"obfuscation": 2, **kept})


def _opening(hop: Hop) -> Hop:
    return hop.model_copy(update={"cue": hop.cue[0].upper() + hop.cue[1:]})


def _noun(kind: str) -> str:
    return ENTITY_TYPES[kind].noun if kind in ENTITY_TYPES else kind
