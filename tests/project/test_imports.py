"""Importing is cheap and says nothing; what a module offers is what it lists."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from synth.cli.app import COMMANDS

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
    "rdflib",
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
        "append",
        "build",
        "evaluate",
        "export",
        "import_file",
        "load",
        "mix",
        "push",
        "rehydrate",
    },
    "synth.errors": {
        "BuildError",
        "DatasetError",
        "InputError",
        "Interrupted",
        "StoreError",
        "SynthError",
        "fault_of",
        "is_ours",
        "returned",
    },
    "synth.flows": {"PREFECT_DEFAULTS", "settle_prefect"},
    "synth.identity": {
        "IDENTITY_SCHEME",
        "canonical_json",
        "derive_generator",
        "digest",
        "digests",
        "generator_of",
        "hash_64",
        "key_of",
        "split_of",
        "versioned",
    },
    "synth.stages.context": {"Checkpoint", "Inputs", "RowContext", "RowMetrics", "Table"},
    "synth.stages.contract": {
        "Batch",
        "CandidateStage",
        "Context",
        "Implementation",
        "Inputs",
        "Outcome",
        "RowStage",
        "TaskFilter",
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
    """Dotted names of all modules of ours, each once (links under synth lead to the top-level folders); left out are
    tests that starters come with, and code that ships to be repaired."""
    names = []
    for folder, prefix in (("synth", ""), ("schemas", "synth."), ("flows", "synth.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name.startswith("test_") or "sources/code/shipped" in path.as_posix():
                continue
            parts = path.relative_to(ROOT).with_suffix("").parts
            names.append(prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def path_of(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def test_every_module_lists_what_it_offers() -> None:
    wrong: dict[str, list[str]] = {}
    for module in (name for name in module_files() if not name.endswith("__main__")):
        path = path_of(module)
        names = offered(path)
        if names is None:
            body = ast.parse(path.read_text(encoding="utf-8")).body
            defined = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
            missing = [name for name in defined if not name.startswith("_")]
        else:
            loaded = importlib.import_module(module)
            missing = [name for name in names if not hasattr(loaded, name)]
        if missing:
            wrong[module] = missing
    assert wrong == {}


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


def statements_of(node: ast.AST, *, inside: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements at any depth, and whether they stand in a function. No expression holds one, so none is walked."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for one in getattr(node, part, ()):
            if isinstance(one, ast.stmt):
                yield one, inside
            function = isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from statements_of(one, inside=inside or function)


def imports_of(path: Path, modules: set[str]) -> Iterator[tuple[str, bool]]:
    """Modules of ours that a file imports, anywhere and for types alone too, and whether a function does."""
    for node, inside in statements_of(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else node.module for name in full]
        else:
            continue
        for name in dict.fromkeys(names):
            if name in modules:
                yield name, inside


@cache
def graph_of(root: Path) -> dict[str, list[tuple[str, bool]]]:
    files = {".".join(path.relative_to(root).with_suffix("").parts): path for path in (root / "synth").rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    modules = {*files}
    return {name: list(imports_of(path, modules)) for name, path in files.items()}


def cycles(graph: Mapping[str, Sequence[tuple[str, bool]]]) -> list[tuple[str, str]]:
    """Pairs of files that import each other."""
    edges = {(one, other) for one, found in graph.items() for other, _ in found if other != one}
    return sorted((one, other) for one, other in edges if one < other and (other, one) in edges)


def test_no_two_files_import_each_other(tmp_path: Path) -> None:
    assert cycles(graph_of(ROOT)) == []
    (tmp_path / "synth").mkdir()
    (tmp_path / "synth" / "a.py").write_text("def f():\n    from synth import b\n")
    (tmp_path / "synth" / "b.py").write_text("import typing\nif typing.TYPE_CHECKING:\n    import synth.a\n")
    assert cycles(graph_of(tmp_path)) == [("synth.a", "synth.b")]


def test_few_functions_import_what_is_ours() -> None:
    """Where start-up would be slow (the API), or what it needs may not be installed."""
    late = [(name, other) for name, found in graph_of(ROOT).items() for other, inside in found if inside]
    assert len(late) <= 20, late


def test_help_lists_commands_without_importing_them() -> None:
    for function, line in COMMANDS.values():
        module, _, name = function.partition(":")
        said = str(getattr(importlib.import_module(module), name).__doc__)
        assert line == " ".join(said.split("\n\n")[0].split())
    code = "import sys; from synth.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {function.partition(":")[0] for function, _ in COMMANDS.values()} & {*told.splitlines()[-1].split()}
    assert not {"pydantic", "pyarrow", "numpy"} & {*told.splitlines()[-1].split()}


def test_help_of_a_command_imports_no_data_library_and_no_recipe() -> None:
    """What a command needs when it runs comes late (``synth.late``)."""
    code = (
        "import sys\nfrom synth.cli import main\nfrom synth.cli.app import COMMANDS\n"
        "for name in COMMANDS:\n    try: main([name, '--help'])\n    except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = {*told.splitlines()[-1].split()}
    assert told.count("Usage:") == len(COMMANDS)
    assert not {"jinja2", "numpy", "pyarrow", "synth.recipe.model", "synth.schemas", *HEAVY} & loaded
