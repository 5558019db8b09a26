"""Step 3 of the generator: institutions, structures, teams, festivals; awards."""

from __future__ import annotations

import numpy as np

from synth.sources.world.draft import Draft
from synth.sources.world.draws import Bools, Ints, unique_first
from synth.sources.world.schema import PRESENT_YEAR
from synth.sources.world.vocabulary import AWARD_FIELDS, INDUSTRY_WORDS, ROLES, TEXT_VALUES

__all__ = ["establish", "establish_awards", "industry"]

_FOUNDERS = {
    "university": ("scholar", "scientist", "politician"),
    "company": ("business", "designer", "scientist"),
    "laboratory": ("scientist",),
    "newspaper": ("journalist", "writer", "politician"),
    "museum": ("artist", "business", "curator"),
    "festival": ("composer", "actor", "writer", "artist"),
}


def establish(draft: Draft) -> None:
    """Founders first: every year follows from the life of a person, so no rule about dates can fail."""
    _founded(draft)
    _places(draft)
    _structures(draft)
    _teams(draft)
    _ownership(draft)


def industry(draft: Draft, *names: str) -> Ints:
    """Ordinals of the companies of these industries."""
    codes = [list(INDUSTRY_WORDS).index(name) for name in names]
    return np.flatnonzero(np.isin(draft.facts["industry", "company"], codes)) + draft.first["company"]


def _founded(draft: Draft) -> None:
    generator = draft.generator("founders")
    for kind, roles in _FOUNDERS.items():
        members = draft.role(*roles)
        home = draft.home(kind)
        early = members[draft.begin[members] <= (1850 if kind == "university" else 1945)]
        pool = draft.pool_of(early if len(early) else members)
        founder = pool.draw(home, generator, draft.config.cross / 2)
        year = draft.adult_year(founder, generator, 24, 60)
        ordinals = draft.members(kind)
        draft.begin[ordinals] = year
        draft.facts["founded_by", kind] = founder
        draft.facts["founding_year", kind] = year


def _places(draft: Draft) -> None:
    generator = draft.generator("places of institutions")
    cross = draft.config.cross
    cities = draft.pool("city")
    for relation, kind in (
        ("located_in", "university"),
        ("located_in", "laboratory"),
        ("located_in", "museum"),
        ("located_in", "stadium"),
        ("headquartered_in", "company"),
        ("headquartered_in", "newspaper"),
        ("held_in", "festival"),
    ):
        share = cross if kind == "company" else 0.0  # buildings stand in their own region
        draft.facts[relation, kind] = cities.draw(draft.home(kind), generator, share)

    def numbers(low: float, spread: float, n: int, skew: float = 1.0) -> Ints:
        return np.asarray(low * np.exp(spread * generator.random(n) ** skew), dtype=np.int64)

    draft.facts["student_count", "university"] = numbers(900, 3.6, draft.count["university"])
    draft.facts["employee_count", "company"] = numbers(24, 6.2, draft.count["company"], 1.4)
    draft.facts["circulation", "newspaper"] = numbers(3_200, 4.2, draft.count["newspaper"], 1.2)
    # The first companies of a region are the ones that works and buildings need.
    pool = draft.pool("company")
    rank = np.empty(draft.count["company"], dtype=np.int64)
    within = np.arange(len(pool.local)) - np.repeat(pool.start, pool.count)
    rank[pool.local - draft.first["company"]] = within
    needed = (rank + draft.home("company")) % 3
    other = generator.integers(3, len(INDUSTRY_WORDS), draft.count["company"])
    keep = (rank < 3) & (generator.random(draft.count["company"]) < 0.85)
    draft.facts["industry", "company"] = np.where(keep, needed, other)
    collections = len(TEXT_VALUES["collection", "museum"])
    draft.facts["collection", "museum"] = generator.integers(0, collections, draft.count["museum"])


def _structures(draft: Draft) -> None:
    generator = draft.generator("structures")
    cross = draft.config.cross
    designers = draft.pool_of(draft.role("designer"))
    builders = draft.pool_of(industry(draft, "civil construction"))
    for kind, floor in (("stadium", 1880), ("bridge", 0)):
        ordinals, home = draft.members(kind), draft.home(kind)

        def modern(rows: Ints, persons: Ints, floor: int = floor) -> Bools:
            return (draft.end[persons] >= floor + 5) & (draft.begin[persons] + 62 >= floor + 5)

        designer = designers.draw_where(home, modern, generator, cross)
        free = generator.integers(max(floor, 1840), PRESENT_YEAR - 15, len(ordinals))
        year = np.where(designer >= 0, draft.adult_year(np.maximum(designer, 0), generator, 26, 62, floor), free)
        draft.begin[ordinals] = year
        draft.facts["designed_by", kind] = designer
        draft.facts["opening_year", kind] = year

        def existed(rows: Ints, companies: Ints, year: Ints = year) -> Bools:
            return draft.begin[companies] <= year[rows]

        draft.facts["built_by", kind] = builders.draw_where(home, existed, generator, cross, share=0.9)
    museums = draft.members("museum")

    def adult(rows: Ints, persons: Ints) -> Bools:
        return draft.adult(persons, draft.begin[museums[rows]], 24, 70)

    draft.facts["designed_by", "museum"] = designers.draw_where(
        draft.home("museum"), adult, generator, cross, share=0.7
    )
    draft.facts["capacity", "stadium"] = 100 * np.asarray(
        12 * np.exp(3.9 * generator.random(draft.count["stadium"])), dtype=np.int64
    )
    draft.facts["bridge_length", "bridge"] = np.asarray(
        28 * np.exp(3.7 * generator.random(draft.count["bridge"]) ** 1.3), dtype=np.int64
    )
    # A bridge stands in a city on a river; the first city of a region always is one.
    cities, river_of = draft.pool("city"), draft.facts["on_river", "city"]
    first_city = draft.first["city"]
    bridge_home = draft.home("bridge")
    city = cities.draw_where(
        bridge_home,
        lambda rows, found: (
            (river_of[found - first_city] >= 0) & (draft.community[found] == draft.home("bridge")[rows])
        ),
        generator,
        0.0,
        tries=4,
    )
    city = np.where(city >= 0, city, draft.facts["seat", "region"][bridge_home])
    draft.facts["located_in", "bridge"] = city
    draft.facts["crosses", "bridge"] = river_of[city - first_city]


