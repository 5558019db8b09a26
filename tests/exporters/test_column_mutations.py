"""One value of every column of every table changed, hashes stated anew: ``validate`` sees it, or the column stands in
the list of those that are carried and not proven."""

from __future__ import annotations

from typing import Any

import pytest
from mutating import Held, leaves

import synth
from synth.exporters.configs import CONFIGS, config_named
from synth.exporters.coverage import CARRIED
from synth.exporters.validate import validate

DATASETS: dict[str, dict[str, Any]] = {
    "world-search": {"tasks": 8, "settings": {"source.entities": 300, "contexts.budgets": [8192]}},
    "app-desk": {"tasks": 6},
}
TRIES = 6
"""Places of a carried column that are looked at before it counts as proven."""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    folder = tmp_path_factory.mktemp("mutated")
    for name, options in DATASETS.items():
        built = synth.build(name, out=folder / name, store=folder / f"{name}-store", **options)
        assert validate(built.path) == []
    return {name: Held(folder / name) for name in DATASETS}


def test_a_changed_value_of_every_column_is_seen_or_the_column_is_carried(held: dict[str, Held]) -> None:
    """Those of which an earlier dataset has values are looked at there."""
    looked_at = {config.name: set(CARRIED.get(config.name, ())) for config in CONFIGS}
    missed: list[str] = []
    for name, one in held.items():
        missed += [f"{name}: {mutation}" for mutation in one.missed(looked_at)]
        for config in one.configs():
            looked_at[config.name] |= {column.path for column in leaves(config) if one.places(config, column)}
    assert missed == []


def test_no_column_that_is_proven_stands_among_those_that_are_not(held: dict[str, Held]) -> None:
    proven: list[str] = []
    for table, names in CARRIED.items():
        config = config_named(table)
        for column in (column for column in leaves(config) if column.path in names):
            tried = [(one, mutation) for one in held.values() for mutation in one.mutations(config, column, TRIES)]
            if tried and all(one.problems([mutation]) for one, mutation in tried):
                proven.append(f"{table}.{column.path}")
    assert proven == []
