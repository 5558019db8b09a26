"""A lock of the code of stages and of the collaborators that they are given.

Who changes what one of them computes must bump its version, or stale shards would be served.

A lock is the hash of a module and of every module of ``synth`` that it imports, directly or not, inside functions too:
of their syntax trees, without comments, docstrings and versions, so that wording is free and one bump does not ask for
another. A collaborator that a stage is given has a lock of its own: a stage imports none. ``EXEMPT`` modules are not
followed, each for a reason. ``WORDS`` are files that stand in for code, of whoever reads them by name.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import synth

__all__ = [
    "EXEMPT",
    "WORDS",
    "CodeLock",
    "data_hash",
    "lock_of",
    "module_hash",
    "problems",
    "read_locks",
    "words_of",
    "write_locks",
]

EXEMPT: dict[str, str] = {
    "synth.agents.contract": "types; what they mean lives in the modules that use them",
    "synth.environments.contract": "types; what they mean lives in the modules that use them",
    "synth.errors": "words for the user",
    "synth.identity": "its version IDENTITY_SCHEME is in every fingerprint",
    "synth.schemas": "SCHEMA_VERSION is in every fingerprint, and a test of its own makes it be bumped",
    "synth.stages.contract": "types; the engine's part of a stage changes no row",
}
"""Modules (with everything below them) that no lock covers."""

LEXICON = "lexicon.reading"
"""In our package, or in the one that a module is in."""
WORDS: dict[str, str] = {
    "comparison_frames": "frames.yaml",
    "document_words": "documents.yaml",
    "kinds_by_facts": "kinds.yaml",
    "misleading_words": "misleading.yaml",
    "order_frames": "frames.yaml",
    "phrases": "phrases/{}.yaml",
    "registers": "frames.yaml",
    "usual_labels": "labels.yaml",
    "world_lexicon": "world/*.yaml",
}
"""Function of ``LEXICON`` -> the files beside it that are as good as code of a module that imports the function; ``{}``
is what that one calls it with."""


ENTRIES: dict[str, tuple[str, str]] = {
    "synth.exploration.app.explorer": ("environments/app/shipped/*.yaml", "requests")
}
"""Module -> files of the package whose entry counts as its code. The requests of an application are in no version of
the environment, since no run depends on them."""


@dataclass(frozen=True)
class CodeLock:
    name: str
    """``stages rollouts``, ``environments web``: table and name in the registry."""
    version: int
    modules: Mapping[str, str]
    """Module -> hash of its code."""


def lock_of(name: str, version: int, module: str, hash_of: Callable[[str], str] | None = None) -> CodeLock:
    """The lock of a stage or collaborator that stands in ``module``."""
    return CodeLock(name, version, {reached: (hash_of or module_hash)(reached) for reached in _reached([module])})


def problems(locks: Iterable[CodeLock], recorded: Mapping[str, CodeLock]) -> list[str]:
    """One line for each stage or collaborator whose code changed and whose version did not, or whose lock is missing or
    stale."""
    lines: list[str] = []
    current = {lock.name: lock for lock in locks}
    for name, lock in sorted(current.items()):
        before = recorded.get(name)
        if before is None:
            lines.append(f"{name}: not in the lock: regenerate it")
        elif lock.modules != before.modules and lock.version == before.version:
            lines.append(
                f"{name}: its code changed ({', '.join(_changed(lock, before))}) and its version is still "
                f"{lock.version}: bump the version, or stale results would be served; then regenerate the lock"
            )
        elif lock.version < before.version:
            lines.append(f"{name}: its version went back from {before.version} to {lock.version}")
        elif lock != before:
            lines.append(f"{name}: version {lock.version} is not in the lock: regenerate it")
    lines += [f"{name}: in the lock and gone: regenerate it" for name in sorted(set(recorded) - set(current))]
    return lines


def _changed(now: CodeLock, before: CodeLock) -> list[str]:
    names = sorted(set(now.modules) | set(before.modules))
    return [name for name in names if now.modules.get(name) != before.modules.get(name)]


def read_locks(path: Path) -> dict[str, CodeLock]:
    """The recorded locks by name; none when the file is missing."""
    if not path.exists():
        return {}
    recorded = json.loads(path.read_text("utf-8"))
    hashes = recorded["modules"]
    return {
        name: CodeLock(name, lock["version"], {module: hashes[module] for module in lock["modules"]})
        for name, lock in recorded["locks"].items()
    }


def write_locks(path: Path, locks: Iterable[CodeLock]) -> None:
    """Record locks: each module's hash once and on a line of its own, so that two branches that changed two modules
    merge.

    Raises:
        ValueError: code changed and its version did not; nothing is written.
    """
    locks = sorted(locks, key=lambda lock: lock.name)
    names = [lock.name for lock in locks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two locks are named {', '.join(twice)}")
    refused = [line for line in problems(locks, read_locks(path)) if "bump the version" in line or "went back" in line]
    if refused:
        raise ValueError("\n".join(refused))
    value = {
        "modules": {module: hash_ for lock in locks for module, hash_ in lock.modules.items()},
        "locks": {lock.name: {"version": lock.version, "modules": sorted(lock.modules)} for lock in locks},
    }
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", "utf-8")


# --- which modules ---------------------------------------------------------------------------------------------------


def _reached(roots: Iterable[str]) -> list[str]:
    """The roots and all modules of ours that they import, exempt ones left out."""
    found: set[str] = set()
    left = list(roots)
    while left:
        module = left.pop()
        if module in found or _exempt(module):
            continue
        found.add(module)
        left += [name for name in _imports(module) if name not in found]
    return sorted(found)


def _exempt(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in EXEMPT)


@cache
def _file(module: str) -> Path | None:
    """Source file of a module, or None when there is no such module."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    if path is None:
        raise ModuleNotFoundError(f"no source of module {module}")
    return ast.parse(path.read_text("utf-8"))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of ours, or of the package that ``module`` is in, that it imports while it runs."""
    found: set[str] = set()
    ours = {"synth", module.partition(".")[0]}
    for node in _running(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.partition(".")[0] in ours}
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            if base.partition(".")[0] in ours:
                for alias in node.names:
                    found |= _origin(base, alias.name)
    return tuple(sorted(found))


def _base(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    path = _file(module)
    package = module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def _origin(base: str, name: str) -> frozenset[str]:
    """Where ``from base import name`` leads: a submodule, a name that a package passes on, or ``base`` itself."""
    if _file(f"{base}.{name}") is not None:
        return frozenset({f"{base}.{name}"})
    path = _file(base)
    if path is not None and path.name == "__init__.py":
        for node in _running(_tree(base)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _origin(_base(base, node), alias.name)
    return frozenset({base})


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            left += node.orelse
        else:
            left += list(ast.iter_child_nodes(node))


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


# --- what counts as code ---------------------------------------------------------------------------------------------


@cache
def module_hash(module: str) -> str:
    """sha256 of a module's code and of the words that it reads: comments, docstrings, layout and line numbers are not
    in it."""
    code, words = code_hash(_tree(module)), words_of(module)
    return hashlib.sha256(f"{code} {data_hash(words)}".encode()).hexdigest() if words else code


@cache
def words_of(module: str) -> tuple[tuple[Path, str | None], ...]:
    """The files of words that ``module`` itself reads by name, and the entry of each that it takes; None = all.

    Raises:
        ValueError: it does not say which.
    """
    nodes = list(_running(_tree(module)))
    bases = {base for node in nodes if isinstance(node, ast.ImportFrom) and _is_lexicon(base := _base(module, node))}
    readers = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and _base(module, node) in bases
        for alias in node.names
    }
    patterns: set[tuple[str, str | None]] = {(WORDS[name], None) for name in readers & WORDS.keys() - {"phrases"}}
    entries = {id(node.value): _text(node.slice) for node in nodes if isinstance(node, ast.Subscript)}
    for node in nodes if "phrases" in readers else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "phrases":
            name = _text(node.args[0])
            if name is None:
                raise ValueError(f"{module}, line {node.lineno}: name the file of phrases in place")
            patterns.add((WORDS["phrases"].format(name), entries.get(id(node))))
    folders = [path.parent for base in sorted(bases) if (path := _file(base)) is not None]
    found = {(file, entry) for folder in folders for pattern, entry in patterns for file in folder.glob(pattern)}
    found |= {(file, None) for node in nodes if (file := _list_of_words(node)) is not None}
    if module in ENTRIES:
        pattern, entry = ENTRIES[module]
        found |= {(file, entry) for file in Path(synth.__file__).parent.glob(pattern)}
    return tuple(sorted(found, key=str))


def _list_of_words(node: ast.AST) -> Path | None:
    """The file behind ``files("package").joinpath("name.txt")``: a list of words, as good as a set in the code."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath"):
        return None
    opened, names = node.func.value, [_text(argument) for argument in node.args]
    if not (isinstance(opened, ast.Call) and opened.args and (package := _text(opened.args[0]))):
        return None
    folder, name = _file(package), names[0] if len(names) == 1 else None
    return folder.with_name(name) if folder is not None and name is not None and name.endswith(".txt") else None


