"""What is in the package is there for users: a command, a recipe key or the API reaches it, and not tests alone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from reach import Reach, Symbol
from test_imports import PUBLIC

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
STARTED: dict[Symbol, str] = {
    ("synth.cli", "main"): "the command",
    ("synth.environments.code.inside", "main"): "the first program of a sandbox, started by its path",
    ("synth.environments.code.runner", "main"): "runs tests in a sandbox, started by its path",
    ("synth.environments.mcp.shipped.organizer", "main"): "the server of mcp-tools, which a recipe starts by its path",
    ("synth.flows.kills", "kills"): "a deployment names it by its path",
    ("synth.flows.release", "release"): "a deployment names it by its path",
    ("synth.registry", "COLLABORATORS"): "the lock of what they compute (`make lock`)",
    ("synth.testing.corpus", ""): "contract tests of outside packages",
    ("synth.testing.environments", ""): "contract tests of outside packages",
    ("synth.training", ""): "trainers",
}
"""What users, trainers and tools start, beside what the README and the cards of datasets name."""
WAITING_MODULES: dict[str, str] = {}
"""Modules that nothing reaches yet and the plan that will. After C8 there are none."""
WAITING: dict[Symbol, str] = {
    ("synth.agents.summaries", "seen_history"): "C7, Agents together, memory, context: SWE-Compressor needs it",
}
"""Definitions that nothing uses yet and the plan that will. After C8 there are none."""
INSTRUMENTS: dict[Symbol, str] = {
    (
        "synth.annotate.critical.sequential",
        "characteristics",
    ): "the exact power of a design, from its own tables",
    ("synth.store.journal", "read_journal"): "reads what the engine wrote, by the parser that the engine resumes with",
    ("synth.store.ledger", "read_ledger"): "reads what the engine wrote",
}
"""Used by tests only, and kept beside the private code that they share."""
CALLED_BY_OTHERS = {
    "synth.dataset.reader:Dataset._repr_html_": "notebooks",
    "synth.pipelines.request:BuildResult._repr_html_": "notebooks",
    "synth.environments.code.runner:ByPytest.pytest_exception_interact": "pytest",
    "synth.environments.code.runner:ByPytest.pytest_runtest_logreport": "pytest",
    "synth.environments.mcp.connection:_Overheard.last_context": "the MCP SDK",
    "synth.training.verl:EnvironmentTool.calc_reward": "verl",
    "synth.training.verl:EnvironmentTool.get_openai_tool_schema": "verl",
}
"""Methods that answer code of others without a base class that says so."""
_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"synth(?:\.\w+)+")


def sources() -> dict[str, ast.Module]:
    """Module -> its tree, the links below ``synth`` under their top-level names. Starters are no modules of ours: they
    are copied; the project that ships to be repaired is data."""
    found = {}
    for folder, prefix in (("synth", ""), ("schemas", "synth."), ("flows", "synth.")):
        for path in (ROOT / folder).rglob("*.py"):
            if "starters" in path.parts or "sources/code/shipped" in path.as_posix():
                continue
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def told(modules: set[str]) -> set[Symbol]:
    """Modules and names that README, manual and the cards of datasets name."""
    found: set[Symbol] = set()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "data_cards").rglob("*.*")):
        for name in _NAMED.findall(path.read_text(encoding="utf-8")):
            module, _, last = name.rpartition(".")
            if name in modules:
                found.add((name, ""))
            elif module in modules:
                found.add((module, last))
    return found


@cache
def trees() -> dict[str, ast.Module]:
    return sources()


@cache
def reach() -> Reach:
    return Reach(trees())


@cache
def starts() -> frozenset[Symbol]:
    return frozenset({*STARTED, *told(set(trees())), *((module, "") for module in PUBLIC)})


def test_every_module_is_reached() -> None:
    """When this fails: wire it, delete it, or move it under tests. A module that waits has a plan that needs it."""
    assert reach().unreached(starts())[0] == set(WAITING_MODULES)


def test_every_definition_is_used() -> None:
    roots = {*starts(), *WAITING, *INSTRUMENTS, *((module, "") for module in WAITING_MODULES)}
    assert sorted(":".join(symbol) for symbol in reach().unreached(roots)[1]) == []


def unnamed_methods(trees: dict[str, ast.Module]) -> set[str]:
    """Methods whose name no code mentions but their own, those left out by which a class answers code of others: the
    methods of its foreign bases, and those with a decorator of pydantic's."""
    own = {node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    every = sum((mentions(tree) for tree in trees.values()), Counter[str]())
    found = set()
    for module, tree in trees.items():
        for kind in ast.walk(tree):
            if isinstance(kind, ast.ClassDef) and {ast.unparse(base).partition("[")[0] for base in kind.bases} <= own:
                for node in kind.body:
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                        foreign = any("validator" in ast.unparse(one) for one in node.decorator_list)
                        if not foreign and every[node.name] == mentions(node)[node.name]:
                            found.add(f"{module}:{kind.name}.{node.name}")
    return found


def mentions(tree: ast.AST) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            found.update(_WORD.findall(node.value))
    return found


def test_every_method_is_named_by_some_code() -> None:
    found = unnamed_methods({name: tree for name, tree in trees().items() if not name.startswith("synth.testing.")})
    assert {one for one in found if one.partition(":")[0] not in WAITING_MODULES} == set(CALLED_BY_OTHERS)


def test_a_method_that_only_tests_call_is_seen() -> None:
    text = "class A(Foreign):\n    def theirs(self): ...\nclass B:\n    def used(self): ...\n"
    text += "    def dead(self): return self.dead()\nB().used()"
    assert unnamed_methods({"synth.one": ast.parse(text)}) == {"synth.one:B.dead"}


def test_what_waits_or_measures_has_no_user_yet() -> None:
    unused = reach().unreached(starts())[1]
    assert unused >= {*WAITING, *INSTRUMENTS}


def test_what_only_tests_need_is_seen() -> None:
    texts = {
        "synth": "from synth.api import build\n__all__ = ['build']",
        "synth.api": (
            "from synth import tools\nfrom synth.errors import Wrong\nfrom synth.room import used, unused\n"
            "TABLE = {'a': 'synth.named:f'}\n"
            "def build():\n    from synth.late import Late\n    raise Wrong(TABLE, used, tools.deep.find(), Late)\n"
        ),
        "synth.cli": "import typer\nfrom synth.api import build\napp = typer.Typer()\n"
        "@app.command()\ndef go(): build()\ndef main(): app()",
        "synth.errors": "class Wrong(Exception): ...\nclass Dead(Exception): ...\ndef again(): again()",
        "synth.named": "def f(): ...\ndef g(): ...",
        "synth.alone": "from synth.errors import Dead\nfrom synth import alone",
        "synth.late": "class Late: ...",
        # A room that passes on what others define: a place in its imports and in __all__ is no use.
        "synth.room": "from synth.room.one import used\nfrom synth.room.two import unused as unused\n"
        "__all__ = ['unused', 'used']",
        "synth.room.one": "def used(): return _helped()\ndef _helped(): ...\ndef pair(): return other()\n"
        "def other(): return pair()",
        "synth.room.two": "from synth.room.one import used\nSIZE = 1\ndef unused(): return used()",
        "synth.tools": "",
        "synth.tools.deep": "LEFT = 3\ndef find(): ...",
    }
    reach = Reach({name: ast.parse(text) for name, text in texts.items()})
    modules, names = reach.unreached([("synth", ""), ("synth.cli", "main")])
    assert modules == {"synth.alone", "synth.room.two"}
    assert {f"{module}:{name}" for module, name in names} == {
        "synth.errors:Dead",
        "synth.errors:again",
        "synth.named:g",
        "synth.room.one:other",
        "synth.room.one:pair",
        "synth.tools.deep:LEFT",
    }
