"""Importing is cheap and says nothing; what a module offers is what it lists."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "aiohttp",
    "bm25s",
    "datasets",
    "datatrove",
    "faiss",
    "fastapi",
    "greenlet",
    "huggingface_hub",
    "lxml",
    "mcp",
    "networkx",
    "openai",
    "pandas",
    "polars",
    "prefect",
    "ray",
    "scipy",
    "sqlalchemy",
    "torch",
    "trafilatura",
    "transformers",
}
PUBLIC = {
    "synth": {
        "BuildError",
        "BuildRequest",
        "BuildResult",
        "DatasetError",
        "InputError",
        "StoreError",
        "SynthError",
        "__version__",
        "annotate",
        "build",
        "evaluate",
        "export",
        "import_file",
        "load",
        "mix",
        "push",
        "rehydrate",
    },
    "synth.errors": {"BuildError", "DatasetError", "InputError", "Interrupted", "StoreError", "SynthError"},
    "synth.flows": {"PREFECT_DEFAULTS", "run_request", "serve_push", "serve_request"},
    "synth.identity": {
        "IDENTITY_SCHEME",
        "canonical_json",
        "derive_generator",
        "digest",
        "generator_of",
        "key_of",
        "split_of",
        "versioned",
    },
    "synth.stages.contract": {
        "Batch",
        "CandidateStage",
        "Context",
        "Implementation",
        "Inputs",
        "Notebook",
        "Notes",
        "Outcome",
        "RowAtHand",
        "RowStage",
        "Screen",
        "ShardStage",
        "Stage",
        "StageConfig",
        "Table",
        "TableStage",
        "implementations",
    },
}
"""The surface that others program against. Growing it is a decision: it is written down here."""


def modules_after(statement: str) -> set[str]:
    code = f"import json, sys; {statement}; print(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement", ["import synth", "import synth.cli", "import synth.flows", "from synth import build, load"]
)
def test_imports_bring_nothing_heavy(statement: str) -> None:
    assert not modules_after(statement) & HEAVY


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_the_public_surface_is_pinned(module: str) -> None:
    names = importlib.import_module(module).__all__
    assert len(names) == len(set(names))
    assert set(names) == PUBLIC[module]


def offered(path: Path) -> list[str] | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return None


def module_files() -> list[str]:
    """Dotted names of all modules of ours, each once (the links under synth lead to the top-level folders)."""
    names = []
    for folder, prefix in (("synth", ""), ("schemas", "synth."), ("flows", "synth.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            names.append(prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def path_of(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@pytest.mark.parametrize("module", [name for name in module_files() if not name.endswith("__main__")])
def test_every_module_lists_what_it_offers(module: str) -> None:
    path = path_of(module)
    names = offered(path)
    if names is None:
        defined = [
            node.name
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        ]
        assert not defined, f"{module} has no __all__ but defines {defined}"
        return
    loaded = importlib.import_module(module)
    assert not [name for name in names if not hasattr(loaded, name)]


def test_public_functions_stay_functions_once_the_packages_of_their_names_are_imported() -> None:
    script = (
        "import synth, synth.export.contract, synth.annotate.labels.label; "
        "assert all(callable(getattr(synth, name)) for name in ('export', 'annotate'))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_recipes_load_where_no_extra_is_installed() -> None:
    """The base has no MCP SDK, browser or Ray: recipes of everything else load all the same, and `mcp` is one line."""
    code = (
        "import sys\n"
        "for name in ('mcp', 'anyio', 'httpx2', 'playwright', 'ray', 'faiss', 'torch'): sys.modules[name] = None\n"
        "from synth.recipe.load import load_recipe\n"
        "print(load_recipe('world-search').name, load_recipe('mcp-tools').name)\n"
        "from synth.errors import InputError\n"
        "from synth.registry import find\n"
        "try: find('environments', 'mcp')()\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("world-search mcp-tools\nenvironment mcp: the library mcp is not installed.")
