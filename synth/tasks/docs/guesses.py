"""Values that nobody needs to look up, because nearly all things have them or their names say them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from synth.lexicon.reading import document_words
from synth.tasks.docs.corpus import Corpus

__all__ = ["STRUCTURE", "alike_on_page", "echoes", "foregone"]

STRUCTURE = frozenset(("described_as", "subtitle", "states", "part_of", "links_to", "see_also", "refers_for", "raises"))
"""Relations that are not an answer by themselves, or of which a thing has several."""
_SIGNS = re.compile(r"[\W_]+")
_TICKS = frozenset(("yes", "no", "x", "y", "n", "true", "false", "n/a"))
"""Cells that answer what their heading asks, and no question in words."""
_MANY, _NEARLY_ALL, _MOSTLY, _SOME = 10, 0.8, 0.7, 2


def foregone(corpus: Corpus) -> set[str]:
    """Relations that nearly always lead to one value, or mostly to ticks, so that a guess is usually right."""
    of: dict[str, Counter[str]] = defaultdict(Counter)
    for edge in corpus.edges:
        if edge.value is not None and edge.relation not in document_words().relations:
            of[edge.relation][edge.value.casefold()] += 1
    return {
        relation
        for relation, values in of.items()
        if 2 * sum(values[tick] for tick in _TICKS) > values.total()
        or (values.total() >= _MANY and max(values.values()) > _NEARLY_ALL * values.total())
    }


def alike_on_page(corpus: Corpus) -> set[tuple[int, str]]:
    """(thing, relation) of values that most things of its kind on a page have, but for as many as have another one:
    if all twenty variables are strings, "string" is a safe guess for any of them."""
    of: dict[tuple[int, str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for edge in corpus.edges:
        if edge.value is not None and edge.relation not in STRUCTURE:
            key = edge.document, corpus.entities[edge.subject].kind, edge.relation
            of[key][edge.value.casefold()].append(edge.subject)
    found = set()
    for (_, _, relation), values in of.items():
        common, total = max(values.values(), key=len), sum(map(len, values.values()))
        if total >= _MANY and len(common) > _MOSTLY * total:
            found |= {(thing, relation) for thing in common[max(_SOME, total - len(common)) :]}
    return found


def echoes(corpus: Corpus) -> set[str]:
    """Relations whose values mostly are the name of the thing once more: ``--size`` has the config ``size``."""
    of, same = Counter[str](), Counter[str]()
    for edge in corpus.edges:
        if edge.value is not None and edge.relation not in STRUCTURE:
            value, name = (_SIGNS.sub("", text).casefold() for text in (edge.value, corpus.entities[edge.subject].name))
            of[edge.relation] += 1
            same[edge.relation] += len(value) > 2 and len(name) > 2 and (value in name or name in value)
    return {relation for relation, count in of.items() if 2 * same[relation] > count}
