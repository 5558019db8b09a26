"""Values that a line or sentence states of the thing that it stands under: fields, defaults, versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "DESCRIBING",
    "Stated",
    "are_types",
    "default_in",
    "doing",
    "field_in",
    "is_tick",
    "plain_value",
    "relation_name",
    "since_in",
    "takes_a_value",
]

DESCRIBING = frozenset(("description", "meaning", "purpose", "summary", "function", "effect", "explanation"))
"""Labels and column headings under which a thing is described."""
_REMARKS = frozenset(
    "note warning example examples tip hint important caution see usage syntax see also for example todo where "
    "remember synopsis output input result results caveat info error this that and or bug bugs".split()
) | {"see also", "for example", "available languages", "in other words"}
_FIELD = re.compile(r"(?:- )?(?P<key>[A-Z][A-Za-z]*(?:[ -][A-Za-z]+){0,2}):(?!:) ?(?:\| )?(?P<value>\S.*)")
_RESERVED = frozenset(("described_as", "subtitle", "links_to", "see_also", "part_of", "defined_in", "states", "masked"))
_SAME = dict.fromkeys(("default_value", "default_setting", "defaults"), "default") | dict.fromkeys(
    ("added_in", "available_since", "since_version", "introduced_in", "introduced", "new_in"), "since"
)
"""Labels that mean a relation of another name."""
_QUOTES = "\"'“”‘’`"
_VALUE = (
    r"(?P<value>[\"“'‘`][^\"“”'‘’`]{1,40}[\"”'’`]|-?\d[\d,.]*\d|-?\d"
    r"|[A-Za-z_$~/.<-][\w$~/.:@%+<>-]*[\w$/%>])"
    r"(?P<unit> (?:bytes|kilobytes|KB|MB|seconds|milliseconds|ms|minutes|hours|days|characters|lines|columns|levels|"
    r"pixels|points|percent|entries|connections|items|bits|times))?"
)
_END = r"(?=[.,;)]|$| (?:on|if|when|for|unless|which|and|but|in)\b)"
_DEFAULTS = (
    re.compile(rf"\b(?:[Tt]he|[Ii]ts) default(?: value| setting)? is (?:currently )?(?:set to )?{_VALUE}{_END}"),
    re.compile(rf"\b[Dd]efaults to (?:the value )?{_VALUE}{_END}"),
    re.compile(rf"\((?:[Tt]he )?default(?:s to|:| is| value:?) {_VALUE}\)"),
    re.compile(rf"\((?:[Tt]he )?default (?![a-z]+\)){_VALUE}\)"),
    re.compile(rf"\([A-Za-z][^()]{{2,40}}[,;] default(?:s to|:| is|=)? ?{_VALUE}(?=[,;)])"),
    re.compile(r"\(default (?P<value>on|off|yes|no|true|false|none|null)(?P<unit>)\)"),
    re.compile(rf"^(?:Default|default)(?: value)?(?::| is) {_VALUE}\.?$"),
)
_OTHER = re.compile(
    r"(?:the )?((?!(?:default|following|this|the|an?|each|every|any|such|that|no|same|other|it|which|value)\b)"
    r"[\w.:$-]+) "
    r"(?:(?:parameter|option|setting|directive|variable|flag|argument)\b|defaults to (?=\S)|(?-i:The) default\b)",
    re.IGNORECASE,
)
"""A sentence that begins with another thing's name: "The reject_code parameter specifies ... (default: 450)", "The
sortorder defaults to ...", "accuracy The default is .1" in a list below a heading."""
_NO_VALUE = frozenset(
    "the a an to that this not in of only no use used set if when as for all any both either determined derived based "
    "whatever same one it its taken now also and or is are was be with from by at on usually generally always "
    "currently also very rather quite still just controlled inherited computed calculated chosen specified given "
    "assumed depending depends unset omitted default "
    "dependent system-dependent platform-dependent implementation-dependent different what where there "
    "n/a behavior behaviour action mode choice option setting order method way case location search look try".split()
)
_DONE = re.compile(r"(?!enabled|disabled|unlimited)[a-z]{3,}ed")
_TO_WHAT = (" for ", " by ", " when ", " if ")
_OF_ANOTHER = re.compile(
    r"(?:If|When|Where) (?!(?:it|this|that|not|no|none|omitted|unset|left|set|empty|given|nothing)\b)(?:the )?\S+ "
    r"(?:is|are) (?:not|omitted|missing|unset|empty|absent|left)\b"
)
"""Whose default a sentence tells is what its condition names: "If GID is omitted, it defaults to UID"."""
_ELSEWHERE = re.compile(r"\b(?:otherwise|elsewhere)\b|\b(?:and|or) (?:to )?\S{1,30} (?:on|for|if|when|in|under) ")
"""What follows a default that holds in some cases alone."""
_TYPE = re.compile(
    r"(?:bool|boolean|int|integer|str|string|float|number|list|dict|array|object|map|set|tuple|path|null)"
    r"(?:s?$|\W.*)",
    re.IGNORECASE,
)
_VERSION = r"v?(?P<value>\d+\.\d+(?:\.\d+){0,3}(?:-?[a-z]+\d*)?)"
_SINCE = re.compile(
    r"^\(?(?:This (?:\w+ ){1,3}(?:was|is|has been) |It (?:was|is) )?(?:first )?"
    r"(?:[Aa]dded|[Ii]ntroduced|[Nn]ew|[Aa]vailable|[Ss]ince|[Ff]irst appeared|[Aa]ppeared)"
    r"(?:,? (?:in|since|as of|from|with|starting with|only in))?(?: the)?(?: (?:version|release|[A-Z]\w*)){0,4} "
    rf"{_VERSION}"
    r"(?P<rest>[^.]{0,24})\.?\)?$"
)


