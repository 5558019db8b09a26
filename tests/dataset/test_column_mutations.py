"""One value of every column of every table changed, hashes stated anew: ``validate`` sees it, or the column stands in
the list of those that are carried and not proven."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report
from mutating import Held, Mutation, carried, leaves
from test_judgment_mutations import TASKS, verdicts
from test_writing_mutations import checks, exploration, wordings

import synth
from synth.dataset.configs import CONFIGS, config_named
from synth.dataset.layout import write_dataset
from synth.dataset.rules.recorded import measured
from synth.dataset.rules.validate import validate
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.judgments import JudgmentRow
from synth.schemas.proposals import ProposalRow
from synth.schemas.tasks import Task
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1_800)]  # thousands of validations, perhaps on a busy machine

SHOWN = {"steps.criticality.alternative", "steps.criticality.original_draws"}
"""Unseen only where two alternatives have the same counts (test_step_mutations.py makes them) or the policy drew what
neither side does (below): a small dataset may have no such row."""
DATASETS: dict[str, dict[str, Any]] = {
    "world-search": {
        "tasks": 10,
        "settings": {
            "source.entities": 300,
            "contexts.budgets": [8192],
            "roles.policy.rollouts": 4,  # some do the same, and so do their pairs
            "dedup.pairs.structural": True,
            "preferences.fill": 6,
            "trees": {"budget": 40},
        },
    },
    "searchswarm": {"tasks": 4, "settings": {"source.entities": 300, "difficulty": None, "rl": False}},
    "app-desk": {"tasks": 6},
    "code-repair": {"tasks": 2, "settings": {"critical": None}},
}
TRIES = 7
"""Places of a carried column that are looked at before it counts as proven; of an odd number one is the middle."""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    folder = tmp_path_factory.mktemp("mutated")
    for name, options in DATASETS.items():
        built = synth.build(name, out=folder / name, store=folder / f"{name}-store", **options)
        assert validate(built.path) == []
    written_by_models(folder / "models")
    assert validate(folder / "models") == []
    return {name: Held(folder / name) for name in (*DATASETS, "models")}


def written_by_models(folder: Path) -> None:
    """A dataset with all that models say of tasks and runs."""
    tables = dict(whole_tables(TASKS))
    tasks = from_arrow(tables["tasks"], Task)
    tables["judgments"] = to_arrow(verdicts(), JudgmentRow)
    tables["question_rewrites"] = to_arrow([row for task in tasks for row in wordings(task)], QuestionRewriteRow)
    tables["task_reviews"] = to_arrow([row for task in tasks for row in checks(task)], TaskReviewRow)
    tables["proposals"] = to_arrow([exploration(task) for task in tasks], ProposalRow)
    write_dataset(folder, tables, sample_report(tables))


def test_a_changed_value_of_every_column_is_seen_or_the_column_is_carried(held: dict[str, Held]) -> None:
    """Those of which an earlier dataset has values are looked at there."""
    looked_at = {config.name: set(carried().get(config.name, ())) for config in CONFIGS}
    missed: list[str] = []
    for name, one in held.items():
        missed += [f"{name}: {mutation}" for mutation in one.missed(looked_at)]
        for config in one.configs():
            looked_at[config.name] |= {column.path for column in leaves(config) if one.places(config, column)}
    assert missed == [], "\n".join(missed)
    assert [name for name, seen in looked_at.items() if seen <= set(carried().get(name, ()))] == []


def test_draws_of_neither_side_leave_room_for_other_counts() -> None:
    sides = {f"{side}_{what}": n for side in ("alternative", "original") for what, n in (("successes", 1), ("n", 2))}
    fits = {"difference": 0.0, "low": -0.5, "high": 0.5, "confidence": 0.9, "alternative_draws": 1, "policy_draws": 4}
    made = {draws: SimpleNamespace(**sides, **fits, original_draws=draws) for draws in (1, 3, 4)}
    names = ("alternative", "original")
    seen = {draws: list(measured("criticality", cast(Any, row), names, {})) for draws, row in made.items()}
    assert seen[1] == seen[3] == []
    assert "4, but 1 and 4 of them" in seen[4][0]


def test_no_column_that_is_proven_stands_among_those_that_are_not(held: dict[str, Held]) -> None:
    """A column is proven when no mutation of it is unseen. Those in small datasets are tried first."""
    small_first = sorted(held.values(), key=lambda one: sum(map(len, one.tables.values())))
    tries: dict[str, list[tuple[Held, Mutation]]] = {}
    for table, names in carried().items():
        config = config_named(table)
        for column in (column for column in leaves(config) if column.path in names):
            if f"{table}.{column.path}" in SHOWN:
                continue
            tried = [(one, mutation) for one in small_first for mutation in one.mutations(config, column, TRIES)]
            if tried:
                tries[f"{table}.{column.path}"] = tried
    open_ = {name: list(tried) for name, tried in tries.items()}
    while any(open_.values()):
        for one in small_first:
            batch = {name: tried.pop(0)[1] for name, tried in open_.items() if tried and tried[0][0] is one}
            unseen = one.unseen(list(batch.values()))
            open_ = {name: tried for name, tried in open_.items() if name not in batch or batch[name] not in unseen}
    proven = [name for name in open_ if all(one.problems([alone], first=True) for one, alone in tries[name])]
    assert proven == []
    assert len(tries) > 80
