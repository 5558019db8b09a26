"""What a careful reader would mark in red, as far as a machine can see it; and schema-true walks without a world."""

from __future__ import annotations

import re

import numpy as np

from synth.sources.world.schema import ENTITY_TYPES, RELATIONS, with_article
from synth.tasks.world.links import Link
from synth.tasks.world.words import world_words

WORDS = world_words()

NAMES = {
    "country": "Republic of Sarn",
    "language": "Sarnish",
    "award": "Hult Prize",
    "region": "Highmark",
    "city": "Orrin",
    "river": "River Senn",
    "mountain": "Mount Brun",
    "lake": "Lake Orr",
    "species": "speckled heron",
    "person": "Tarn Vale",
    "university": "University of Molde",
    "company": "Dorn Works",
    "laboratory": "Vost Laboratory",
    "newspaper": "Orrin Courier",
    "museum": "Kest Museum",
    "team": "Orrin Rovers",
    "stadium": "Vale Park",
    "bridge": "Iron Bridge",
    "festival": "Lantern Festival",
    "book": "The Silent Harbour",
    "film": "Blue Winter",
    "artwork": "Girl with Lamp",
}
VALUES = {"year": "1874", "date": "14 March 1874", "number": "12,045", "quantity": "412 metres", "text": "essay"}

_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_ARTICLES = re.compile(r"\b(a|an|the) (a|an|the|that|this|another)\b", re.IGNORECASE)
_A = re.compile(r"\ba (?!(?:uni|use|eu|one))[aeiou]", re.IGNORECASE)
_AN = re.compile(r"\ban (?:[^aeiou\W]|uni|use|eu|one)", re.IGNORECASE)
_STIFF = re.compile(r"\)'s |:[^.?]*: |\bpeople whom\b|\b(situated|located) in an? \w+ (?:that|which) is \1\b|\balso\b")
_COMMAND = re.compile(
    r"(?:^|[.:] )(?:Please |please )?(?:[Nn]ame|[Ii]dentify|[Gg]ive|[Ff]ind|[Ll]ook up|[Tt]ell me|[Ll]ist) "
)
_PLURALS = "|".join(kind.plural for kind in ENTITY_TYPES.values() if kind.plural != kind.noun)
_DISAGREES = re.compile(rf"\b(?:{_PLURALS}) (?:that|which|who) (?:is|was|has|does|\w+[^s]s) ")


def faults(question: str, questions: int = 1) -> list[str]:
    """Everything that is wrong with the English of ``question``, which may ask ``questions`` things at once; empty when
    nothing is."""
    found = []
    if not question or not question[0].isupper():
        found.append("no capital at the start")
    if question.count("?") > questions or question[-1:] not in ("?", "."):
        found.append("too many question marks, or no sentence at the end")
    elif "?" not in question and not _COMMAND.search(question):
        found.append("asks nothing")
    if "  " in question or question != question.strip():
        found.append("stray blanks")
    if re.search(r" [,.?;:]|[,.;:]{2}|[,.](?=[A-Za-z])", question):
        found.append("stray punctuation")
    if question.count("(") != question.count(")") or question.count('"') % 2:
        found.append("unbalanced")
    if re.search(r"[{}|~_<>]", question) or any(0xE000 <= ord(char) <= 0xF8FF for char in question):
        found.append("leftover notation")
    if match := _DOUBLED.search(question):
        found.append(f"doubled word {match.group()!r}")
    if match := _ARTICLES.search(question):
        found.append(f"two articles {match.group()!r}")
    if match := _A.search(question) or _AN.search(question):
        found.append(f"wrong article {match.group()!r}")
    if match := _DISAGREES.search(question):
        found.append(f"no agreement {match.group()!r}")
    if match := _STIFF.search(question):
        found.append(f"stiff wording {match.group()!r}")
    for sentence in re.split(r"(?<=[.?]) ", question):
        if not sentence[:1].isupper():
            found.append(f"sentence without a capital {sentence[:20]!r}")
    return found


def named(kind: str) -> str:
    return with_article(kind, NAMES[kind]) if kind in NAMES else VALUES[kind]


def step_options(kind: str) -> list[tuple[str, bool, str]]:
    """(relation, forward, kind of the other end) of all primary relations that start at ``kind``."""
    found = []
    for relation in RELATIONS.values():
        if not relation.primary:
            continue
        if kind in relation.subject_types:
            ends = relation.object_types or (str(relation.value_kind),)
            found += [(relation.name, True, end) for end in ends]
        if kind in relation.object_types and relation.inverse != relation.name:
            found += [(relation.name, False, end) for end in relation.subject_types]
    return found


def random_chain(hops: int, rng: np.random.Generator) -> list[Link]:
    """A chain that the schema allows: no relation twice, values only at the end."""
    while True:
        kind = str(rng.choice(sorted(NAMES)))
        links: list[Link] = []
        used: set[str] = set()
        for number in range(hops):
            last = number == hops - 1
            options = [o for o in step_options(kind) if o[0] not in used and (last or o[2] in NAMES)]
            if not options:
                break
            relation, forward, end = options[int(rng.integers(len(options)))]
            links.append(
                Link(
                    number,
                    WORDS.wordings[relation],
                    forward,
                    WORDS.noun(end),
                    named(kind) if number == 0 else "",
                )
            )
            used.add(relation)
            kind = end
        if len(links) == hops:
            return links


def random_constraints(count: int, rng: np.random.Generator) -> list[Link]:
    """Constraints on one entity that the schema allows, all named, no relation twice."""
    while True:
        kind = str(rng.choice(sorted(NAMES)))
        options = {relation: (forward, end) for relation, forward, end in step_options(kind)}
        if len(options) < count:
            continue
        chosen = rng.permutation(sorted(options))[:count]
        return [
            Link(
                number,
                WORDS.wordings[str(name)],
                not options[str(name)][0],
                WORDS.noun(kind),
                named(options[str(name)][1]),
            )
            for number, name in enumerate(chosen)
        ]
