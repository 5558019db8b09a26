"""Step 4 of the generator: books, films, artworks, discoveries and ascents."""

from __future__ import annotations

import numpy as np

from synth.sources.world.draft import Draft
from synth.sources.world.draws import Bools, Ints, ragged, unique_first
from synth.sources.world.institutions import industry
from synth.sources.world.vocabulary import GENRES_BY_OCCUPATION, TEXT_VALUES

__all__ = ["create"]


def create(draft: Draft) -> None:
    """The year of a work is drawn from its maker's adult life; everyone else must fit that year."""
    _discoveries(draft)
    _books(draft)
    _films(draft)
    _artworks(draft)


def _made(draft: Draft, kind: str, roles: tuple[str, ...], low: int, high: int, floor: int = 0) -> tuple[Ints, Ints]:
    """(maker, year) of every entity of a type."""
    generator = draft.generator("makers", kind)
    members = draft.role(*roles)
    if not len(members):
        members = draft.members("person")
    maker = draft.pool_of(members).draw(draft.home(kind), generator, draft.config.cross)
    year = draft.adult_year(maker, generator, low, high, floor)
    draft.begin[draft.members(kind)] = year
    return maker, year


def _discoveries(draft: Draft) -> None:
    generator = draft.generator("discoveries")
    found, year = _made(draft, "species", ("scientist",), 24, 70)
    draft.facts["discovered_by", "species"] = found
    draft.facts["described_year", "species"] = year
    draft.facts["body_length", "species"] = (4 + 150 * generator.random(len(year)) ** 2.4).astype(np.int64)
    climbers = draft.role("climber")
    draft.facts["first_climbed_by", "mountain"] = draft.pool_of(climbers).draw_where(
        draft.home("mountain"),
        lambda rows, persons: np.ones(len(rows), dtype=bool),
        generator,
        draft.config.cross,
        share=0.8,
    )


def _books(draft: Draft) -> None:
    generator = draft.generator("books")
    cross = draft.config.cross
    home = draft.home("book")
    n = len(home)
    author, year = _made(draft, "book", ("writer",), 22, 70)
    draft.facts["author", "book"] = author
    draft.facts["publication_year", "book"] = year
    draft.facts["page_count", "book"] = (64 + 720 * generator.random(n) ** 1.7).astype(np.int64)
    occupation = draft.facts["occupation", "person"][author - draft.first["person"]]
    pick = generator.random(n)
    genre = np.zeros(n, dtype=np.int64)
    for code, choices in enumerate(GENRES_BY_OCCUPATION):
        genre = np.where(occupation == code, np.array(choices)[(len(choices) * pick).astype(np.int64)], genre)
    draft.facts["genre", "book"] = genre
    country = draft.country[draft.community[author]]
    draft.facts["written_in", "book"] = draft.facts["official_language", "country"][country - draft.first["country"]]

    def existed(rows: Ints, companies: Ints) -> Bools:
        return draft.begin[companies] <= year[rows]

    publishers = draft.pool_of(industry(draft, "book publishing"))
    draft.facts["publisher", "book"] = publishers.draw_where(home, existed, generator, cross, share=0.95)
    draft.facts["set_in", "book"] = _setting(draft, "book", 0.6, generator)

    def friend(rows: Ints, persons: Ints) -> Bools:
        good: Bools = (persons != author[rows]) & draft.adult(persons, year[rows], 5, 98)
        return good

    draft.facts["dedicated_to", "book"] = draft.pool("person").draw_where(home, friend, generator, cross / 2, share=0.4)


def _setting(draft: Draft, kind: str, share: float, generator: np.random.Generator) -> Ints:
    cities = draft.pool("city")
    return cities.draw_where(
        draft.home(kind),
        lambda rows, found: np.ones(len(rows), dtype=bool),
        generator,
        draft.config.cross,
        share=share,
    )


def _films(draft: Draft) -> None:
    generator = draft.generator("films")
    cross = draft.config.cross
    home = draft.home("film")
    n = len(home)
    director, year = _made(draft, "film", ("director",), 24, 72, 1899)
    draft.facts["director", "film"] = director
    draft.facts["release_year", "film"] = year
    draft.facts["running_time", "film"] = generator.integers(61, 178, n)
    draft.facts["genre", "film"] = generator.integers(0, len(TEXT_VALUES["genre", "film"]), n)

    book = draft.pool("book").draw_where(
        home, lambda rows, books: draft.begin[books] < year[rows], generator, cross, share=0.5
    )
    draft.facts["adapted_from", "film"] = unique_first(book)

    def working(rows: Ints, persons: Ints) -> Bools:
        return draft.adult(persons, year[rows], 18, 80)

    first = draft.first["film"]
    actors = draft.pool_of(draft.role("actor"))
    casts = [actors.draw_where(home, working, generator, cross, share=share) for share in (1.0, 0.6, 0.3)]
    rows = np.tile(np.arange(n), len(casts))
    draft.lists["starring", "film"] = ragged(rows, np.concatenate(casts), n)
    composers = draft.pool_of(draft.role("composer"))
    draft.facts["composer", "film"] = composers.draw_where(home, working, generator, cross, share=0.7)
    studios = draft.pool_of(industry(draft, "film production"))
    draft.facts["produced_by", "film"] = studios.draw_where(
        home, lambda rows, found: draft.begin[found] <= draft.begin[first + rows], generator, cross, share=0.95
    )
    draft.facts["set_in", "film"] = _setting(draft, "film", 0.4, generator)


def _artworks(draft: Draft) -> None:
    generator = draft.generator("artworks")
    cross = draft.config.cross
    home = draft.home("artwork")
    n = len(home)
    artist, year = _made(draft, "artwork", ("artist",), 22, 75)
    draft.facts["creator", "artwork"] = artist
    draft.facts["completion_year", "artwork"] = year
    draft.facts["medium", "artwork"] = generator.integers(0, len(TEXT_VALUES["medium", "artwork"]), n)
    draft.facts["displayed_in", "artwork"] = draft.pool("museum").draw(home, generator, cross)
    draft.facts["depicts", "artwork"] = draft.pool("person").draw_where(
        home,
        lambda rows, persons: (persons != artist[rows]) & draft.adult(persons, year[rows], 18, 95),
        generator,
        cross,
        share=0.65,
    )
