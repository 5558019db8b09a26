"""Files below the first folder: a tool that lists files beside folders is asked for each of those in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from synth.environments.mcp.environment import McpEnvironment
from synth.exploration.mcp.book import Record, things
from synth.exploration.mcp.listings import PATH, TEXT, Listing
from synth.exploration.mcp.plain_lists import text_ways
from synth.exploration.mcp.reading import value_of
from synth.exploration.mcp.signatures import Signature
from synth.exploration.mcp.slots import Slots
from synth.exploration.mcp.survey import told

__all__ = ["folders"]

_DEEPEST = 3
"""Folders in folders that are opened."""
_MOST = 12
"""Folders of one list that are opened."""
_NOUN = "folder"


def folders(environment: McpEnvironment, signatures: Mapping[str, Signature], slots: Slots) -> Iterator[Listing]:
    """For every list of files: of each level of folders below it, the files that lie in them."""
    for files in slots.listed:
        if files.of_files and files.parent is None and files.record.each is not None:
            yield from _Walk(environment, signatures[files.record.tool], files, slots).below()


class _Walk:
    def __init__(self, environment: McpEnvironment, tool: Signature, files: Listing, slots: Slots) -> None:
        self.environment = environment
        self.tool = tool
        self.files = files
        self.slots = slots

    def below(self) -> Iterator[Listing]:
        for way, argument in self._ways():
            level = self._folders(way, self.files.record.arguments, None, {"": self._shown("", "")})
            for _ in range(_DEEPEST):
                if level is None:
                    return
                look = self.tool.look({argument: self.slots.hole(level, PATH)})
                shown = {one[PATH]: self._shown(argument, one[PATH]) for one in level.things[:_MOST]}
                record = self.files.record.model_copy(update={"arguments": look})
                found = tuple(_in(folder, record, content) for folder, content in shown.items())
                if any(found):
                    inside = _only(level, [folder for folder, some in zip(shown, found, strict=True) if some])
                    record = record.model_copy(
                        update={"arguments": self.tool.look({argument: self.slots.hole(inside, PATH)})}
                    )
                    yield replace(self.files, record=record, things=sum(found, ()), parent=inside)
                level = self._folders(way, look, level, shown, argument)
            return

    def _ways(self) -> Iterator[tuple[str, str]]:
        """(path to the list of folders, the argument that opens one): one that shows other files of the first
        folder."""
        first = self._shown("", "")
        names = {thing[TEXT] for thing in self.files.things}
        for way in text_ways(_value(first), fewest=1):
            record = self.files.record.model_copy(update={"each": way})
            listed = [parts[TEXT] for parts in things(record, first)]
            if way == self.files.record.each or not all(map(_is_name, listed)):
                continue
            for argument, schema in self.tool.properties.items():
                if schema.get("type") != "string" or "enum" in schema:
                    continue
                inside = [
                    {parts[TEXT] for parts in things(self.files.record, self._shown(argument, name))}
                    for name in listed[:_MOST]
                ]
                if any(inside) and not any(some & names for some in inside):
                    yield way, argument

    def _folders(
        self, way: str, look: Mapping[str, Any], above: Listing | None, shown: Mapping[str, str], argument: str = ""
    ) -> Listing | None:
        """The folders in those of ``above``; None where there are none."""
        record = Record(tool=self.tool.name, arguments=dict(look), each=way, names=TEXT)
        found = {folder: _in(folder, record, content) for folder, content in shown.items()}
        listed = tuple(one for some in found.values() for one in some if _is_name(one[TEXT]))
        if not listed:
            return None
        parent = above and _only(above, [folder for folder, some in found.items() if some])
        if parent is not None:
            arguments = self.tool.look({argument: self.slots.hole(parent, PATH)})
            record = record.model_copy(update={"arguments": arguments})
        return Listing(record, _NOUN, listed, {}, parent=parent)

    def _shown(self, argument: str, folder: str) -> str:
        arguments = self.tool.look({argument: folder}) if argument else dict(self.files.record.arguments)
        answers = told(self.environment, [(self.tool.name, arguments)])
        return answers[0][1] if answers else ""


def _only(level: Listing, paths: Sequence[str]) -> Listing:
    """Those folders of a level in which something lies, so that none is opened in vain."""
    kept = tuple(one for one in level.things if one[PATH] in paths)
    if len(kept) == len(level.things):
        return level
    names = "|".join(re.escape(name) for name in dict.fromkeys(one[TEXT] for one in kept))
    return replace(level, record=level.record.model_copy(update={"where": {TEXT: names}}), things=kept)


def _in(folder: str, record: Record, content: str) -> tuple[dict[str, str], ...]:
    above = f"{folder}/" if folder else ""
    return tuple({TEXT: parts[TEXT], PATH: f"{above}{parts[TEXT]}"} for parts in things(record, content))


def _value(content: str) -> Any:
    try:
        return value_of(content)
    except ValueError:
        return None


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[^\n/\\“”{}]{1,80}", text) is not None
