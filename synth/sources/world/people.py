"""Step 2 of the generator: persons, their lives and families; step 5: where they studied and worked, what they won."""

from __future__ import annotations

import numpy as np

from synth.sources.world.draft import ALIVE, Draft
from synth.sources.world.draws import Bools, Ints, ragged, unique_first
from synth.sources.world.schema import PRESENT_YEAR
from synth.sources.world.vocabulary import ATHLETES, ROLE_WEIGHTS, ROLES

__all__ = ["employ", "populate"]

FIRST_BIRTH = 1780
LAST_BIRTH = 1984


def populate(draft: Draft) -> None:
    """Births, deaths, occupations, families, mentors."""
    _lives(draft)
    _occupations(draft)
    _families(draft)
    _mentors(draft)


def _lives(draft: Draft) -> None:
    generator = draft.generator("lives")
    persons, home = draft.members("person"), draft.home("person")
    n = len(persons)
    draft.gender = generator.integers(0, 2, n)
    # More are known of the recent past than of the distant one.
    born = (FIRST_BIRTH + (LAST_BIRTH - FIRST_BIRTH + 1) * generator.random(n) ** 0.75).astype(np.int64)
    age = generator.triangular(25, 78, 98, n).astype(np.int64)
    died = np.where(born + age < PRESENT_YEAR, born + age, ALIVE)
    draft.begin[persons], draft.end[persons] = born, died
    draft.facts["birth_date", "person"] = _day_in(born, generator)
    dead = died < ALIVE
    draft.facts["death_date", "person"] = np.where(dead, _day_in(np.where(dead, died, 1970), generator), NO_DATE)
    cities = draft.pool("city")
    cross = draft.config.cross
    birthplace = cities.draw(home, generator, cross / 2)
    draft.facts["born_in", "person"] = birthplace
    draft.facts["died_in", "person"] = np.where(dead, cities.draw(home, generator, cross * 1.5), -1)
    draft.facts["citizen_of", "person"] = draft.country[draft.community[birthplace]]


NO_DATE = np.iinfo(np.int64).min
"""Marks a date that does not exist: the death of the living."""


def _day_in(years: Ints, generator: np.random.Generator) -> Ints:
    """A day of each year, in days since 1970-01-01."""
    start = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
    return np.asarray(start + generator.integers(0, 365, len(years)), dtype=np.int64)


def _occupations(draft: Draft) -> None:
    generator = draft.generator("occupations")
    n = draft.count["person"]
    names = list(ROLE_WEIGHTS)
    edges = np.cumsum(list(ROLE_WEIGHTS.values()))
    role = np.minimum(np.searchsorted(edges / edges[-1], generator.random(n), side="right"), len(names) - 1)
    born = draft.begin[draft.members("person")]
    # There was no cinema and no league before these births came of age.
    too_early = ((born < 1875) & np.isin(role, [names.index("director"), names.index("actor")])) | (
        (born < 1850) & (role == names.index("athlete"))
    )
    role[too_early] = np.where(generator.random(n) < 0.5, names.index("writer"), names.index("scholar"))[too_early]
    occupation = np.zeros(n, dtype=np.int64)
    pick = generator.random(n)
    for code, name in enumerate(names):
        choices = np.array(ROLES[name])
        if name == "athlete":  # the sport follows from the team; until then all are runners
            choices = choices[-1:]
        occupation = np.where(role == code, choices[(len(choices) * pick).astype(np.int64)], occupation)
    draft.facts["occupation", "person"] = occupation


def _families(draft: Draft) -> None:
    generator = draft.generator("families")
    persons, home = draft.members("person"), draft.home("person")
    base = draft.first["person"]

    def may_be_parent(rows: Ints, parents: Ints) -> Bools:
        gap = draft.begin[base + rows] - draft.begin[parents]
        return (gap >= 20) & (gap <= 45) & (draft.end[parents] >= draft.begin[base + rows] + 1)

    # No cross-region families: a surname stays in its region.
    parent = draft.pool("person").draw_where(home, may_be_parent, generator, 0.0, share=0.45, tries=4)
    parent[(parent >= 0) & (draft.community[parent] != home)] = -1
    draft.facts["child_of", "person"] = parent

    # Neighbours in (region, birth year) marry: disjoint pairs, so the relation is symmetric and one to one.
    family = family_of(draft)
    order = np.lexsort((persons, draft.begin[persons], home))
    a, b = order[0:-1:2], order[1::2]
    younger = np.maximum(draft.begin[persons[a]], draft.begin[persons[b]])
    marry = (
        (home[a] == home[b])
        & (draft.gender[a] != draft.gender[b])
        & (family[a] != family[b])
        & (np.abs(draft.begin[persons[a]] - draft.begin[persons[b]]) <= 14)
        & (np.minimum(draft.end[persons[a]], draft.end[persons[b]]) >= younger + 25)
        & (generator.random(len(a)) < 0.8)
    )
    spouse = np.full(len(persons), -1, dtype=np.int64)
    spouse[a[marry]], spouse[b[marry]] = persons[b[marry]], persons[a[marry]]
    draft.facts["spouse", "person"] = spouse


