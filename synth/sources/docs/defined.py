"""A page on its way to the graph, and the things that it defines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from synth.schemas.documents import Document, Section
from synth.sources.docs.names import Named, group_kind, heading_name
from synth.sources.docs.outline import Outline
from synth.sources.docs.values import takes_a_value
from synth.text.subjects import KINDS

__all__ = ["Page", "Thing", "heading_span", "is_proper", "is_remark"]

_REMARK = re.compile(
    r"(?i:more|less|much|better|worse|easy|easier|hard|harder|difficult|simple|simpler|faster|slower|can|cannot|can't|does|"
    r"do|is|are|not|kind of|useful|compatible|allows|requires|supports|needs|uses|has|you|it|if|when|we) [a-z]"
)
"""Stands where a name was looked for."""

_NEAR = 500
"""Characters from the name of a thing to the end of what is said of it that still are one piece of evidence."""
_CALLED = re.compile(
    r"\b(environment(?: variable)?|variable|constant|option|setting|propertie|property|macro|argument|keyword|"
    r"parameter|error code|return code|signal|capabilitie|capability|flag)s?\b",
    re.IGNORECASE,
)
"""What names in capitals may be."""
_CAPITALS = re.compile(r"[A-Z][A-Z\d]*(?:_[A-Z\d]+)+")
_NO_CAPITALS = frozenset(
    "extension class method module package library plugin rule filter widget handler trait".split()
)
"""Kinds whose things are not written as constants and settings are."""
_BY_MENTION = frozenset(("environment variable", "variable", "constant", "setting", "property", "macro"))
"""What they are said to be by a section that speaks of nothing else as often."""
_SAYS_KIND = re.compile(r"The (?P<name>[\w.:-]+) (?P<kind>[a-z]+) (?!of\b|for\b)(?:[a-z]+s|can|may|must|will)\b ")
_LEADS = re.compile(
    r"(?:\d+\.?\s)*(?:name|description|summary|introduction|overview|abstract|about|synopsis)$", re.IGNORECASE
)
"""Sections that speak of the page's own subject."""


@dataclass
class Thing:
    """What a page defines, with the numbers of the lines that speak of it alone."""

    entity: int
    named: Named
    start: int
    end: int
    lines: list[int]

    def takes_spelling(self, named: Named, lines: list[int]) -> bool:
        """Whether a term right below is another spelling of the same option, which goes by the long one from then on:
        "-W regexp" and "--word-regexp=regexp" share what stands below."""
        own = self.named
        pair = own.kind == named.kind == "option" and own.name.startswith("--") != named.name.startswith("--")
        if not pair or lines != self.lines:
            return False
        name, *others = sorted((own.name, *own.aliases, named.name, *named.aliases), key=lambda s: s[:2] != "--")
        self.named = replace(own, name=name, aliases=tuple(dict.fromkeys(others)))
        return True

    def with_name(self, start: int, end: int) -> int:
        """Where evidence begins that ends at ``end``: at the thing's name, where that is near: "Defaults to 25."
        alone does not say what does."""
        return self.start if end - self.start <= _NEAR else start


