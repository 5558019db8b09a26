"""All wordings by relation, and which words of a question speak of which relation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from synth.lexicon.reading import world_lexicon
from synth.sources.world.schema import RELATIONS
from synth.tasks.world.wording import Wording, wording_of
from synth.text.words import content_words

__all__ = ["INVERSES", "WORDINGS", "canonical", "question_lexicon"]

WORDINGS: Mapping[str, Wording] = MappingProxyType(
    {name: wording_of(name, entry.question) for name, entry in world_lexicon().relations.items()}
)
"""One wording per primary relation of the world."""

INVERSES: Mapping[str, str] = MappingProxyType(
    {
        name: item.inverse
        for name, item in RELATIONS.items()
        if item.inverse is not None and (not item.primary or item.inverse == name)
    }
)
"""Inverse reading -> primary relation, and each symmetric relation -> itself: what ``Graph.build`` wants."""


def canonical(relation: str, forward: bool) -> tuple[str, bool]:
    """The primary relation behind a hop, and whether the hop goes from its subject to its object.

    Raises:
        KeyError: the world has no such relation.
    """
    item = RELATIONS[relation]
    if item.primary:
        return relation, forward
    if item.inverse is None:
        raise KeyError(f"{relation!r} is an inverse reading of nothing")
    return item.inverse, not forward


def question_lexicon() -> dict[str, tuple[str, ...]]:
    """Content words of the question phrases -> relations that they speak of, primary names, sorted.

    A word that only nouns for entity types would give ("city", "person") is left out where it says nothing: a word
    stands for a relation when one of the relation's own phrases holds it.
    """
    found: dict[str, set[str]] = {}
    for name, wording in WORDINGS.items():
        texts = [*wording.asks, *wording.object_is, *wording.subject_is]
        for predicate in (*wording.subject_does, *wording.object_does):
            texts.append(f"{predicate.first} {predicate.base} {predicate.middle} {predicate.prep} {predicate.tail}")
        for text in texts:
            for word in content_words(re.sub(r"\{x('s)?\}|a\(n\)|_", " ", text)):
                found.setdefault(word, set()).add(name)
    return {word: tuple(sorted(found[word])) for word in sorted(found)}
