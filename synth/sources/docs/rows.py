"""What rows of tables are about: kinds of things, and options in tables without headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synth.sources.docs.defined import is_proper
from synth.sources.docs.names import Named, group_kind, section_name, term_name
from synth.sources.docs.outline import Outline
from synth.sources.docs.values import default_in, takes_a_value
from synth.text.inflection import capital, singular
from synth.text.sentences import spans
from synth.text.subjects import KINDS
from synth.text.verbs import THIRD_PERSON

__all__ = ["ROW_LABELS", "OptionRow", "kind_of_rows", "option_rows", "products_compared"]

_OPTION_ROW = re.compile(r"(?:\| )?(?P<name>--?[A-Za-z0-9][^|]{0,80}?) \| (?P<said>[A-Za-z][^|]{11,}?)(?: \|)?")
ROW_LABELS = frozenset("optional required note notes default deprecated other others total any all example".split())
"""First cells of rows that say something of the others, and name nothing."""
_OF_NAMES = re.compile(r"(?<=\w)(?<!file|host|user|path|nick) names?$")
"""Heads a column of names; what has them is called by the word in front: "Key name"."""
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class OptionRow:
    named: Named
    start: int
    stop: int
    """Where the first sentence on the option ends."""
    end: int
    said: str
    default: str | None


def option_rows(outline: Outline, taken: Sequence[int]) -> Iterator[OptionRow]:
    """Each row of two cells that begins with an option; ``taken``: where entries begin. Tables of options often have no
    headings."""
    for line in outline.lines:
        match = _OPTION_ROW.fullmatch(outline.text, line.start, line.end)
        named = None if match is None else term_name(match["name"], "option")
        if match is None or named is None or match.start("name") in taken:
            continue
        stop = spans(match["said"])[0][1]
        default = default_in(match["said"], (named.name, *named.aliases)) if takes_a_value(match["name"]) else None
        start, end, at = match.start("name"), match.end("said"), match.start("said")
        yield OptionRow(named, start, at + stop, end, capital(match["said"][:stop]), default)


def kind_of_rows(heading: str, text: str) -> str:
    """What the thing of each row is called, by the heading of the first column of a table of a page."""
    kind = _INNER_CAPITAL.sub(" ", section_name(heading).name).lower().strip()
    plain = re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+){0,2}", kind)
    common = (
        plain is not None
        and " and " not in kind
        and " or " not in kind
        and not re.fullmatch(r"(?!file|host|user|path|nick)\w+name|\w+ional names?", kind)  # "Conventional name"
        and not is_proper(text, heading)
    )
    return group_kind(kind) or (singular(_OF_NAMES.sub("", kind)) if common else "entry")


def products_compared(heading: Sequence[str], kind: str, text: str) -> set[str]:
    """The columns of a table that say what the thing of a row is in another product.

    Args:
        kind: what the thing of each row is called.
        text: of the page: a word that an English page only ever writes with a capital, as in a heading, need not name
            a kind of thing.
    """
    unheard = kind not in KINDS and re.search(r"\bthe\b", text) is not None and f" {kind}" not in text
    found = set()
    for label in heading[1:]:
        said = label.lower().strip()
        alien = unheard and f" {said}" not in text and said.split()[0] not in THIRD_PERSON
        if alien or (not label.isupper() and is_proper(text, label)):
            found.add(label)
    return found
