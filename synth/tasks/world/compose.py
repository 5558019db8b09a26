"""Chains in words: "Which river flows through the city where the founder of X was born?"

A chain of hops is worded from its named start to the question about its end. What would nest too deeply is told first,
in sentences of its own: "X was founded by someone who was born in a city. Which river flows through that city?"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synth.tasks.world.grammar import CLAUSE, NAME, Phrase, capitalise, indefinite, mark, unmark
from synth.tasks.world.links import HEADS, Link, ask_options, choose, noun_phrases, statements

__all__ = ["Worded", "word_chain"]

_OPENERS = ("Take", "Consider", "Think of", "Start with")
_INLINE_HOPS = 3
"""So many hops at most go into one question: its verb and two noun phrases inside one another."""


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
    for plan in _plans(len(links), rng):
        found = _realize(links, plan, rng)
        if found is not None:
            text, surface = found
            question, cues = unmark(text, len(links))
            return Worded(question, tuple(cues), surface)
    return None


def _plans(hops: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Ways to cut a chain: sizes of the sentences told first (1 or 2 hops each), last the hops of the question."""
    plans: list[tuple[int, ...]] = []

    def extend(done: tuple[int, ...], left: int) -> None:
        if 1 <= left <= _INLINE_HOPS:
            plans.append((*done, left))
        for size in (1, 2):
            if left > size and len(done) < max(2, hops - 3):
                extend((*done, size), left - size)

    extend((), hops)
    shortest = min(len(plan) for plan in plans)
    weights = np.array([0.4 ** (len(plan) - shortest) for plan in plans])
    order = rng.choice(len(plans), size=len(plans), replace=False, p=weights / weights.sum())
    return [plans[int(i)] for i in order]


def _realize(links: Sequence[Link], plan: tuple[int, ...], rng: np.random.Generator) -> tuple[str, str] | None:
    known = Phrase(links[0].known, NAME)
    sentences: list[str] = []
    families: list[str] = []
    told: list[str] = []  # heads that a sentence has introduced
    at = 0
    for size in plan[:-1]:
        part = links[at : at + size]
        found = _tell(part, known, told, rng, first=at == 0)
        if found is None:
            return None
        sentence, known, family = found
        sentences.append(capitalise(sentence))
        families.append(family)
        told += [HEADS[link.kind][0] for link in part]
        at += size
    for link in links[at:-1]:
        ways = noun_phrases(link, known, choose(rng, HEADS[link.kind]))
        if not ways:
            return None
        known = choose(rng, choose(rng, ways))
    last = links[-1]
    asks = ask_options(last, known, choose(rng, HEADS[last.kind]) if not last.is_value else "")
    if not asks:
        return None
    if sentences:
        asks.pop("quiz", None)  # "this city" already means the one that was told of
    family = choose(rng, sorted(asks))
    sentences.append(capitalise(choose(rng, asks[family])))
    return " ".join(sentences), "+".join(["chain", *families, family])


def _tell(
    part: Sequence[Link], known: Phrase, told: list[str], rng: np.random.Generator, *, first: bool
) -> tuple[str, Phrase, str] | None:
    """A sentence that covers ``part``: (sentence, how the next one refers to its end, family)."""
    end = part[-1]
    head = HEADS[end.kind][0]
    refer = Phrase(f"{choose(rng, ('that', 'this'))} {head}", NAME)
    if head in told:
        if told.count(head) > 1:
            return None  # a third city could not be told from the other two
        refer = Phrase(f"that other {head}", NAME)
    options: dict[str, list[str]] = {}
    if first:
        inner = known
        for link in part[:-1]:
            ways = noun_phrases(link, inner, choose(rng, HEADS[link.kind]))
            if not ways:
                return None
            inner = choose(rng, choose(rng, ways))
        phrases = [phrase.text for way in noun_phrases(end, inner, head) for phrase in way]
        options["topic"] = [f"{opener} {text}." for text in phrases for opener in _OPENERS]
    if len(part) == 1 and not end.person:
        sought = f"{indefinite(head)}" if head not in told else f"another {head}"
        options["statement"] = [mark(end.number, text) + "." for text in statements(end, known, sought)]
        if head not in told:
            options["existence"] = [
                mark(end.number, f"{indefinite(head)} {predicate.finite(known.text)}") + "."
                for predicate in end.does()
                if known.weight < CLAUSE
            ]
    if len(part) == 2:
        options["statement2"] = _two_hops(part[0], end, known, told, head)
    options = {name: texts for name, texts in options.items() if texts}
    if not options:
        return None
    family = choose(rng, sorted(options))
    return choose(rng, options[family]), refer, family


def _two_hops(one: Link, two: Link, known: Phrase, told: list[str], head: str) -> list[str]:
    """Statements over a bridge that is never named: "X was founded by someone who was born in a city"."""
    if two.person or two.kind == one.kind or head in told:
        return []
    bridge = "someone who" if one.person else f"{indefinite(HEADS[one.kind][0])} that"
    found = []
    for inner in two.undergoes():
        if inner.prep.endswith("a(n)"):
            continue
        clause = f"{bridge} {mark(two.number, inner.finite(indefinite(head)))}"
        found += [mark(one.number, text) + "." for text in statements(one, known, clause)]
    return found
