"""Relations that a plain rule can prove from one line or sentence of technical documentation.

Every rule is narrow on purpose: it fires where the words leave no doubt about subject, relation and object, and stays
silent elsewhere. What it does not see is not lost (the page stays searchable), but no question is built on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["LINKED", "Stated", "is_deprecation", "linked_relation", "stated_values"]

_VERSION = r"(\d+(?:\.\d+){0,3}[a-z]?\d*)"


@dataclass(frozen=True)
class Stated:
    relation: str
    value: str
    start: int
    """Span of the sentence or clause, relative to the line."""
    end: int


_NEW = r"(?:New|Added|Introduced) in (?:version|release) "
_VALUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("added_in", re.compile(rf"{_NEW}{_VERSION}\.?$")),
    ("added_partly", re.compile(rf"{_NEW}{_VERSION}:")),
    ("deprecated_since", re.compile(rf"Deprecated (?:since|in) version {_VERSION}(?=[.:,]|$)")),
    (
        "removed_in",
        re.compile(rf"Deprecated since version [\d.]+, (?:will be )?removed in version {_VERSION}(?=[.:]|$)"),
    ),
    ("changed_in", re.compile(rf"Changed in version {_VERSION}:")),
    ("source_file", re.compile(r"Source code: ([\w./-]+\.(?:py|c|h))$")),
    ("availability", re.compile(r"Availability: ([^.]+)\.$")),
    (
        "default_setting",
        re.compile(
            r"(?:[^.]*\. )*(?:The|Its) default(?: value| setting)? is (?:(?:one|two|three|four|five|six|ten|\d+) "
            r"(?:kilo|mega|giga)?(?:bytes?|seconds?|minutes?|hours?) \()?([\w-]+(?:\.\d+)?(?:%| (?:milliseconds|seconds"
            r"|minutes|hours|days|connections|transactions|bytes))?)(?=\)|[.,;]| \()"
        ),
    ),
    ("set_when", re.compile(r"(?:.*\. )?This parameter can only be set ([^,;()]+?)(?=\.(?: |$)|[;,])")),
    ("bare_unit", re.compile(r"(?:.*\. )?If this value is specified without units, it is taken as (\w+)(?=[.,])")),
    ("audit_event", re.compile(r"Raises an auditing event ([a-z_]\w*(?:\.\w+)+) with (?:no arguments|arguments? )")),
)
_BARE_DEPRECATION = re.compile(
    r"Deprecated (?:since|in) version [\d.]+(?:, (?:will be )?removed in version [\d.]+)?\.?$"
)
_DEPRECATION = re.compile(
    r"Deprecated since version [^:]*: (?:(?:Please )?[Uu]se |Deprecated in favou?r"
    r"|It (?:is|has been) deprecated\b(?! to)|"
    r"(?:This|The)(?: \S+)? "
    r"(?:function|method|class|module|exception|attribute|package|constant|property|decorator|ABC|format|API)\b)"
)
_PART = re.compile(r"\b(?:parameters?|arguments?|keyword|value|option)\b")


def stated_values(line: str) -> Iterator[Stated]:
    """Values that a line of its own states ("New in version 3.4."). ``added_partly`` and ``deprecated_partly`` speak of
    a part of the entry: "New in version 3.2: The key parameter."."""
    for relation, pattern in _VALUES:
        if match := pattern.match(line):
            start, end = 0, len(line)
            if relation == "deprecated_since" and not (_BARE_DEPRECATION.match(line) or is_deprecation(line)):
                relation = "deprecated_partly"
            if relation == "default_setting":
                start = line.rfind("The default", 0, match.start(1))
                start = max(start, line.rfind("Its default", 0, match.start(1)))
                stop = line.find(". ", match.end(1))
                end = stop + 1 if stop > 0 else end
            elif relation in ("set_when", "bare_unit"):
                start = line.rfind(". ", 0, match.start(1)) + 2 if ". " in line[: match.start(1)] else 0
                stop = line.find(". ", match.end(1))
                end = stop + 1 if stop > 0 else end
            elif len(line) > 300:
                stop = line.find(". ", match.end())
                end = stop + 1 if stop > 0 else end
            yield Stated(relation, match[1], start, end)


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
        _pattern(r"(?:^|[:.;,] |\b[Pp]lease )[Uu]se ", _THE, r"(?:[a-z-]+ )?", ANCHOR, r"(?: \w+){0,2},? instead"),
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


def is_deprecation(line: str) -> bool:
    """Whether a line deprecates the whole entry that it stands in, not a parameter of it."""
    return _DEPRECATION.match(line) is not None and not _PART.search(line)


def linked_relation(sentence: str, first: bool) -> tuple[str, re.Match[str]] | None:
    """The relation that a sentence states between its subject and the linked thing, whose anchor is ``ANCHOR`` there.

    Args:
        sentence: the sentence with the anchor masked.
        first: whether it is the first sentence of the entry or page, which says what its subject is.
    """
    for relation, pattern, only_first in LINKED:
        if (first or not only_first) and (match := pattern.search(sentence)):
            return relation, match
    return None
