"""Step 1 of the generator: communities, countries, cities, waters, mountains, languages."""

from __future__ import annotations

import numpy as np

from synth.sources.world.draft import Draft
from synth.sources.world.draws import ragged
from synth.sources.world.schema import ENTITY_TYPES

__all__ = ["settle", "settle_languages"]


def settle(draft: Draft) -> None:
    """Regions to countries, everything to regions; then the facts of geography."""
    _communities(draft)
    _regions_and_cities(draft)
    _areas(draft)
    _waters(draft)


def _communities(draft: Draft) -> None:
    """Every entity but hubs and persons' relations gets its home; each region gets one of each type first."""
    generator = draft.generator("communities")
    regions = draft.communities
    countries = draft.members("country")
    zipf = (len(countries) * generator.random(regions) ** 1.8).astype(np.int64)
    zipf[: len(countries)] = np.arange(len(countries))
    draft.country = countries[zipf]
    draft.community[draft.members("region")] = np.arange(regions)
    weight = (1.0 + generator.permutation(regions)) ** -0.35
    edges = np.cumsum(weight) / weight.sum()
    for name, kind in ENTITY_TYPES.items():
        if kind.hub or name == "region":
            continue
        members = draft.members(name)
        home = np.minimum(np.searchsorted(edges, generator.random(len(members)), side="right"), regions - 1)
        home[: min(regions, len(members))] = np.arange(min(regions, len(members)))
        draft.community[members] = home


def _regions_and_cities(draft: Draft) -> None:
    generator = draft.generator("cities")
    regions, cities = draft.members("region"), draft.members("city")
    home = draft.home("city")
    draft.facts["part_of", "region"] = draft.country
    draft.facts["in_region", "city"] = regions[home]
    # The first city of each region is its seat; the seat of a country's first region is the capital.
    draft.facts["seat", "region"] = draft.pool("city").local[draft.pool("city").start]
    _, first_region = np.unique(draft.country, return_index=True)
    draft.facts["capital", "country"] = draft.facts["seat", "region"][first_region]
    draft.facts["independence_year", "country"] = generator.integers(1640, 1962, draft.count["country"])
    founded = generator.integers(720, 1700, len(cities))
    draft.begin[cities] = founded
    draft.facts["founding_year", "city"] = founded
    draft.facts["elevation", "city"] = (3 + 900 * generator.random(len(cities)) ** 2.2).astype(np.int64)

    pool = draft.pool("city")
    rank = np.empty(len(cities), dtype=np.int64)
    rank[np.searchsorted(cities, pool.local)] = np.arange(len(cities)) - np.repeat(pool.start, pool.count)
    size = 260_000 * (1.0 + rank) ** -0.9 * np.exp(0.6 * generator.standard_normal(len(cities)))
    capital = np.isin(cities, draft.facts["capital", "country"])
    people = np.maximum(4_000, size * np.where(capital, 3.0, 1.0)).astype(np.int64)
    draft.facts["population", "city"] = people
    urban = np.bincount(draft.country[home], weights=people, minlength=draft.count["country"])
    factor = 1.3 + 1.5 * generator.random(draft.count["country"])
    draft.facts["population", "country"] = (urban * factor).astype(np.int64)

    # Twin cities: disjoint pairs of a shuffle, so that the relation is symmetric and one to one.
    order = generator.permutation(len(cities))
    half = len(order) // 2
    a, b = order[:half], order[half : 2 * half]
    keep = (generator.random(half) < 0.45) & (home[a] != home[b])
    twin = np.full(len(cities), -1, dtype=np.int64)
    twin[a[keep]], twin[b[keep]] = cities[b[keep]], cities[a[keep]]
    draft.facts["twinned_with", "city"] = twin


def _areas(draft: Draft) -> None:
    """Lakes fill a small part of their region; a country's area is the sum of its regions'."""
    generator = draft.generator("areas")
    area = (2_000 * np.exp(2.6 * generator.random(draft.communities))).astype(np.int64)
    draft.facts["area", "region"] = area
    total = np.bincount(draft.country, weights=area, minlength=draft.count["country"])
    draft.facts["area", "country"] = total.astype(np.int64)
    home = draft.home("lake")
    room = area[home] / (6.0 * draft.pool("lake").count[home])
    draft.facts["area", "lake"] = np.maximum(2, room * generator.random(len(home)) ** 2).astype(np.int64)
    draft.facts["depth", "lake"] = generator.integers(8, 412, len(home))


def _waters(draft: Draft) -> None:
    generator = draft.generator("waters")
    regions = draft.members("region")
    draft.facts["lies_in", "mountain"] = regions[draft.home("mountain")]
    draft.facts["lies_in", "lake"] = regions[draft.home("lake")]
    draft.facts["native_to", "species"] = regions[draft.home("species")]
    draft.facts["height", "mountain"] = (620 + 5_400 * generator.random(draft.count["mountain"]) ** 1.7).astype(
        np.int64
    )
    rivers, home = draft.members("river"), draft.home("river")
    draft.facts["rises_on", "river"] = draft.pool("mountain").draw(home, generator, 0.0)
    draft.facts["flows_into", "river"] = draft.pool("lake").draw(home, generator, 0.0)
    draft.facts["length", "river"] = (24 + 960 * generator.random(len(rivers)) ** 2.0).astype(np.int64)

    # A city stands on one river at most; the first city of a region always on one, so that bridges find a place.
    cities = draft.members("city")
    river = draft.pool("river").draw(draft.home("city"), generator, 0.0)
    seat = np.isin(cities, draft.facts["seat", "region"])
    river[~seat & (generator.random(len(cities)) > 0.7)] = -1
    river[(river >= 0) & (draft.community[river] != draft.home("city"))] = -1
    draft.facts["on_river", "city"] = river
    draft.lists["flows_through", "river"] = ragged(
        np.where(river >= 0, river - draft.first["river"], -1)[river >= 0], cities[river >= 0], len(rivers)
    )


def settle_languages(draft: Draft) -> None:
    """Official languages, with fewer speakers than the people of the countries that use them."""
    generator = draft.generator("languages")
    countries, languages = draft.count["country"], draft.members("language")
    choice = (len(languages) * generator.random(countries) ** 1.2).astype(np.int64)
    choice[: len(languages)] = np.arange(len(languages))
    draft.facts["official_language", "country"] = languages[choice]
    people = np.bincount(choice, weights=draft.facts["population", "country"], minlength=len(languages))
    draft.facts["speakers", "language"] = (people * (0.6 + 0.35 * generator.random(len(languages)))).astype(np.int64)
