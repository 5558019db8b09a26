"""What a new wording may and may not do, checked exactly, without a model. Whatever is unsure is refused: the grammar's
own wording is always there to fall back on.

Words can be compared, meaning can not. So these rules hold what words can hold: each part has its words, each name and
value stands in the words of its part, no other name and no other number appears, no negation comes or goes, no
direction turns round ("before" for "after"), and outside the parts there stand only words of asking. That the relation
itself is still the same one is what the second reader is asked (``synth.tasks.writing.writer``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

from synth.tasks.text import mentions
from synth.tasks.writing.parts import Part
from synth.text.sentences import begins
from synth.text.words import FUNCTION_WORDS, content_words, stem, tokens
from synth.text.words import words as words_in

__all__ = ["ASKING", "NUMBER_WORDS", "additions", "names_and_numbers", "problem_with", "strangers", "turns"]

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_DIGIT = re.compile(r"\d")
_NEGATIONS = frozenset("not no never none without except neither nor isn't wasn't aren't didn't doesn't don't".split())
NUMBER_WORDS = frozenset(
    """two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty hundred
    thousand million half twice dozen double triple second third fourth fifth""".split()
)
_DIRECTIONS: tuple[tuple[str, str], ...] = (
    ("after", "before"),
    ("later", "earlier"),
    ("latest", "earliest"),
    ("last", "first"),
    ("newest", "oldest"),
    ("youngest", "oldest"),
    ("younger", "older"),
    ("longest", "shortest"),
    ("longer", "shorter"),
    ("largest", "smallest"),
    ("larger", "smaller"),
    ("biggest", "smallest"),
    ("bigger", "smaller"),
    ("greatest", "least"),
    ("greater", "lesser"),
    ("highest", "lowest"),
    ("higher", "lower"),
    ("tallest", "shortest"),
    ("most", "fewest"),
    ("most", "least"),
    ("more", "fewer"),
    ("more", "less"),
    ("sum", "difference"),
    ("total", "difference"),
    ("since", "until"),
    ("north", "south"),
    ("east", "west"),
    ("mother", "father"),
    ("parent", "child"),
    ("teacher", "student"),
)
ASKING = frozenset(
    """
    please tell name find out consider give identify think look looking let take could know say state determine help
    question answer quick quiz puzzle riddle trivia here someone somebody something people person one ones thing things
    according trying try working work want wanted wonder wondering curious need like love hear see show explain
    certain given following called meant known turns turn belongs belong sought search searching figure happen possible
    also both respectively together each whichever order turn among two exactly precisely namely list provide mind
    able remember recall recalling thanks thank hello hi hey ask asking asked i'd i'm i've it's what's who's that's
    """.split()
)
"""Words of asking, in which nothing is told."""
_LONGEST = 2.0
"""A new question is at most so many times as long as the old one, or so long as it and 120 characters."""


def problem_with(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    """What is wrong with ``question`` as a new wording of ``before``, in a line; None when nothing is.

    Args:
        words: The stretch of ``question`` that each part's cue became.
    """
    for check in (_form, _parts, _names, _numbers, _turns, _additions):
        found = check(before, question, parts, words)
        if found is not None:
            return found
    return None


def names_and_numbers(before: str, text: str, openers: Collection[str] = ()) -> str | None:
    """A name or number of ``text`` that ``before`` does not hold, or a number of ``before`` that is gone; None.
    ``openers``: more words that are not names where a sentence begins."""
    return _names(before, text, (), {}, openers) or _numbers(before, text, (), {})


def turns(before: str, text: str) -> str | None:
    """A negation that came or went, or a direction that turned round; None."""
    return _turns(before, text, (), {})


def additions(before: str, text: str, words: Mapping[str, str], asking: Collection[str] = ()) -> str | None:
    """What stands in ``text`` outside ``words`` and tells something; None. ``asking``: more words that tell nothing."""
    return _additions(before, text, (), words, asking)


def strangers(known: str, phrase: str, words: Mapping[str, str]) -> str | None:
    """What stands in ``phrase`` (a part of a sentence) that does not stand in ``known``: a name, a number, or outside
    ``words`` anything that tells. None when nothing does."""
    if phrase != " ".join(phrase.split()) or len(phrase) > 300 or set("{}<>|\\`?!;") & set(phrase):
        return "it is not a plain phrase"
    for check in (_names, _new_numbers, _additions):
        found = check(known, phrase, (), words)
        if found is not None:
            return found
    negations = [word for word in words_in(phrase) if word in _NEGATIONS and word not in words_in(known)]
    return f"{negations[0]!r} denies something" if negations else None


def _form(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    if question != " ".join(question.split()):
        return "it has line breaks or stray blanks"
    if not question.endswith(("?", ".", "!")):
        return "it does not end as a sentence does"
    if len(question) > max(_LONGEST * len(before), len(before) + 120):
        return f"it has {len(question)} characters, the question had {len(before)}"
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Co") for sign in question) or set("{}<>|\\`") & set(question):
        return "it holds signs that no question needs"
    return None


def _parts(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    for part in parts:
        said = words.get(part.cue)
        if not said or not said.strip():
            return f"nothing states {part.cue!r}"
        if said not in question:
            return f"the words given for {part.cue!r} are not in it: {said!r}"
        for name in part.keep:
            # Letter by letter: a name in another case or spelling is another name to a search engine.
            if name not in said:
                return f"the words for {part.cue!r} do not hold {name!r}"
        if len(said.split()) > 3 * len(part.cue.split()) + 8:
            return f"the words for {part.cue!r} say much more: {said!r}"
    return None


def _names(
    before: str, question: str, parts: Sequence[Part], words: Mapping[str, str], openers: Collection[str] = ()
) -> str | None:
    known = set(tokens(before))
    for match in _WORD.finditer(question):
        word = match.group()
        if not any(sign.isupper() for sign in word) or set(tokens(word)) <= known:
            continue
        plain = word.casefold().replace("’", "'")
        opening = begins(question, match.start()) and word[1:] == word[1:].lower()
        if plain in ("i", "i'd", "i'm", "i've", "i'll"):
            continue
        if opening and (plain in FUNCTION_WORDS or plain in ASKING or plain in openers):
            continue
        return f"{word!r} may be a name that the question did not hold"
    return None


def _new_numbers(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    old = tokens(before)
    for word in dict.fromkeys(tokens(question)):
        if (_DIGIT.search(word) or word in NUMBER_WORDS) and word not in old:
            return f"the number {word!r} is new"
    return None


def _numbers(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    old, new = tokens(before), tokens(question)
    if found := _new_numbers(before, question, parts, words):
        return found
    for word in dict.fromkeys(old):
        if _DIGIT.search(word) and word not in new:
            return f"the number {word!r} is gone"
    return None


def _turns(before: str, question: str, parts: Sequence[Part], words: Mapping[str, str]) -> str | None:
    old, new = words_in(before), words_in(question)
    if sum(word in _NEGATIONS for word in old) != sum(word in _NEGATIONS for word in new):
        return "a negation came or went"
    for pair in _DIRECTIONS:
        for one, other in (pair, pair[::-1]):
            if one in old and other not in old and other in new and one not in new:
                return f"it says {other!r}, the question said {one!r}"
    return None


def _additions(
    before: str, question: str, parts: Sequence[Part], words: Mapping[str, str], asking: Collection[str] = ()
) -> str | None:
    """Outside the parts' words a question only asks."""
    covered = [False] * len(question)
    for said in words.values():
        at = question.find(said)
        while at >= 0:
            covered[at : at + len(said)] = [True] * len(said)
            at = question.find(said, at + 1)
    rest = "".join(" " if inside else sign for sign, inside in zip(question, covered, strict=True))
    known = set(tokens(before))
    for word in content_words(rest):
        if word in ASKING or word in asking:
            continue
        if word not in known and stem(word) not in {stem(old) for old in known}:
            return f"{word!r} stands outside all parts: it may tell what the question did not"
    if mentions(question, ["as an ai", "language model", "original question", "reworded"]):
        return "it speaks of itself"
    return None
