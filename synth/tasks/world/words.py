"""All that questions over one graph are worded with: its lexicon, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property

from synth.lexicon.model import Lexicon
from synth.lexicon.names import with_article
from synth.lexicon.reading import world_lexicon
from synth.tasks.world.measures import MeasureWording, measure_of
from synth.tasks.world.wording import Noun, Wording, noun_of, wording_of
from synth.text.words import content_words

__all__ = ["Words", "words_of", "world_words"]


class Words:
    """The words of a lexicon. Making one reads every predicate, so take it from :func:`words_of`."""

    def __init__(self, lexicon: Lexicon) -> None:
        relations = lexicon.relations
        plurals = {**lexicon.plurals, **{entry.noun: entry.plural for entry in lexicon.types.values()}}
        self._types = lexicon.types
        self.nouns: Mapping[str, Noun] = {kind: noun_of(kind, entry) for kind, entry in lexicon.types.items()}
        self.wordings: Mapping[str, Wording] = {
            name: wording_of(name, entry.question, plurals) for name, entry in relations.items()
        }
        """One per primary relation."""
        self.measures: Mapping[str, MeasureWording] = {
            name: found for name, entry in relations.items() if (found := measure_of(name, entry)) is not None
        }
        """One for each value relation by which things are ordered."""
        self.hubs = frozenset(kind for kind, entry in lexicon.types.items() if entry.hub)
        self.crowds = frozenset(name for name, entry in relations.items() if entry.crowd is not None)
        """Relations to which many subjects belong by nature: "the person who died in X" is no way to speak, even where
        the pages know of one only. Walked against their direction they are constraints, never a step of a chain."""
        self.open = frozenset(name for name, entry in relations.items() if entry.crowd == "open")
        """Relations whose sets nobody could complete: "the people born in X" has no end in any world that is like ours,
        so no question counts or orders them. A region's cities and a country's regions are complete."""
        self.inverses: Mapping[str, str] = {
            **{entry.inverse.name: name for name, entry in relations.items() if entry.inverse is not None},
            **{name: name for name, entry in relations.items() if entry.symmetric},
        }
        """Inverse reading -> primary relation, and each symmetric relation -> itself: what ``Graph.build`` wants."""

    def noun(self, kind: str) -> Noun:
        """What things of an entity type are called; a value kind has no words."""
        return self.nouns.get(kind) or Noun(kind)

    def name(self, kind: str, name: str) -> str:
        """The name as a sentence mentions it: "the River Senn", "Lake Senn"."""
        entry = self._types.get(kind)
        return with_article(name, always=entry is not None and entry.article)

    def canonical(self, relation: str, forward: bool) -> tuple[str, bool]:
        """The primary relation behind a hop, and whether the hop goes from its subject to its object.

        Raises:
            KeyError: the lexicon has no such relation.
        """
        if relation in self.wordings:
            return relation, forward
        return self.inverses[relation], not forward

    @cached_property
    def by_word(self) -> Mapping[str, tuple[str, ...]]:
        """Content words of the question phrases -> relations that they speak of, primary names, sorted.

        A word that only nouns for entity types would give ("city", "person") is left out where it says nothing: a word
        stands for a relation when one of the relation's own phrases holds it.
        """
        found: dict[str, set[str]] = {}
        for name, wording in self.wordings.items():
            texts = [*wording.asks, *wording.object_is, *wording.subject_is]
            for predicate in (*wording.subject_does, *wording.object_does):
                texts.append(f"{predicate.first} {predicate.base} {predicate.middle} {predicate.prep} {predicate.tail}")
            for text in texts:
                for word in content_words(re.sub(r"\{x('s)?\}|a\(n\)|_", " ", text)):
                    found.setdefault(word, set()).add(name)
        return {word: tuple(sorted(found[word])) for word in sorted(found)}


@cache
def world_words() -> Words:
    """The words of the generated world."""
    return Words(world_lexicon())


def words_of(lexicon: Lexicon | None) -> Words:
    """The words of a lexicon; None: of the generated world's."""
    return world_words() if lexicon is None else Words(lexicon)
