"""What a change of code invalidates: the stage runs that are given what changed, and no others."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from codelock import CodeLock, problems
from stage_lock import current

from synth.dataset.layout import write_dataset
from synth.engine.fingerprint import Fingerprint, fingerprints, stated_version
from synth.engine.plan import Plan, StageNode
from synth.pipelines.planner import plan
from synth.recipe.load import load_recipe
from synth.registry import COLLABORATORS, IMPORTERS, STAGES
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.tasks import Task
from synth.stages.contract import Implementation
from tests.dataset.exporter_samples import sample_report, sample_tables

pytestmark = pytest.mark.thorough

MODEL = {"backend": "vllm", "model": "small", "endpoints": ["http://127.0.0.1:9/v1"]}
PLAYED = ("writer", "checker", "judge", "summarizer", "reflector", "perturber", "expert", "prm", "teacher")
WRITER = {"roles.writer": MODEL}
WEB = {"environment.executable": sys.executable}
"""A plan opens no browser, but wants its program to be there."""
SEMANTIC = {"tasks": {"semantic": 0.95}, "trajectories": {"semantic": 0.95}}
RECIPES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "search": ("world-search", {"ratings": {}}),
    "search-guarded": ("world-search", {"dedup": SEMANTIC, "decontaminate": {"benchmarks": ["FOLDER/asked.jsonl"]}}),
    "search-models": (
        "world-search",
        {
            **{f"roles.{role}": MODEL for role in PLAYED},
            "ratings": {"answers": True, "steps": True},
            "summaries": {},
            "writing.described": 0.2,
        },
    ),
    "search-student": (
        "world-search",
        {"roles.policy": MODEL, "rework": {"reword": True}, "ratings": {"answer_probability": True}},
    ),
    "search-embedded-summaries": ("world-search", {"summaries": {}}),
    "search-simulated": ("world-search", {"roles.simulator": MODEL, "environment.simulated": {}}),
    "search-dense": ("world-search", {"environment.retriever": "dense"}),
    "search-tables": ("sciresearcher", {}),
    "search-aimed": ("world-search", {"difficulty": {"aim": {"after": "FOLDER/before", "low": 0.2, "high": 0.6}}}),
    "search-hybrid": ("world-search", {"environment.retriever": "hybrid", "environment.reranker": {}}),
    "search-reranked": ("world-search", {"environment.reranker": {"kind": "cross-encoder", "model": "small"}}),
    "docs": ("docs-search", {"source.path": "FOLDER/pages"}),
    "docs-extracted": ("docs-search", {"source.path": "FOLDER/pages", "source.extract": "model", **WRITER}),
    "graph": ("graph-walk", {}),
    "app": ("app-desk", {}),
    "app-reworded": ("app-desk", WRITER),
    "code": ("code-repair", {}),
    "mcp": ("mcp-tools", {}),
    "mcp-reworded": ("mcp-tools", WRITER),
    "web": ("web-site", WEB),
    "web-reworded": ("web-site", {**WEB, **WRITER}),
}
RECIPES |= {
    "runs": (
        "world-search",
        {
            "source.kind": "runs",
            "source.path": "FOLDER/asked.jsonl",
            "questions": {"kind": "given", "path": "FOLDER/asked.jsonl"},
            "tasks": None,
            "environment": {"kind": "own", "made_by": "stand_ins.planted:PlantedEnvironment"},
            "roles": {},
        },
    )
}
NEEDS = {"mcp": "mcp", "web": "playwright"}
GIVEN = sorted({entry for table in COLLABORATORS.values() for entry in table.values()})
"""Factories of all collaborators that we register."""
ENTRIES = {f"{table} {name}": entry for table, held in COLLABORATORS.items() for name, entry in held.items()}


@cache
def locked() -> tuple[CodeLock, ...]:
    return tuple(current())


def write_measured(folder: Path) -> None:
    """A dataset that says of each task how often the policy succeeded."""
    tables = sample_tables()
    rows = [
        DifficultyRow(
            task_id=task.id,
            shape=task.walk.shape,
            obfuscation=0,
            predicted=0.5,
            fold=0,
            bin=5,
            successes=number % 3,
            rollouts=2,
            closed_book_successes=0,
            closed_book_rollouts=0,
            search_needed=None,
            order=number,
            split=task.split,
            provenance=task.provenance,
        )
        for number, task in enumerate(from_arrow(tables["tasks"], Task))
    ]
    tables["difficulty"] = to_arrow(rows, DifficultyRow)
    write_dataset(folder, tables, sample_report(tables))


@dataclass(frozen=True, eq=False)
class Planned:
    """A plan, and what the tests ask of it more than once."""

    plan: Plan

    @cached_property
    def before(self) -> dict[str, Fingerprint]:
        return fingerprints(self.plan)

    @cached_property
    def given(self) -> dict[str, set[str]]:
        """Stage run -> the factories that stand in the text of all that it is told, however deep."""
        return {node.label: given(node) for node in self.plan.nodes}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Planned]:
    """The plan of one of ``RECIPES``."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "pages").mkdir()
    (folder / "pages" / "one.md").write_text("# One\n\nSee [two](two.md).\n", "utf-8")
    (folder / "pages" / "two.md").write_text("# Two\n\nSee [one](one.md).\n", "utf-8")
    (folder / "asked.jsonl").write_text(
        '{"question": "Who was it that wrote the book about the two seas?", "answer": "Ann"}\n', "utf-8"
    )
    write_measured(folder / "before")

    @cache
    def made(name: str) -> Planned:
        dataset, settings = RECIPES[name]
        text = json.dumps(settings).replace("FOLDER", str(folder))
        return Planned(plan(load_recipe(dataset, settings=json.loads(text))))

    def wanted(name: str) -> Planned:
        needs = NEEDS.get(name.partition("-")[0])
        if needs is not None and find_spec(needs) is None:
            pytest.skip(f"needs {needs}")
        return made(name)

    return wanted


