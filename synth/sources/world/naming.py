"""Step 6 of the generator: names, aliases and ids.

Every entity's ``name`` is unique in its world. What prose calls it (``called``) may be shorter: works that share a
title are told apart by "(1934 novel)" in the name only, as encyclopedias do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from synth.sources.world.cultures import CULTURES, REAL_NAMES, Grammar
from synth.sources.world.draft import Draft
from synth.sources.world.draws import Bools, Ints
from synth.sources.world.people import family_of
from synth.sources.world.titles import name_works
from synth.sources.world.vocabulary import AWARD_FIELDS, INDUSTRY_WORDS, ROLES

__all__ = ["Names", "name_all"]

_ROUNDS = 40


@dataclass
class Names:
    """Per ordinal: unique name, what prose calls it, other names (unique name of no other entity)."""

    name: list[str]
    called: list[str]
    aliases: list[tuple[str, ...]]


def name_all(draft: Draft) -> Names:
    """Names for every entity, in an order in which later names may use earlier ones."""
    n = draft.config.entities
    names = Names([""] * n, [""] * n, [()] * n)
    namer = _Namer(draft, names)
    namer.countries()
    namer.persons()
    namer.places()
    namer.institutions()
    for ordinal, called in enumerate(names.called):
        if not called:
            names.called[ordinal] = names.name[ordinal]
    name_works(draft, names.name, names.called, names.aliases)
    return names


class _Namer:
    def __init__(self, draft: Draft, names: Names) -> None:
        self.draft = draft
        self.names = names
        generator = draft.generator("cultures")
        self.country_culture: Ints = np.resize(generator.permutation(len(CULTURES)), draft.count["country"])
        at = draft.country[np.maximum(draft.community, 0)] - draft.first["country"]
        self.culture: Ints = self.country_culture[at]
        self.surname: list[str] = []

    def _render(self, grammar: str, culture: Ints, codes: Ints) -> list[str]:
        out = [""] * len(codes)
        for index, item in enumerate(CULTURES):
            rows = np.flatnonzero(culture == index)
            if len(rows):
                spelled: Grammar = getattr(item, grammar)
                for row, text in zip(rows.tolist(), spelled.render(codes[rows] % spelled.size), strict=True):
                    out[row] = text
        return out

    def _codes(self, grammar: str, culture: Ints, generator: np.random.Generator) -> Ints:
        sizes = np.array([getattr(item, grammar).size for item in CULTURES])
        return np.asarray((sizes[culture] * generator.random(len(culture))).astype(np.int64))

    def _near(self, grammar: str, culture: Ints, codes: Ints, generator: np.random.Generator) -> Ints:
        out = codes.copy()
        for index, item in enumerate(CULTURES):
            rows = np.flatnonzero(culture == index)
            if len(rows):
                spelled: Grammar = getattr(item, grammar)
                out[rows] = spelled.near(codes[rows] % spelled.size, generator)
        return out

    def _name_type(
        self,
        kind: str,
        grammar: str,
        pattern: Callable[[int, str, int], str],
        *,
        fixed: dict[int, str] | None = None,
        group: Ints | None = None,
        prefixes: tuple[str, ...] = ("New", "Old", "Upper", "Lower", "Great", "North", "South", "East", "West"),
    ) -> None:
        """Names ``pattern(position, root, variant)`` for a type; ``fixed`` roots come from elsewhere (a founder).

        A share of the entities takes the root of another one (of the same ``group``, if given) with one part changed,
        and its variant: look-alikes.
        A name that is taken is drawn again; after several rounds the root gets a prefix ("Upper Keld").
        """
        draft, generator = self.draft, self.draft.generator("names", kind)
        members = draft.members(kind)
        n = len(members)
        culture = self.culture[members].copy()
        codes = self._codes(grammar, culture, generator)
        variant = generator.integers(0, 1 << 30, n)
        own_root = np.ones(n, dtype=bool)
        if fixed:
            own_root[list(fixed)] = False
        alike = own_root & (generator.random(n) < draft.config.lookalikes)
        target = draft.pool(kind).draw(draft.home(kind), generator, 0.3) if not _is_hub(kind) else members
        at = target - draft.first[kind]
        alike &= own_root[at] & ~alike[at] & (at != np.arange(n))
        if group is not None:
            alike &= group == group[at]
        culture[alike] = culture[at[alike]]
        codes[alike] = self._near(grammar, culture[alike], codes[at[alike]], generator)
        variant[alike] = variant[at[alike]]
        draft.lookalike[members[alike]] = target[alike]

        names, taken = self.names.name, self._taken
        rows = np.arange(n)
        for attempt in range(_ROUNDS):
            roots = self._render(grammar, culture[rows], codes[rows])
            again: list[int] = []
            for row, root in zip(rows.tolist(), roots, strict=True):
                if fixed and attempt == 0 and row in fixed:
                    root = fixed[row]
                elif root.lower() in REAL_NAMES:
                    again.append(row)
                    continue
                if attempt > 4:
                    root = f"{prefixes[int(variant[row]) % len(prefixes)]} {root}"
                text = pattern(row, root, int(variant[row]))
                if text in taken:
                    again.append(row)
                    continue
                taken.add(text)
                names[int(members[row])] = text
            if not again:
                return
            rows = np.array(again)
            draft.lookalike[members[rows[attempt > 1 or ~alike[rows]]]] = -1
            near = alike[rows] & (attempt <= 1)
            fresh = self._codes(grammar, culture[rows], generator)
            close = self._near(grammar, culture[rows], codes[at[rows]], generator)
            codes[rows] = np.where(near, close, fresh)
            variant[rows] = np.where(near, variant[rows], generator.integers(0, 1 << 30, len(rows)))
        raise AssertionError(f"the grammar of {kind} names is exhausted")

    @property
    def _taken(self) -> set[str]:
        if not hasattr(self, "_taken_names"):
            self._taken_names: set[str] = set()
        return self._taken_names

    def countries(self) -> None:
        draft, names = self.draft, self.names
        self.culture[draft.members("country")] = self.country_culture
        self._name_type("country", "country", lambda row, root, variant: root)
        form = draft.generator("country forms").random(draft.count["country"])
        for at, ordinal in enumerate(draft.members("country").tolist()):
            if form[at] < 0.7:
                word = "Republic" if form[at] < 0.45 else "Kingdom"
                names.aliases[ordinal] = (f"{word} of {names.name[ordinal]}",)
        official = draft.facts["official_language", "country"] - draft.first["language"]
        _, first = np.unique(official, return_index=True)
        for at, ordinal in enumerate(draft.members("language").tolist()):
            country = names.name[int(first[at]) + draft.first["country"]]
            names.name[ordinal] = _language(country)
            self._taken.add(names.name[ordinal])

    def persons(self) -> None:
        """Given name and surname; children carry the surname of their oldest known ancestor."""
        draft, generator = self.draft, self.draft.generator("names", "person")
        members = draft.members("person")
        base, n = draft.first["person"], draft.count["person"]
        root = family_of(draft)
        alone = (draft.facts["child_of", "person"] < 0) & (np.bincount(root, minlength=n) == 1)
        culture = self.culture[members][root]
        surname = self._codes("surname", culture, generator)[root]
        given = self._codes("male", culture, generator)

        wanted = alone & (generator.random(n) < min(0.9, draft.config.lookalikes / max(float(alone.mean()), 0.05)))

        def same_gender(rows: Ints, others: Ints) -> Bools:
            good: Bools = (draft.gender[others - base] == draft.gender[rows]) & ~wanted[others - base] & wanted[rows]
            return good

        target = draft.pool("person").draw_where(draft.home("person"), same_gender, generator, 0.2) - base
        alike = wanted & (target >= 0)
        at = np.maximum(target, 0)
        culture = np.where(alike, culture[at], culture)
        first_differs = generator.random(n) < 0.6
        surname = np.where(alike, surname[at], surname)
        given = np.where(alike, given[at], given)

        def vary(rows: Ints) -> None:
            a, b = rows[first_differs[rows]], rows[~first_differs[rows]]
            for gender, grammar in ((0, "male"), (1, "female")):
                some = a[draft.gender[a] == gender]
                given[some] = self._near(grammar, culture[some], given[at[some]], generator)
            surname[b] = self._near("surname", culture[b], surname[at[b]], generator)

        vary(np.flatnonzero(alike))
        draft.lookalike[members[alike]] = target[alike] + base
        names, taken = self.names, self._taken
        self.surname = [""] * n
        rows = np.arange(n)
        for attempt in range(_ROUNDS):
            male = draft.gender[rows] == 0
            first = [""] * len(rows)
            for mask, grammar in ((male, "male"), (~male, "female")):
                some = np.flatnonzero(mask)
                for row, text in zip(
                    some.tolist(), self._render(grammar, culture[rows[some]], given[rows[some]]), strict=True
                ):
                    first[row] = text
            last = self._render("surname", culture[rows], surname[rows])
            again = []
            for row, one, two in zip(rows.tolist(), first, last, strict=True):
                text = f"{one} {two}"
                if text in taken or one.lower() in REAL_NAMES or (two.lower() in REAL_NAMES and attempt < 30):
                    again.append(row)
                    continue
                taken.add(text)
                names.name[base + row] = text
                self.surname[row] = two
            if not again:
                break
            rows = np.array(again)
            near = rows[alike[rows]] if attempt < 8 else rows[:0]
            vary(near)
            rest = np.setdiff1d(rows, near)
            draft.lookalike[members[rest]] = -1
            given[rest] = self._codes("male", culture[rest], generator)
            unbound = rest[alone[rest]]
            surname[unbound] = self._codes("surname", culture[unbound], generator)
        else:
            raise AssertionError("the grammar of personal names is exhausted")
        middle = self._render("male", culture, self._codes("male", culture, generator))
        has = generator.random(n) < 0.3
        for row in np.flatnonzero(has).tolist():
            one, two = names.name[base + row].split(" ", 1)
            text = f"{one} {middle[row]} {two}"
            if text not in taken:
                taken.add(text)
                names.aliases[base + row] = (text,)

    def places(self) -> None:
        draft, names = self.draft, self.names
        self._name_type("city", "place", lambda row, root, variant: root, prefixes=("Port", "New", "Upper", "Lower"))
        generator = draft.generator("old names")
        cities = draft.members("city")
        old = self._render("place", self.culture[cities], self._codes("place", self.culture[cities], generator))
        for row in np.flatnonzero(generator.random(len(cities)) < 0.25).tolist():
            if old[row] not in self._taken and old[row].lower() not in REAL_NAMES:
                self._taken.add(old[row])
                names.aliases[int(cities[row])] = (old[row],)
        parts = ("North {}", "South {}", "Upper {}", "Lower {}", "{} Highlands", "East {}", "West {}", "Greater {}")
        self._name_type("region", "surname", lambda row, root, variant: parts[variant % len(parts)].format(root))
        self._name_type("river", "surname", lambda row, root, variant: f"River {root}")
        self._name_type("mountain", "surname", lambda row, root, variant: f"Mount {root}")
        self._name_type("lake", "surname", lambda row, root, variant: f"Lake {root}")
        self._name_type(
            "species",
            "place",
            lambda row, root, variant: (
                f"{root} {_HABITS[variant % len(_HABITS)]} {_ANIMALS[variant // 97 % len(_ANIMALS)]}"
            ),
        )
        for ordinal in draft.members("species").tolist():
            root, animal = names.name[ordinal].rsplit(" ", 2)[0], names.name[ordinal].rsplit(" ", 1)[1]
            stem = root.replace(" ", "").lower().rstrip("aeiou")
            latin = f"{_GENERA[_ANIMALS.index(animal)]} {stem}ensis"
            if latin not in self._taken:
                self._taken.add(latin)
                names.aliases[ordinal] = (latin,)

    def institutions(self) -> None:
        draft, names = self.draft, self.names
        some = draft.generator("borrowed names")
        base = draft.first["person"]

        def borrowed(kind: str, relation: str, share: float) -> dict[int, str]:
            # A surname of the founder or namesake, or the name of the city, for a share of the entities.
            objects = draft.facts[relation, kind]
            rows = np.flatnonzero((objects >= 0) & (some.random(len(objects)) < share)).tolist()
            if relation in ("founded_by", "named_after"):
                return {row: self.surname[int(objects[row]) - base] for row in rows}
            return {row: names.name[int(objects[row])] for row in rows}

        forms = ("University of {}", "{} University", "{} Institute", "{} Academy")
        self._name_type(
            "university",
            "place",
            lambda row, root, variant: forms[(0, 0, 1, 1, 2, 3)[variant % 6]].format(root),
            fixed=borrowed("university", "located_in", 0.2),
        )
        for ordinal in draft.members("university").tolist():
            name = names.name[ordinal]
            if name.startswith("University of "):
                other = f"{name.removeprefix('University of ')} University"
            elif name.endswith(" University"):
                other = f"University of {name.removesuffix(' University')}"
            else:
                continue
            if other not in self._taken:
                self._taken.add(other)
                names.aliases[ordinal] = (other,)
        words = list(INDUSTRY_WORDS.values())
        industry = draft.facts["industry", "company"].tolist()
        self._name_type(
            "company",
            "surname",
            lambda row, root, variant: f"{root} {words[industry[row]][variant % len(words[industry[row]])]}",
            fixed=borrowed("company", "founded_by", 0.3),
            group=draft.facts["industry", "company"],
        )
        self._named_after("laboratory", ("Laboratory", "Research Station", "Observatory", "Laboratories"))
        self._named_after("stadium", ("Park", "Ground", "Arena", "Field", "Road"))
        papers = (
            "Courier",
            "Gazette",
            "Herald",
            "Observer",
            "Chronicle",
            "Mercury",
            "Tribune",
            "Post",
            "Argus",
            "Mail",
        )
        self._name_type(
            "newspaper",
            "place",
            lambda row, root, variant: f"{root} {papers[variant % len(papers)]}",
            fixed=borrowed("newspaper", "headquartered_in", 0.15),
        )
        halls = ("Museum", "Gallery", "Collection", "Museum of Art", "House Museum")
        self._name_type(
            "museum",
            "surname",
            lambda row, root, variant: f"{root} {halls[variant % len(halls)]}",
            fixed=borrowed("museum", "founded_by", 0.25),
        )
        sides = ("Rovers", "United", "Wanderers", "Athletic", "Rangers", "Albion", "Herons", "Falcons", "Harriers")
        self._name_type(
            "team",
            "place",
            lambda row, root, variant: f"{root} {sides[variant % len(sides)]}",
            fixed=borrowed("team", "home_city", 0.25),
        )
        spans = ("{} Bridge", "Old {} Bridge", "{} Viaduct", "{} Crossing", "High {} Bridge")
        self._name_type("bridge", "surname", lambda row, root, variant: spans[variant % len(spans)].format(root))
        feasts = ("Lantern", "Harvest", "Winter Music", "Folk", "Chamber Music", "Spring", "Theatre", "Poetry", "Dance")
        self._name_type(
            "festival",
            "place",
            lambda row, root, variant: f"{root} {feasts[variant % len(feasts)]} Festival",
            fixed=borrowed("festival", "held_in", 0.15),
        )
        fields = [AWARD_FIELDS[list(ROLES)[role]] for role in draft.award_role.tolist()]
        medals = ("Prize", "Medal", "Award")
        self._name_type(
            "award",
            "surname",
            lambda row, root, variant: f"{root} {medals[variant % 3]} for {fields[row]}",
            fixed=borrowed("award", "named_after", 1.1),
        )

    def _named_after(self, kind: str, words: tuple[str, ...]) -> None:
        """Things that bear a person's name bear the surname, or the full name where the surname is taken."""
        draft = self.draft
        namesake = draft.facts["named_after", kind]
        base = draft.first["person"]
        fixed = {row: self.surname[int(namesake[row]) - base] for row in np.flatnonzero(namesake >= 0).tolist()}
        for row in list(fixed):
            if any(f"{fixed[row]} {word}" in self._taken for word in words):
                fixed[row] = self.names.name[int(namesake[row])]
        self._name_type(
            kind, "surname", lambda row, root, variant: f"{root} {words[variant % len(words)]}", fixed=fixed
        )


def _language(country: str) -> str:
    if country.endswith("a"):
        return f"{country}n"
    return f"{country.rstrip('aeiou')}an" if country[-1] in "eiou" else f"{country}ish"


def _is_hub(kind: str) -> bool:
    return kind in ("country", "language", "award")


_HABITS = ("marsh", "river", "mountain", "meadow", "shore", "forest", "cave", "reed", "moor", "dune", "grey", "spotted")
_ANIMALS = ("heron", "newt", "hare", "finch", "trout", "beetle", "vole", "moth", "lizard", "crane", "otter", "owl")
_GENERA = (
    "Ardeola", "Tritonella", "Leporina", "Fringillaria", "Salmarius", "Carabella", "Microtina", "Noctuella",
    "Lacertina", "Gruella", "Lutrina", "Strigella",
)  # fmt: skip
