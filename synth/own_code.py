"""Code of the user's that a recipe names as ``module:function``: where it is looked for, and the hash of all that
belongs to it.

A module beside the recipe will do, as will one of an installed package. Its hash covers its package, or of a single
file that file, and whatever either imports from the folder that it lies in; not what it reads when it runs.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Any

from synth.errors import InputError
from synth.identity import digest

__all__ = ["beside", "files_of", "folders", "hash_of", "load", "source_of"]

_FOLDERS: list[str] = []
"""Those of :func:`beside`, the last one first."""
_LARGEST = 4 << 20
"""Bytes of a data file of a package that still counts as its code."""


@dataclass(frozen=True)
class _Imported:
    """The code of a module of the user's when it was imported."""

    root: Path | None
    value: str
    files: frozenset[Path]


_IMPORTED: dict[str, _Imported] = {}
"""By top-level module."""


class _Beside(MetaPathFinder):
    """Finds modules in the folders of :func:`beside`. It is asked last and finds no folder without code: what is there
    must not look like an optional library."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if path is not None or "." in fullname:
            return None
        spec = PathFinder.find_spec(fullname, _FOLDERS)
        return spec if spec is not None and spec.origin is not None else None


_FINDER = _Beside()


def beside(folder: str | Path) -> None:
    """Modules in ``folder`` can be named from now on. What is installed comes before them, so that a file there called
    ``random.py`` is nobody's ``random``."""
    path = str(Path(folder).absolute())
    if path in _FOLDERS:
        _FOLDERS.remove(path)
    _FOLDERS.insert(0, path)
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)


def folders() -> tuple[str, ...]:
    """What :func:`beside` was told, for a worker to be told again: the last one last."""
    return tuple(reversed(_FOLDERS))


def load(place: str, where: str, *, again: bool = False) -> Any:
    """What ``place`` (``module:function``) names. ``where``: the key of the recipe.

    Args:
        again: Look whether its code is another by now, and take that.

    Raises:
        InputError: it can't be imported, or there is no such function.
    """
    module, _, attribute = place.partition(":")
    known = sys.modules.get(module) if module.partition(".")[0] in _IMPORTED and not again else None
    found = getattr(known or _import(module, place, where), attribute, None)
    if not callable(found):
        there = "has no function" if found is None else "has something that is no function under the name"
        raise InputError(f"{module} {there} {attribute!r}", where=where, mend="write it as module:function")
    return found


def source_of(place: str, where: str) -> str:
    """Hash of the code behind ``place`` as it is now, which is imported: another text of it is another function.

    Raises:
        InputError: as :func:`load`.
    """
    load(place, where, again=True)
    return hash_of(_files(place.partition(":")[0]))


def files_of(place: str) -> dict[str, Path]:
    """The files of that code by their path from the folder that it lies in; empty where it has none, or is not here.
    Nothing is imported."""
    return _files(place.partition(":")[0])


def _import(module: str, place: str, where: str) -> ModuleType:
    top = module.partition(".")[0]
    invalidate_caches()
    root, files = _root(top), _files(module)
    now = _Imported(root, hash_of(files), frozenset(files.values()))
    held = _IMPORTED.get(top)
    if held is not None and held != now:
        _forget(held)  # a notebook goes on after its user edited the file; another recipe has another file
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name is not None and f"{module}.".startswith(f"{error.name}.")
        mend = "put its file beside the recipe, or its folder on PYTHONPATH" if missing else None
        raise InputError(f"{place} can't be imported: {error}", where=where, mend=mend) from None
    except Exception as error:
        what = f"{place} can't be imported: {type(error).__name__}: {' '.join(str(error).split())}"
        raise InputError(what, where=where) from None
    origin = getattr(sys.modules.get(top), "__file__", None)
    mine = next((path for folder in _FOLDERS for path in _places(Path(folder), top) if _is_code(path)), root)
    if mine is not None and (origin is None or not Path(origin).resolve().is_relative_to(mine.resolve())):
        what = f"{place}: {mine} is hidden by {origin or 'a module of that name'}"
        raise InputError(what, where=where, mend="give your module another name")
    _IMPORTED[top] = now
    return found


def _forget(held: _Imported) -> None:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file) in held.files:
            del sys.modules[name]
            # Compiled code counts as new when time and size of its source are the same.
            Path(cache_from_source(file)).unlink(missing_ok=True)


def hash_of(files: Mapping[str, Path]) -> str:
    """Of what :func:`files_of` found."""
    if not files:
        return "unknown"
    return digest(*([name, hashlib.sha256(path.read_bytes()).hexdigest()] for name, path in sorted(files.items())))


def _files(module: str) -> dict[str, Path]:
    top = module.partition(".")[0]
    root = _root(top)
    if root is None:
        return {}
    if top == "synth":  # whose versions stand for its code
        file = root.joinpath(*module.split(".")[1:]).with_suffix(".py")
        return {file.relative_to(root.parent).as_posix(): file} if file.is_file() else {}
    found: dict[str, Path] = {}
    waiting, seen = [root], {root}
    while waiting:
        one = waiting.pop()
        own = dict(_below(one))
        found |= own
        if _installed(root.parent):
            continue
        for path in own.values():
            for name in _imported_by(path) if path.suffix == ".py" else ():
                beside_it = next((there for there in _places(root.parent, name) if there.exists()), None)
                if beside_it is not None and beside_it not in seen:
                    seen.add(beside_it)
                    waiting.append(beside_it)
    return found


def _root(top: str) -> Path | None:
    """The file of a single module, or the folder of a package; None where it has none, or there is none."""
    spec = PathFinder.find_spec(top) or _FINDER.find_spec(top)
    if spec is None and top in sys.modules:  # found in a way of its own: installed for editing, or typed at a prompt
        spec = getattr(sys.modules[top], "__spec__", None)
    if spec is None:
        return None
    if inside := list(spec.submodule_search_locations or ()):
        return Path(inside[0])
    return Path(spec.origin) if spec.origin is not None and Path(spec.origin).is_file() else None


def _places(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name, folder / f"{name}.py"


def _is_code(path: Path) -> bool:
    return path.is_file() or (path / "__init__.py").is_file()


def _below(root: Path) -> Iterator[tuple[str, Path]]:
    """Files of a package or module; of what is no code, those that are not large."""
    paths = [root] if root.is_file() else sorted(root.rglob("*"))
    for path in paths:
        parts = path.relative_to(root.parent).parts
        if path.is_dir() or "__pycache__" in parts or any(part.startswith(".") for part in parts):
            continue
        if path.suffix in (".py", ".so", ".pyd") or path.stat().st_size <= _LARGEST:
            yield Path(*parts).as_posix(), path


def _imported_by(path: Path) -> Iterator[str]:
    """Top-level names that a file imports, in functions too."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


def _installed(folder: Path) -> bool:
    """Whether ``folder`` holds what was installed, and so much that does not belong together."""
    paths = sysconfig.get_paths()
    known = {Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return folder in known or folder.name in ("site-packages", "dist-packages")
