"""Relations that a plain rule can prove from one line or sentence of technical documentation.

Every rule is narrow on purpose: it fires where the words leave no doubt about subject, relation and object, and stays
silent elsewhere. What it does not see is not lost (the page stays searchable), but no question is built on it.
"""

from __future__ import annotations

import re

__all__ = ["ANCHOR", "LINKED", "linked_relation"]

ANCHOR = "\x01"
"""Stands for the anchor of the link that is looked at, in the sentences that the patterns below see."""

_IS = r"^(?:This (?:is |(?:function|method|class|exception|module) is )?)?"
_A = r"(?:[Aa]n? |[Tt]he )?"
_THE = r"(?:the )?(?:built-in )?(?:new )?"
_VERB = r"^(?:This (?:function|method|class|coroutine) )?"
_DOCS = r"(?:the )?(?:documentation (?:for|of) (?:the )?)?(?:[a-z]+ )?"


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts))


LINKED: tuple[tuple[str, re.Pattern[str], bool], ...] = (
    ("alias_of", _pattern(_IS, _A, r"(?:[a-z-]+ )?[Aa]lias (?:of|for|to) ", _THE, ANCHOR), True),
    ("subclass_of", _pattern(_IS, _A, r"(?:[\w-]+ ){0,2}[Ss]ubclass of ", _THE, ANCHOR), True),
    ("subclass_of", _pattern(r"^(?:This class )?[Ii]nherits from ", _THE, ANCHOR), False),
    ("subclass_of", _pattern(r"^(?:[\w-]+ ){0,3}(?:[Cc]lass )?[Dd]erived from ", _THE, ANCHOR), True),
    (
        "replacement",
        _pattern(
            r"(?:^|[:.;,] |\b[Pp]lease )[Uu]se ",
            _THE,
            r"(?:(?!returned |resulting )[a-z-]+ )?",
            ANCHOR,
            r"(?: \w+){0,2},? instead",
        ),
        False,
    ),
    (
        "replacement",
        _pattern(r"\b(?:consider using|better to use|prefer) ", _THE, ANCHOR, r"(?: \w+){0,2} instead"),
        False,
    ),
    ("replacement", _pattern(r"\b[Ii]n favou?r of ", _THE, ANCHOR), False),
    ("replacement", _pattern(r"\b(?:[Rr]eplaced|[Ss]uperseded) by ", _THE, ANCHOR), False),
    (
        "raises",
        _pattern(
            r"(?:^|[,;] |\b(?:and|or|otherwise|will|may|can|also) )(?:[Rr]aises?|[Tt]hrows?) (?:an? |the )?",
            ANCHOR,
            r" (?:exception |error )?(?:if|when|on)\b",
        ),
        False,
    ),
    ("raises", _pattern(r"(?:^|, )", _A, ANCHOR, r" (?:exception |error )?(?:is|will be|may be) raised\b"), False),
    (
        "returns",
        _pattern(
            *(_VERB, r"[Rr]eturns? (?:an? |the )?(?:new |named |corresponding )?", ANCHOR),
            r" (?:object|instance|subclass|that|which|for|with|of|containing|representing)\b",
        ),
        True,
    ),
    ("returns", _pattern(_VERB, r"[Rr]eturns? (?:an? )?(?:new )?(?:instance of|object of type) ", _THE, ANCHOR), True),
    (
        "like",
        _pattern(
            r"^(?:This (?:(?:function|method|class) )?(?:is|works|behaves) )?(?:[Ee]xactly |[Jj]ust |[Mm]uch )?",
            r"(?:[Ll]ike|[Ss]imilar to|[Ss]ame as|[Ii]dentical to|[Ee]quivalent to) (?:the )?",
            ANCHOR,
        ),
        True,
    ),
    (
        "refers_for",
        _pattern(r"^(?:Please )?(?:[Ss]ee|[Rr]efer to|[Cc]onsult) (?:also )?", _DOCS, ANCHOR, r"(?: \w+)? for\b"),
        False,
    ),
    (
        "refers_for",
        _pattern(r"^For [^,\x01]{8,90}, (?:please )?(?:see|refer to|consult) ", _DOCS, ANCHOR, r"(?: \w+)?\.$"),
        False,
    ),
)
"""Relation, pattern over the sentence, and whether only the first sentence of an entry or page may state it."""


_CASE = re.compile(r"(?:For|If|When|Where|To|In) ")
"""Opens what holds in some cases: "For operator norms, use mnorm() instead" replaces nothing."""


def linked_relation(sentence: str, first: bool) -> tuple[str, re.Match[str]] | None:
    """The relation that a sentence states between its subject and the linked thing, whose anchor is ``ANCHOR`` there.

    Args:
        sentence: the sentence with the anchor masked.
        first: whether it is the first sentence of the entry or page, which says what its subject is.
    """
    for relation, pattern, only_first in LINKED:
        if relation == "replacement" and _CASE.match(sentence):
            continue
        if (first or not only_first) and (match := pattern.search(sentence)):
            return relation, match
    return None
