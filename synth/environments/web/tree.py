"""A page's accessibility tree as compact text, and the elements that an agent can use.

The browser's own tree (roles and names as a screen reader gets them) comes from Playwright as YAML. Here it loses what
says nothing (boxes without a name, addresses of links) and its elements get numbers in the order of the page: ``e1``,
``e2``, ... The numbers depend on the page alone, not on what was done before, so equal pages read equal.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from synth.environments.outline import Block
from synth.environments.suspicion import clean

__all__ = ["CHOICES", "TEXT_BOXES", "Element", "Node", "Page", "parse", "read_page"]

TEXT_BOXES = frozenset(("textbox", "searchbox", "spinbutton"))
CHOICES = frozenset(("combobox", "listbox"))
_USABLE = (
    TEXT_BOXES
    | CHOICES
    | frozenset("button link checkbox radio switch tab slider menuitem menuitemcheckbox menuitemradio treeitem".split())
)
_STATES = ("checked", "disabled", "expanded", "pressed", "selected", "invalid", "readonly")
_SAYS_NOTHING = frozenset("generic rowgroup group document none presentation paragraph strong emphasis list".split())
"""Roles whose children stand in their place, unless they have a name."""
_ITEMS = frozenset("listitem cell gridcell row columnheader rowheader term definition img".split())
_KEY = re.compile(r'(?P<role>[\w-]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<marks>(?: \[[^\]]*\])*)$')
_MARK = re.compile(r"\[([^\]=]+)(?:=([^\]]*))?\]")
_TOLD = re.compile(r"(?P<term>[A-Z][^:.?!|]{1,40}): (?P<value>\S.{0,119})")
"""A line that states something of what the heading above it names."""
_SEARCHES = re.compile(r"\W*(?:search|find|filter)\b", re.IGNORECASE)
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True)
class Node:
    """A node of the tree as the browser tells it."""

    role: str
    name: str = ""
    marks: dict[str, str] = field(default_factory=dict)
    """``level``, ``checked``, ``ref``, ...; a mark without a value has an empty one."""
    text: str = ""
    children: tuple[Node, ...] = ()

    def words(self) -> str:
        """All that it says, in one line."""
        parts = [self.name or self.text, *(child.words() for child in self.children if not self.name)]
        return " ".join(part for part in parts if part)


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
    row and the head of its column, of a line "Term: value" the heading above it."""
    blocks: tuple[Block, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def heading(self) -> str:
        """Its first heading of level 1, else of level 2; empty where it has neither."""
        named = (one.name for level in "12" for one in self.blocks if (one.role, one.level) == ("heading", level))
        return next(named, "")

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


def parse(snapshot: str) -> tuple[Node, ...]:
    """The nodes of Playwright's snapshot.

    Raises:
        ValueError: it is not of the form that is known.
    """
    snapshot = _NOT_YAML.sub("\ufffd", snapshot)
    try:
        loaded = yaml.load(snapshot, Loader=_Loader) if snapshot.strip() else []
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"the accessibility tree can't be read: {error}") from None
    return tuple(_nodes(loaded if isinstance(loaded, list) else [loaded]))


def _nodes(items: Sequence[Any]) -> Iterator[Node]:
    for item in items:
        if isinstance(item, str):
            yield _node(item, "", ())
        elif isinstance(item, dict):
            for key, value in item.items():
                below = tuple(_nodes(value)) if isinstance(value, list) else ()
                yield _node(str(key), value if isinstance(value, str) else "", below)


def _node(key: str, text: str, children: tuple[Node, ...]) -> Node:
    if key.startswith("/"):
        return Node(key, text=text)
    if key == "text":
        return Node("text", text=text)
    match = _KEY.match(key)
    if match is None:
        return Node("text", text=key, children=children)
    try:
        name = str(json.loads(match["name"])) if match["name"] else ""
    except ValueError:
        name = match["name"][1:-1]
    marks = {mark: value or "" for mark, value in _MARK.findall(match["marks"])}
    return Node(match["role"], name, marks, text, children)


