"""What on a page is not its text: navigation, sidebars, footers, permalinks, forms, scripts."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["edge_lines", "is_boilerplate", "is_menu", "main_element", "plain_text", "shape_of"]

Element = Any
"""An lxml element (lxml has no types of its own that mypy could use for trees with comments in them)."""

_TAGS = frozenset(
    "script style template noscript svg canvas iframe object embed applet audio video form button input select "
    "textarea nav head map dialog colgroup".split()
)
_ROLES = frozenset("navigation search banner contentinfo menu menubar toolbar dialog".split())
_CLASSES = frozenset(
    """
    headerlink anchor-link headeranchor-link heading-anchor hash-link anchorjs-link direct-link viewcode-link
    viewcode-back sphinxsidebar sphinxsidebarwrapper related mobile-nav navheader navfooter navbar nav-panel
    nav-wrapper topnav breadcrumb breadcrumbs wy-nav-side wy-breadcrumbs wy-breadcrumbs-aside rst-footer-buttons
    rst-versions prev-next-area page-nav pagination toc-sidebar sidebar sidebar-drawer site-header site-footer
    page-footer footer md-header md-footer md-sidebar edit-this-page edit-page-link copybtn copybutton clippy
    linenos linenodiv skip-link sr-only visually-hidden screen-reader-text cookie-banner mw-editsection
    mw-jump-link printfooter catlinks noprint
    """.split()
)
_IDS = frozenset("sidebar navbar navigation footer searchbox breadcrumbs skip-link toc-sidebar mw-navigation".split())
_NAV_WORDS = (
    r"(?:previous|prev|next|up|home|top|index|contents|table of contents|back(?: to top)?|forward|main|search|modules)"
)
_NAV_TEXT = re.compile(rf"\W*{_NAV_WORDS}(?:\s+(?:topic|page|chapter|section))?\W*", re.IGNORECASE)
_NAV_REL = frozenset("prev previous next up contents start index".split())
_PERMALINK = re.compile(r"[¶#§🔗]?")
_MENU = re.compile(
    r"\b(?:Next|Prev(?:ious)?|Up|Home|Top|Contents|Index)\b[:\s|>»-]|^(?:Next|Prev(?:ious)?|Up|Home|Top)$"
)
_EDGE = 30
"""Lines at the head and at the foot of a page among which menus and footers stand."""
_FIELD = re.compile(r"(?:- )?[A-Z][\w -]{1,30}:")
_NAV_BLOCKS = frozenset("p div table ul center dl".split())


def is_boilerplate(element: Element, inside_main: bool) -> bool:
    """Whether the element, with all that is in it, is left out."""
    tag = element.tag
    if tag in _TAGS:
        return True
    get = element.get
    if tag == "a" and (get("href") or "").startswith("#") and _PERMALINK.fullmatch(plain_text(element)):
        return True
    if get("hidden") is not None or (get("aria-hidden") or "").lower() == "true":
        return True
    if (get("role") or "").lower() in _ROLES:
        return True
    style = get("style")
    if style and "display:none" in style.replace(" ", "").lower():
        return True
    classes = get("class")
    if classes and not _CLASSES.isdisjoint(classes.lower().split()):
        return True
    name = get("id")
    if name and name.lower() in _IDS:
        return True
    if tag in ("footer", "header") and not inside_main:
        return element.find(".//h1") is None
    return tag in _NAV_BLOCKS and (_is_own_contents(element, classes or "") or _is_navigation_line(element))


def edge_lines(text: str) -> list[tuple[int, int]]:
    """Spans of the lines at the head and at the foot of a page, among which menus and footers stand."""
    spans = [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
    return spans if len(spans) <= 2 * _EDGE else [*spans[:_EDGE], *spans[-_EDGE:]]


def shape_of(line: str) -> str:
    """A line by which pages of one maker are compared; empty for a field ("Status: | Base"), which may well say the
    same on most pages."""
    line = " ".join(line.split())
    return "" if _FIELD.match(line) else line


def is_menu(line: str) -> bool:
    """ "Next: Record Up: Binary Previous: General Index": a line that leads to neighbours of the page."""
    return len(line) < 300 and len(_MENU.findall(line)) >= 2 and not line.rstrip().endswith((".", "?", "!"))


def _is_own_contents(element: Element, classes: str) -> bool:
    """A table of contents all of whose links stay on the page: the headings say the same again."""
    if (
        not {"toc", "contents", "local", "table-of-contents"} & set(classes.lower().split())
        and element.get("id") != "toc"
    ):
        return False
    links = [a.get("href") for a in element.iter("a") if a.get("href")]
    if not links:
        return False
    files = {link.partition("#")[0] for link in links}
    # A chapter on one file names itself in its own links ("ch03.en.html#..."), so "one file, always a fragment" does.
    return all("#" in link for link in links) and len(files) == 1


def _is_navigation_line(element: Element) -> bool:
    """A short block of nothing but links like "Previous", "Next" and "Up", and perhaps the titles that they lead to."""
    links = list(element.iter("a"))
    if not 1 <= len(links) <= 12:
        return False
    named = sum(
        bool(_NAV_TEXT.fullmatch(plain_text(a)) or _NAV_REL & set((a.get("rel") or "").lower().split())) for a in links
    )
    if not named:
        return False
    text = plain_text(element)
    if len(text) > 300:
        return False
    rest = text
    for a in links:
        rest = rest.replace(plain_text(a), " ", 1)
    rest = re.sub(_NAV_WORDS, " ", rest, flags=re.IGNORECASE)
    return len(re.findall(r"\w+", rest)) <= 2 and (named * 2 >= len(links))


def plain_text(element: Element) -> str:
    """All text inside, white space collapsed."""
    return " ".join("".join(element.itertext()).split())


def main_element(document: Element) -> tuple[Element, bool]:
    """The element that holds the page's own text, and whether the page says so (else it is the whole body)."""
    body = document.find("body")
    if body is None:
        body = document
    by_role = [e for e in body.iter() if isinstance(e.tag, str) and (e.get("role") or "").lower() == "main"]
    candidates = [
        *by_role,
        *body.iter("main"),
        *(e for e in body.iter("div") if "body" in (e.get("class") or "").split()),
    ]
    articles = list(body.iter("article"))
    if len(articles) == 1:
        candidates += articles
    names = ("main-content", "content", "mw-content-text", "bodyContent", "main")
    candidates += [e for e in body.iter("div", "section") if (e.get("id") or "") in names]
    for element in candidates:
        if plain_text(element):
            return element, True
    return body, False
