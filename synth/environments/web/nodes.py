"""The nodes of an accessibility tree, as Playwright's snapshot tells them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from synth.environments.suspicion import clean

__all__ = [
    "BOXES",
    "CHOICES",
    "TEXT_BOXES",
    "USABLE",
    "Node",
    "holds_usable",
    "is_usable",
    "item_parts",
    "parse",
    "plain",
    "usable_in",
]

TEXT_BOXES = frozenset(("textbox", "searchbox", "spinbutton"))
CHOICES = frozenset(("combobox", "listbox"))
BOXES = frozenset(("checkbox", "radio", "switch"))
USABLE = (
    TEXT_BOXES
    | CHOICES
    | frozenset("button link checkbox radio switch tab slider menuitem menuitemcheckbox menuitemradio treeitem".split())
)
_SHOWN_AS_ICONS = frozenset(("link", "button"))
_KEY = re.compile(r'(?P<role>[\w-]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?P<marks>(?: \[[^\]]*\])*)$')
_MARK = re.compile(r"\[([^\]=]+)(?:=([^\]]*))?\]")
_ICONS = re.compile("[\ue000-\uf8ff]")
"""Characters of no meaning but in one font, such as one of icons."""
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
        below = [child for child in self.children if not self.name and not child.role.startswith("/")]  # no addresses
        parts = [self.name or self.text, *(child.words() for child in below)]
        return " ".join(part for part in parts if part)


def parse(snapshot: str, icons: Sequence[tuple[str, str]] = ()) -> tuple[Node, ...]:
    """The nodes of Playwright's snapshot.

    Args:
        icons: Of the links and buttons that show an icon and no words, in their order on the page: the role, and the
            hint that a person is shown ("Edit"), which is what they are called here. Where they are not the nameless
            ones of the snapshot, none gets a name.

    Raises:
        ValueError: it is not of the form that is known.
    """
    snapshot = _ICONS.sub("", _NOT_YAML.sub("\ufffd", snapshot))
    try:
        loaded = yaml.load(snapshot, Loader=_Loader) if snapshot.strip() else []
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"the accessibility tree can't be read: {error}") from None
    nodes = tuple(_nodes(loaded if isinstance(loaded, list) else [loaded]))
    hints = [hint for _, hint in icons]
    found = [one for one in _every(nodes) if one.role in _SHOWN_AS_ICONS and (not _said(one) or _said(one) in hints)]
    same = [one.role for one in found] == [role for role, _ in icons]
    if not same or any(_said(one) not in ("", hint) for one, hint in zip(found, hints, strict=True)):
        return nodes
    return tuple(_named(nodes, dict(zip(map(id, found), hints, strict=True))))


def _said(node: Node) -> str:
    return " ".join(node.words().split())


def _every(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _every(node.children)


def _named(nodes: Sequence[Node], names: dict[int, str]) -> Iterator[Node]:
    for node in nodes:
        below = tuple(_named(node.children, names))
        yield replace(node, name=names.get(id(node), node.name), children=below)


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


def plain(text: str) -> str:
    return " ".join(clean(text).split())


def is_usable(node: Node) -> bool:
    if "ref" not in node.marks:
        return False
    # A label or a box that only looks clickable because of what is in it is not an element of its own.
    return node.role in USABLE or (
        node.marks.get("cursor") == "pointer" and not any(holds_usable(child) for child in node.children)
    )


def holds_usable(node: Node) -> bool:
    return is_usable(node) or any(holds_usable(child) for child in node.children)


def usable_in(node: Node) -> Iterator[Node]:
    if is_usable(node):
        yield node
    else:
        for child in node.children:
            yield from usable_in(child)


def item_parts(node: Node) -> Iterator[str]:
    """What an item of a list or a row of a table says, part by part, without buttons and fields; links come first."""
    parts = [(part.role, plain(part.words())) for part in _leaves(node)]
    yield from dict.fromkeys(said for role, said in parts if role == "link" and said)
    yield from dict.fromkeys(said for role, said in parts if role not in USABLE and said)


def _leaves(node: Node) -> Iterator[Node]:
    below = [child for child in node.children if not child.role.startswith("/")]
    if is_usable(node) or not below:
        yield node
    else:
        for child in below:
            yield from _leaves(child)
