"""Plans of forty recipes are what was recorded: ``python tests/pipelines/test_golden_plans.py`` records them anew.

A node of a plan is its label and stage, what it reads from whom, and its config: short values as they are, long ones as
hashes. Where code stands (``factory``), and what prompts, servers and libraries it has today, are left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from synth.engine.fingerprint import hashed_config
from synth.engine.plan import Plan, StageNode
from synth.identity import canonical_json, digest
from synth.pipelines import plan
from synth.recipe.load import load_recipe

HERE = Path(__file__).parent
RECORD = HERE / "golden_plans.json"
RECIPES: dict[str, list[Any]] = yaml.safe_load((HERE / "golden_plans.yaml").read_text("utf-8"))
MODEL = {"backend": "openai", "model": "m", "endpoints": ["http://127.0.0.1:9/v1"]}
STANDS_FOR: dict[str, Any] = {
    "MODEL": MODEL,
    "COUNTRIES": str(HERE.parent / "sources" / "triples" / "countries.tsv"),
    "TABLE": str(HERE.parent / "sources" / "triples" / "countries.csv"),
    "DOCS": "docs",
    "RECORDS": "records.jsonl",
    "GIVEN": str(HERE / "golden_given.jsonl"),
}
NO_BROWSER = ModuleType("playwright")
NO_BROWSER.__spec__ = ModuleSpec("playwright", None)
LEFT_OUT = {"factory", "versions", "prompt_version", "prompt_sha256"}


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item) for item in value]
    return STANDS_FOR.get(value, value) if isinstance(value, str) else value


def portable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: portable(item) for key, item in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        return [portable(item) for item in value]
    return value.replace(str(HERE.parent), "") if isinstance(value, str) else value


def shown(value: Any) -> Any:
    value = portable(value)
    text = canonical_json(value)
    return value if len(text) <= 60 else digest(value)[:12]


def node_text(node: StageNode) -> str:
    config = {name: shown(value) for name, value in hashed_config(node.config).items() if name not in LEFT_OUT}
    about: dict[str, Any] = {"stage": node.stage.name, "inputs": dict(node.inputs), "config": config}
    if node.accepting is not None:
        about["accepting"] = shown(hashed_config(node.accepting))
    if node.screens:
        about["screens"] = [shown(hashed_config(screen)) for screen in node.screens]
    return f"{node.label} {canonical_json(about)}"


@contextmanager
def browser_library() -> Iterator[None]:
    """A plan starts no browser: whether its library is there is asked, and no more."""
    if find_spec("playwright") is not None:
        yield
        return
    sys.modules["playwright"] = NO_BROWSER
    try:
        yield
    finally:
        del sys.modules["playwright"]


@cache
def planned(name: str) -> Plan:
    dataset, *over = RECIPES[name]
    with browser_library():
        return plan(load_recipe(dataset, settings=filled(over[0]) if over else {}))


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return found


def test_forty_recipes_are_recorded() -> None:
    assert list(recorded()["plans"]) == sorted(RECIPES)
    assert len(RECIPES) >= 40


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_plan_is_the_recorded_one(name: str) -> None:
    nodes = recorded()["nodes"]
    assert [node_text(node) for node in planned(name).nodes] == [nodes[number] for number in recorded()["plans"][name]]


def record() -> None:
    numbers: dict[str, int] = {}
    plans = {
        name: [numbers.setdefault(node_text(node), len(numbers)) for node in planned(name).nodes]
        for name in sorted(RECIPES)
    }
    RECORD.write_text("".join(_lines(list(numbers), plans)), "utf-8")


def _lines(nodes: list[str], plans: dict[str, list[int]]) -> Iterator[str]:
    """A node and a plan a line."""
    yield '{"nodes": [\n' + ",\n".join(json.dumps(node) for node in nodes) + "\n],\n"
    yield '"plans": {\n' + ",\n".join(f"{json.dumps(name)}: {json.dumps(plan)}" for name, plan in plans.items())
    yield "\n}}\n"


if __name__ == "__main__":
    record()
