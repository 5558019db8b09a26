"""A page's accessibility tree as compact text, and the elements that an agent can use.

The browser's own tree (roles and names as a screen reader gets them) comes from Playwright as YAML. Here it loses what
says nothing (boxes without a name, addresses of links) and its elements get numbers in the order of the page: ``e1``,
``e2``, ... The numbers depend on the page alone, not on what was done before, so equal pages read equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from synth.environments.outline import Block
from synth.environments.suspicion import clean
from synth.environments.web.nodes import (
    BOXES,
    CHOICES,
    TEXT_BOXES,
    USABLE,
    Node,
    holds_usable,
    is_usable,
    item_parts,
    plain,
)
from synth.environments.web.tables import facts_in, label_of

__all__ = ["Element", "Page", "read_page"]

_STATES = ("checked", "disabled", "expanded", "pressed", "selected", "invalid", "readonly")
_SAYS_NOTHING = frozenset("generic rowgroup group document none presentation paragraph strong emphasis list".split())
"""Roles whose children stand in their place, unless they have a name."""
_ITEMS = frozenset("listitem cell gridcell row columnheader rowheader term definition img".split())
_TOLD = re.compile(r"(?P<term>[A-Z][^:.?!|]{1,40}): (?P<value>\S.{0,119})")
"""A line that states something of what the heading above it names."""
_PARTS = re.compile(r"\s+[-–—|·»:]+\s+|:\s+")
"""What stands between the parts of a title ("Bookmarks - a manager")."""
_SEARCHES = re.compile(r"\W*(?:search|find|filter)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Element:
    """Something on the page that can be used."""

    ref: str
    role: str
    name: str
    nth: int
    """How many elements of this role and name stand before it."""
    handle: str
    """The browser's own name for it."""
    value: str = ""
    """Of a text box: what is in it; of a choice: what is chosen."""
    options: tuple[str, ...] = ()
    """Of a choice."""
    marks: tuple[str, ...] = ()
    line: str = ""
    """The line of the observation that shows it, without indent."""
    near: str = ""
    """What stands in the same item of a list or row of a table, or the heading above it."""
    item: tuple[str, ...] = ()
    """The texts of that item's or row's links, cells and lines, links first."""
    url: str = ""
    """Of a link: where it leads, as the page writes it."""

    @property
    def searches(self) -> bool:
        """Whether a text in it leads somewhere and is kept nowhere: by its role, or, where a site says no role, by its
        name."""
        return self.role == "searchbox" or (self.role == "textbox" and _SEARCHES.match(self.name) is not None)


@dataclass(frozen=True)
class Page:
    lines: tuple[str, ...]
    elements: tuple[Element, ...]
    raw: tuple[str, ...]
    """The words of the lines as the page has them: nothing written out."""
    facts: tuple[tuple[str, str, str], ...] = ()
    """(what it is about, term, value): of a list of terms the heading above it, of a table's cell the first cell of its
    row and the head of its column, of a line "Term: value" the heading above it, as of a field that holds something
    where a text box does: a form of nothing but choices that are made already is an empty one."""
    blocks: tuple[Block, ...] = ()
    title: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def heading(self) -> str:
        """Its first heading of level 1, else of level 2, else one that its title repeats; empty where it has none."""
        headings = [one for one in self.blocks if one.role == "heading"]
        titled = [one.name for one in headings if one.name in _PARTS.split(self.title)]
        named = [one.name for level in "12" for one in headings if one.level == level]
        return next(iter((*named, *titled)), "")

    @property
    def status(self) -> str:
        """What it says has just been done, the last of it; empty where it says nothing of the kind."""
        return next((one.name for one in reversed(self.blocks) if one.role == "status"), "")

    def element(self, ref: str) -> Element | None:
        number = ref[1:] if ref[:1] == "e" and ref[1:].isascii() and ref[1:].isdigit() else ""
        at = int(number) - 1 if len(number) in range(1, 7) else -1
        found = self.elements[at] if 0 <= at < len(self.elements) else None
        return found if found is not None and found.ref == ref else None

    def parts(self, max_chars: int) -> tuple[str, ...]:
        """The text in parts of at most ``max_chars`` characters, cut between lines; one longer line is a part."""
        parts: list[list[str]] = [[]]
        size = 0
        for line in self.lines:
            if parts[-1] and size + len(line) + 1 > max_chars:
                parts.append([])
                size = 0
            parts[-1].append(line)
            size += len(line) + 1
        return tuple("\n".join(part) for part in parts)


def read_page(nodes: Sequence[Node], title: str = "") -> Page:
    """The tree as lines and elements."""
    reader = _Reader()
    for node in nodes:
        reader.write(node, 0, None)
    lines, elements, raw = tuple(reader.lines), tuple(reader.elements), tuple(reader.raw)
    holds = any(one.role in TEXT_BOXES and one.value and not one.searches for one in elements)
    facts = (*reader.facts, *(reader.fields if holds else ()))
    return Page(lines, elements, raw, facts, tuple(reader.blocks), plain(title))


