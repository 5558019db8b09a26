"""How well a relation, as a graph lists it, fits the words of a clue."""

from __future__ import annotations

from math import sqrt

from synth.agents.scripted.matching import FUNCTION_WORDS, Lexicon, content_stems
from synth.environments.shown import Listed
from synth.schemas.documents import ValueKind
from synth.text.words import stem, words

__all__ = ["fit_of", "is_value_kind", "kind_fit"]

_VALUES = frozenset(("date", "year", "number", "quantity", "text"))


def is_value_kind(item: Listed) -> bool:
    """Whether the relation leads to values."""
    return bool(item.kinds) and set(item.kinds) <= _VALUES


def fit_of(cue: str, item: Listed, lexicon: Lexicon) -> float:
    """0 to about 1: shared stems of the relation's own name, and words of the cue that may speak of the relation (the
    fewer relations a word may speak of, the more it says)."""
    own = content_stems(item.relation.replace("_", " "))
    found = content_stems(cue)
    shared = len(own & found) / sqrt(len(own)) if own else 0.0
    said = 0.0
    for word in dict.fromkeys(words(cue)):
        if word in FUNCTION_WORDS or len(word) < 2:
            continue
        relations = sorted(set(lexicon.get(word, ())) or set(lexicon.get(stem(word), ())))
        if item.relation in relations:
            said += 1.0 / len(relations)
    return min(1.0, 0.5 * shared + said / (1.0 + 0.5 * said))


def kind_fit(sought: str, cue: str, kind: ValueKind, item: Listed) -> float:
    """What the kinds of thing at the far ends add: the clue names one of them, or asks for a value of such a kind."""
    if kind != "entity":
        dated = {"date": {"date", "year"}, "year": {"date", "year"}, "number": {"number"}, "quantity": {"quantity"}}
        return 0.3 if dated.get(kind, {kind}) & set(item.kinds) else -0.5
    if is_value_kind(item):
        return -0.5
    named = content_stems(f"{sought} {cue}")
    return 0.25 if any(content_stems(kind) & named for kind in item.kinds) else 0.0