def read_page(nodes: Sequence[Node]) -> Page:
    """The tree as lines and elements."""
    reader = _Reader()
    for node in nodes:
        reader.write(node, 0, "")
    return Page(
        tuple(reader.lines), tuple(reader.elements), tuple(reader.raw), tuple(reader.facts), tuple(reader.blocks)
    )


class _Reader:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.elements: list[Element] = []
        self.raw: list[str] = []
        self.facts: list[tuple[str, str, str]] = []
        self.blocks: list[Block] = []
        self._seen: Counter[tuple[str, str]] = Counter()
        self._heading = ""

    def write(self, node: Node, depth: int, near: str) -> None:
        role = node.role
        if role.startswith("/") or role == "separator":
            return
        if role == "text":
            self._line(depth, node.text)
            self._below(node, depth, near)
        elif _is_usable(node):
            self._usable(node, depth, near)
        elif role in _SAYS_NOTHING and not node.name:
            if role == "paragraph" and not _holds_usable(node):
                self._told(node.words())
            if not node.children:
                self._line(depth, node.text)
            self._below(node, depth, near)
        elif role == "row" and not _holds_usable(node):
            self._line(depth, "row: " + " | ".join(child.words() for child in node.children))
        elif role in _ITEMS:
            if role == "listitem" and not _holds_usable(node):
                self._told(node.words())
            self._item(node, depth, node.words() if role in ("listitem", "row") else near)
        else:
            if role == "heading":
                self._heading = _plain(node.name or node.words())
            elif role == "table":
                self._table(node)
            self._block(node, depth, node.words() if role == "article" else near)

    def _told(self, text: str) -> None:
        """Keep what a line states, where it is of the form that people give such lines."""
        found = _TOLD.fullmatch(_plain(text))
        if found is not None:
            self.facts.append((self._heading, found["term"], found["value"].rstrip(".")))

    def _table(self, node: Node) -> None:
        """Keep what the cells of a table say, where it has one row of heads and a name at the front of each row, or
        pairs of a head and a cell."""
        plain = not any(cell.role == "columnheader" for row in _rows(node) for cell in row.children)
        for row in _rows(node) if plain else ():
            for head, cell in zip(row.children[::2], row.children[1::2], strict=False):
                term, said = _plain(head.words()).removesuffix(":"), _plain(cell.words())
                pair = (head.role, cell.role) == ("rowheader", "cell") and _is_value(cell)
                if pair and term and said and len(row.children) % 2 == 0:
                    self.facts.append((self._heading, term, said))
        head, *rows = [row for row in _rows(node) if row.children] or [Node("row")]
        heads = [_plain(cell.words()) for cell in head.children]  # those that sort are links or buttons
        if len(heads) < 2 or any(cell.role != "columnheader" for cell in head.children):
            return
        rows = [row for row in rows if len(row.children) == len(heads)]
        for row in rows:
            cells = [_plain(cell.words()) for cell in row.children]
            told = [bool(said) and _is_value(cell) for cell, said in zip(row.children, cells, strict=True)]
            about = next((at for at, one in enumerate(told) if one), len(cells))  # a box to tick may stand before it
            for at in range(about + 1, len(cells)):
                if told[at] and heads[at] and not _is_action([one.children[at] for one in rows]):
                    self.facts.append((cells[about], heads[at], cells[at]))

    def _block(self, node: Node, depth: int, near: str) -> None:
        said = node.name or (node.text if not node.children else "")
        block = Block(node.role, _plain(said), node.marks.get("level", "") if node.role == "heading" else "")
        if block.name:
            self.blocks.append(block)
        self._line(depth, replace(block, name=said).line() if said else f"{node.role} {block.level}".strip() + ":")
        if node.role != "heading" or _holds_usable(node):
            self._below(node, depth + 1, near)

    def _item(self, node: Node, depth: int, near: str) -> None:
        """An entry of a list or a cell: in one line where it holds no lists, tables or the like."""
        mark = "-" if node.role == "listitem" else f"{node.role}:"
        if not _holds_usable(node):
            self._line(depth, f"{mark} {node.words()}")
            return
        inner = _Reader()
        inner.elements, inner._seen, inner._heading = self.elements, self._seen, self._heading
        inner._below(node, 0, near)
        self.raw += inner.raw
        if all(not line.startswith(" ") and not line.endswith(":") for line in inner.lines):
            self.lines.append("  " * depth + f"{mark} {' '.join(inner.lines)}".replace(" ,", ","))
        else:
            self.lines.append("  " * depth + mark)
            self.lines += ["  " * (depth + 1) + line for line in inner.lines]
            self.blocks += inner.blocks

    def _below(self, node: Node, depth: int, near: str) -> None:
        at = 0
        while at < len(node.children):
            child = node.children[at]
            after = node.children[at + 1] if at + 1 < len(node.children) else None
            if child.role == "term" and after is not None and after.role == "definition" and not _holds_usable(after):
                self._line(depth, f"{child.words()}: {after.words()}")
                self.facts.append((self._heading, _plain(child.words()), _plain(after.words())))
                at += 2
                continue
            if not _labels(child, after, node.children[at - 1] if at else None):
                self.write(child, depth, near)
            at += 1

    def _usable(self, node: Node, depth: int, near: str) -> None:
        role = node.role if node.role in _USABLE else "clickable"
        name = " ".join((node.name or (node.text if role not in TEXT_BOXES else "") or _own_words(node, role)).split())
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
                near=_plain(near or self._heading),
            )
        )
        self._seen[role, name] += 1
        self.raw.append(" ".join((name, value, *options)))
        self.lines.append("  " * depth + line)
        if role not in CHOICES and any(_holds_usable(child) for child in node.children):
            self._below(node, depth + 1, near)

    def _line(self, depth: int, text: str) -> None:
        self.raw.append(text)
        text = " ".join(clean(text).split())
        if text:
            self.lines.append("  " * depth + text)