class _Reader:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.elements: list[Element] = []
        self.raw: list[str] = []
        self.facts: list[tuple[str, str, str]] = []
        self.blocks: list[Block] = []
        self.fields: list[tuple[str, str, str]] = []
        """What fields hold, as facts."""
        self._seen: Counter[tuple[str, str]] = Counter()
        self._heading = ""
        self._label = ""
        """What the cell before this one calls it."""

    def write(self, node: Node, depth: int, near: Node | None) -> None:
        role = node.role
        if role.startswith("/") or role == "separator":
            return
        if role == "text":
            self._line(depth, node.text)
            self._below(node, depth, near)
        elif is_usable(node):
            self._usable(node, depth, near)
        elif role in _SAYS_NOTHING and not node.name:
            if role == "paragraph" and not holds_usable(node):
                self._told(node.words())
            if not node.children:
                self._line(depth, node.text)
            self._below(node, depth, near)
        elif role == "row" and not holds_usable(node):
            self._line(depth, "row: " + " | ".join(child.words() for child in node.children))
        elif role in _ITEMS:
            if role == "listitem" and not holds_usable(node):
                self._told(node.words())
            self._item(node, depth, node if role in ("listitem", "row") else near)
        else:
            if role == "heading":
                self._heading = plain(node.name or node.words())
            elif role == "table":
                self.facts += facts_in(node, self._heading)
            self._block(node, depth, node if role == "article" else near)

    def _told(self, text: str) -> None:
        """Keep what a line states, where it is of the form that people give such lines."""
        found = _TOLD.fullmatch(plain(text))
        if found is not None:
            self.facts.append((self._heading, found["term"], found["value"].rstrip(".")))

    def _block(self, node: Node, depth: int, near: Node | None) -> None:
        said = node.name or (node.text if not node.children else "")
        block = Block(node.role, plain(said), node.marks.get("level", "") if node.role == "heading" else "")
        if block.name:
            self.blocks.append(block)
        self._line(depth, replace(block, name=said).line() if said else f"{node.role} {block.level}".strip() + ":")
        if node.role != "heading" or holds_usable(node):
            self._below(node, depth + 1, near)

    def _item(self, node: Node, depth: int, near: Node | None) -> None:
        """An entry of a list or a cell: in one line where it holds no lists, tables or the like."""
        mark = "-" if node.role == "listitem" else f"{node.role}:"
        if not holds_usable(node):
            self._line(depth, f"{mark} {node.words()}")
            return
        inner = _Reader()
        inner.elements, inner.fields, inner._seen = self.elements, self.fields, self._seen
        inner._heading, inner._label = self._heading, self._label
        inner._below(node, 0, near)
        self.raw += inner.raw
        if all(not line.startswith(" ") and not line.endswith(":") for line in inner.lines):
            self.lines.append("  " * depth + f"{mark} {' '.join(inner.lines)}".replace(" ,", ","))
        else:
            self.lines.append("  " * depth + mark)
            self.lines += ["  " * (depth + 1) + line for line in inner.lines]
            self.blocks += inner.blocks

    def _below(self, node: Node, depth: int, near: Node | None) -> None:
        at = 0
        while at < len(node.children):
            child = node.children[at]
            after = node.children[at + 1] if at + 1 < len(node.children) else None
            before = node.children[at - 1] if at else None
            if child.role in ("cell", "gridcell"):
                self._label = label_of(before) if before is not None else ""
            if child.role == "term" and after is not None and after.role == "definition" and not holds_usable(after):
                self._line(depth, f"{child.words()}: {after.words()}")
                self.facts.append((self._heading, plain(child.words()), plain(after.words())))
                at += 2
                continue
            if not _labels(child, after, before):
                self.write(child, depth, near)
            at += 1

    def _usable(self, node: Node, depth: int, near: Node | None) -> None:
        role = node.role if node.role in USABLE else "clickable"
        name = " ".join((node.name or (node.text if role not in TEXT_BOXES else "") or _own_words(node, role)).split())
        if not name and role in TEXT_BOXES | CHOICES | BOXES:
            name = self._label
        options = tuple(option.name or option.text for option in _options(node)) if role in CHOICES else ()
        value = node.text if role in TEXT_BOXES else ""
        if role in CHOICES:
            value = next((o.name or o.text for o in _options(node) if "selected" in o.marks), node.text)
        marks = tuple(
            state if node.marks[state] in ("", "true") else f"{state}={node.marks[state]}"
            for state in _STATES
            if state in node.marks
        )
        ref = f"e{len(self.elements) + 1}"
        line = f'[{ref}] {role} "{name}"'
        if role in TEXT_BOXES | CHOICES and value:
            line += f': "{value}"'
        if options:
            line += " of " + ", ".join(f'"{option}"' for option in options)
        line += "".join(f" ({mark})" for mark in marks)
        line = clean(" ".join(line.split()))
        self.elements.append(
            Element(
                ref=ref,
                role=role,
                name=name,
                nth=self._seen[role, name],
                handle=node.marks["ref"],
                value=value,
                options=options,
                marks=marks,
                line=line,
                near=plain((near.words() if near is not None else "") or self._heading),
                item=tuple(item_parts(near)) if near is not None else (),
                url=next((child.text for child in node.children if child.role == "/url"), ""),
            )
        )
        if role in TEXT_BOXES | CHOICES and name and value and not self.elements[-1].searches:
            self.fields.append((self._heading, plain(name).partition(":")[0].rstrip(" *"), plain(value)))
        self._seen[role, name] += 1
        self.raw.append(" ".join((name, value, *options)))
        self.lines.append("  " * depth + line)
        if role not in CHOICES and any(holds_usable(child) for child in node.children):
            self._below(node, depth + 1, near)

    def _line(self, depth: int, text: str) -> None:
        self.raw.append(text)
        text = " ".join(clean(text).split())
        if text:
            self.lines.append("  " * depth + text)


def _labels(node: Node, after: Node | None, before: Node | None) -> bool:
    """Whether it only says the name of the element beside it, which is said there."""
    if node.role != "text":
        return False
    text = " ".join(node.text.split())
    return any(other is not None and is_usable(other) and other.name == text for other in (after, before))


def _own_words(node: Node, role: str) -> str:
    return "" if role in CHOICES | TEXT_BOXES else node.words()


def _options(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.role == "option":
            yield child
        else:
            yield from _options(child)