@dataclass
class Page:
    row: int
    document: Document
    outline: Outline
    named: Named
    entity: int
    things: list[Thing] = field(default_factory=list)
    """In order of place; inner ones come after the ones that hold them."""
    by_fragment: dict[str, int] = field(default_factory=dict)
    sections: list[tuple[int, int, str]] = field(default_factory=list)
    """(start of the heading, end of its text, heading)"""

    def subjects(self) -> list[Thing]:
        """The page's own subject and what it defines."""
        if self.document.kind == "index":
            return []
        outline = self.outline
        title = self.document.title  # the number in front of it stands in the heading alone
        first = min((start for start, _, h in self.sections if not h.endswith(title)), default=len(outline.text))
        first = min([first, *(thing.start for thing in self.things)])
        own = [n for n in outline.lines_between(0, first) if not outline.lines[n].indent]
        for start, end, heading in self.sections:
            if _LEADS.match(heading):
                own += [n for n in outline.lines_between(start + len(heading), end) if not outline.lines[n].indent]
        page_thing = Thing(self.entity, self.named, 0, first, list(dict.fromkeys(own)))
        return [page_thing, *self.things]

    def is_switch(self, thing: Thing) -> bool:
        """Whether a thing is an option that is shown without a value: "--debug"."""
        number = self.outline.line_at(thing.start)
        if number is None or not thing.named.name.startswith("--"):
            return False
        line = self.outline.lines[number]
        return not takes_a_value(self.document.text[line.start : line.end])

    def kind_of_capitals(self, place: int) -> str:
        """What a name in capitals is: what the line above its list or a heading calls the things there, or what the
        section calls most often; a term where nothing does."""
        if (lead := self._lead(place)) is not None and (kinds := _CALLED.findall(lead)):
            return _capital_kind(kinds[-1])
        inside = [(start, end, heading) for start, end, heading in reversed(self.sections) if start <= place < end]
        text = self.document.text[inside[0][0] + len(inside[0][2]) : inside[0][1]] if inside else self.document.text
        found = _mentions(text) or _mentions(self.document.text)
        of_environment = found["environment variable"] > found["variable"]
        for _, _, heading in inside:
            if (kinds := _CALLED.findall(heading)) and not is_remark(heading):
                kind = _capital_kind(kinds[-1])
                return "environment variable" if kind == "variable" and of_environment else kind
        if found:
            kind, count = found.most_common(1)[0]
            return kind if 2 * count > found.total() else "term"
        return "setting" if group_kind(self.document.title) == "setting" else "term"

    def named_by(self, heading: str, group: str, place: int) -> Named | None:
        """The thing that a heading names, by its own kind: "CLOSE_COUNT" below "Extensions" is none of them."""
        thing = heading_name(heading, group)
        if thing is None or thing.kind not in _NO_CAPITALS or not _CAPITALS.fullmatch(thing.name):
            return thing
        return replace(thing, kind=self.kind_of_capitals(place))

    def _lead(self, place: int) -> str | None:
        """The line above the list of terms that one stands in, where it leads to them: "The options are:"."""
        number = self.outline.line_at(place)
        if number is None:
            return None
        lines, indent = self.outline.lines, self.outline.lines[number].indent
        above = number - 1
        while above >= 0 and (lines[above].indent > indent or (lines[above].heads and lines[above].indent == indent)):
            above -= 1
        said = self.document.text[lines[above].start : lines[above].end] if above >= 0 else ""
        return said if said.endswith(":") else None

    def own_kinds(self) -> Iterator[tuple[int, str]]:
        """(thing, kind): what its first sentence calls it, where that is another kind than the section's: "The kite
        plugin flies ..." under "Commands"."""
        for thing in self.things:
            line = self.outline.lines[thing.lines[0]] if thing.lines else None
            match = None if line is None else _SAYS_KIND.match(self.document.text, line.start, line.end)
            if match is None or match["name"] != thing.named.name or match["kind"] == thing.named.kind:
                continue
            if {match["kind"], thing.named.kind} <= KINDS:
                thing.named = replace(thing.named, kind=match["kind"])
                yield thing.entity, match["kind"]


def _capital_kind(word: str) -> str:
    kind = word.lower()
    endings = {"propertie": "property", "capabilitie": "capability", "environment": "environment variable"}
    return endings.get(kind, kind)


def _mentions(text: str) -> Counter[str]:
    """How often a text speaks of each kind that names in capitals may be of."""
    found = Counter(_capital_kind(kind) for kind in _CALLED.findall(text))
    return Counter({kind: count for kind, count in found.items() if kind in _BY_MENTION})


def is_proper(text: str, heading: str) -> bool:
    """Whether a heading is a name, no word for what stands below it: "OS", "JSON", and what the page writes large."""
    name = re.escape(heading.strip())
    within = len(re.findall(rf"(?<=[a-z,] ){name}\b", text))
    return (heading.isupper() and len(heading) > 1) or within > len(re.findall(rf"\b{name.lower()}\b", text))


def is_remark(text: str) -> bool:
    """Whether a cell opens like a sentence, where a name was looked for."""
    return _REMARK.match(text.strip()) is not None


def heading_span(text: str, section: Section) -> tuple[int, int] | None:
    """Where a section's heading stands: just before its text."""
    start = text.rfind(section.heading, 0, section.start)
    end = start + len(section.heading)
    return (start, end) if start >= 0 and (not text[end : section.start].strip()) else None
