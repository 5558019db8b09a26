"""Builds that several suites read: made once per session, by whichever worker needs one first."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import synth
from synth.api import BuildResult
from synth.store.locks import FileLock

__all__ = ["LEAN", "SHARED", "SMALL", "WORLD", "computed_once", "hashes", "made_once", "small_build", "world_store"]

Value = TypeVar("Value")
SHARED = "SYNTH_TESTS_SHARED"
"""The variable that names the folder of this session: set in tests/conftest.py, inherited by its workers."""
WORLD: dict[str, Any] = {"source.entities": 600}
SMALL: dict[str, Any] = {"tasks": 8, "settings": WORLD}
"""Small, yet rows in every table, and more than one shard where contexts are made."""
LEAN: Mapping[str, Any] = {
    "critical": None,
    "preferences": None,
    "difficulty": None,
    "distractors": None,
    "contexts": None,
    "rl": False,
}
"""Without the stages behind the rollouts."""


def hashes(folder: Path) -> dict[str, str]:
    """Path inside a dataset -> sha256 of every file."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name`` of this session as ``make`` filled it. It is only read."""
    folder = Path(os.environ[SHARED]) / name
    lock = FileLock(folder.with_name(f"{name}.lock"))
    lock.acquire()
    try:
        if not folder.exists():
            part = folder.with_name(f"{name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            make(part)
            part.rename(folder)
    finally:
        lock.release()
    return folder


def computed_once(name: str, compute: Callable[[], Value]) -> Value:
    """What ``compute`` returns, computed by one worker of this session: each gets a copy of its own."""
    folder = made_once(name, lambda folder: (folder / "value").write_bytes(pickle.dumps(compute())))
    value: Value = pickle.loads((folder / "value").read_bytes())
    return value


def _world(folder: Path) -> None:
    """The stages of ``small_build``, and twenty tasks with the rollouts of the embedded agents."""
    synth.build("world-search", out=folder / "out", store=folder / "store", **SMALL)
    more = {**WORLD, **LEAN, "roles.policy.rollouts": 2}
    synth.build("world-search", tasks=20, out=folder / "more", store=folder / "store", settings=more)


def world_store(folder: Path) -> Path:
    """A store in ``folder`` that holds the world of 600 entities, its tasks and their rollouts: what builds over them
    change is their own."""
    shutil.copytree(made_once("world", _world) / "store", folder / "store")
    return folder / "store"


def small_build(folder: Path) -> BuildResult:
    """``world-search`` at a small size, as built in one process; its store stands beside it."""
    return synth.build("world-search", out=folder / "out", store=world_store(folder), **SMALL)
