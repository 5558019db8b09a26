"""Who writes to a desk: how much they say, what they leave open, and a mind that they change while the desk works.

As in tau2-bench (arXiv 2506.07982) with a script for a user: all that they will say is in the plan, so the end that is
wanted, and the verdict, stay exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from synth.environments.app.environment import AppEpisode
from synth.environments.app.user import answer_of
from synth.exploration.app.phrases import Said, sentence
from synth.exploration.app.requests import Values
from synth.exploration.app.solving import Solver
from synth.exploration.app.walking import TriedCall
from synth.exploration.app.wording import Clause, Wording
from synth.exploration.pipeline import Dropped, leaves
from synth.exploration.walks import choose
from synth.lexicon.reading import phrases
from synth.schemas.plans import Persona, PlannedCall, UserFact
from synth.schemas.rejections import Reason

__all__ = ["PERSONAS", "WordedSteps", "agreements", "is_told_first", "worded"]

PERSONAS: Mapping[Persona, float] = {"plain": 0.4, "terse": 0.2, "chatty": 0.2, "impatient": 0.2}
"""How many write so; what they ask for and whether it may be done has nothing to do with it."""
_SECOND = 0.5
"""Share of the requests for several things that leave a value of a second one open."""
_CHANGED = 0.8
"""Share of those that leave one open of which another part is changed, where it can be."""
_WORDS = phrases("users")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_STRAIGHT = re.compile(r"\"([^\"]+)\"")


@dataclass(frozen=True)
class WordedSteps:
    """Calls in words: a clause each, what the person says when asked, and what each answer says."""

    clauses: list[Clause]
    facts: list[UserFact]
    told: dict[str, Sequence[Said]]
    changed: Values = field(default_factory=dict)
    """Arguments of a call that the request asks for with other values."""


def worded(
    wording: Wording,
    steps: Sequence[TriedCall],
    episode: AppEpisode,
    persona: Persona,
    generator: np.random.Generator,
    *,
    left: bool,
) -> WordedSteps:
    """A clause per step; where a value is ``left`` open, what the user says when asked for it.

    Args:
        episode: At the beginning; the steps are carried out in it.

    Raises:
        Dropped: nothing can be left open, or no words fit.
    """
    able = [at for at, step in enumerate(steps) if wording.may_leave(step)]
    if left and not able:
        raise Dropped(Reason.NO_WALK, "no value could be left open")
    other, moved = None, len(steps) - 1
    if left and able[0] < moved and generator.random() < _CHANGED:
        other = _other_row(wording, steps[moved], generator)
    able = able if other is None else [at for at in able if at < moved]
    chosen = {choose(generator, able)} if left else set()
    if left and other is None and len(able) > 1 and generator.random() < _SECOND:
        chosen.add(choose(generator, [at for at in able if at not in chosen]))
    found = WordedSteps([], [], {}, {} if other is None else other[1])
    change: Clause | None = None
    for at, step in enumerate(steps):
        if at in chosen:
            open_ = choose(generator, wording.may_leave(step))
            clause, says, told = wording.leaving(step.ask, step.row, episode, open_)
            says = _answer(says, persona, generator, [fact.says for fact in found.facts])
            found.told[says] = told
            found.facts.append(UserFact(topic=open_.topic, keywords=open_.keywords, says=says))
        elif other is not None and at == moved:
            clause = wording.clause(step.ask, other[0], episode, sentences=False, reason=False)
            with wording.anew():
                change = wording.clause(step.ask, step.row, episode, sentences=False, reason=False)
        else:
            clause = wording.clause(step.ask, step.row, episode, reason=at == 0 and persona != "terse")
        found.clauses.append(clause)
        episode.step(step.call)
    if change is not None:
        _take_back(found, change, generator)
    # Who quotes an answer sets it in straight quotation marks; those within it are others.
    found.facts[:] = [fact.model_copy(update={"says": _STRAIGHT.sub(r"“\1”", fact.says)}) for fact in found.facts]
    for says in list(found.told):
        found.told[_STRAIGHT.sub(r"“\1”", says)] = found.told.pop(says)
    if any(answer_of(found.facts, f"Can you tell me {fact.topic}?") != fact.says for fact in found.facts):
        raise Dropped(Reason.UNNATURAL, "two things are left open that a question can't tell apart")
    return found


def agreements(solver: Solver, persona: Persona, generator: np.random.Generator) -> list[UserFact]:
    """What the person says to each sum that a plan moves: yes, each time in other words."""
    found: list[UserFact] = []
    for one in solver.amounts:
        used = {fact.says for fact in found}
        says = [words.format(amount=one.amount) for words in _WORDS[f"agreed_{persona}"]]
        found.append(
            UserFact(
                topic=f"the {one.what} of {one.amount}",
                keywords=(one.what,),
                says=choose(generator, [words for words in says if words not in used] or says),
                amount=one.amount,
                before=one.number + (len(solver.calls) if one.attempt else 0),
                asks=one.asks,
            )
        )
    return found


def _answer(says: str, persona: Persona, generator: np.random.Generator, before: Sequence[str]) -> str:
    """``says`` as this person puts it, and not as in an answer before."""
    around = _WORDS.get(f"answer_{persona}")
    if around is None:
        return says
    used = {one for one in around for words in before if all(part.strip() in words for part in one.split("{says}"))}
    return choose(generator, [one for one in around if one not in used] or around).format(says=says)


def _other_row(wording: Wording, step: TriedCall, generator: np.random.Generator) -> tuple[Values, Values] | None:
    """What might have been asked for at first in place of a step, and the argument that then changes: the same with one
    other value, as people change their minds. None where there is nothing of the kind."""
    app, name = wording.app, step.ask
    if not app.requests.asks[name].do:
        return None
    mine = app.arguments(name, step.row)
    found: dict[str, list[tuple[Values, Values]]] = {}
    for row in app.rows(wording.start, app.requests.asks[name], wording.speaker["speaker"]):
        theirs = app.arguments(name, row)
        changed = {one: mine[one] for one in mine if mine[one] != theirs.get(one)}
        if mine.keys() == theirs.keys() and len(changed) == 1 < len(mine):
            found.setdefault(next(iter(changed)), []).append((row, changed))
    # Any of the values may change, however many others each of them could have been.
    return choose(generator, found[choose(generator, list(found))]) if found else None


def _take_back(found: WordedSteps, change: Clause, generator: np.random.Generator) -> None:
    """Behind the first answer, the person asks for the last part in another way."""
    before = {one.column: one for one in found.clauses[-1].said}
    differing = [one for one in change.said if one.column in before and before[one.column].value != one.value]
    if not differing:
        raise Dropped(Reason.UNNATURAL, "the change is not said")
    if len(differing) > 1:
        raise Dropped(Reason.UNNATURAL, "the change is one of several things: it speaks of another matter")
    fact, old = found.facts[0], before[differing[0].column].words
    old = f"the {old}" if _ORDINAL.fullmatch(old) else old
    # What it replaces is said with it: else both might be wanted.
    do = change.text if ":" in change.text else f"{change.text}, not {old}"
    says = f"{fact.says} {sentence(choose(generator, _WORDS['changed']).format(do=do))}"
    found.told[says] = (*found.told.pop(fact.says), *change.said)
    found.facts[0] = fact.model_copy(update={"says": says, "changes": True})


def is_told_first(calls: Sequence[PlannedCall], changed: Mapping[str, Any]) -> bool:
    """Whether no call of a plan has a changed value before the user was asked, by what the calls rest on."""
    resting: set[int] = set()
    for number, call in enumerate(calls):
        if any(given.source == "user" or given.call in resting for given in call.given.values()):
            resting.add(number)
        elif any(changed.get(path) == value for path, value in leaves(call.arguments)):
            return False
    return True
