"""Several constraints on one answer in words: "Which river rises on Mount Orr and flows into Lake Senn?" """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from synth.tasks.world.compose import Worded
from synth.tasks.world.grammar import CLAUSE, NAME, Phrase, Predicate, capitalise, indefinite, mark, unmark
from synth.tasks.world.links import Link, ask_options, choose
from synth.tasks.world.registers import ALONE, Core, identify, put, topics
from synth.tasks.world.wording import Noun
from synth.text.lists import listed
from synth.text.numbers import NUMERALS

__all__ = ["HEAD_RELATIONS", "joined", "joint_ways", "pick", "word_conjunction"]

HEAD_RELATIONS = frozenset({"occupation", "genre", "medium"})
"""Relations whose value can stand for the kind of thing: "Which painter ..." for a person who worked as a painter."""


def word_conjunction(links: Sequence[Link], tail: Link | None, rng: np.random.Generator) -> Worded | None:
    """A question for constraints that share their sought end, and for one hop more (``tail``) if there is one.

    Returns None when a constraint has no predicate whose subject is the sought end.
    """
    families = joint_ways(links, rng, tail)
    if not families:
        return None
    family = choose(rng, sorted(families))
    question, cues = unmark(choose(rng, families[family]), len(links) + (tail is not None))
    return Worded(question, tuple(cues), "+".join(["both", *(["tail"] if tail else []), family]))


def joint_ways(links: Sequence[Link], rng: np.random.Generator, tail: Link | None = None) -> dict[str, list[str]]:
    """Questions for the end that ``links`` share, by family, marked, with capital; none when they can't be said."""
    order = [links[int(i)] for i in rng.permutation(len(links))]
    noun = next((link for link in order if link.wording.relation in HEAD_RELATIONS), None)
    if noun is not None and (len(order) < 2 or rng.random() < 0.2):
        noun = None
    rest = [link for link in order if link is not noun]
    picked = pick(rest, rng)
    if not picked:
        return {}
    thing = links[0].noun
    head = mark(noun.number, noun.known) if noun is not None else choose(rng, thing.heads)
    families = _tailed(picked, head, thing, noun, tail, rng) if tail else _plain(picked, head, thing, noun, rng)
    return {name: texts for name, texts in families.items() if texts}


def pick(links: Sequence[Link], rng: np.random.Generator, *, relative: bool = False) -> list[tuple[Link, Predicate]]:
    """A predicate for each link, the sought end its subject, no verb twice where that can be; empty when one has none.
    What is long comes last. ``relative``: they go into a relative clause ("the city that is where" is none)."""
    fitting: dict[int, list[Predicate]] = {}
    for link in links:
        found = [predicate for predicate in link.does() if predicate.fits(link.heavy)]
        if relative and any(not predicate.clausal for predicate in found):
            found = [predicate for predicate in found if not predicate.clausal]
        if link.heavy and any(not predicate.tail for predicate in found):
            found = [predicate for predicate in found if not predicate.tail]
        if not found:
            return []
        fitting[link.number] = [p for p in found if not (link.heavy and p.said_in(link.known))] or found
    chosen: dict[int, Predicate] = {}
    for link in sorted(links, key=lambda link: len(fitting[link.number])):
        said = {_verb(predicate) for predicate in chosen.values()}
        fresh = [p for p in fitting[link.number] if _verb(p) not in said]
        chosen[link.number] = choose(rng, fresh or fitting[link.number])  # not "lies at 36 metres and lies in Weninga"
    return [(link, chosen[link.number]) for link in sorted(links, key=lambda link: link.heavy)]


def _verb(predicate: Predicate) -> tuple[str, str]:
    return predicate.base, predicate.middle if predicate.auxiliary else ""