def family_of(draft: Draft) -> Ints:
    """Per person the position of the oldest known ancestor, by pointer jumping (log2 of the generations)."""
    base = draft.first["person"]
    parent = draft.facts["child_of", "person"]
    root = np.where(parent >= 0, parent - base, np.arange(len(parent)))
    while True:
        further = root[root]
        if np.array_equal(further, root):
            return root
        root = further


def _mentors(draft: Draft) -> None:
    generator = draft.generator("mentors")
    base = draft.first["person"]
    mentor = np.full(draft.count["person"], -1, dtype=np.int64)
    for role in ROLES:
        members = draft.role(role)
        if role in ("politician", "athlete") or len(members) < 2:
            continue

        def fits(rows: Ints, masters: Ints, members: Ints = members) -> Bools:
            gap = draft.begin[members[rows]] - draft.begin[masters]
            alive = draft.end[masters] >= draft.begin[members[rows]] + 20
            stranger = draft.facts["child_of", "person"][members[rows] - base] != masters
            good: Bools = (gap >= 10) & (gap <= 60) & alive & stranger
            return good

        mentor[members - base] = draft.pool_of(members).draw_where(
            draft.community[members], fits, generator, draft.config.cross, share=0.5
        )
    draft.facts["mentor", "person"] = mentor


def employ(draft: Draft) -> None:
    """Studies, work, offices, teams, awards: after all institutions exist."""
    generator = draft.generator("careers")
    cross = draft.config.cross
    n, base = draft.count["person"], draft.first["person"]

    def career(relation: str, kind: str, roles: tuple[str, ...], share: float, age: int) -> None:
        # The place must have existed by that age of the person.
        members = draft.role(*roles)

        def fits(rows: Ints, places: Ints) -> Bools:
            born, died = draft.begin[members[rows]], draft.end[members[rows]]
            return draft.begin[places] <= np.minimum(born + age, died)

        found = draft.pool(kind).draw_where(draft.community[members], fits, generator, cross, share=share)
        out = draft.facts.setdefault((relation, "person"), np.full(n, -1, dtype=np.int64))
        out[members - base] = found

    learned = tuple(role for role in ROLES if role not in ("athlete", "climber"))
    career("studied_at", "university", learned, 0.8, 18)
    career("taught_at", "university", ("scholar",), 0.9, 60)
    career("taught_at", "university", ("scientist",), 0.3, 60)
    career("worked_at", "laboratory", ("scientist",), 0.85, 60)
    career("employed_by", "company", ("business",), 0.9, 60)
    career("employed_by", "company", ("designer",), 0.5, 60)
    career("wrote_for", "newspaper", ("journalist",), 1.0, 60)
    career("wrote_for", "newspaper", ("writer",), 0.2, 60)
    career("played_for", "team", ("athlete",), 1.0, 35)
    team = draft.facts["played_for", "person"]
    has = team >= 0
    sport = draft.facts["sport", "team"][team[has] - draft.first["team"]]
    draft.facts["occupation", "person"][has] = np.array(ATHLETES)[sport]
    _offices(draft)
    _awards(draft)


def _offices(draft: Draft) -> None:
    """One living person per office; mayors follow older politicians of the same region."""
    for relation, kind, roles in (
        ("mayor", "city", ("politician",)),
        ("rector", "university", ("scholar",)),
        ("curator", "museum", ("curator",)),
        ("editor", "newspaper", ("journalist",)),
        ("coach", "team", ("athlete",)),
    ):
        members = draft.role(*roles)
        alive = members[(draft.end[members] == ALIVE) & (draft.begin[members] < 1972)]
        draft.facts[relation, kind] = draft.pool(kind).partner(draft.pool_of(alive))
    generator = draft.generator("offices")
    base = draft.first["person"]
    politicians = draft.role("politician")
    mayors = draft.facts["mayor", "city"]
    mayors = mayors[mayors >= 0]
    before = np.full(draft.count["person"], -1, dtype=np.int64)
    former = np.setdiff1d(politicians, mayors)

    def older(rows: Ints, others: Ints) -> Bools:
        gap = draft.begin[mayors[rows]] - draft.begin[others]
        return (gap >= 1) & (gap <= 45)

    found = draft.pool_of(former).draw_where(draft.community[mayors], older, generator, 0.0, tries=12)
    before[mayors - base] = unique_first(found)
    draft.facts["predecessor", "person"] = before


def _awards(draft: Draft) -> None:
    generator = draft.generator("awards")
    base = draft.first["person"]
    who: list[Ints] = []
    what: list[Ints] = []
    namesake = draft.facts["named_after", "award"]
    field = draft.award_role
    for code, role in enumerate(ROLES):
        awards = draft.members("award")[field == code]
        members = draft.role(role)
        if not len(awards) or not len(members):
            continue

        def fits(rows: Ints, prizes: Ints, members: Ints = members) -> Bools:
            winner = members[rows]
            latest = np.minimum(draft.begin[winner] + 75, draft.end[winner])
            good: Bools = (draft.begin[prizes] <= latest) & (namesake[prizes - draft.first["award"]] != winner)
            return good

        pool = draft.pool_of(awards)
        for share in (0.4, 0.1):
            found = pool.draw_where(np.full(len(members), -1), fits, generator, 1.0, share=share)
            who.append(members - base)
            what.append(found)
    subjects, objects = np.concatenate(who), np.concatenate(what)
    draft.lists["won", "person"] = ragged(subjects, objects, draft.count["person"])
