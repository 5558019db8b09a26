"""HTML to text with exact places of headings, terms and links.

One walk over the parsed tree writes the text (:mod:`synth.sources.docs.layout`) and notes where things stand, so no
offset is ever searched for afterwards. Made for Sphinx, DocBook, docutils and plain HTML; broken HTML is mended by
the parser (libxml2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from synth.sources.docs.boilerplate import is_boilerplate, main_element, plain_text
from synth.sources.docs.indented import is_definition, is_term
from synth.sources.docs.layout import Mark, TextWriter
from synth.sources.docs.page import MalformedError, Parsed, Place, RawLink

__all__ = ["iso_date", "parse_html", "spdx"]

Element = Any


_XHTML = re.compile(
    r"^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<!DOCTYPE html PUBLIC [^>]*XHTML|^\s*<\?xml", re.DOTALL
)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_PARAGRAPHS = frozenset("p blockquote section article figure figcaption caption address details summary hr".split())
_LINES = frozenset("div main body center header footer aside tbody thead tfoot legend".split())
_ADMONITIONS = frozenset("admonition note warning tip caution important seealso attention danger hint error".split())
_NOT_KINDS = frozenset("simple docutils last first compact".split())
_GENERATED = re.compile(r"(?:index-\d+|id\d+|id-[\d.]+|idm?\d+|idp\d+|footnote-reference-\d+)$")


def _tree(text: str) -> Element:
    from lxml import etree

    if _XHTML.match(text):
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            root = etree.fromstring(_XML_DECLARATION.sub("", text).encode(), parser)
        except etree.XMLSyntaxError:
            pass  # not well-formed after all, or with named entities: read it as HTML
        else:
            for element in root.iter(etree.Element):
                element.tag = etree.QName(element).localname.lower()
            return root
    html = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode(), html)
    except (etree.XMLSyntaxError, etree.ParserError) as error:
        raise MalformedError(f"no element in it: {error}") from error
    if any("Excessive depth" in entry.message for entry in html.error_log):
        raise MalformedError("elements nested more than 2,000 deep")
    if root is None:
        raise MalformedError("no element in it")
    return root


def parse_html(text: str) -> Parsed:
    """Read a page.

    Raises:
        MalformedError: nothing in it can be read as an element, or it is nested absurdly deep.
    """
    document = _tree(text)
    main, chosen = main_element(document)
    reader = _Reader(chosen)
    reader.read(main)
    title_element = document.find("head/title")
    headings = [place for place in reader.places if place.level]
    written = reader.writer.text()
    title: str | None = None
    first = [place for place in headings if place.level == 1]
    named = title_element is not None and plain_text(title_element)
    if len(first) == 1 or (first and not named):  # several titles are chapters of a page that has its name elsewhere
        title = written[first[0].start : first[0].end]
    elif named:
        title = named
    elif headings:
        title = written[headings[0].start : headings[0].end]
    meta = _meta(document)
    return Parsed(
        text=written,
        title=title,
        places=reader.places,
        links=reader.links,
        link_characters=reader.link_characters,
        licence=_licence(document, meta),
        date=_date(document, meta),
        url=_url(document),
        meta=meta,
        head=plain_text(title_element) if title_element is not None else None,
    )


class _Reader:
    """The walk. Elements push what is to be done when they end."""

    def __init__(self, chosen: bool) -> None:
        self.writer = TextWriter()
        self.places: list[Place] = []
        self.links: list[RawLink] = []
        self.link_characters = 0
        self._chosen = chosen
        self._exits: list[Callable[[], None] | None] = []
        self._names: list[str] = []
        self._cells: list[int] = []
        self._counters: list[int | None] = []
        self._code = 0
        self._title_done: set[Element] = set()
        self._in_place = 0

    def read(self, main: Element) -> None:
        from lxml import etree

        walk = etree.iterwalk(main, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                skip, leave = self._start(element, element is main)
                if skip:
                    walk.skip_subtree()
                elif element.text:
                    self._text(element.text)
                self._exits.append(leave)
                continue
            if event == "end" and (leave := self._exits.pop()) is not None:
                leave()
            if element is not main and element.tail:
                self._text(element.tail)

    def _text(self, text: str) -> None:
        before = self.writer.position
        (self.writer.code if self._code else self.writer.words)(text)
        if self._names and not self._in_place and self.writer.position > before:
            start = self.writer.position - len(text.strip())
            self.places.append(Place(max(before, start), max(before, start), 0, "", tuple(self._names)))
            self._names.clear()

    def _start(self, element: Element, is_main: bool) -> tuple[bool, Callable[[], None] | None]:
        tag = element.tag
        if not isinstance(tag, str):
            return True, None
        if not is_main and is_boilerplate(element, self._chosen):
            return True, None
        if element in self._title_done:
            return True, None
        for name in (element.get("id"), element.get("name") if tag == "a" else None):
            if name and not _GENERATED.match(name) and name not in self._names:
                self._names.append(name)
        writer = self.writer
        classes = (element.get("class") or "").split()
        if tag in _HEADINGS:
            writer.break_lines(2)
            return False, self._place(_HEADINGS[tag], "heading", lambda: writer.break_lines(2))
        if tag in ("div", "aside", "section", "blockquote") and not _ADMONITIONS.isdisjoint(classes):
            return False, self._admonition(element)
        if tag == "a" and element.get("href"):
            return False, self._link(element.get("href"))
        if tag == "br":
            writer.break_lines(1)
            return False, None
        if tag == "sup" and element.find(".//a") is None and plain_text(element).isalnum():
            writer.words("^")
            return False, None
        if tag == "q":
            writer.words("“")
            return False, lambda: writer.words("”")
        if tag in ("pre", "listing", "xmp"):
            writer.begin_code()
            self._code += 1
            return False, self._end_code
        if tag in ("ul", "ol", "menu", "dir", "dl"):
            writer.break_lines(1 if self._counters else 2)
            self._counters.append(_first_number(element) if tag == "ol" else None)
            return False, _all(lambda: self._counters.pop(), lambda: writer.break_lines(2))
        if tag == "li":
            return False, self._item(element)
        if tag == "dt":
            writer.break_lines(2 if "sig" in classes and not _follows_term(element) else 1)
            return False, self._place(0, _term_kind(element), lambda: writer.break_lines(1))
        if is_term(element):
            writer.break_lines(2)
            return False, self._place(0, "term", lambda: writer.break_lines(1))
        if tag == "dd" or is_definition(element):
            writer.break_lines(1)
            writer.push()
            return False, _all(writer.pop, lambda: writer.break_lines(2))
        if tag == "table":
            writer.break_lines(2)
            if _is_layout(element):
                self._cells.append(-1)
            else:
                self._cells.append(0)
            return False, _all(lambda: self._cells.pop(), lambda: writer.break_lines(2))
        if tag == "tr" and self._cells and self._cells[-1] >= 0:
            writer.break_lines(1)
            writer.begin_flat()
            self._cells[-1] = 0
            done = _all(writer.end_flat, lambda: writer.break_lines(1))
            return False, self._place(0, "columns", done) if _is_header(element) else done
        if tag in ("td", "th"):
            return False, self._cell()
        if tag in _PARAGRAPHS:
            writer.break_lines(2)
            return False, lambda: writer.break_lines(2)
        if tag in _LINES:
            writer.break_lines(1)
            return False, lambda: writer.break_lines(1)
        return False, None

    def _place(self, level: int, kind: str, after: Callable[[], None]) -> Callable[[], None]:
        mark = self.writer.open()
        self._in_place += 1

        def leave() -> None:
            self._in_place -= 1
            self.writer.close(mark)
            after()
            if mark.start is not None:
                names, self._names = tuple(self._names), []
                self.places.append(Place(mark.start, mark.end, level, kind, names))

        return leave

    def _link(self, href: str) -> Callable[[], None]:
        mark: Mark = self.writer.open()

        def leave() -> None:
            self.writer.close(mark)
            if mark.start is not None:
                self.links.append(RawLink(mark.start, mark.end, href))
                self.link_characters += mark.end - mark.start

        return leave

    def _admonition(self, element: Element) -> Callable[[], None]:
        """A boxed remark: its title, a colon, and its text four columns in. Its title is not a heading of the page."""
        writer = self.writer
        writer.break_lines(2)
        named = (e for e in element if isinstance(e.tag, str))
        title = next((e for e in named if e.tag in _HEADINGS or "title" in (e.get("class") or "")), None)
        if title is None:
            title = element.find(".//th")  # DocBook lays a remark out as a table: an icon, a title, the text
        if title is None:
            return lambda: writer.break_lines(2)
        self._title_done.add(title)
        if words := plain_text(title):
            writer.words(words if words.endswith((":", ".", "!", "?")) else words + ":")
        writer.break_lines(1)
        writer.push()
        return _all(writer.pop, lambda: writer.break_lines(2))

    def _item(self, element: Element) -> Callable[[], None]:
        writer = self.writer
        writer.break_lines(1)
        number = self._counters[-1] if self._counters else None
        if number is None:
            bullet = "- "
        else:
            value = element.get("value") or ""
            number = int(value) if value.isdigit() else number
            self._counters[-1] = number + 1
            bullet = f"{number}. "
        writer.push(" " * len(bullet), bullet)
        return _all(writer.pop, writer.tighten, lambda: writer.break_lines(1))

    def _cell(self) -> Callable[[], None] | None:
        writer = self.writer
        if not self._cells or self._cells[-1] < 0:
            writer.break_lines(2)
            return lambda: writer.break_lines(2)
        if self._cells[-1]:
            writer.words(" | ")
        self._cells[-1] += 1
        return None

    def _end_code(self) -> None:
        self._code -= 1
        self.writer.end_code()


def _all(*calls: Callable[..., object]) -> Callable[[], None]:
    def run() -> None:
        for call in calls:
            call()

    return run


def _first_number(element: Element) -> int:
    start = element.get("start") or ""
    return int(start) if start.isdigit() else 1


def _is_header(row: Element) -> bool:
    """A row of column headings: cells that are all headings, or stand in the head of the table."""
    cells = [e for e in row if e.tag in ("td", "th")]
    inside = row.getparent() is not None and row.getparent().tag == "thead"
    return len(cells) > 1 and (inside or all(e.tag == "th" for e in cells))


def _follows_term(element: Element) -> bool:
    previous = element.getprevious()
    return previous is not None and previous.tag == "dt"


def _term_kind(element: Element) -> str:
    parent = element.getparent()
    classes = [c for c in ((parent.get("class") if parent is not None else None) or "").split() if c not in _NOT_KINDS]
    if "sig" in (element.get("class") or "").split() and len(classes) >= 2:
        return " ".join(classes[:2])
    return "glossary" if "glossary" in classes else "term"


def _is_layout(table: Element) -> bool:
    """A table that arranges blocks (code beside line numbers, a picture beside a note) and holds no data."""
    return any(
        isinstance(e.tag, str) and e.tag in ("pre", "table", "dl", "h1", "h2", "h3") for e in table.iterdescendants()
    )


def _meta(document: Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in document.iter("meta"):
        name = (element.get("name") or element.get("property") or element.get("itemprop") or "").lower()
        if name and element.get("content"):
            found.setdefault(name, element.get("content").strip())
    return found


_CREATIVE_COMMONS = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/(\d\.\d)")
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{1,40}$")


_PLAIN_SPDX = frozenset(("MIT", "ISC", "Zlib", "Unlicense", "PostgreSQL", "curl", "X11", "NCSA", "OpenSSL", "WTFPL"))


def spdx(text: str) -> str | None:
    """The licence that ``text`` (an SPDX id or a Creative Commons address) names, or None."""
    if match := _CREATIVE_COMMONS.search(text):
        return "CC0-1.0" if match[2] == "zero" else f"CC-{match[2].upper()}-{match[3]}"
    text = text.strip()
    named = text in _PLAIN_SPDX or (_SPDX.match(text) and any(c.isdigit() or c == "-" for c in text))
    return text if named else None


def _licence(document: Element, meta: dict[str, str]) -> str | None:
    for element in document.iter("a", "link"):
        if "license" in (element.get("rel") or "").lower().split() and (found := spdx(element.get("href") or "")):
            return found
    for name in ("dcterms.license", "dc.rights.license", "license", "licence"):
        if name in meta and (found := spdx(meta[name])):
            return found
    return None


_ISO = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ].*)?$")
_DATES = (
    *("article:modified_time", "last-modified", "dcterms.modified"),
    *("article:published_time", "dcterms.date", "dc.date", "date"),
)
_UPDATED = re.compile(r"[Ll]ast updated on:?\s+([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4})")
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def iso_date(text: str) -> str | None:
    """``YYYY-MM-DD`` when ``text`` begins with an ISO 8601 date, else None."""
    match = _ISO.match(text.strip())
    return match[1] if match else None


def _date(document: Element, meta: dict[str, str]) -> str | None:
    for name in _DATES:
        if name in meta and (found := iso_date(meta[name])):
            return found
    for element in document.iter("div", "footer", "p"):
        if "footer" in (element.get("class") or "") or element.tag == "footer":
            match = _UPDATED.search(plain_text(element))
            if match and match[1] in _MONTHS:
                return f"{match[3]}-{_MONTHS.index(match[1]) + 1:02d}-{int(match[2]):02d}"
    return None


def _url(document: Element) -> str | None:
    for element in document.iter("link"):
        href = element.get("href") or ""
        if (element.get("rel") or "").lower() == "canonical" and href.startswith(("http://", "https://")):
            return str(href)
    return None
