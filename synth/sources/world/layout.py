"""How a page is laid out: opening sentences per type, which relation is stated in which section, and what fills it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from synth.lexicon.model import Filler, SectionEntry
from synth.lexicon.reading import world_lexicon
from synth.sources.world.relation import Joint

__all__ = ["FILLERS", "GENERAL", "LEADS", "SECTIONS"]

_TYPES = world_lexicon().types

LEADS: Mapping[str, tuple[Joint, ...]] = MappingProxyType(
    {kind: tuple(Joint(lead.relations, lead.page) for lead in entry.opening) for kind, entry in _TYPES.items()}
)
"""Entity type -> sentences that open a page and say what the entity is. Each starts with ``{s}``."""

SECTIONS: Mapping[str, tuple[SectionEntry, ...]] = MappingProxyType(
    {kind: entry.sections for kind, entry in _TYPES.items()}
)

GENERAL: Mapping[str, int] = MappingProxyType({kind: entry.filler_section for kind, entry in _TYPES.items()})
"""Entity type -> the section (its place in ``SECTIONS``) whose topic filler suits best."""

FILLERS: Mapping[str, tuple[Filler, ...]] = MappingProxyType({kind: entry.fillers for kind, entry in _TYPES.items()})
"""Entity type -> sentences that state no fact of the graph."""
