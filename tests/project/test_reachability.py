"""What is in the package is there for users: a command, a recipe key or the API reaches it, and not tests alone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPEN = ("synth.flows.", "synth.testing.", "synth.training.")
"""Packages that outsiders import whole: deployments, tests of environments from outside, trainers."""
SCRIPTS = {"synth.environments.mcp.shipped.organizer": "the server of mcp-tools, which a recipe starts by its path"}
WAITING_MODULES = {
    "synth.critical.segments": "C7, Refinement: EEF selects segments of failed runs into SFT",
    "synth.reverse.exploring.app_feeds": "C7, Environments: ASTRA, applications from tool graphs",
    "synth.reverse.tool_graph": "C7, Environments: ASTRA, applications from tool graphs",
}
"""Modules that nothing reaches yet and the plan that will. After C7 there are none."""
WAITING_NAMES = {
    "SlurmExecutor": "C8, More than one machine: Slurm in the command line and in recipes",
    "checklist_results": "C7, Credit and rewards: CM2, a reward from the checklist of a plan",
    "seen_history": "C7, Agents together, memory, context: SWE-Compressor needs what an agent had before it",
}
"""Functions and classes that nothing uses yet and the plan that will. After C8 there are none."""
INSTRUMENTS = {
    "characteristics": "the exact power of a design of critical steps, from the module's own tables",
    "compute_score": "verl calls it by its name",
    "contains_phrase": "what the tokenizer promises, exactly",
    "read_journal": "reads what the engine wrote",
    "read_ledger": "reads what the engine wrote",
    "read_sentence": "reads a sentence of a page back: the proof of the lexicon",
    "row_at": "one row of a table",
    "seal": "states the files of a dataset anew, as a careful forger would",
    "surface_spans": "what the tokenizer promises, exactly",
}
"""Used outside the package only, each with what for."""
_REFERENCE = re.compile(r"(synth(?:\.\w+)+)(?::(\w+))?")
"""What code names without importing it: ``module:attribute`` of a registry, ``module`` after ``python -m``."""


def sources() -> dict[str, ast.Module]:
    """Module -> its tree, the links below ``synth`` under their top-level names."""
    found = {}
    for folder, prefix in (("synth", ""), ("schemas", "synth."), ("flows", "synth.")):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def references(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, attribute or "") of all that is imported or named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _REFERENCE.fullmatch(node.value)
            if named is not None:
                yield named[1], named[2] or ""


def unreached(trees: Mapping[str, ast.AST]) -> set[str]:
    """Modules that neither ``import synth`` nor the command line leads to."""
    reached: set[str] = set()
    left = [name for name in trees if name in ("synth", "synth.cli") or f"{name}.".startswith(OPEN)]
    while left:
        module = left.pop()
        if module in trees and module not in reached:
            reached.add(module)
            left += [module.rpartition(".")[0]]
            left += [name for base, of in references(trees[module]) for name in (base, f"{base}.{of}")]
    return set(trees) - reached


def uses(tree: ast.AST) -> Counter[str]:
    """Names that code reads, calls or names in a registry; an import alone is no use."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.alias) and node.asname:
            found[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _REFERENCE.fullmatch(node.value)
            found[named[2] if named is not None and named[2] else ""] += 1
    return found


def unused(trees: Mapping[str, ast.Module]) -> dict[str, str]:
    """Function or class -> its module, of those that no code of the package uses but their own."""
    every = sum((uses(tree) for tree in trees.values()), Counter[str]())
    public = {alias.asname or alias.name for node in trees["synth"].body for alias in getattr(node, "names", ())}
    return {
        node.name: module
        for module, tree in trees.items()
        if not f"{module}.".startswith(OPEN)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name not in public
        and every[node.name] == uses(node)[node.name]
    }


TREES = sources()


def test_every_module_is_reached() -> None:
    """When this fails: wire it, delete it, or move it under tests. A module that waits has a plan that needs it."""
    assert unreached(TREES) == {*SCRIPTS, *WAITING_MODULES}


def test_every_function_and_class_is_used() -> None:
    found = {name for name, module in unused(TREES).items() if module not in (*WAITING_MODULES, *SCRIPTS)}
    assert found == {*WAITING_NAMES, *INSTRUMENTS}


def test_a_module_that_only_tests_import_is_seen() -> None:
    parse = ast.parse
    trees = {
        "synth": parse("from synth.api import build"),
        "synth.api": parse("from synth.errors import Wrong\nTABLE = {'a': 'synth.named:f'}\ndef build(): raise Wrong"),
        "synth.cli": parse("import synth.api"),
        "synth.errors": parse("class Wrong(Exception): ...\nclass Dead(Exception): ...\ndef again(): again()"),
        "synth.named": parse("def f(): ..."),
        "synth.alone": parse("from synth.errors import Dead\nfrom synth import alone"),
        "synth.testing.contract": parse("class Contract: ..."),
    }
    assert unreached(trees) == {"synth.alone"}
    assert unused(trees) == {"Dead": "synth.errors", "again": "synth.errors"}
