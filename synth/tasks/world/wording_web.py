"""Any web of hops in words: what is not named is introduced first, then the question refers to it.

"Someone worked for Dorn Works and founded a museum. Which city is where that person was born and is home to that
museum?" Each unnamed node is a :class:`Knot` with all hops that end at it. A knot is told in a sentence of its own, or,
where one hop says all and it is needed once, stands as a phrase where it is needed ("a city that lies on the River
Senn"); so no sentence holds more than a question around one clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from synth.tasks.world.compose import Worded, tell
from synth.tasks.world.conjoin import joined, joint_ways, pick
from synth.tasks.world.grammar import CLAUSE, NAME, NOMINAL, Phrase, capitalise, indefinite, mark, unmark
from synth.tasks.world.links import Link, ask_options, choose, clause_phrases, noun_phrases
from synth.tasks.world.registers import ALONE, topics
from synth.tasks.world.wording import Noun

__all__ = ["Knot", "marked_web", "word_web"]

_ARTICLES = ("", "another", "a third", "a fourth")
_REFERENCES = ("", "that other", "that third", "that fourth")


@dataclass(frozen=True)
class Knot:
    """A node that the question does not name, with the hops that end at it."""

    links: tuple[Link, ...]
    sources: tuple[int | None, ...]
    """For each link the place of the knot that it starts from; None where ``known`` names the start."""
    noun: Noun
    unique: bool = False
    """Whether its hops alone identify it: "the city that", not "a city that"."""


def word_web(knots: Sequence[Knot], rng: np.random.Generator, base: str) -> Worded | None:
    """A question for the last knot; the others come in an order in which each only needs earlier ones. ``base`` begins
    the name of the family. None when some hop can't be said."""
    found = marked_web(knots, rng)
    if found is None:
        return None
    text, families = found
    question, cues = unmark(text, sum(len(knot.links) for knot in knots))
    return Worded(question, tuple(cues), "+".join([base, *families]))


def marked_web(knots: Sequence[Knot], rng: np.random.Generator) -> tuple[str, list[str]] | None:
    """The same with marks, and the families of its sentences."""
    sentences: list[str] = []
    families: list[str] = []
    told: list[str] = []
    phrases: dict[int, Phrase] = {}
    for place, knot in enumerate(knots[:-1]):
        links = _filled(knot, phrases)
        users = [other for other in knots if place in other.sources]
        phrase = None
        if len(users) == 1 and users[0].sources.count(place) == 1:
            phrase = _inline(links, knot, users[0], rng)
        if phrase is None:
            head = knot.noun.heads[0]
            before = told.count(head)
            alone = len(links) == 1 and knot.unique and not links[0].heavy
            said = tell(links, Phrase(links[0].known), told, rng, first=not sentences) if alone else None
            if said is not None:
                sentence, phrase, family = capitalise(said[0]), said[1], said[2]
            else:
                introduced = _introduce(links, knot, before, rng, first=not sentences)
                if introduced is None:
                    return None
                sentence, family = introduced
                phrase = Phrase(f"{_REFERENCES[before] or choose(rng, ('that', 'this'))} {head}", NAME)
            told.append(head)
            sentences.append(sentence)
            families.append(family)
        else:
            families.append("inline")
        phrases[place] = phrase
    asked = _ask(_filled(knots[-1], phrases), knots[-1], phrases, bool(sentences), rng)
    if asked is None:
        return None
    question, family = asked
    return " ".join([*sentences, question]), [*families, family]


def _filled(knot: Knot, phrases: dict[int, Phrase]) -> list[Link]:
    """The knot's links with what is known by now."""
    return [
        link if source is None else replace(link, known=phrases[source].text, heavy=phrases[source].weight > NOMINAL)
        for link, source in zip(knot.links, knot.sources, strict=True)
    ]


def _inline(links: Sequence[Link], knot: Knot, user: Knot, rng: np.random.Generator) -> Phrase | None:
    """The knot as a phrase: one hop from something short."""
    if len(links) != 1 or links[0].heavy or any(other is not None for other in user.sources[1:]):
        return None
    link, head = links[0], choose(rng, knot.noun.heads)
    known = Phrase(link.known, NAME)
    if knot.unique:
        ways = noun_phrases(link, known, head)
        return choose(rng, choose(rng, ways)) if ways else None
    clauses = clause_phrases(link, known, head)
    return Phrase(mark(link.number, indefinite(choose(rng, clauses).text)), CLAUSE) if clauses else None


def _introduce(
    links: Sequence[Link], knot: Knot, before: int, rng: np.random.Generator, *, first: bool
) -> tuple[str, str] | None:
    """A sentence that says all that is said of the knot, and its family. ``before``: how many of its kind have been
    told of; ``first``: it opens the question."""
    picked = pick([links[int(i)] for i in rng.permutation(len(links))], rng, relative=True)
    if not picked or before >= len(_ARTICLES):
        return None
    person = knot.noun.person
    head = knot.noun.heads[0]
    who = "who" if person else choose(rng, ("that", "which"))
    verbs = joined(picked, rng)
    some = f"{_ARTICLES[before]} {head}" if before else indefinite(head)
    subject = "someone" if person and not before else some if before else indefinite(f"certain {head}")
    if first and knot.unique:
        return capitalise(choose(rng, topics(f"the {head} {who} {verbs}"))), "topic"
    return capitalise(f"{subject} {verbs}."), "statement"


def _ask(
    links: Sequence[Link], knot: Knot, phrases: dict[int, Phrase], told: bool, rng: np.random.Generator
) -> tuple[str, str] | None:
    if len(links) > 1:
        ways = joint_ways(links, rng)
    else:
        link, source = links[0], knot.sources[0]
        known = Phrase(link.known, NAME) if source is None else phrases[source]
        ways = ask_options(link, known, "" if link.is_value else choose(rng, knot.noun.heads))
    ways = {name: texts for name, texts in ways.items() if not (told and name in _OPENING)}
    if not ways:
        return None
    family = choose(rng, sorted(ways))
    return capitalise(choose(rng, ways[family])), family


_OPENING = ALONE | {"this", "facts", "opening", "among"}
"""Ways to ask that introduce what they ask for: behind another introduction they are too much."""
