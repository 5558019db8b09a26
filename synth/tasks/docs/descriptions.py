"""What descriptions say of things of a kind, where that is no clause with a verb of its own."""

from __future__ import annotations

import re

from synth.tasks.docs.doubts import opens_with_a_noun
from synth.tasks.docs.english import plain
from synth.text.articles import COUNTED
from synth.text.subjects import KINDS, PLURAL_NOUNS
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS

__all__ = ["HOLDS", "SETTINGS", "decides", "holds", "is_sentence", "may_be"]

HOLDS = (
    (frozenset("option parameter setting directive flag switch argument qualifier".split()), "specifies"),
    (frozenset("variable field column attribute property member key".split()), "holds"),
    (frozenset("function method macro procedure routine".split()), "gives"),
    (frozenset("extension suffix prefix symbol character code sign abbreviation".split()), "stands for"),
)
"""Kinds whose things are not what is said of them, and what they do with it: an option is not "the maximum number"."""
SETTINGS = frozenset("option parameter setting directive flag switch variable field property key".split())
_WHETHER = re.compile(
    r"(?:(?:Controls|Determines|Specifies|Sets|Defines) )?[Ww]hether (?:or not )?(\w[^,]{15,}(?:, .*)?)"
)
_ACTS = frozenset(
    "command function method tool utility program script daemon service interface wrapper macro helper version variant "
    "alternative replacement way application client server shell plugin shorthand generator iterator callback "
    "constructor front-end frontend filter editor compiler interpreter implementation means routine alias synonym "
    "shortcut".split()
)
"""What a command or function may be said to be."""
_NO_SOFTWARE = frozenset("format protocol standard specification algorithm structure".split())
"""What no package, and no option, is."""
_NOMINAL = re.compile(r"that is (?:an?|the|one|any|two|either) ")
_FINITE = re.compile(r" (?:will|must|should|shall|is|are|was|were|has|have|can|may)\b")
_ACTIVE = "|".join(sorted(THIRD_PERSON - PLURAL_NOUNS))
_ANY_FINITE = re.compile(
    rf"{_FINITE.pattern}| (?:already|never|always) [a-z]+s\b| (?:exists|mixes|occurs|happens)\b"
    r"| (?:received|returned|failed|threw)(?! (?:by|from|in|with|via|on|over|through|at|when|to|as|for)\b) [a-z]"
    rf"| (?:{_ACTIVE})\b| [a-z]+ly [a-z]+s (?:the|its|all)\b"
)
_NOUN_FIRST = re.compile(
    r"(?!(?:The|An?|Any|All|Each|Every|If|When|This|These|It|No|Not|Only|In|On|For|By|With|To|As|See|Note)\b)"
    r"(?P<head>[A-Z][\w-]*(?: [a-z][\w-]*){0,3}?)"
    r"(?= (?:of|to|for|in|used|that|which|with|from|at|on|by|displayed|sent|shown|given|where|whose|under|after|"
    r"before)\b|$)"
)
"""A noun that opens a description, and what says which."""
_INNER = re.compile(r" (?:that|which|who|whose|where|when|if|whether|how|what|because|unless|until|while|so|as)\b")


def decides(sentence: str, kind: str) -> str | None:
    """ "Whether or not to sign files" -> "that determines whether to sign files", of a setting."""
    decides = _WHETHER.fullmatch(plain(sentence)) if kind.split()[-1] in SETTINGS else None
    return None if decides is None else f"that determines whether {decides[1]}"


def holds(sentence: str, kind: str) -> str | None:
    """ "Path of the certificate" -> "that specifies path of the certificate", of a setting; articles come later."""
    text = plain(sentence)
    verb = next((verb for kinds, verb in HOLDS[:2] if kind.split()[-1] in kinds), None)
    noun = None if verb is None else _NOUN_FIRST.match(text)
    if (
        noun is None
        or _ANY_FINITE.search(noun["head"])
        or {*noun["head"].lower().split()} & (THIRD_PERSON | FUNCTION_WORDS)
    ):
        return None
    first, last = noun["head"].split()[0], noun["head"].split()[-1]
    if last not in COUNTED or (first.lower() in VERBS and not opens_with_a_noun(text, kind)):
        return None
    lowered = text if first[1:2].isupper() else f"{text[0].lower()}{text[1:]}"
    late = _ANY_FINITE.search(text, noun.end())
    if late is not None and _INNER.search(text, noun.end() - 1, late.start()) is None:
        return None  # a sentence about something else
    return f"that {verb} {lowered}"


def may_be(kind: str, noun: str) -> bool:
    """Whether a thing of the kind may be called by the noun: no file is a function, and no command a group."""
    if kind in ("command", "function", "method"):
        return noun == kind or noun in _ACTS
    if kind in ("package", "plugin", "tool", "utility", "program", "library", "module", "option", "setting"):
        return noun not in _NO_SOFTWARE
    return kind != "file" or noun == kind or noun not in KINDS


def is_sentence(said: str) -> bool:
    """Whether what follows "that is the ..." has a verb of its own, so that it is not a name of a thing but a sentence
    about something else: "that is the start action of a script must exit"."""
    match = _NOMINAL.match(said)
    verb = None if match is None else _ANY_FINITE.search(said, match.end())
    return match is not None and verb is not None and _INNER.search(said, match.end(), verb.start()) is None
