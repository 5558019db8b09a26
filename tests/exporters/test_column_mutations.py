"""One value of every column of every table changed, hashes stated anew: ``validate`` sees it, or the column stands in
the list of those that are carried and not proven."""

from __future__ import annotations

from typing import Any

import pytest
from mutating import Held, Mutation, leaves

import synth
from synth.exporters.configs import config_named
from synth.exporters.coverage import CARRIED
from synth.exporters.validate import validate

DATASETS: dict[str, dict[str, Any]] = {
    "app-desk": {"tasks": 6},
    "world-search": {"tasks": 8, "settings": {"source.entities": 300, "contexts.budgets": [8192]}},
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


@pytest.fixture(scope="module")
def missed(held: dict[str, Held]) -> dict[str, list[Mutation]]:
    return {name: list(one.missed()) for name, one in held.items()}


def test_a_changed_value_of_every_column_is_seen_or_the_column_is_carried(missed: dict[str, list[Mutation]]) -> None:
    every = [(name, one) for name, mutations in missed.items() for one in mutations]
    assert [f"{name}: {one}" for name, one in every if one.column not in CARRIED.get(one.config, ())] == []


def test_no_column_that_is_proven_stands_among_those_that_are_not(
    held: dict[str, Held], missed: dict[str, list[Mutation]]
) -> None:
    passed = {(one.config, one.column) for mutations in missed.values() for one in mutations}
    proven: list[str] = []
    for table, names in CARRIED.items():
        config = config_named(table)
        for column in (column for column in leaves(config) if column.path in names):
            tried = [(one, m) for one in held.values() for m in one.mutations(config, column, TRIES)]
            if tried and (table, column.path) not in passed and all(one.problems([m]) for one, m in tried):
                proven.append(f"{table}.{column.path}")
    assert proven == []


def test_a_whole_dataset_is_as_it_was_after_all_mutations(
    held: dict[str, Held], missed: dict[str, list[Mutation]]
) -> None:
    assert {name: validate(one.folder) for name, one in held.items()} == {name: [] for name in missed}
