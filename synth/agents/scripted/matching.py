"""How a scripted agent compares words: stems, overlap of a cue with a sentence, likeness of titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import sqrt

from synth.text.words import fold, stem, words

__all__ = ["FUNCTION_WORDS", "Lexicon", "content_stems", "likeness", "same_name", "similarity"]

Lexicon = Mapping[str, Iterable[str]]
"""Lower-case word -> names of the relations that the word may express."""

FUNCTION_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing done down during each either else every few first for from further had
    has have having he her here hers him his how i if in into is it its itself just last less many may me might
    more most much must my name named no nor not now of off on once one only or other our out over own page same
    shall she should since so some such than that the their theirs them then there these they this those through
    thus to too under until up upon us very was we were what when where whether which while who whom whose why
    will with within without would yet you your called known give tell find answer question whichever whatever
    respectively
    """.split()
)


@lru_cache(maxsize=65536)
def content_stems(text: str) -> frozenset[str]:
    """Stems of the words of ``text`` that carry meaning."""
    return frozenset(stem(word) for word in words(text) if word not in FUNCTION_WORDS and len(word) > 1)


def same_name(left: str, right: str) -> bool:
    """Equal but for case, punctuation, a leading article and what qualifies one of them: words in parentheses behind
    it, a subtitle behind a dash ("pool — Things in pools"), the number of a chapter before it."""
    a, b = _bare(left), _bare(right)
    return bool(a) and (a == b or _unqualified(left) == b or a == _unqualified(right))


@lru_cache(maxsize=65536)
def _bare(name: str) -> str:
    return re.sub(r"^(?:the|an?) ", "", fold(re.sub(r"^\d+(?:\.\d+)*\.\s+", "", name)))


@lru_cache(maxsize=65536)
def _unqualified(name: str) -> str:
    return _bare(re.sub(r"\s*\([^()]*\)\s*$|\s+[—–]\s.*$", "", name))


def likeness(left: str, right: str) -> float:
    """Jaccard of the names' words, 0 to 1."""
    a, b = set(_bare(left).split()), set(_bare(right).split())
    return len(a & b) / len(a | b) if a and b else 0.0


def _vector(text: str, lexicon: Lexicon) -> dict[str, float]:
    vector: dict[str, float] = {}
    for word in dict.fromkeys(words(text)):
        if word in FUNCTION_WORDS or len(word) < 2:
            continue
        vector[stem(word)] = 1.0
        relations = sorted(set(lexicon.get(word, ())) or set(lexicon.get(stem(word), ())))
        for relation in relations:
            key = f"\0{relation}"
            vector[key] = max(vector.get(key, 0.0), 1.5 / sqrt(len(relations)))
    return vector


def similarity(cue: str, sentence: str, lexicon: Lexicon, without: Iterable[str] = ()) -> float:
    """How well ``sentence`` fits ``cue``: cosine of their stems and of the relations that their words may express.

    Words of the names in ``without`` count on neither side: a name says nothing about the relation.
    """
    for name in without:
        if name:
            pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
            cue, sentence = pattern.sub(" ", cue), pattern.sub(" ", sentence)
    a, b = _vector(cue, lexicon), _vector(sentence, lexicon)
    if not a or not b:
        return 0.0
    dot = sum(value * b[key] for key, value in a.items() if key in b)
    # The sentence's length counts half: a long sentence that states several facts is no worse for it.
    return float(dot / (sqrt(sum(v * v for v in a.values())) * sum(v * v for v in b.values()) ** 0.25))
