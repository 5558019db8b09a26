"""How a scripted agent compares words: stems, cues, likeness of titles, how a sentence or a relation fits a clue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import sqrt

from synth.environments.shown import Listed
from synth.lexicon.reading import phrases
from synth.schemas.documents import ValueKind
from synth.text.words import fold, places_of, stem, words

__all__ = [
    "FUNCTION_WORDS",
    "WORDED",
    "Lexicon",
    "content",
    "content_stems",
    "content_words",
    "dangling",
    "fit_of",
    "introduces_alias",
    "is_value_kind",
    "kind_fit",
    "likeness",
    "quotable",
    "same_name",
    "similarity",
    "strip",
    "uncapitalised",
]

Lexicon = Mapping[str, Iterable[str]]
"""Lower-case word -> names of the relations that the word may express."""

WORDED = 0.1
"""How well a relation must fit the words of a question for these to be a reason to read it."""
FUNCTION_WORDS = frozenset(phrases("word_lists")["function"])


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


class _Same:
    """A lexicon that caches compare by identity: it is large to hash, and it never changes."""

    __slots__ = ("lexicon",)

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def __hash__(self) -> int:
        return id(self.lexicon)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.lexicon is other.lexicon


@lru_cache(maxsize=16384)
def _vector(text: str, same: _Same) -> dict[str, float]:
    lexicon, vector = same.lexicon, dict[str, float]()
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
    return _similarity(cue, sentence, _Same(lexicon), tuple(without))


@lru_cache(maxsize=65536)  # agents reread a page every turn and compare the same words again
def _similarity(cue: str, sentence: str, same: _Same, without: tuple[str, ...]) -> float:
    for name in without:
        cue, sentence = _without(cue, name), _without(sentence, name)
    a, b = _vector(cue, same), _vector(sentence, same)
    if not a or not b:
        return 0.0
    dot = sum(value * b[key] for key, value in a.items() if key in b)
    # The sentence's length counts half: a long sentence that states several facts is no worse for it.
    return float(dot / (sqrt(sum(v * v for v in a.values())) * sum(v * v for v in b.values()) ** 0.25))


def _without(text: str, name: str) -> str:
    if not name or not _may_hold(text, name):
        return text
    parts, at = [], 0
    for start, end in places_of(text, name, case=False):
        parts += [text[at:start], " "]
        at = end
    return "".join((*parts, text[at:]))


def _may_hold(text: str, name: str) -> bool:
    """False where ``name`` can't stand in ``text``, whatever the case: most pairs need no pattern of their own."""
    return not (text.isascii() and name.isascii()) or name.lower() in text.lower()


@lru_cache(maxsize=32768)
def introduces_alias(text: str, name: str) -> bool:
    """Whether ``text`` says that something goes by ``name`` too."""
    if not _may_hold(text, name):
        return False
    said = r"(?:known as|called|nicknamed|alias|abbreviated|short for|formerly|also|\bor)\W+(?:the )?[\"“]?"
    return re.search(rf"{said}{re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def quotable(text: str) -> bool:
    return len(text) <= 240 and '"' not in text


def short(title: str) -> str:
    """The name in a title that has a subtitle behind a dash ("pool — Things in pools")."""
    head = re.split(r"\s+[—–]\s", title, maxsplit=1)[0].strip()
    return head or title


def strip(cue: str) -> str:
    return cue.strip().rstrip("?.,;:").strip()


def dangling(cue: str) -> bool:
    """Whether the cue makes no sense on its own ("the length of", "How high is", "the country that includes")."""
    words = cue.casefold().split()
    return len(words) < 4 or words[-1] in FUNCTION_WORDS or words[-2] in ("that", "which", "who")


def uncapitalised(cue: str) -> str:
    """The cue as part of a query: a question word is not capitalised there."""
    first = cue.split(" ", 1)[0]
    return cue[0].lower() + cue[1:] if first.casefold() in FUNCTION_WORDS else cue


_WORD = re.compile(r"\d{1,3}(?:,\d{3})+|[\w'’-]+")


def content_words(cue: str) -> list[str]:
    """The words that carry meaning, in order, once each; "1,405" is one: "1" and "405" stand nowhere."""
    return [word for word in dict.fromkeys(_WORD.findall(cue)) if content(word)]


def content(word: str) -> bool:
    return word.casefold() not in FUNCTION_WORDS


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