def bumped(factories: Collection[str]) -> Callable[[Implementation], int | None]:
    """Versions of collaborators, those of ``factories`` one higher."""

    def version_of(one: Implementation) -> int | None:
        version = stated_version(one)
        return version if version is None or one.factory not in factories else version + 1

    return version_of


@cache
def invalid(planned: Planned, *factories: str) -> tuple[set[str], set[str]]:
    """The stage runs that work anew, or judge their candidates anew, when the versions of ``factories`` are bumped; and
    all whose fingerprints change."""

    def own(made: Fingerprint) -> list[Any]:
        return [{key: value for key, value in made.material.items() if key != "inputs"}, made.accepted_by]

    before, after = planned.before, fingerprints(planned.plan, bumped(factories))
    return (
        {label for label in before if own(before[label]) != own(after[label])},
        {label for label in before if before[label].value != after[label].value},
    )


def given(node: StageNode) -> set[str]:
    """What a stage run is given: the factories that stand in the text of all that it is told, however deep."""
    parts = [node.config, *node.filters, *([node.accepting] if node.accepting is not None else [])]
    text = json.dumps([part.model_dump(mode="json") for part in parts])
    return {factory for factory in [*GIVEN, *STAGES.values()] if f'"{factory}"' in text}


@pytest.mark.parametrize("name", RECIPES)
def test_a_bump_invalidates_the_stage_runs_that_are_given_it(name: str, planned: Callable[[str], Planned]) -> None:
    held = planned(name)
    told = set().union(*held.given.values())
    assert invalid(held, *set(GIVEN) - told) == (set(), set())
    for factory in sorted(told):
        wanted = {label for label, factories in held.given.items() if factory in factories}
        own, all_ = invalid(held, factory)
        assert own == wanted, factory
        # Who reads them follows, and no one else.
        reached = set(wanted)
        for node in held.plan.nodes:
            reached |= {node.label for name in node.reads if node.source_of(name)[0] in reached}
        assert all_ <= reached, factory


def test_each_collaborator_is_given_in_one_of_the_plans(planned: Callable[[str], Planned]) -> None:
    names = [name for name in RECIPES if find_spec(NEEDS.get(name.partition("-")[0], "synth")) is not None]
    seen = {factory for name in names for told in planned(name).given.values() for factory in told}
    left = {"synth.retrieval.encoder:sentence_encoder"}  # its model is looked up when the plan is made
    left |= {"synth.annotate.rewards.own:own_rater"}  # where a recipe names a judge of one's own: test_engine_own_code
    left |= {"synth.environments.own:RECORDED_ENVIRONMENT"}  # it can't be opened: no stage is given it
    left |= {entry for table in COLLABORATORS.values() for kind, entry in table.items() if kind in NEEDS}
    left |= {entry for kind, entry in IMPORTERS.items() if kind != "auto"}  # each is given as that is
    assert set(GIVEN) - seen <= left


@pytest.mark.parametrize("name", RECIPES)
def test_a_changed_module_invalidates_the_stage_runs_that_run_it(name: str, planned: Callable[[str], Planned]) -> None:
    """The whole way: a module's hash changes, the lock names what must be bumped, the bump changes fingerprints."""
    held = planned(name)
    locks = {lock.name: lock for lock in locked()}
    entries = {f"stages {stage}": entry for stage, entry in STAGES.items()} | ENTRIES
    runs = {
        node.label: {lock for lock, entry in entries.items() if entry in held.given[node.label]}
        | {f"stages {node.stage.name}"}
        for node in held.plan.nodes
    }
    anew = {factory: invalid(held, factory)[0] for factory in set().union(*held.given.values())}
    for module in sorted({module for lock in locks.values() for module in lock.modules}):
        touched = {name: lock for name, lock in locks.items() if module in lock.modules}
        told = {line.partition(":")[0] for line in problems(map(mutated(module), touched.values()), touched)}
        found = {node.label for node in held.plan.nodes if f"stages {node.stage.name}" in told}
        found = found.union(*(anew.get(entries[lock], set()) for lock in told))
        able = {label for label, names in runs.items() if any(module in locks[lock].modules for lock in names)}
        assert found == able, module


def mutated(module: str) -> Callable[[CodeLock], CodeLock]:
    """A lock as it would be were the code of ``module`` another."""
    return lambda lock: replace(
        lock, modules={name: "another" if name == module else value for name, value in lock.modules.items()}
    )


def test_no_stage_imports_an_environment() -> None:
    """What stands behind a name in a recipe reaches a stage by that name alone."""
    environments = {f"synth.environments.{kind}" for kind in COLLABORATORS["environments"]}
    for lock in locked():
        if lock.name.startswith("stages "):
            met = {module for module in lock.modules if ".".join(module.split(".")[:3]) in environments}
            assert met == set(), lock.name


def test_the_browsers_session_stands_behind_what_runs_in_a_browser() -> None:
    held = {lock.name for lock in locked() if "synth.environments.web.session" in lock.modules}
    assert held == {"environments web", "explorers web"}


def test_one_of_ours_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"synth\.identity:digest states no version"):
        stated_version(Implementation(kind="x", factory="synth.identity:digest"))