def joined(picked: Sequence[tuple[Link, Predicate]], rng: np.random.Generator, *, plural: bool = False) -> str:
    """Coordinated predicates: "was born in X, studied at Y and taught at Z"; a repeated auxiliary may be left out."""
    parts = []
    elide = all(p.participle for _, p in picked) and len({p.first for _, p in picked}) == 1 and rng.random() < 0.5
    for place, (link, predicate) in enumerate(picked):
        left_out = elide and place > 0
        said, known = predicate, link.known
        if predicate.prep == "in" and not predicate.tail and known in (other.known for other, _ in picked[:place]):
            said, known = replace(predicate, prep=""), "there"  # "was born in that city and died there"
        text = said.finite(known, heavy=link.heavy, plural=plural, elided=left_out)
        parts.append(mark(link.number, text))
    return listed(parts)


def _plain(
    picked: Sequence[tuple[Link, Predicate]], head: str, thing: Noun, noun: Link | None, rng: np.random.Generator
) -> dict[str, list[str]]:
    person = thing.person
    who = "who" if person else choose(rng, ("that", "which"))
    wh = "who" if person and noun is None else f"which {head}"
    verbs = joined(picked, rng)
    described = f"the {head} {who} {verbs}"
    plain = thing.heads[0]
    endings = identify(person, plain)
    asked = f"{wh} {verbs}"
    families = put(Core(thing, plain, direct=(asked,), clause=(asked,), phrase=(described,)))
    families["this"] = [
        f"this {head} {verbs}. {end}"
        for end in (("Give me the name.",) if person else ("Name it.", "Give me its name."))
    ]
    first, others = picked[:1], picked[1:]
    if others:
        same = "the same person" if person else "it"
        families["quiz"] = [
            f"this {head} {joined(first, rng)}. {capitalise(same)} {joined(others, rng)}. {ending}?"
            for ending in endings
        ]
        that = "who" if person else "that"
        families["restrictive"] = [f"which {head} {that} {joined(first, rng)} {joined(others, rng)}?"]
        if first[0][1].participle:
            reduced = mark(first[0][0].number, first[0][1].finite(first[0][0].known, elided=True))
            families["restrictive"].append(f"which {head} {reduced} {joined(others, rng)}?")
            families["opening"] = [f"{reduced}, this {head} {joined(others, rng)}. {ending}?" for ending in endings]
        families["facts"] = [
            f"{opening} {indefinite(head)}: it {joined(first, rng)}, and it {joined(others, rng)}. {ending}?"
            for opening in (f"{NUMERALS[len(picked)]} things are known about", f"{NUMERALS[len(picked)]} facts about")
            for ending in endings
            if not person and len(picked) == 2
        ]
        if noun is None and first[0][1].plain_plural:
            plural = thing.plurals[0]
            one = choose(rng, ("which", "which one")) if not person else choose(rng, ("who", "which one"))
            families["among"] = [
                f"{opening} the {plural} {who} {joined(first, rng, plural=True)}, {one} {joined(others, rng)}?"
                for opening in ("of", "among")
            ]
    return {name: [capitalise(text) for text in texts] for name, texts in families.items()}


def _tailed(
    picked: Sequence[tuple[Link, Predicate]],
    head: str,
    thing: Noun,
    noun: Link | None,
    tail: Link,
    rng: np.random.Generator,
) -> dict[str, list[str]]:
    """The constraints describe a bridge; the question is about what ``tail`` leads to from it."""
    person = thing.person
    who = "who" if person else choose(rng, ("that", "which"))
    verbs = joined(picked, rng)
    tail_head = "" if tail.is_value else choose(rng, tail.noun.heads)
    plain = noun.known if noun is not None else head
    refer = Phrase(f"{choose(rng, ('that', 'this'))} {plain}", NAME)

    def ask(known: Phrase) -> str:
        asks = ask_options(tail, known, tail_head)
        if known.weight == NAME:
            asks = {name: texts for name, texts in asks.items() if name not in ALONE}
        return capitalise(choose(rng, asks[choose(rng, sorted(asks))])) if asks else ""

    described = f"the {head} {who} {verbs}"
    if inline := ask(Phrase(described, CLAUSE)):
        return {"inline": [inline]}
    question = ask(refer)
    return {"topic": [f"{text} {question}" for text in topics(described) if question]}