@dataclass(frozen=True)
class Stated:
    relation: str
    value: str


def relation_name(label: str) -> str:
    """A label or column heading as the name of a relation: "Default value" -> "default"."""
    words = re.sub(r"[^\w ]+|_", " ", label.lower()).split()
    name = "_".join(words)
    name = _SAME.get(name, name)
    return f"{name}_entry" if name in _RESERVED else name


def are_types(values: Sequence[str]) -> bool:
    """Whether what is listed as formats of things are types: "bool", "List[str]"."""
    return bool(values) and 5 * sum(_TYPE.fullmatch(value) is not None for value in values) >= 4 * len(values)


def plain_value(text: str) -> tuple[str, str]:
    """(value, kind): quotes and a final stop gone."""
    bare = text.strip().rstrip(".·|,; ").strip()
    if len(bare) > 2 and bare[0] in _QUOTES and bare[-1] in _QUOTES and not any(q in bare[1:-1] for q in _QUOTES):
        bare = bare[1:-1].strip() or bare
    number = re.fullmatch(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", bare)
    return (bare.replace(",", ""), "number") if number else (bare, "text")


def field_in(line: str, names: tuple[str, ...]) -> Stated | None:
    """What a line of its own says behind a label: "Default: | BufferedLogs Off" -> default, "Off"."""
    match = _FIELD.fullmatch(line)
    if match is None or match["key"].lower() in _REMARKS or " | " in match["value"]:
        return None
    value = match["value"].strip()
    for name in names:
        if value.startswith(name + " "):
            value = value[len(name) + 1 :].strip()
    value = plain_value(value)[0]
    relation = relation_name(match["key"])
    if not value or not relation or value.lower() in ("none", "n/a", "-"):
        return None
    if match["key"].lower() in DESCRIBING:
        return Stated("described_as", value)
    return Stated(relation, value) if len(value) <= 80 else None


def doing(heading: str) -> str | None:
    """The verb that a heading of a column gives its cells ("holds", "finds by"); empty where they have their own ("what
    it does"); None where it gives none."""
    if heading in ("does", "what it does", "what does it do"):
        return ""
    verb, _, more = heading.partition(" ")
    return heading if verb in _GIVES and more in ("", "by", "to", "as", "for", "with") else None


_GIVES = frozenset(
    "holds says keeps shows specifies describes determines controls finds stores represents indicates defines".split()
)
"""Headings that are no plural noun ("formats") and say what the thing of a row does."""


def default_in(sentence: str, names: tuple[str, ...] = ()) -> str | None:
    """The default that a sentence states of what goes by ``names``, or None. "(default policy)" names no value."""
    other = _OTHER.match(sentence)
    if (other is not None and other[1] not in names) or _OF_ANOTHER.match(sentence):
        return None
    for pattern in _DEFAULTS:
        if match := pattern.search(sentence):
            value = plain_value(match["value"])[0]
            value = next((value[len(name) + 1 :] for name in names if value.startswith(f"{name}=")), value)
            if _ELSEWHERE.search(sentence, match.end()) or re.match(r", [\"“'‘]", sentence[match.end() :]):
                continue  # "defaults to unlimited where that can be told, and to 1024 otherwise"
            if _DONE.fullmatch(value) and sentence.startswith(_TO_WHAT, match.end()):
                continue  # "the default setting is ignored for this host"
            if value.lower().split("-")[0] not in _NO_VALUE and value.lower() not in _NO_VALUE and len(value) > 0:
                return value + (match["unit"] or "")
    return None


def takes_a_value(option: str) -> bool:
    """Whether an option is shown with what it takes: "-o FILE, --output FILE", and not "--debug"."""
    return re.search(r"[ =]\S+$", option.rpartition(", ")[2]) is not None


def is_tick(value: str) -> bool:
    """Whether a value only says yes or no: a switch that is off unless it is given has no default to ask for."""
    return value.lower() in ("false", "true", "no", "yes", "off", "on", "none", "disabled", "enabled")


def since_in(sentence: str) -> str | None:
    """The version in which the thing that a sentence speaks of came, or None."""
    match = _SINCE.match(sentence)
    if match is None or "," in match["rest"] or ":" in match["rest"] or re.match(r" [A-Z][a-z]+[ -]", match["rest"]):
        return None  # "New in version 1.9 Hard-coded paths": a part of the thing came then
    return match["value"]
