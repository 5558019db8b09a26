"""The import rules of pyproject.toml hold, and each of them catches what it is there for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
VIOLATIONS = {
    "a lower layer imports a higher one": ("synth/store/wrong.py", "import synth.engine", "Layers"),
    "siblings see each other": ("synth/graph/wrong.py", "import synth.retrieval", "Layers"),
    "schemas import synth": ("schemas/wrong.py", "import synth.identity", "Layers"),
    "a package without a place": ("synth/misc/__init__.py", "", "Layers"),
    "a stage imports a stage": ("synth/stages/wrong.py", "import synth.stages.other_wrong", "A stage"),
    "an environment imports another": (
        "synth/environments/wrong.py",
        "import synth.environments.other_wrong",
        "An environment",
    ),
    "the audit borrows the checks": ("synth/dataset/audit/wrong.py", "import synth.tasks.query", "The audit"),
    "Prefect in the engine": ("synth/engine/wrong.py", "def f() -> None:\n    import prefect.flows", "Prefect"),
    "FAISS in a stage": ("synth/stages/wrong.py", "import faiss", "FAISS"),
    "the Hub in a source": ("synth/sources/wrong.py", "from huggingface_hub import HfApi", "huggingface_hub"),
    "the MCP SDK in an agent": ("synth/agents/wrong.py", "import mcp", "The MCP SDK"),
    "an HTTP client in an agent": ("synth/agents/wrong.py", "import httpx", "HTTP"),
}


def lint(folder: Path) -> tuple[int, list[str]]:
    """Exit status of import-linter in ``folder`` and the names of broken rules."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--no-logo"]
    environment = {**os.environ, "COLUMNS": "400", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    names = re.findall(r"^(.+) BROKEN(?: \(|$)", done.stdout, flags=re.MULTILINE)
    return done.returncode, names


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers") / "copy"
    folder.mkdir()
    for name in ("synth", "schemas", "flows", "prompts", "data_cards"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_tree_keeps_every_rule(copy: Path) -> None:
    assert lint(copy) == (0, [])


@pytest.mark.parametrize("name", sorted(VIOLATIONS))
def test_a_rule_catches_its_violation(copy: Path, name: str) -> None:
    place, code, rule = VIOLATIONS[name]
    target = copy / place
    other = target.parent / "other_wrong.py"
    target.parent.mkdir(exist_ok=True)
    target.write_text(code + "\n")
    other.write_text("")
    try:
        status, broken = lint(copy)
    finally:
        target.unlink()
        other.unlink()
        if target.name == "__init__.py":
            shutil.rmtree(target.parent)
    assert status == 1
    assert any(line.startswith(rule) for line in broken), broken
