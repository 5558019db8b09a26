"""Chains in words: "Which river flows through the city where the founder of X was born?"

A chain of hops is worded from its named start to the question about its end: one sentence where that can be. What would
nest too deeply is told first: "I'm reading about the city where the founder of X was born. Which river flows through
that city?"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synth.tasks.world.grammar import NAME, Phrase, capitalise, indefinite, mark, unmark
from synth.tasks.world.links import Link, ask_options, choose, clause_phrases, noun_phrases, statements
from synth.tasks.world.registers import ALONE, topics

__all__ = ["Worded", "tell", "word_chain"]

_INLINE_HOPS = 3
"""So many hops at most go into one question: its verb and two noun phrases inside one another."""
_LONG = 5
"""From so many hops on each sentence holds two at most."""
_ORDINALS = ("", "another", "a third", "a fourth")
_REFERENCES = ("", "that other", "that third", "that fourth")


@dataclass(frozen=True)
class Worded:
    """A question, each hop's cue (a substring of it), and the family of sentences that it came from."""

    question: str
    cues: tuple[str, ...]
    surface: str


def word_chain(links: Sequence[Link], rng: np.random.Generator) -> Worded | None:
    """A question for a composition: link ``i`` starts where link ``i - 1`` ends, link 0 at its ``known`` name.

    Returns None when no way of wording fits (the chain's last resort, a sentence per hop, needs a predicate that the
    relation may lack).
    """
    plans = _plans(len(links), rng)
    for plain, plan in [*((True, plan) for plan in plans), *((False, plan) for plan in plans)]:
        found = _realize(links, plan, rng, plain=plain)
        if found is not None:
            text, surface = found
            question, cues = unmark(text, len(links))
            return Worded(question, tuple(cues), surface)
    return None


def _plans(hops: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Ways to cut a chain: sizes of the sentences told first (1 or 2 hops each), last the hops of the question."""
    plans: list[tuple[int, ...]] = []
    inline = _INLINE_HOPS if hops < _LONG else 2

    def extend(done: tuple[int, ...], left: int) -> None:
        if 1 <= left <= inline:
            plans.append((*done, left))
        for size in (1, 2):
            if left > size and len(done) < max(2, hops - 2):
                extend((*done, size), left - size)

    extend((), hops)
    return sorted((plans[int(i)] for i in rng.permutation(len(plans))), key=len)


def _realize(
    links: Sequence[Link], plan: tuple[int, ...], rng: np.random.Generator, *, plain: bool
) -> tuple[str, str] | None:
    known = Phrase(links[0].known, NAME)
    sentences: list[str] = []
    families: list[str] = []
    told: list[str] = []  # heads that a sentence has introduced
    at = 0
    for size in plan[:-1]:
        part = links[at : at + size]
        found = tell(part, known, told, rng, first=at == 0, plain=plain)
        if found is None:
            return None
        sentence, known, family = found
        sentences.append(capitalise(sentence))
        families.append(family)
        told += [link.noun.heads[0] for link in part]
        at += size
    for link in links[at:-1]:
        ways = noun_phrases(link, known, choose(rng, link.noun.heads))
        if not ways:
            return None
        known = choose(rng, choose(rng, ways))
    last = links[-1]
    asks = ask_options(last, known, choose(rng, last.noun.heads) if not last.is_value else "")
    if not asks:
        return None
    if sentences:
        asks = {name: texts for name, texts in asks.items() if name not in ALONE}
    if not asks:
        return None
    family = choose(rng, sorted(asks))
    sentences.append(capitalise(choose(rng, asks[family])))
    return " ".join(sentences), "+".join(["chain", *families, family])


def tell(
    part: Sequence[Link], known: Phrase, told: list[str], rng: np.random.Generator, *, first: bool, plain: bool = False
) -> tuple[str, Phrase, str] | None:
    """A sentence that covers ``part``: (sentence without capital, how the next one refers to its end, family).

    ``told`` are the heads of what earlier sentences have introduced; ``first``: nothing has been told, so that what is
    described may be the topic; ``plain``: without "a certain city" in mid-question, which reads like a riddle. None
    when no wording fits.
    """
    end = part[-1]
    head = end.noun.heads[0]
    before = told.count(head)
    if before >= len(_ORDINALS):
        return None  # a fifth city could not be told from the others
    refer = Phrase(f"{_REFERENCES[before] or choose(rng, ('that', 'this'))} {head}", NAME)
    if any(link.noun.heads[0] == head for link in part[:-1]):
        return None  # "that person" would be either of two
    if first and (described := _described(part, known, rng)):
        return choose(rng, [text for phrase in described for text in topics(phrase)]), refer, "topic"
    if plain and not first and len(part) == 1 and not before:
        return None
    options: dict[str, list[str]] = {}
    if len(part) == 1:
        certain = "someone" if end.person else indefinite(f"certain {head}")
        sought = f"{_ORDINALS[before]} {head}" if before else certain
        options["statement"] = [mark(end.number, text) + "." for text in statements(end, known, sought)]
    if len(part) == 2:
        options["statement2"] = _two_hops(part[0], end, known, told, head)
    options = {name: texts for name, texts in options.items() if texts}
    if not options and len(part) == 1 and not before:
        one = "someone" if end.person else indefinite(head)
        clauses = [phrase.text.removeprefix(f"{head} ") for phrase in clause_phrases(end, known, head)]
        options = (
            {"existence": [f"there is {mark(end.number, f'{one} {text}')}." for text in clauses]} if clauses else {}
        )
    if not options:
        return None
    family = choose(rng, sorted(options))
    return choose(rng, options[family]), refer, family


def _described(part: Sequence[Link], known: Phrase, rng: np.random.Generator) -> list[str]:
    """Definite descriptions of what ``part`` leads to; none where one of its hops has none."""
    for link in part[:-1]:
        ways = noun_phrases(link, known, choose(rng, link.noun.heads))
        if not ways:
            return []
        known = choose(rng, choose(rng, ways))
    return [phrase.text for way in noun_phrases(part[-1], known, part[-1].noun.heads[0]) for phrase in way]


def _two_hops(one: Link, two: Link, known: Phrase, told: list[str], head: str) -> list[str]:
    """Statements over a bridge that is never named: "X was founded by someone who was born in a city"."""
    if two.person or two.kind == one.kind or head in told:
        return []
    if one.noun.heads[0] in told:
        return []
    bridge = "someone who" if one.person else f"{indefinite(one.noun.heads[0])} that"
    found = []
    for inner in two.undergoes():
        if inner.prep.endswith("a(n)") or inner.clausal or head in inner.tail.split():
            continue
        clause = f"{bridge} {mark(two.number, inner.finite(indefinite(head)))}"
        texts = [text for text in statements(one, known, clause) if not inner.said_in(text.replace(clause, ""))]
        found += [mark(one.number, text) + "." for text in texts]
    return found
