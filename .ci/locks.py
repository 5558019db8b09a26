"""Locks of what a version number stands for: `make locks` compares, `make lock` records.

    stages    .ci/stages.lock.json   a stage's version must be bumped when code changes that it can run: its module and
                                     every module of synth that it imports, directly or not; a stage that is given
                                     implementations by name (environments, backends) can run all of those
    prompts   prompts/lock.json      a released prompt file never changes; a change is a new version

Code is its syntax tree without docstrings: comments and layout are free to change. A change of code that changes no
result needs no bump, but somebody must say so: `make lock ARGS=--same-results`.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STAGE_LOCK = Path(".ci/stages.lock.json")
PROMPT_LOCK = Path("prompts/lock.json")
LEFT_OUT = {
    "synth.errors": "how a stage ends with an error changes no row",
    "synth.schemas": "stands behind the schema version, which is in every fingerprint and has a snapshot test",
    "synth.stages.contract": "what a stage is, not what it does",
}
"""Modules (with all below them) that no stage answers for, each with the reason."""


def module_file(root: Path, module: str) -> Path | None:
    base = root.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[str]:
    """Names of modules that running the code may import; what only a type checker imports is left out."""
    if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
        children: list[ast.AST] = list(node.orelse)
    else:
        children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in children:
        yield from imports(child)


def closure(root: Path, first: str) -> set[str]:
    """``first`` and every module of synth that it imports, directly or not."""
    found: set[str] = set()
    waiting = [first]
    while waiting:
        module = waiting.pop()
        path = module_file(root, module)
        if module in found or path is None or any(f"{module}.".startswith(f"{name}.") for name in LEFT_OUT):
            continue
        found.add(module)
        waiting += [name for name in imports(tree(path)) if name.startswith("synth.")]
    return found


def plain(node: Any) -> Any:
    """A syntax tree as JSON: no positions, no docstrings, nothing empty (so that every Python says the same)."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, ast.AST):
        return node if isinstance(node, str | int | bool | None) else repr(node)
    fields = {}
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            value = [item for item in value if not _is_text(item)]
        if value not in (None, []) and name not in {"ctx", "kind", "type_ignores", "type_comment"}:
            fields[name] = plain(value)
    return [type(node).__name__, fields]


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, of the thing itself or of the attribute above it."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def code_hash(path: Path) -> str:
    return hashlib.sha256(json.dumps(plain(tree(path)), sort_keys=True).encode()).hexdigest()


def stages(root: Path) -> dict[str, Any]:
    """The version of every stage of the registry and the modules that it can run, and the hash of each such module."""
    from synth.registry import BACKENDS, ENVIRONMENTS, STAGES, find

    given = [entry.partition(":")[0] for table in (BACKENDS, ENVIRONMENTS) for entry in table.values()]
    versions, modules = {}, {}
    for name, entry in STAGES.items():
        stage = find("stages", name)
        reached = closure(root, entry.partition(":")[0])
        if any("Implementation" in str(field.annotation) for field in stage.config_type.model_fields.values()):
            reached = reached.union(*(closure(root, module) for module in given))
        versions[name] = {"version": stage.version, "modules": sorted(reached)}
        modules.update({module: code_hash(path) for module in reached if (path := module_file(root, module))})
    return {"stages": versions, "modules": modules}


def prompts(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root / "prompts").with_suffix("").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / "prompts").glob("*/*/v*.md"))
    }


def stage_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """(whether recording is enough to mend it, what is wrong)."""
    before, after = old.get("stages", {}), new["stages"]
    hashes = old.get("modules", {}), new["modules"]
    for name in sorted({*before, *after}):
        if name not in after:
            yield True, f"stage {name}: is locked and is no more"
        elif name not in before:
            yield True, f"stage {name}: is not locked yet"
        elif before[name]["version"] != after[name]["version"]:
            yield True, f"stage {name}: version {before[name]['version']} is locked, {after[name]['version']} is here"
        else:
            reached = {*before[name]["modules"], *after[name]["modules"]}
            parted = {*before[name]["modules"]} ^ {*after[name]["modules"]}
            changed = sorted(parted | {m for m in reached if hashes[0].get(m) != hashes[1].get(m)})
            if changed:
                yield False, f"stage {name}: code changed in {', '.join(changed)}; bump its version, then make lock"


def prompt_problems(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    for name in sorted({*old, *new}):
        if name not in new:
            yield False, f"prompt {name}: was released and is gone; put it back"
        elif name not in old:
            yield True, f"prompt {name}: is not locked yet"
        elif old[name] != new[name]:
            yield False, f"prompt {name}: was released and changed; put it back and add a new version"


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="locks")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--same-results", action="store_true", help="record changed code of stages without a bump")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    root: Path = options.root
    new_stages, new_prompts = stages(root), prompts(root)
    found = [
        *((mends or options.same_results, line) for mends, line in stage_problems(read(root / STAGE_LOCK), new_stages)),
        *prompt_problems(read(root / PROMPT_LOCK), new_prompts),
    ]
    stuck = [line for mends, line in found if options.check or not mends]
    for line in stuck:
        print(line, file=sys.stderr)
    if stuck:
        if options.check:
            print("locks: `make lock` records what may be recorded", file=sys.stderr)
        return 1
    if not options.check:
        for path, value in ((STAGE_LOCK, new_stages), (PROMPT_LOCK, new_prompts)):
            (root / path).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    counts = f"{len(new_stages['stages'])} stages, {len(new_prompts)} prompts"
    print(f"locks: {counts} {'hold' if options.check else 'recorded'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
