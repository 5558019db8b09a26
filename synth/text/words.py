"""Words of a text, in two readings, and what makes two of them the same.

``words`` is how a reader compares prose: case, possessive endings and digit groups make no difference, an identifier
(``os_path``) is one word. ``tokens`` is for what counts as a mention: accents make no difference either, and an
identifier is as many words as it has parts. The tokenizers of the search index, of dedup and of screening are their
own: they read every script, and their versions stand in files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from synth.text.numbers import ungrouped

__all__ = [
    "FUNCTION_WORDS",
    "LETTERS",
    "bare",
    "content_words",
    "fold",
    "places_of",
    "root",
    "same_words",
    "stem",
    "token_cases",
    "tokens",
    "words",
    "words_of",
]

LETTERS = r"[^\W\d_]+(?:['’][^\W\d_]+)*"
"""Pattern of a word without digits: "don't" is one."""
_WORD = re.compile(r"\d[\d,.]*\d|\w+(?:'\w+)*")
_UNSPACED = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Characters that are written without spaces between words: each is a word here."""
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?![^\W_])|[^\W_]+(?:['’][^\W_]+)*")

FUNCTION_WORDS = frozenset(
    """
    a an the of in on at by for from to with within into onto over under through about across along after before
    and or but nor not no as than then that this these those which who whom whose what when where why how
    is are was were be been being am do does did done has have had having
    will would can could shall should may might must
    he she it they him her them his hers its their theirs i you we us our your my me
    there here also too very so such both either each every all any some one other another same only just once later
    s re ll ve d m
    """.split()
)
"""Words that carry no content of their own."""
_ENDINGS = "ations ation ings ing ments ment ions ion ors ers or er ed es s e".split()


def bare(word: str) -> str:
    """Without a possessive ending: "Vale's" -> "Vale", "Wells'" -> "Wells"."""
    # Asked of every word of every text; few have one.
    return re.sub(r"['’]s?$", "", word) if "'" in word or "’" in word else word


def words(text: str) -> list[str]:
    """Case-folded words without possessive endings; "12,045" is "12045"."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
        if not folded.isascii():
            folded = _UNSPACED.sub(r" \g<0> ", folded)
    found: list[str] = _WORD.findall(folded)
    if "'" in folded or "," in folded:
        return [ungrouped(word) if "," in word else bare(word) for word in found]
    return found


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """The ``words`` of ``text`` with one space between them."""
    return " ".join(words(text))


def words_of(text: str) -> str:
    """:func:`fold` with a space at either end too: one text stands in another as whole words where its ``words_of``
    stands in the other's."""
    return f" {fold(text)} "


def places_of(text: str, name: str, *, case: bool = True) -> Iterator[tuple[int, int]]:
    """(start, end) of the places where ``name`` stands in ``text`` and in no longer word: what ``(?<!\\w)name(?!\\w)``
    finds. Texts are asked for many names, each a few times: a pattern would cost more than it finds."""
    if not name or not (case or (text.isascii() and name.isascii())):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", 0 if case else re.IGNORECASE)
        yield from (one.span() for one in pattern.finditer(text))
        return
    if not case:
        text, name = text.lower(), name.lower()
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if _in_word(text[start - 1 : start]) or _in_word(text[end : end + 1]):
            start = text.find(name, start + 1)
        else:
            yield start, end
            start = text.find(name, end)


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def same_words(left: str, right: str) -> bool:
    """Equal but for case, punctuation and a leading article."""
    a, b = (re.sub(r"^(?:the|an?) (?=\S)", "", fold(text)) for text in (left, right))
    return a == b and a != ""


def tokens(text: str) -> list[str]:
    """Case-folded words without accents and possessive endings; digit groups joined ("12,045" -> "12045")."""
    if not text.isascii():
        return [word for word, _ in token_cases(text)]
    found: list[str] = _TOKEN.findall(text)
    if "'" in text:
        found = [word.removesuffix("'s") for word in found]
    if "," in text:
        found = [word.replace(",", "") for word in found]
    return [word.lower() for word in found]


def token_cases(text: str) -> Iterator[tuple[str, bool]]:
    """(token, whether it was capitalised)"""
    plain_text = unicodedata.normalize("NFKC", text)
    if not plain_text.isascii():
        plain_text = _UNSPACED.sub(r" \g<0> ", plain_text)
    for match in _TOKEN.finditer(plain_text):
        raw = match.group()
        if raw.endswith(("'s", "’s")):
            raw = raw[:-2]
        if raw[0].isdigit():
            raw = raw.replace(",", "")
        plain = raw
        if not raw.isascii():
            plain = "".join(c for c in unicodedata.normalize("NFKD", raw) if not unicodedata.combining(c))
        if plain:
            yield plain.casefold().replace("’", "'"), raw[0].isupper()


def content_words(text: str) -> list[str]:
    """Tokens that are not function words, in order, once each."""
    return list(dict.fromkeys(word for word in tokens(text) if word not in FUNCTION_WORDS))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light English stem: plural, -ed, -ing, -er, -ion and doubled consonants go, so "founder" meets "founded"."""
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("es") and word[-3] in "sxzh":
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ational", "ation", "ition", "ments", "ment", "ing", "ed", "er", "or", "ion", "al", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def root(word: str) -> str:
    """One suffix off, at least four letters kept: "directed", "director" and "directions" -> "direct". Coarser than
    :func:`stem`, for vocabularies that are looked up and for what may be told apart by long words only."""
    word = word.lower()
    return next((word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 4), word)
