"""Lists of texts and tables: names of files, a board's columns, rows of a Markdown table within an answer.

A text in such a list is the name of what it stands for, and what tools take. Where an answer holds several lists, each
under a key, the key belongs to what is listed if the tool can be asked for one of them: the board's column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from synth.exploration.mcp.book import Record, things
from synth.exploration.mcp.listings import TEXT, Listing, is_key, list_noun, names_all, squeezed, words_of
from synth.exploration.mcp.reading import value_of
from synth.text.inflection import singular

__all__ = ["group_arguments", "plain_listings", "tables", "text_ways"]

Call = tuple[str, Mapping[str, Any]]
_FEWEST = 2
_HEADER = re.compile(r"\|(?P<cells>(?: *[A-Za-z][\w ]{0,30} *\|){2,12}) *(?:\\n|\n) *\|[ :|-]+\| *(?:\\n|\n)")
_ID = r"[A-Za-z]{0,12}[-_#]?\d{1,8}"


def plain_listings(
    answers: Iterable[tuple[Call, str]], grouped: Callable[[str, Sequence[str]], str | None]
) -> Iterator[Listing]:
    """Lists of texts in the answers.

    Args:
        answers: Calls of tools that need no arguments, and their answers.
        grouped: Of a tool and the keys of lists in its answer, the argument by which it shows one of them.
    """
    for (tool, arguments), content in answers:
        try:
            value = value_of(content)
        except ValueError:
            yield from _keys_in_lines(tool, arguments, content)
            continue
        groups = [key for key, items in value.items() if _is_texts(items, 0)] if isinstance(value, dict) else []
        group = grouped(tool, groups) if len(groups) >= _FEWEST and len(groups) == len(value) else None
        ways = [f"*{group}[]"] if group else list(text_ways(value))
        for way in ways:
            record = Record(tool=tool, arguments=dict(arguments), each=way, names=TEXT)
            shown = tuple(dict(thing) for thing in things(record, content))
            names = [thing[TEXT] for thing in shown if TEXT in thing]
            noun = list_noun("" if group else way, tool)
            if noun and len(names) == len(shown) and names_all(TEXT, shown):
                choices = {group: tuple(groups)} if group else {}
                yield Listing(record, noun, shown, choices, group=group or "")


def group_arguments(properties: Mapping[str, Any], required: Sequence[str]) -> list[str]:
    """Arguments of a list's tool that may choose one of several lists."""
    return [name for name, one in properties.items() if name not in required and one.get("type") == "string"]


def tables(call: Call, content: str) -> Iterator[Listing]:
    """Markdown tables in an answer, in text or inside a JSON string."""
    tool, arguments = call
    for header in _HEADER.finditer(content):
        cells = [cell.strip() for cell in header["cells"].split("|")[:-1]]
        fields = ["_".join(words_of(cell)) for cell in cells]
        if len(set(fields)) < len(fields) or not fields[0].endswith("id") or fields[0] == "id":
            continue
        row = r"\|" + r"\|".join(rf" *(?P<{field}>[^|\n\\]*?) *" for field in fields) + r"\|"
        record = Record(tool=tool, arguments=dict(arguments), pattern=row, where={fields[0]: _ID})
        shown = tuple(dict(thing) for thing in things(record, content))
        name = next((field for field in fields[1:] if names_all(field, shown)), None)
        if name is not None:
            noun = singular(" ".join(words_of(fields[0])[:-1]))
            yield Listing(record.model_copy(update={"names": name}), noun, shown, {})


def _keys_in_lines(tool: str, arguments: Mapping[str, Any], content: str) -> Iterator[Listing]:
    """Keys, one a line, below a line that says so, or told by a tool whose name does."""
    first, _, rest = content.strip().partition("\n")
    heading = not is_key(first.strip())
    if "key" not in map(singular, words_of(first if heading else tool)):
        return
    lines = (rest if heading else content).split("\n")
    record = Record(
        tool=tool, arguments=dict(arguments), pattern=rf"^ *(?:[-*•] +)?(?P<{TEXT}>[A-Za-z]\S*?)$", names=TEXT
    )
    shown = tuple(dict(thing) for thing in things(record, content))
    told = [line for line in lines if line.strip()]
    if len(shown) == len(told) and all(is_key(thing[TEXT]) for thing in shown) and names_all(TEXT, shown):
        yield Listing(record, "key", shown, {})


def _is_texts(value: Any, fewest: int = _FEWEST) -> bool:
    return isinstance(value, list) and len(value) >= fewest and all(isinstance(one, str) for one in value)


def text_ways(value: Any, way: str = "", fewest: int = _FEWEST) -> Iterator[str]:
    """Paths to lists of texts that are not fields of something in a list."""
    if _is_texts(value, fewest):
        yield f"{way}[]"
    elif isinstance(value, dict):
        for name, item in value.items():
            if "." not in name and "[" not in name and squeezed(name) != "errors":
                yield from text_ways(item, f"{way}.{name}" if way else name, fewest)
