"""How English bends words: articles, plurals, verbs, ordinals, capitals."""

from __future__ import annotations

import re

__all__ = ["IRREGULAR_PLURALS", "article", "capital", "imperative", "ordinal", "plural", "singular", "third_person"]

_VOWELS = tuple("aeiouAEIOU")
_VOWELS_SPELLED = tuple("AEFHILMNORSX")
"""Letters whose names begin with a vowel."""
_CONSONANT_SOUND = ("uni", "use", "usa", "eu", "one", "ut")
_IRREGULAR = {"do": "does", "have": "has", "be": "is", "go": "goes"}


def article(words: str) -> str:
    """``"an"`` or ``"a"``, as it is said: an actor, a university, a one-act play, an SQL command."""
    first = next(iter(words.split(maxsplit=1)), "")
    vowels = _VOWELS_SPELLED if first.isupper() and len(first) > 1 else _VOWELS
    return "an" if first.startswith(vowels) and not first.lower().startswith(_CONSONANT_SOUND) else "a"


def capital(text: str) -> str:
    """With a capital first; the rest stays as it is."""
    return text[:1].upper() + text[1:]


IRREGULAR_PLURALS = {
    "person": "people", "child": "children", "man": "men", "woman": "women", "series": "series", "species": "species",
    "bacterium": "bacteria", "phenomenon": "phenomena", "criterion": "criteria", "genus": "genera", "mouse": "mice",
    "wolf": "wolves", "leaf": "leaves", "knife": "knives", "shelf": "shelves", "crisis": "crises",
    "analysis": "analyses", "hypothesis": "hypotheses", "axis": "axes", "fish": "fish", "aircraft": "aircraft",
    "spacecraft": "spacecraft", "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes", "volcano": "volcanoes",
}  # fmt: skip
_SINGULARS = {many: one for one, many in IRREGULAR_PLURALS.items()}


def plural(noun: str) -> str:
    """ "city" -> "cities", "class" -> "classes", "match" -> "matches"."""
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(?:s|sh|ch|x|z)$", noun) else f"{noun}s"


def singular(noun: str) -> str:
    """ "countries" -> "country"; of "works of art" the head's."""
    head, of, rest = noun.partition(" of ")
    *first, last = head.split() or [noun]
    if last.lower() in _SINGULARS:
        last = _SINGULARS[last.lower()]
    elif last.endswith("ies") and len(last) > 4:
        last = f"{last[:-3]}y"
    elif re.search(r"(?:ss|sh|ch|x|z)es$", last):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is", "news")):
        last = last[:-1]
    return " ".join([*first, last]) + of + rest


def third_person(verb: str) -> str:
    """ "return" -> "returns", "match" -> "matches", "copy" -> "copies"."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    return f"{verb}es" if verb.endswith("o") else plural(verb)


def imperative(verb: str) -> str:
    """What :func:`third_person` is made of: "creates" -> "create", "passes" -> "pass", "copies" -> "copy"."""
    if re.search(r"(?:ss|sh|ch|x|z|o)es$", verb):
        return verb[:-2]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def ordinal(number: int) -> str:
    """ "1st", "12th", "23rd"."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
