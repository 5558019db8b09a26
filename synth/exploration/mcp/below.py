"""Lists that hang below something listed: the tasks of each request, the rows of each table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from synth.environments.mcp.environment import McpEnvironment
from synth.exploration.mcp.listings import Listing, listings, words_of
from synth.exploration.mcp.plain_lists import tables
from synth.exploration.mcp.signatures import Signature
from synth.exploration.mcp.slots import Slots
from synth.exploration.mcp.survey import told
from synth.exploration.mcp.trials import Call
from synth.identity import canonical_json
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = ["below"]

_GENERIC = frozenset(phrases("word_lists")["generic_nouns"])
_MOST = 12
"""Things that a tool is asked for."""


def below(environment: McpEnvironment, tool: Signature, slots: Slots) -> Iterator[Listing]:
    """Lists that a tool shows of one listed thing: one for all, where they have the same fields; of records that have
    no name of their own, one for each thing, which says what they are (the rows of "plants")."""
    thing, calls = slots.thing(tool), slots.calls(tool, _MOST)
    if thing is None or not calls or thing[0].parent is not None:
        return
    parent, fields = thing
    look = tool.look(slots.arguments(tool) or {})
    answers = {canonical_json(call): content for call, content in told(environment, calls)}
    kept: dict[str, list[tuple[Mapping[str, str], Listing]]] = {}
    for above, call in zip(parent.things, calls, strict=False):
        content = answers.get(canonical_json(call))
        if content is None:
            continue
        for one in [*listings([(call, content)]), *tables(call, content)]:
            if one.noun in _GENERIC:
                yield from _rows(one, parent, above, tool, slots, fields)
            elif _is_plural(one, call) and one.noun not in {parent.noun, *(other.noun for other in slots.listed)}:
                kept.setdefault(one.noun, []).append((above, one))
    for found in kept.values():
        first = found[0][1]
        if all((one.record.each, one.record.pattern) == (first.record.each, first.record.pattern) for _, one in found):
            all_ = tuple(_below(thing, above, fields) for above, one in found for thing in one.things)
            record = first.record.model_copy(update={"arguments": look})
            yield replace(first, record=record, things=all_, parent=parent)


def _rows(
    one: Listing, parent: Listing, above: Mapping[str, str], tool: Signature, slots: Slots, fields: dict[str, str]
) -> Iterator[Listing]:
    """The rows of one table, called after it."""
    name = above[parent.name]
    if re.fullmatch(r"[a-z]+(?:_[a-z]+)*", name) is None or singular(name) == name:
        return
    only = replace(
        parent, record=parent.record.model_copy(update={"where": {parent.name: re.escape(name)}}), things=(above,)
    )
    look = tool.look(slots.arguments(tool, (only, fields)) or {})
    yield replace(
        one,
        record=one.record.model_copy(update={"arguments": look}),
        noun=singular(" ".join(words_of(name))),
        things=tuple(_below(thing, above, fields) for thing in one.things),
        parent=only,
    )


def _below(thing: Mapping[str, str], above: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, str]:
    return {**thing, **{f"^{field}": above[field] for field in fields.values()}}


def _is_plural(one: Listing, call: Call) -> bool:
    """Whether the answer, the tool or a table's head says that several are listed: not so in ``get_table_schema``."""
    last = (one.record.each or "").split(".")[-1].removesuffix("[]")
    words = words_of(call[0])
    return bool(last) or one.record.pattern is not None or "list" in words or singular(words[-1]) != words[-1]
