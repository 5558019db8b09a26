"""What a web agent can do, and what a call asks for on the page that was last seen: so also which calls are refused
without being made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from synth.environments.contract import ToolError, ToolSchema, number_argument, text_argument
from synth.environments.suspicion import clean
from synth.environments.web.nodes import CHOICES, TEXT_BOXES
from synth.environments.web.tree import Element, Page

__all__ = ["KEYS", "Refused", "Wanted", "is_inside", "read_call", "short", "web_tools"]

KEYS = ("Enter", "Escape", "Tab", "Space", "Backspace", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown")
_REF = text_argument("An element of the page as it was last shown, as e12.", 20)


class Refused(Exception):
    """A call that can't be carried out, in words for the agent."""

    def __init__(self, words: str, error: ToolError = "refused") -> None:
        super().__init__(words)
        self.words = words
        self.error: ToolError = error


@dataclass(frozen=True)
class Wanted:
    """What a call is about."""

    url: str = ""
    """Of ``open``: the whole address."""
    element: Element | None = None
    """Of ``click``, ``select`` and ``type``."""
    option: str = ""
    """Of ``select``: as the page writes it."""


def read_call(tool: str, arguments: Mapping[str, Any], tree: Page | None, here: str, address: str) -> Wanted:
    """
    Args:
        tree: The page as it was last seen; None where none is open.
        here: Its address.
        address: The site's, without a slash at its end.

    Raises:
        Refused: the call can't be carried out on that page, whatever the browser would do.
    """
    if tool == "open":
        return Wanted(url=_target(str(arguments["url"]), here, address))
    if tool not in ("click", "select", "type"):
        return Wanted()
    element = _element(str(arguments["ref"]), tree)
    if tool == "select":
        return Wanted(element=element, option=_option(element, str(arguments["option"])))
    if tool == "type" and element.role not in TEXT_BOXES:
        raise Refused(f"{element.ref} is a {element.role}: text goes into a text box.")
    return Wanted(element=element)


def is_inside(url: str, address: str) -> bool:
    """Whether ``url`` is one of the site's."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" == address


def _target(given: str, here: str, address: str) -> str:
    before = here if is_inside(here, address) else f"{address}/"
    odd = any(character.isspace() or not character.isprintable() or character == "\\" for character in given)
    try:
        url = "" if odd else urljoin(before, given)
        inside = bool(url) and is_inside(url, address)
    except ValueError:
        inside = False
    if not inside:
        raise Refused(f"{short(given)} is not an address in this site. Its addresses begin with {address}/.")
    return url


def _element(ref: str, tree: Page | None) -> Element:
    found = tree.element(ref) if tree is not None else None
    if found is None:
        count = len(tree.elements) if tree is not None else 0
        known = f"They are e1 to e{count}" if count else "It has none"
        words = f"There is no element {short(ref, 20)} on this page. {known}; numbers are those of the last view."
        raise Refused(words, "not_found")
    if "disabled" in found.marks:
        raise Refused(f'{found.ref} ({found.role} "{found.name}") is disabled.')
    return found


def _option(element: Element, wanted: str) -> str:
    if element.role not in CHOICES:
        raise Refused(f"{element.ref} is a {element.role}: it has no options. A {element.role} is clicked or typed in.")
    if not element.options:
        raise Refused(f"{element.ref} shows its options only when it is clicked.")
    same = [option for option in element.options if option.casefold() == wanted.strip().casefold()]
    if wanted in element.options:
        return wanted
    if len(same) != 1:
        words = f"{element.ref} has no option {short(wanted, 60)}. It has: {', '.join(element.options)}."
        raise Refused(words, "not_found")
    return same[0]


def short(text: str, most: int = 100) -> str:
    """A text of the agent's or of the page's, in one line that is not too long."""
    shown = clean(text).replace("\n", " ")
    return shown if len(shown) <= most else f"{shown[:most]}..."


def web_tools(address: str) -> tuple[ToolSchema, ...]:
    """The tools for the site at ``address``, in a fixed order."""
    where = text_argument("An address in the site, whole or from the slash on.", 2000)
    typed = {"type": "string", "maxLength": 4000, "description": "The text; empty to clear the box."}
    return (
        ToolSchema.of("back", "Go back to the page before.", {}),
        ToolSchema.of("click", "Click an element: a link, a button, a checkbox, a tab.", {"ref": _REF}),
        ToolSchema.of(
            "open", f"Open a page of the site {address} by its address. {address}/ is the first page.", {"url": where}
        ),
        ToolSchema.of(
            "press",
            "Press a key, in the element that was used last.",
            {"key": {"type": "string", "enum": list(KEYS), "description": "The key."}},
        ),
        ToolSchema.of(
            "read",
            "Look at the page again. A long page comes in parts; any other tool shows the first.",
            {"part": number_argument("Which part; the first if not given.")},
            optional=("part",),
        ),
        ToolSchema.of(
            "select",
            "Choose an option of a combobox or listbox.",
            {"ref": _REF, "option": text_argument("The option, as the page words it.", 400)},
        ),
        ToolSchema.of(
            "type",
            "Put text into a text box, in place of what is in it.",
            {
                "ref": _REF,
                "text": typed,
                "submit": {"type": "boolean", "description": "Press Enter after it; not done if not given."},
            },
            optional=("submit",),
        ),
    )
