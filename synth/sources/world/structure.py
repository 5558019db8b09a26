"""The finished world: arrays of facts, names and communities, and the splits that own them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from synth.identity import derive_generator, split_of
from synth.schemas.row import Split
from synth.sources.world import institutions, naming, people, places, works
from synth.sources.world.config import WorldConfig
from synth.sources.world.draft import Draft
from synth.sources.world.draws import Ints
from synth.sources.world.schema import ENTITY_TYPES, HUB_TYPES, RELATIONS
from synth.sources.world.vocabulary import TEXT_VALUES

__all__ = ["NO_DATE", "World", "slug"]

NO_DATE = people.NO_DATE

_KINDS = tuple(ENTITY_TYPES)
_SLUG = str.maketrans({"(": None, ")": None, "'": None, "&": None, ".": None, ",": None, ":": None, " ": "-"})


@dataclass(frozen=True)
class World:
    """A typed knowledge graph. Entities are numbered by type (``ENTITY_TYPES`` order), so a type is a range.

    Deterministic in its config. A world of other size or seed is another world: growing one changes everything.
    """

    config: WorldConfig
    first: Mapping[str, int]
    """Type -> ordinal of its first entity."""
    count: Mapping[str, int]
    community: npt.NDArray[np.int32]
    """Home region (0-based) of each entity ``(n,)``; -1 for hubs."""
    begin: npt.NDArray[np.int32]
    """Year of birth, foundation, publication, ... ``(n,)``."""
    end: npt.NDArray[np.int32]
    """Year of death ``(n,)``; 9999 for all else."""
    gender: npt.NDArray[np.int8]
    """Per person: 0 he, 1 she."""
    lookalike: npt.NDArray[np.int32]
    """The entity whose name this one's resembles on purpose ``(n,)``; -1 for the others."""
    facts: Mapping[tuple[str, str], npt.NDArray[np.int64]]
    """(functional relation, subject type) -> per subject the object's ordinal (-1: none), number, year, days since
    1970-01-01 (``NO_DATE``: none) or index into ``vocabulary.TEXT_VALUES``."""
    lists: Mapping[tuple[str, str], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]
    """(relation, subject type) -> CSR ``(offsets, objects)`` for relations with several objects, and for every
    inverse reading."""
    ids: list[str]
    names: list[str]
    """Unique."""
    called: list[str]
    """What prose calls the entity, without article: its name, or the bare title of a work."""
    aliases: list[tuple[str, ...]]
    starts: tuple[int, ...]
    """First ordinal of each type, in order."""
    partition: list[Split]
    """Split per community: ``split_of(id of the region)``."""

    @classmethod
    def generate(cls, config: WorldConfig) -> World:
        """Structure and names of a world; about 10 microseconds and 1 kB of memory per entity."""
        draft = Draft(config)
        places.settle(draft)
        places.settle_languages(draft)
        people.populate(draft)
        institutions.establish(draft)
        institutions.establish_awards(draft)
        people.employ(draft)
        works.create(draft)
        names = naming.name_all(draft)
        ids = _ids(draft, names.name)
        first_region = draft.first["region"]
        shares = {"train": config.train, "validation": config.validation, "test": config.test}
        partition = [cast(Split, split_of(ids[first_region + at], shares)) for at in range(draft.communities)]
        return cls(
            config=config,
            first=dict(draft.first),
            count=dict(draft.count),
            community=draft.community.astype(np.int32),
            begin=draft.begin.astype(np.int32),
            end=draft.end.astype(np.int32),
            gender=draft.gender.astype(np.int8),
            lookalike=draft.lookalike.astype(np.int32),
            facts=draft.facts,
            lists=_with_inverses(draft),
            ids=ids,
            names=names.name,
            called=names.called,
            aliases=names.aliases,
            starts=tuple(draft.first.values()),
            partition=partition,
        )

    def __len__(self) -> int:
        return self.config.entities

    def kind_of(self, ordinal: int) -> str:
        """Entity type of an ordinal."""
        return _KINDS[bisect_right(self.starts, ordinal) - 1]

    def split_of(self, ordinal: int) -> Split:
        """The split that owns the entity; "train" for hubs, which are exempt."""
        at = int(self.community[ordinal])
        return self.partition[at] if at >= 0 else "train"

    def hubs(self) -> list[str]:
        """Ids of the entities that every split may share as bridges (METHODS 9)."""
        return [self.ids[at] for kind in self.first if kind in HUB_TYPES for at in self.range_of(kind)]

    def range_of(self, kind: str) -> range:
        return range(self.first[kind], self.first[kind] + self.count[kind])

    def text(self, relation: str, kind: str, index: int) -> str:
        """A text value as written: the array holds its index."""
        return TEXT_VALUES[relation, kind][index]


def _with_inverses(draft: Draft) -> dict[tuple[str, str], tuple[Ints, Ints]]:
    """CSR of every list relation and of every inverse reading, grouped by the object's type."""
    lists = dict(draft.lists)
    draft.facts.pop(("on_river", "city"))  # the generator drew rivers from the city's side; the primary is the river's
    for relation in RELATIONS.values():
        if relation.primary or relation.inverse is None:
            continue
        subjects, objects = [], []
        for kind in relation.object_types:  # the subjects of the primary reading
            at = draft.members(kind)
            if (relation.inverse, kind) in draft.lists:
                offsets, flat = draft.lists[relation.inverse, kind]
                subjects.append(np.repeat(at, np.diff(offsets)))
                objects.append(flat)
            else:
                found = draft.facts[relation.inverse, kind]
                subjects.append(at[found >= 0])
                objects.append(found[found >= 0])
        who, what = np.concatenate(subjects), np.concatenate(objects)
        for kind in relation.subject_types:
            first, n = draft.first[kind], draft.count[kind]
            mine = (what >= first) & (what < first + n)
            rows, others = what[mine] - first, who[mine]
            order = np.argsort(rows, kind="stable")
            offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
            lists[relation.name, kind] = (offsets.astype(np.int64), others[order])
    return lists


def slug(name: str) -> str:
    """A name as the middle of an id."""
    return name.lower().translate(_SLUG)


def _ids(draft: Draft, names: list[str]) -> list[str]:
    """``type/slug-hex``: the hex digits differ between worlds, so that ids of two worlds rarely meet."""
    key = int(derive_generator(draft.config.seed, "world", "ids").integers(0, 1 << 63))
    x = np.arange(len(names), dtype=np.uint64) + np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    codes = ((x ^ (x >> np.uint64(31))) & np.uint64(0xFFFF)).tolist()
    kinds = [kind for kind in ENTITY_TYPES for _ in range(draft.count[kind])]
    ids = [f"{kind}/{slug(name)}-{code:04x}" for kind, name, code in zip(kinds, names, codes, strict=True)]
    seen: set[str] = set()
    for at, item in enumerate(ids):
        while item in seen:
            item += "x"
        ids[at] = item
        seen.add(item)
    return ids