def _teams(draft: Draft) -> None:
    generator = draft.generator("teams")
    teams, home = draft.members("team"), draft.home("team")
    year = generator.integers(1868, 1972, len(teams))
    draft.begin[teams] = year
    draft.facts["founding_year", "team"] = year
    draft.facts["sport", "team"] = generator.integers(0, len(TEXT_VALUES["sport", "team"]), len(teams))
    ground = draft.pool("team").partner(draft.pool("stadium"))
    draft.facts["home_ground", "team"] = ground
    free = draft.pool("city").draw(home, generator, 0.0)
    stadium_city = draft.facts["located_in", "stadium"][np.maximum(ground - draft.first["stadium"], 0)]
    draft.facts["home_city", "team"] = np.where(ground >= 0, stadium_city, free)


def _ownership(draft: Draft) -> None:
    generator = draft.generator("ownership")
    cross = draft.config.cross
    companies = draft.pool("company")

    def any_company(rows: Ints, found: Ints) -> Bools:
        return np.ones(len(rows), dtype=bool)

    for relation, kind, share in (
        ("sponsored_by", "team", 0.75),
        ("sponsored_by", "festival", 0.7),
        ("owned_by", "newspaper", 0.7),
    ):
        draft.facts[relation, kind] = companies.draw_where(draft.home(kind), any_company, generator, cross, share=share)
    members = draft.members("company")
    draft.facts["parent_company", "company"] = companies.draw_where(
        draft.home("company"),
        lambda rows, found: draft.begin[found] < draft.begin[members[rows]],
        generator,
        cross,
        share=0.35,
    )
    labs = draft.members("laboratory")
    draft.facts["affiliated_with", "laboratory"] = draft.pool("university").draw_where(
        draft.home("laboratory"),
        lambda rows, found: draft.begin[found] <= draft.begin[labs[rows]],
        generator,
        cross,
        share=0.7,
    )
    for kind, roles, share in (
        ("stadium", ("athlete", "politician", "business"), 0.4),
        ("laboratory", ("scientist",), 0.45),
    ):
        ordinals = draft.members(kind)

        def established(rows: Ints, persons: Ints, ordinals: Ints = ordinals) -> Bools:
            return draft.begin[persons] + 30 <= draft.begin[ordinals[rows]]

        found = draft.pool_of(draft.role(*roles)).draw_where(
            draft.home(kind),
            established,
            generator,
            cross / 2,
            share=share,
        )
        draft.facts["named_after", kind] = unique_first(found)


def establish_awards(draft: Draft) -> None:
    """Awards bear the name of a person whose profession they honour, and are presented by an older university."""
    generator = draft.generator("award foundations")
    awards = draft.members("award")
    roles = [list(ROLES).index(name) for name in AWARD_FIELDS]
    draft.award_role = np.array(roles)[np.arange(len(awards)) % len(roles)]
    namesake = np.full(len(awards), -1, dtype=np.int64)
    hub = np.full(len(awards), -1, dtype=np.int64)
    for code, role in enumerate(ROLES):
        mine = np.flatnonzero(draft.award_role == code)
        members = draft.role(role)
        members = members[draft.begin[members] <= 1930]
        if len(mine) and len(members):
            namesake[mine] = members[
                generator.permutation(len(members))[: len(mine)][np.arange(len(mine)) % len(members)]
            ]
    draft.facts["named_after", "award"] = unique_first(namesake)
    known = draft.begin[np.maximum(namesake, 0)]
    earliest = np.where(namesake >= 0, known + 35, 1860)
    university = draft.pool("university").draw_where(
        hub, lambda rows, found: draft.begin[found] <= earliest[rows] + 20, generator, 1.0, tries=12
    )
    founded = np.where(university >= 0, draft.begin[np.maximum(university, 0)], 0)
    low = np.maximum(earliest, founded)
    year = np.minimum(low + generator.integers(0, 21, len(awards)), PRESENT_YEAR - 5)
    draft.begin[awards] = year
    draft.facts["presented_by", "award"] = university
    draft.facts["first_awarded", "award"] = year
