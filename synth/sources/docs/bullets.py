"""Settings that a list with bullets describes: "- auto: Fetch covers during an import. Default: yes."."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from synth.sources.docs.names import group_kind, term_name
from synth.sources.docs.outline import Outline
from synth.sources.docs.rows import OptionRow
from synth.sources.docs.values import default_in
from synth.text.sentences import spans

__all__ = ["bullet_rows", "is_condition", "is_of_item"]

_ROW = re.compile(
    r"- (?P<name>(?:--)?[a-z][a-z\d]*(?:[_.-][a-z\d]+)*|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+)(?: \([^()]{1,40}\))?"
    r"(?::| —| –| -) (?P<said>[A-Za-z][^|]{14,})"
)
_PARAGRAPH = re.compile(r"(?P<name>[A-Z][A-Z\d]*(?:_[A-Z\d]+)+)(?::| —| –| -) (?P<said>[A-Z][^|]{14,})")
"""A paragraph that opens with the name of a setting: "KILN_HEAT - How hot the kiln gets."."""
_FEW = 3
_ITEM = re.compile(
    r"- [a-z]+(?:_[a-z\d]+)+ [A-Z]"
    r"|- (?!(?i:default|type|since)\b)(?:--)?\w[\w.-]*(?: \([^()]{1,40}\))?(?::| —| –| -) "
)
_LEADS_IN = re.compile(
    r"(?:.*\b)?(?P<kind>options|settings|parameters|arguments|variables|commands|subcommands|fields|keys|directives|"
    r"attributes|properties|functions|flags)\b[^.]*:$",
    re.IGNORECASE,
)
"""The line above a list that says what is listed: "The available options are:"."""
_OF_CODE = re.compile(r"([A-Za-z]\w*_\w+|[A-Z][A-Za-z\d]*[a-z\d][A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*|\w+(?=\())(?:\(.*\))?")
"""A heading that is the name of a class or a function."""
_LEAST = 2
"""Bullets that make a list, unless the line above says of what: one rule has one parameter."""
_BULLET = re.compile(r"- |\d+\. ")
_CONDITIONS = re.compile(
    r"(?:.*\b)?(?:if|when|must|should|needs?|requires?|required|make sure|ensure|conditions?|requirements?)\b.*:",
    re.IGNORECASE,
)


def bullet_rows(
    outline: Outline, title: str, sections: Sequence[tuple[int, int, str]], taken: Sequence[int]
) -> Iterator[OptionRow]:
    """Each bullet that describes a thing by name, of lists whose leading line, heading or page says what is listed.

    Args:
        sections: (start of the heading, end of its text, heading) of the page, in order.
        taken: where entries begin that are known already.
    """
    text, lines = outline.text, outline.lines
    number = 0
    while number < len(lines):
        first, found = number, []
        while number < len(lines) and text.startswith("- ", lines[number].start):
            match = _ROW.fullmatch(text, lines[number].start, lines[number].end)
            found.append(match)
            number += 1
        rows = [match for match in found if match is not None]
        led = bool(first) and _LEADS_IN.fullmatch(text, lines[first - 1].start, lines[first - 1].end) is not None
        if len(rows) >= (1 if led else _LEAST) and 2 * len(rows) > len(found):
            kind = _listed(outline, title, sections, first)
            names = [match["name"] for match in rows]
            for match in rows if kind else ():
                inside = lines[first].indent > 0  # what stands in an entry is an argument of it
                if not inside and match.start("name") not in taken and names.count(match["name"]) == 1:
                    yield from _row(match, kind)
        number += not found
    yield from _paragraphs(outline, title, sections, taken)


def _paragraphs(
    outline: Outline, title: str, sections: Sequence[tuple[int, int, str]], taken: Sequence[int]
) -> Iterator[OptionRow]:
    """Paragraphs that describe a setting each, of a page that has several."""
    found = [_PARAGRAPH.fullmatch(outline.text, line.start, line.end) for line in outline.lines if not line.indent]
    rows = [match for match in found if match is not None]
    names = [match["name"] for match in rows]
    for match in rows if len(rows) >= _FEW else ():
        inside = [h for start, end, h in reversed(sections) if start <= match.start() < end]
        kind = next((kind for h in (*inside, *title.split(" - ")) if (kind := group_kind(h))), "setting")
        if match.start("name") not in taken and names.count(match["name"]) == 1:
            yield from _row(match, kind)


def _listed(outline: Outline, title: str, sections: Sequence[tuple[int, int, str]], first: int) -> str:
    """What kind of thing a list is a list of; empty where neither the line above, the heading nor the page says."""
    above = outline.lines[first - 1] if first else None
    leads = _LEADS_IN.fullmatch(outline.text, above.start, above.end) if above is not None else None
    if leads is not None:
        return group_kind(leads["kind"])
    place = outline.lines[first].start
    inside = [(start, end, h) for start, end, h in reversed(sections) if start <= place < end]
    if inside and (match := _OF_CODE.fullmatch(inside[0][2])):  # what a class or a function takes
        signature = rf"\b{re.escape(match[1])}\([^()]*\w"
        return "argument" if re.search(signature, outline.text[inside[0][0] + len(match[1]) + 2 : inside[0][1]]) else ""
    return next((kind for _, _, h in inside if (kind := group_kind(h))), "") or group_kind(title)


def _row(match: re.Match[str], kind: str) -> Iterator[OptionRow]:
    named = term_name(match["name"], kind)
    if named is None:
        return
    said, at = match["said"], match.start("said")
    pieces = spans(said)
    # "Default: feat. {0}" is no sentence up to its first stop.
    whole = [(s, e) for s, e in pieces if said[e:].strip() == "" or said[e:].lstrip()[0].isupper()]
    defaults = (default_in(said[start:end], (named.name, *named.aliases)) for start, end in whole)
    default = next((value for value in defaults if value is not None), None)
    stop = pieces[0][1]
    yield OptionRow(named, match.start("name"), at + stop, match.end("said"), said[:stop], default)


def is_condition(outline: Outline, number: int) -> bool:
    """Whether a line is a bullet of a list of what must hold: "Updating works best if:"."""
    first = number
    while first and _BULLET.match(outline.text, outline.lines[first].start):
        first -= 1
    above = outline.lines[first]
    return first < number and _CONDITIONS.fullmatch(outline.text, above.start, above.end) is not None


def heads_items(outline: Outline, number: int) -> bool:
    """Whether bullets follow a line, which then speaks of what they say: "New in 3.2: - A list may be given."."""
    below = outline.lines[number + 1 : number + 2]
    return bool(below) and _BULLET.match(outline.text, below[0].start) is not None


def is_of_item(line: str) -> bool:
    """Whether a line is a bullet that names what it speaks of: "- lid: Shut at night. Default: 25." tells nothing
    of what the heading above names."""
    return _ITEM.match(line) is not None