def _is_lexicon(module: str) -> bool:
    return module.partition(".")[2] == LEXICON


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def data_hash(words: Iterable[tuple[Path, str | None]]) -> str:
    """sha256 of what lists of words and YAML files, or entries of theirs, hold: comments and layout are not in it."""
    held = [[file.name, _read(file) if entry is None else {entry: _read(file)[entry]}] for file, entry in words]
    return hashlib.sha256(json.dumps(held, ensure_ascii=True).encode()).hexdigest()


@cache
def _read(file: Path) -> Any:
    text = file.read_text("utf-8")
    if file.suffix == ".txt":
        return sorted({word for line in text.splitlines() if not line.startswith("#") for word in line.split()})
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def code_hash(tree: ast.Module) -> str:
    return hashlib.sha256(json.dumps(_plain(tree), ensure_ascii=True).encode()).hexdigest()


def _plain(node: Any) -> Any:
    """The tree as lists. Empty fields are left out: newer Pythons have more of them."""
    if isinstance(node, ast.AST):
        fields = []
        for name, value in sorted(ast.iter_fields(node)):
            if name in ("ctx", "kind", "type_comment") or value is None or value == []:
                continue
            if name == "body" and isinstance(value, list):
                value = [item for item in value if not _is_text(item) and not _is_version(item)]
            if name == "decorator_list":
                value = [item for item in value if not _is_versioned(item)]
                if not value:
                    continue
            fields.append([name, _plain(value)])
        return [type(node).__name__, fields]
    if isinstance(node, list):
        return [_plain(item) for item in node]
    return repr(node)


def _is_text(node: ast.AST) -> bool:
    """A docstring, of a module, class, function or attribute: a string that nobody reads while the code runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_version(node: ast.AST) -> bool:
    """``version = 2`` of a stage."""
    return (
        isinstance(node, ast.Assign)
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == ["version"]
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
    )


def _is_versioned(node: ast.AST) -> bool:
    """``@versioned(2)``, with the version itself: one that rows show stands elsewhere."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "versioned"
