"""Column builders for the rows of pages: no object per row, so that a million pages stay cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Document, Edge, Entity
from synth.sources.world.schema import RELATIONS

if TYPE_CHECKING:
    from synth.sources.world.structure import World

__all__ = ["LICENCE", "Columns"]

LICENCE = "CC0-1.0"
"""Licence of generated pages: nobody's."""


class Columns:
    """Documents, entities and edges, filled page by page: sections, links and edges first, then ``page``."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._ordinals: list[int] = []
        self._ids: list[str] = []
        self._names: list[str] = []
        self._texts: list[str] = []
        self._kinds: list[str] = []
        self._aliases: list[Sequence[str]] = []
        self._partitions: list[str] = []
        self._section_offsets = [0]
        self._sections: tuple[list[str], list[int], list[int], list[int]] = ([], [], [], [])
        self._link_offsets = [0]
        self._links: tuple[list[int], list[int], list[str]] = ([], [], [])
        self._edges: tuple[
            list[int], list[str], list[int], list[str | None], list[str], list[int], list[int], list[int]
        ] = ([], [], [], [], [], [], [], [])

    def section(self, heading: str, level: int, start: int, end: int) -> None:
        headings, levels, starts, ends = self._sections
        headings.append(heading)
        levels.append(level)
        starts.append(start)
        ends.append(end)

    def section_end(self, end: int) -> None:
        """The last section turned out longer."""
        self._sections[3][-1] = end

    def link(self, start: int, end: int, target: str) -> None:
        starts, ends, targets = self._links
        starts.append(start)
        ends.append(end)
        targets.append(target)

    def edges(
        self,
        subject: int,
        relations: tuple[str, ...],
        objects: Sequence[list[int] | tuple[str, str]],
        start: int,
        end: int,
    ) -> None:
        """The edges that the sentence ``text[start:end]`` of the subject's page states."""
        subjects, names, targets, values, kinds, documents, starts, ends = self._edges
        for relation, found in zip(relations, objects, strict=True):
            items: list[tuple[int, str | None]] = (
                [(-1, found[0])] if isinstance(found, tuple) else [(item, None) for item in found]
            )
            for target, value in items:
                subjects.append(subject)
                names.append(relation)
                targets.append(target)
                values.append(value)
                kinds.append(RELATIONS[relation].value_kind)
                documents.append(subject)
                starts.append(start)
                ends.append(end)

    def page(self, world: World, ordinal: int, kind: str, text: str) -> None:
        self._ordinals.append(ordinal)
        self._ids.append(world.ids[ordinal])
        self._names.append(world.names[ordinal])
        self._texts.append(text)
        self._kinds.append(kind)
        self._aliases.append(world.aliases[ordinal])
        self._partitions.append(world.split_of(ordinal))
        self._section_offsets.append(len(self._sections[0]))
        self._link_offsets.append(len(self._links[0]))

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """(documents, entities, edges)."""
        schema = arrow_schema(Document)
        n = len(self._ids)
        aliases = pa.array(self._aliases, type=schema.field("aliases").type)
        partitions = pa.array(self._partitions, type=pa.string())
        sections = _structs(
            schema,
            "sections",
            self._section_offsets,
            dict(zip(("heading", "level", "start", "end"), self._sections, strict=True)),
        )
        links = _structs(
            schema, "links", self._link_offsets, dict(zip(("start", "end", "target"), self._links, strict=True))
        )
        known = {
            "id": self._ids,
            "title": self._names,
            "text": self._texts,
            "kind": self._kinds,
            "aliases": aliases,
            "sections": sections,
            "links": links,
            "source": [self._source] * n,
            "licence": [LICENCE] * n,
            "partition": partitions,
        }
        documents = pa.Table.from_arrays(
            [
                _column(known[field.name], field.type) if field.name in known else _absent(field.type, n)
                for field in schema
            ],
            schema=schema,
        )
        schema = arrow_schema(Entity)
        known = {
            "ordinal": self._ordinals,
            "id": self._ids,
            "name": self._names,
            "kind": self._kinds,
            "aliases": aliases,
            "document": self._ordinals,
            "partition": partitions,
        }
        entities = pa.Table.from_arrays([_column(known[field.name], field.type) for field in schema], schema=schema)
        schema = arrow_schema(Edge)
        edges = pa.Table.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(self._edges, schema, strict=True)],
            schema=schema,
        )
        return documents, entities, edges


def _column(values: object, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, type=kind)


def _absent(kind: pa.DataType, n: int) -> pa.Array:
    """What a generated page lacks: empty lists, nulls."""
    return pa.array([[]] * n, type=kind) if pa.types.is_list(kind) else pa.nulls(n, type=kind)


def _structs(schema: pa.Schema, name: str, offsets: list[int], columns: dict[str, list[int] | list[str]]) -> pa.Array:
    """A list<struct> column from flat columns; fields that are not given are null."""
    kind = schema.field(name).type
    length = offsets[-1]
    arrays = [
        pa.array(columns[field.name], type=field.type) if field.name in columns else pa.nulls(length, type=field.type)
        for field in kind.value_type
    ]
    flat = pa.StructArray.from_arrays(arrays, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets, type=pa.int32()), flat).cast(kind)
