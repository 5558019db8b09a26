"""The world while it is being made: arrays that the steps of the generator fill in, in a fixed order."""

from __future__ import annotations

import numpy as np

from synth.identity import derive_generator
from synth.sources.world.config import WorldConfig
from synth.sources.world.draws import Bools, Ints, Pool
from synth.sources.world.schema import ENTITY_TYPES, PRESENT_YEAR
from synth.sources.world.vocabulary import ROLES

__all__ = ["ALIVE", "COMMUNITY_SIZE", "Draft"]

COMMUNITY_SIZE = 50
"""Entities per home region, on average."""

ALIVE = 9999
"""``end`` of what has not ended."""


class Draft:
    """Arrays over all entities (``n``) and facts per (relation, subject type).

    ``begin`` and ``end`` are the years in which an entity came into being (birth, foundation, publication, ...) and
    ceased (death; ``ALIVE`` otherwise): every rule about dates is a comparison of these.
    """

    def __init__(self, config: WorldConfig) -> None:
        self.config = config
        self.count = _counts(config.entities)
        self.first: dict[str, int] = {}
        at = 0
        for name, number in self.count.items():
            self.first[name] = at
            at += number
        n = config.entities
        self.community: Ints = np.full(n, -1, dtype=np.int64)
        self.begin: Ints = np.full(n, -ALIVE, dtype=np.int64)
        self.end: Ints = np.full(n, ALIVE, dtype=np.int64)
        self.communities = self.count["region"]
        self.country: Ints = np.zeros(self.communities, dtype=np.int64)
        """Country (ordinal) of each community."""
        self.gender: Ints = np.zeros(self.count["person"], dtype=np.int64)
        """Per person: 0 male, 1 female."""
        self.lookalike: Ints = np.full(n, -1, dtype=np.int64)
        """The entity whose name this one's was made to resemble, or -1."""
        self.award_role: Ints = np.zeros(self.count["award"], dtype=np.int64)
        """Per award the role (index into ``ROLES``) of those who can win it."""
        self.facts: dict[tuple[str, str], Ints] = {}
        """(relation, type) -> per subject an ordinal, a number, a year, days since 1970, or an index of a text."""
        self.lists: dict[tuple[str, str], tuple[Ints, Ints]] = {}
        """(relation, type) -> CSR (offsets, ordinals) of relations that are not functional."""
        self._pools: dict[str, Pool] = {}

    def generator(self, *names: str) -> np.random.Generator:
        return derive_generator(self.config.seed, "world", *names)

    def members(self, kind: str) -> Ints:
        """Ordinals of a type, ascending."""
        return np.arange(self.first[kind], self.first[kind] + self.count[kind], dtype=np.int64)

    def home(self, kind: str) -> Ints:
        """Community of each entity of a type."""
        return self.community[self.first[kind] : self.first[kind] + self.count[kind]]

    def pool(self, kind: str) -> Pool:
        """All entities of a type. Only after their communities are set."""
        if kind not in self._pools:
            self._pools[kind] = self.pool_of(self.members(kind))
        return self._pools[kind]

    def pool_of(self, members: Ints) -> Pool:
        return Pool(members, self.community, self.communities)

    def role(self, *names: str) -> Ints:
        """Ordinals of the persons whose occupation belongs to one of these roles."""
        occupation = self.facts["occupation", "person"]
        wanted = [code for name in names for code in ROLES[name]]
        return np.flatnonzero(np.isin(occupation, wanted)) + self.first["person"]

    def adult(self, persons: Ints, years: Ints, low: int = 22, high: int = 75) -> Bools:
        """Whether each person was alive and ``low`` to ``high`` years old in that year."""
        age = years - self.begin[persons]
        return (age >= low) & (age <= high) & (years <= self.end[persons])

    def adult_year(self, persons: Ints, generator: np.random.Generator, low: int, high: int, floor: int = 0) -> Ints:
        """A year of each person's life between those ages (of which there is always one), not before ``floor``."""
        born = self.begin[persons]
        latest = np.minimum(np.minimum(born + high, self.end[persons]), PRESENT_YEAR - 1)
        earliest = np.minimum(np.maximum(born + low, floor), latest)
        return earliest + ((latest - earliest + 1) * generator.random(len(persons))).astype(np.int64)


def _counts(entities: int) -> dict[str, int]:
    """Entities per type, in the order of ``ENTITY_TYPES``; the sum is exact (largest remainder)."""
    regions = max(5, round(entities / COMMUNITY_SIZE))
    countries = max(3, round(regions**0.6))
    count = {
        "country": countries,
        "language": max(2, round(countries * 0.6)),
        "award": max(4, entities // 200),
        "region": regions,
    }
    rest = entities - sum(count.values())
    shares = {name: kind.per_thousand for name, kind in ENTITY_TYPES.items() if kind.per_thousand > 0}
    exact = {name: rest * share / sum(shares.values()) for name, share in shares.items()}
    floor = {name: int(number) for name, number in exact.items()}
    by_remainder = sorted(shares, key=lambda name: (floor[name] - exact[name], name))
    for name in by_remainder[: rest - sum(floor.values())]:
        floor[name] += 1
    return {name: count[name] if name in count else floor[name] for name in ENTITY_TYPES}
