"""Several constraints on one answer in words: "Which river rises on Mount Orr and flows into Lake Senn?" """

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.sources.world.schema import ENTITY_TYPES
from synth.tasks.world.compose import Worded
from synth.tasks.world.grammar import CLAUSE, NAME, Phrase, Predicate, capitalise, indefinite, mark, unmark
from synth.tasks.world.links import HEADS, Link, ask_options, choose, identify

__all__ = ["HEAD_RELATIONS", "word_conjunction"]

HEAD_RELATIONS = frozenset({"occupation", "genre", "medium"})
"""Relations whose value can stand for the kind of thing: "Which painter ..." for a person who worked as a painter."""


def word_conjunction(links: Sequence[Link], tail: Link | None, rng: np.random.Generator) -> Worded | None:
    """A question for constraints that share their sought end, and for one hop more (``tail``) if there is one.

    Returns None when a constraint has no predicate whose subject is the sought end.
    """
    order = [links[int(i)] for i in rng.permutation(len(links))]
    noun = next((link for link in order if link.wording.relation in HEAD_RELATIONS), None)
    if noun is not None and (len(order) < 2 or rng.random() < 0.2):
        noun = None
    rest = [link for link in order if link is not noun]
    if not all(link.does() for link in rest):
        return None
    kind = links[0].kind
    head = mark(noun.number, noun.known) if noun is not None else choose(rng, HEADS[kind])
    picked = [(link, choose(rng, link.does())) for link in rest]
    families = _tailed(picked, head, kind, noun, tail, rng) if tail else _plain(picked, head, kind, noun, rng)
    families = {name: texts for name, texts in families.items() if texts}
    family = choose(rng, sorted(families))
    question, cues = unmark(choose(rng, families[family]), len(links) + (tail is not None))
    return Worded(question, tuple(cues), "+".join(["both", *(["tail"] if tail else []), family]))


def _verbs(
    picked: Sequence[tuple[Link, Predicate]], rng: np.random.Generator, *, plural: bool = False, also: bool = False
) -> str:
    """Coordinated predicates: "was born in X, studied at Y and taught at Z"; a repeated auxiliary may be left out."""
    parts = []
    elide = all(p.participle for _, p in picked) and len({p.first for _, p in picked}) == 1 and rng.random() < 0.5
    for place, (link, predicate) in enumerate(picked):
        text = predicate.finite(link.known, plural=plural, also=also and place == 0, elided=elide and place > 0)
        parts.append(mark(link.number, text))
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _plain(
    picked: Sequence[tuple[Link, Predicate]], head: str, kind: str, noun: Link | None, rng: np.random.Generator
) -> dict[str, list[str]]:
    person = kind == "person"
    who = "who" if person else choose(rng, ("that", "which"))
    wh = "who" if person and noun is None else f"which {head}"
    verbs = _verbs(picked, rng)
    thing = f"{head} {who} {verbs}"
    endings = identify(person, HEADS[kind][0])
    families = {
        "which": [capitalise(f"{wh} {verbs}?")],
        "name": [f"What is the name of the {thing}?"],
        "request": [f"{opening} the {thing}?" for opening in ("Can you name", "Could you name", "Can you identify")],
        "indirect": [f"{opening} {wh} {verbs}?" for opening in ("Can you tell me", "Do you know", "Could you tell me")],
        "looking": [
            f"{opening} the {thing}. {ending}?"
            for opening in ("I am looking for", "I'm trying to find", "I would like to identify")
            for ending in endings
        ],
        "riddle": [
            capitalise(f"{'someone' if person and noun is None else indefinite(head)} {verbs}. {ending}?")
            for ending in (("Who is it", "Who is meant") if person else ("What is it called", "What is its name"))
        ],
    }
    if len(picked) > 1:
        first, others = picked[:1], picked[1:]
        same = "the same person" if person else "it"
        families["quiz"] = [
            f"This {head} {_verbs(first, rng)}. {capitalise(same)} {_verbs(others, rng, also=True)}. {ending}?"
            for ending in endings
        ]
        that = "who" if person else "that"
        families["also"] = [f"Which {head} {that} {_verbs(first, rng)} {_verbs(others, rng, also=True)}?"]
        if noun is None and first[0][1].plain_plural:
            plural = ENTITY_TYPES[kind].plural
            one = choose(rng, ("which", "which one")) if not person else choose(rng, ("who", "which one"))
            families["among"] = [
                f"{opening} the {plural} {who} {_verbs(first, rng, plural=True)}, {one} {_verbs(others, rng)}?"
                for opening in ("Of", "Among")
            ]
    return families


def _tailed(
    picked: Sequence[tuple[Link, Predicate]],
    head: str,
    kind: str,
    noun: Link | None,
    tail: Link,
    rng: np.random.Generator,
) -> dict[str, list[str]]:
    """The constraints describe a bridge; the question is about what ``tail`` leads to from it."""
    person = kind == "person"
    who = "who" if person else choose(rng, ("that", "which"))
    verbs = _verbs(picked, rng)
    tail_head = "" if tail.is_value else choose(rng, HEADS[tail.kind])
    plain = noun.known if noun is not None else head
    refer = Phrase(f"{choose(rng, ('that', 'this'))} {plain}", NAME)
    bridge = "someone" if person and noun is None else indefinite(head)

    def ask(known: Phrase) -> str:
        asks = ask_options(tail, known, tail_head)
        if known.weight == NAME:
            asks.pop("quiz", None)
        return capitalise(choose(rng, asks[choose(rng, sorted(asks))])) if asks else ""

    families = {
        "statement": [f"{capitalise(f'{bridge} {verbs}')}. {question}" for question in [ask(refer)] if question],
        "topic": [
            f"{opener} the {head} {who} {verbs}. {question}"
            for opener in ("Take", "Consider", "Think of")
            for question in [ask(refer)]
            if question
        ],
        "inline": [question for question in [ask(Phrase(f"the {head} {who} {verbs}", CLAUSE))] if question],
    }
    return families