def _rows(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.role == "row":
            yield child
        else:
            yield from _rows(child)


def _labels(node: Node, after: Node | None, before: Node | None) -> bool:
    """Whether it only says the name of the element beside it, which is said there."""
    if node.role != "text":
        return False
    text = " ".join(node.text.split())
    return any(other is not None and _is_usable(other) and other.name == text for other in (after, before))


def _plain(text: str) -> str:
    return " ".join(clean(text).split())


def _is_usable(node: Node) -> bool:
    if "ref" not in node.marks:
        return False
    # A label or a box that only looks clickable because of what is in it is not an element of its own.
    return node.role in _USABLE or (
        node.marks.get("cursor") == "pointer" and not any(_holds_usable(child) for child in node.children)
    )


def _holds_usable(node: Node) -> bool:
    return _is_usable(node) or any(_holds_usable(child) for child in node.children)


def _is_value(cell: Node) -> bool:
    """Whether its words say something: all that can be done in it is to follow one link."""
    return all(one.role == "link" for one in _usable_in(cell)) and sum(1 for _ in _usable_in(cell)) < 2


def _is_action(column: Sequence[Node]) -> bool:
    """Whether its cells are links in the same words ("Edit"), which say nothing of their row."""
    return all(_holds_usable(cell) for cell in column) and len({_plain(cell.words()) for cell in column}) < 2


def _usable_in(node: Node) -> Iterator[Node]:
    if _is_usable(node):
        yield node
    else:
        for child in node.children:
            yield from _usable_in(child)


def _own_words(node: Node, role: str) -> str:
    return "" if role in CHOICES | TEXT_BOXES else node.words()


def _options(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.role == "option":
            yield child
        else:
            yield from _options(child)
