"""Nobody who judges steps can read what a scripted policy did wrong on purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

PACKAGES = (
    "synth.annotate.critical",
    "synth.annotate.evidence",
    "synth.annotate.labels",
    "synth.annotate.preferences",
)
SEALED = ("InjectedError", "injected_errors", "injected_rows")


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted(Path(str(files(package))).rglob("*.py"))


@pytest.mark.parametrize("path", [pytest.param(path, id="/".join(path.parts[-2:])) for path in modules()])
def test_no_judge_names_the_sealed_table(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not names & set(SEALED)
    assert "injected" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("path", [pytest.param(p, id="/".join(p.parts[-2:])) for p in modules()])
def test_only_the_embedded_expert_knows_the_scripted_agents(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    sources = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    sources |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    scripted = [source for source in sources if source.startswith("synth.agents.scripted")]
    assert not scripted or path.name in ("scripted_expert.py", "graph_turns.py", "plan_turns.py", "in_sight.py")
