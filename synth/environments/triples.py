"""Tools over a graph and what they show: results by name, relations of an entity, its facts by one of them, one a line:
``- [Jane Ostry](person/ostry), author: [The Lamp](book/lamp)``. ``read`` inverts ``render``, so whoever judges an
observation knows which fact it states, by ids and by relation, and not only which names stand side by side.
"""

from __future__ import annotations

import re
from datetime import date

from synth.environments.contract import ToolSchema, number_argument, results_argument, text_argument
from synth.environments.passages import End, Triple
from synth.environments.rendering import find_links
from synth.environments.shown import Facts, Hits, Listed, Relations, Shown, Text, listing, read_hits
from synth.text.dates import date_in_words

__all__ = ["GRAPH_TOOLS", "read", "render", "written"]

_ENTITY = text_argument("Id of an entity, as an answer of a tool shows it in parentheses.", 400)
_PAGE = number_argument("Which page; the first if not given.")
GRAPH_TOOLS = (
    ToolSchema.of(
        "find_entity",
        "Find entities by name. Gives the best as [name](entity), with what kind of thing each is.",
        {
            "name": text_argument("A name, or a part of one.", 400),
            "k": results_argument(5),
        },
        optional=("k",),
    ),
    ToolSchema.of(
        "get_relations",
        "List the relations of an entity. Each has a direction: out = the entity is what the facts are about, "
        "in = the entity is what they name, both = the relation reads the same from either end.",
        {"entity": _ENTITY, "page": _PAGE},
        optional=("page",),
    ),
    ToolSchema.of(
        "get_triples",
        "List the facts of an entity by one relation, each as: subject, relation: object.",
        {
            "entity": _ENTITY,
            "relation": text_argument("A relation that get_relations lists for the entity.", 400),
            "direction": {
                "type": "string",
                "enum": ["out", "in", "both"],
                "description": "As get_relations says; every direction if not given.",
            },
            "page": _PAGE,
        },
        optional=("direction", "page"),
    ),
)

_RESULTS = re.compile(r'(?:No entity has a name like|\d+ (?:entity|entities) for) "(.*)"[:.]')
_HEADING = re.compile(r"\[.*\), (?:relations|.+ \((out|in|both|out and in)\)), page (\d+) of (\d+)")
_HAS = re.compile(r"(.*), with (no|\d+) relations?[:.]")
_LISTED = re.compile(r"- (.+) \((out|in|both)\): ([\d,]+) facts?, (.*)")
_TOTAL = re.compile(r"\(There are (\d+) facts: this is page \d+ of \d+\.\)")


def render(shown: Hits | Relations | Facts) -> str:
    """The text of an observation."""
    if isinstance(shown, Hits):
        if not shown.hits:
            return f'No entity has a name like "{shown.query}".'
        many = "entity" if len(shown.hits) == 1 else "entities"
        return "\n".join([f'{len(shown.hits)} {many} for "{shown.query}":', *listing(shown.hits)])
    what = "relations" if isinstance(shown, Relations) else shown.label
    lines = [f"{shown.thing.markdown()}, {what}, page {shown.page} of {shown.pages}", ""]
    if isinstance(shown, Relations):
        count = "no relations" if not shown.total else "1 relation" if shown.total == 1 else f"{shown.total} relations"
        lines.append(f"{shown.description}, with {count}{':' if shown.total else '.'}")
        return "\n".join([*lines, *map(_listed, shown.listed)])
    lines += [fact.line() for fact in shown.facts]
    if shown.pages > 1:
        lines += ["", f"(There are {shown.total} facts: this is page {shown.page} of {shown.pages}.)"]
    return "\n".join(lines)


def read(text: str) -> Shown:
    """What the text of an observation shows. A value in the form of a link is taken for one."""
    first, *lines = text.split("\n")
    if head := _RESULTS.fullmatch(first):
        return Hits(head[1], read_hits(lines))
    page, links = _HEADING.fullmatch(first), list(find_links(first))
    if page is None or not links or links[0].start:
        return Text(text)
    thing = End(links[0].anchor, links[0].target)
    number, pages = int(page[2]), int(page[3])
    if page[1] is None:
        has = next(filter(None, map(_HAS.fullmatch, lines)), None)
        total = int(has[2]) if has and has[2] != "no" else 0
        found = tuple(filter(None, map(_read_listed, lines)))
        return Relations(thing, has[1] if has else "", total, number, pages, found)
    relation = first[links[0].end + 2 : first.rindex(f" ({page[1]}), page ")]
    facts = tuple(filter(None, (_read_fact(line, relation) for line in lines)))
    told = next(filter(None, map(_TOTAL.fullmatch, lines)), None)
    return Facts(thing, relation, page[1], int(told[1]) if told else len(facts), number, pages, facts)


def _listed(item: Listed) -> str:
    """The line that says that an entity has a relation."""
    count = "1 fact" if item.facts == 1 else f"{item.facts:,} facts"
    return f"- {' '.join(item.relation.split())} ({item.direction}): {count}, {', '.join(item.kinds)}"


def _read_listed(line: str) -> Listed | None:
    match = _LISTED.fullmatch(line)
    if match is None:
        return None
    kinds = tuple(kind for kind in match[4].split(", ") if kind)
    return Listed(match[1], match[2], int(match[3].replace(",", "")), kinds)


def _read_fact(line: str, relation: str) -> Triple | None:
    links = list(find_links(line)) if line.startswith("- [") else []
    between = f", {relation}: "
    if not links or links[0].start != 2 or not line.startswith(between, links[0].end):
        return None
    subject = End(links[0].anchor, links[0].target)
    start = links[0].end + len(between)
    if links[-1].start == start and links[-1].end == len(line):
        return Triple(subject, relation, End(links[-1].anchor, links[-1].target))
    return Triple(subject, relation, End(line[start:])) if line[start:] else None


def written(value: str, kind: str) -> str:
    """A value as people write it: "14 March 1874", "1,204,500", "1,204 metres". What is not of the form that its kind
    promises (a user's own graph) stays as it is."""
    text = " ".join(value.split())
    if kind == "date" and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        try:
            return date_in_words(date.fromisoformat(text))
        except ValueError:
            return text
    number, blank, unit = text.partition(" ")
    if kind in ("number", "quantity") and re.fullmatch(r"\d+", number):
        return f"{int(number):,}{blank}{unit}"
    return text
