"""Tools over pages and what they show: results of a search, a page of a document, places of a text. ``read`` inverts
``render``.
"""

from __future__ import annotations

import re

from synth.environments.contract import ToolSchema, number_argument, results_argument, text_argument
from synth.environments.rendering import find_links, link
from synth.environments.shown import (
    Count,
    Heading,
    Headings,
    Hits,
    Listing,
    Match,
    Matches,
    Page,
    Result,
    Rows,
    Shown,
    Text,
    listing,
    read_hits,
)

__all__ = ["OUTLINE_TOOL", "PURPOSE", "SEARCH_TOOLS", "goes_on", "read", "render", "search_in"]

SEARCH_TOOLS = (
    ToolSchema.of(
        "search",
        "Search the collection by words. Gives the best pages as [title](document) with a snippet.",
        {
            "query": text_argument("Words to look for."),
            "k": results_argument(5),
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

OUTLINE_TOOL = ToolSchema.of(
    "outline",
    "Show the headings of a document, each with its page.",
    {"document": text_argument("A document from a result or a link.")},
)

PURPOSE = {
    "find": "`find` shows where a text stands in the document that is open",
    "outline": "`outline` lists the headings of a document with their pages",
    "filter": "`filter` lists the pages that have a value in a field",
    "count": "`count` says how many pages hold given words",
    "calculate": "`calculate` works out sums over numbers, quantities and dates that you have read",
    "query": "`query` answers a SELECT over tables of facts; the table `tables` lists them",
}
"""What an agent is told of a tool that not every search has."""


def search_in(name: str, about: str) -> ToolSchema:
    """The search of one of several collections."""
    tool = SEARCH_TOOLS[0]
    words = f"Search the collection {name} ({about}). Gives the best pages as [title](document) with a snippet."
    return tool.model_copy(update={"name": f"search_{name}", "description": words})


_RESULTS = re.compile(r'\d+ results? for "(.*)"[:.]')
_PAGE = re.compile(r"(\[.*\)), page (\d+) of (\d+)")
_MATCHES = re.compile(r'(?:No match|(\d+) match(?:es)?) for "(.*)" in (\[.*\)) \((\d+) pages?\)[:.]')
_OUTLINE = re.compile(r"(\[.*\)), (\d+) headings? on (\d+) pages?[:.]")
_HEADING = re.compile(r"- page (\d+): (#+) (.*)")
_LISTING = re.compile(r'(\d+) pages? with (\w+) "(.*)", part (\d+) of (\d+)[:.]')
_COUNT = re.compile(r'(\d+) of (\d+) pages(?: with (\w+) "(.*)")? hold "(.*)"\.')
_RESULT = re.compile(r"((?:[Yy]ears from|[(-]*\d)[^=\n]*) = (-?\d[^=\n]*)")
_ROWS = re.compile(r'(\d+) rows? for "(.*)"[:.]')
_EMPTY = "–"
_MATCH = re.compile(r"\d+\. page (\d+), character (\d+): (.*)")


def render(shown: Hits | Page | Matches | Headings | Listing | Count | Result | Rows) -> str:
    """The text of an observation."""
    match shown:
        case Hits(query, hits):
            head = f'{_count(len(hits), "result", "results")} for "{query}"{":" if hits else "."}'
            return "\n".join([head, *listing(hits)])
        case Page(title, document, page, pages, text):
            return f"{link(title, document)}, page {page} of {pages}\n\n{text}{goes_on(page, pages)}"
        case Headings(title, document, pages, total, marks):
            counts = f"{_count(total, 'heading', 'headings')} on {_count(pages, 'page', 'pages')}"
            lines = [f"- page {mark.page}: {'#' * mark.level} {mark.text}" for mark in marks]
            more = [f"(The first {len(marks)} of {total} headings.)"] if total > len(marks) else []
            return "\n".join([f"{link(title, document)}, {counts}{':' if marks else '.'}", *lines, *more])
        case Listing(field, value, total, page, pages, hits):
            head = f'{_count(total, "page", "pages")} with {field} "{value}", part {page} of {pages}'
            return "\n".join([f"{head}{':' if hits else '.'}", *listing(hits)])
        case Count(words, field, value, number, of):
            where = f' with {field} "{value}"' if field else ""
            return f'{number} of {of} pages{where} hold "{words}".'
        case Result(expression, value):
            return f"{expression} = {value}"
        case Rows(sql, heading, rows, total):
            head = f'{_count(total, "row", "rows")} for "{sql}"{":" if rows else "."}'
            lines = [" | ".join(cell or _EMPTY for cell in row) for row in (heading, *rows)] if rows else []
            more = [f"(The first {len(rows)} of {total} rows.)"] if total > len(rows) else []
            return "\n".join([head, *lines, *more])
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
    if (head := _OUTLINE.fullmatch(first)) and (thing := next(find_links(head[1]), None)):
        lines = (_HEADING.fullmatch(line) for line in rest.split("\n"))
        marks = tuple(Heading(int(line[1]), len(line[2]), line[3]) for line in lines if line)
        return Headings(thing.anchor, thing.target, int(head[3]), int(head[2]), marks)
    if head := _LISTING.fullmatch(first):
        return Listing(head[2], head[3], int(head[1]), int(head[4]), int(head[5]), read_hits(rest.split("\n")))
    if head := _COUNT.fullmatch(text):
        return Count(head[5], head[3] or "", head[4] or "", int(head[1]), int(head[2]))
    if head := _RESULT.fullmatch(text):
        return Result(head[1], head[2])
    if head := _ROWS.fullmatch(first):
        table = [tuple("" if cell == _EMPTY else cell for cell in line.split(" | ")) for line in rest.split("\n")]
        more = len(table) > 1 and re.fullmatch(r"\(The first \d+ of \d+ rows\.\)", table[-1][0]) is not None
        return Rows(head[2], table[0] if rest else (), tuple(table[1:-1] if more else table[1:]), int(head[1]))
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
