"""Tools over pages and what they show: results of a search, a page of a document, places of a text. ``read`` inverts
``render``.
"""

from __future__ import annotations

import re

from synth.environments.contract import ToolSchema, number_argument, text_argument
from synth.environments.rendering import find_links, link
from synth.environments.shown import Hits, Match, Matches, Page, Shown, Text, listing, read_hits

__all__ = ["SEARCH_TOOLS", "goes_on", "read", "render"]

SEARCH_TOOLS = (
    ToolSchema.of(
        "search",
        "Search the collection by words. Gives the best pages as [title](document) with a snippet.",
        {
            "query": text_argument("Words to look for."),
            "k": number_argument("How many results; 5 if not given.", 20),
        },
        optional=("k",),
    ),
    ToolSchema.of(
        "open",
        "Open a page of a document. Links are written as [text](document).",
        {
            "document": text_argument(
                "A document from a result or a link; document#place opens the page of that place."
            ),
            "page": number_argument("Which page; the first if not given."),
        },
        optional=("page",),
    ),
    ToolSchema.of(
        "find",
        "Find all places where a text stands in the document that is open, on any of its pages.",
        {"pattern": text_argument("Literal text; case is ignored.")},
    ),
)

_RESULTS = re.compile(r'\d+ results? for "(.*)"[:.]')
_PAGE = re.compile(r"(\[.*\)), page (\d+) of (\d+)")
_MATCHES = re.compile(r'(?:No match|(\d+) match(?:es)?) for "(.*)" in (\[.*\)) \((\d+) pages?\)[:.]')
_MATCH = re.compile(r"\d+\. page (\d+), character (\d+): (.*)")


def render(shown: Hits | Page | Matches) -> str:
    """The text of an observation."""
    match shown:
        case Hits(query, hits):
            head = f'{_count(len(hits), "result", "results")} for "{query}"{":" if hits else "."}'
            return "\n".join([head, *listing(hits)])
        case Page(title, document, page, pages, text):
            return f"{link(title, document)}, page {page} of {pages}\n\n{text}{goes_on(page, pages)}"
    where = f'for "{shown.pattern}" in {link(shown.title, shown.document)} ({_count(shown.pages, "page", "pages")})'
    if not shown.total:
        return f"No match {where}."
    lines = [f"{_count(shown.total, 'match', 'matches')} {where}:"]
    for number, found in enumerate(shown.found, start=1):
        lines.append(f"{number}. page {found.page}, character {found.character}: {found.text}")
    if shown.total > len(shown.found):
        lines.append(f"(The first {len(shown.found)} of {shown.total} matches; a longer text has fewer.)")
    return "\n".join(lines)


def read(text: str) -> Shown:
    """What the text of an observation shows. Summaries between the first and the last line of one are read as it
    is."""
    first, _, rest = text.partition("\n")
    if head := _RESULTS.fullmatch(first):
        return Hits(head[1], read_hits(rest.split("\n")))
    if (head := _PAGE.fullmatch(first)) and (thing := next(find_links(head[1]), None)) and thing.end == head.end(1):
        page, pages = int(head[2]), int(head[3])
        body = rest.removeprefix("\n").removesuffix(goes_on(page, pages))
        return Page(thing.anchor, thing.target, page, pages, body)
    if (head := _MATCHES.fullmatch(first)) and (thing := next(find_links(head[3]), None)):
        matches = (_MATCH.fullmatch(line) for line in rest.split("\n"))
        found = tuple(Match(int(match[1]), int(match[2]), match[3]) for match in matches if match)
        return Matches(head[2], thing.anchor, thing.target, int(head[4]), int(head[1] or 0), found)
    return Text(text)


def goes_on(page: int, pages: int) -> str:
    """What stands at the end of a page behind which there are others; empty at the end of the last one."""
    return f"\n\n(The document goes on: page {page + 1} of {pages}.)" if page < pages else ""


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
