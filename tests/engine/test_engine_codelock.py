"""The lock sees every change of code that a stage can reach, and no change of wording."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import codelock
import pytest
from codelock import CodeLock, code_hash, lock_of, problems, read_locks, words_of, write_locks
from engine_toys import Answers

CACHES = (
    codelock._file,
    codelock._tree,
    codelock._imports,
    codelock._origin,
    codelock.module_hash,
    codelock.words_of,
    codelock._read,
)
CODE = '''
"""Words."""
import synth.graph

LIMIT = 3  # a comment

class A:
    """Words."""

    version = 1
    size: int = 4
    """Words about size."""

    @versioned(1)
    def f(self, x):
        """Words."""
        return x + LIMIT
'''


def changed(old: str, new: str) -> bool:
    assert old in CODE
    return code_hash(ast.parse(CODE)) != code_hash(ast.parse(CODE.replace(old, new)))


def test_wording_is_free_and_code_is_not() -> None:
    for old, new in [
        ("Words about size.", "Other words."),
        ('"""Words."""', '"""More words."""'),
        ("# a comment", "# another"),
        ("x + LIMIT", "(x +\n                LIMIT)"),
        ("\n\n", "\n\n\n"),
        ("version = 1", "version = 2"),
        ("@versioned(1)", "@versioned(2)"),
    ]:
        assert not changed(old, new)
    for old, new in [
        ("LIMIT = 3", "LIMIT = 4"),
        ("x + LIMIT", "x - LIMIT"),
        ("size: int = 4", "size: int = 5"),
        ("def f", "def g"),
        ("return x", "return 'x'"),
    ]:
        assert changed(old, new)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tree of modules that stands for ours."""
    root = tmp_path / "locked"
    files = {
        "__init__.py": "",
        "stage.py": "from locked.parts import Gear\nimport locked.low\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import locked.types_only\n"
        "def later():\n    from .lazy import something\n",
        "parts/__init__.py": "from locked.parts.gear import Gear\nfrom locked.parts.wheel import Wheel\n",
        "parts/gear.py": "from locked import low\nclass Gear: pass\n",
        "parts/wheel.py": "class Wheel: pass\n",
        "low.py": "X = 1\n",
        "lazy.py": "something = 1\n",
        "types_only.py": "T = int\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for cached in CACHES:
        cached.cache_clear()
    yield root
    for cached in CACHES:
        cached.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "locked"]:
        del sys.modules[name]


def fresh_lock(version: int = 1) -> CodeLock:
    for cached in CACHES:
        cached.cache_clear()
    return lock_of("stages pages", version, "locked.stage")


def test_what_is_reached_is_what_runs(package: Path) -> None:
    assert set(fresh_lock().modules) == {"locked.stage", "locked.parts.gear", "locked.low", "locked.lazy"}
    before = fresh_lock()
    (package / "parts" / "wheel.py").write_text("class Wheel: x = 1\n")
    (package / "types_only.py").write_text("T = str\n")
    (package / "low.py").write_text('"""Words."""\nX = 1  # one\n')
    assert fresh_lock() == before
    (package / "lazy.py").write_text("something = 2\n")
    after = fresh_lock()
    assert after.modules != before.modules
    (line,) = problems([after], {"stages pages": before})
    assert line.startswith("stages pages: its code changed (locked.lazy) and its version is still 1: bump the version")


def test_exempt_modules_are_not_followed() -> None:
    modules = lock_of("stages answers", 1, Answers.__module__).modules
    assert "engine_toys" in modules
    assert not any(name.startswith(("synth.schemas", "synth.errors", "synth.stages.contract")) for name in modules)
    assert "synth.engine.run" in modules


def lock(version: int, code: str) -> CodeLock:
    return CodeLock("a", version, {"m": code})


def test_regenerating_refuses_a_change_without_a_bump(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    assert problems([lock(1, "x")], read_locks(path)) == ["a: not in the lock: regenerate it"]
    write_locks(path, [lock(1, "x")])
    assert problems([lock(1, "x")], read_locks(path)) == []
    with pytest.raises(ValueError, match="bump the version"):
        write_locks(path, [lock(1, "y")])
    assert problems([lock(1, "x")], read_locks(path)) == []
    assert problems([lock(2, "y")], read_locks(path)) == ["a: version 2 is not in the lock: regenerate it"]
    write_locks(path, [lock(2, "y")])
    with pytest.raises(ValueError, match="went back from 2 to 1"):
        write_locks(path, [lock(1, "x")])
    with pytest.raises(ValueError, match="two locks are named a"):
        write_locks(path, [lock(2, "y"), lock(2, "y")])
    assert problems([], read_locks(path)) == ["a: in the lock and gone: regenerate it"]


def test_a_word_is_code_of_whoever_names_its_file(package: Path) -> None:
    lexicon = package / "lexicon"
    (package / "low.py").write_text("from locked.lexicon.reading import phrases\nX = phrases('doubts')['author']\n")
    (package / "lazy.py").write_text("from locked.lexicon.reading import world_lexicon as something\n")
    (package / "stage.py").write_text("import locked.low\n")
    for name in ("phrases/doubts", "phrases/orders", "world/works"):
        (lexicon / name).parent.mkdir(parents=True, exist_ok=True)
        (lexicon / f"{name}.yaml").write_text("author: [was written by]\n")
    (lexicon / "reading.py").write_text("def phrases(name): ...\ndef world_lexicon(): ...\n")
    (lexicon / "__init__.py").write_text("")
    before = fresh_lock()
    (lexicon / "phrases" / "orders.yaml").write_text("author: [was penned by]\n")
    (lexicon / "world" / "works.yaml").write_text("author: [was penned by]\n")
    (lexicon / "phrases" / "doubts.yaml").write_text("# a comment\nauthor: [was written by]\nart: [was painted by]\n")
    assert fresh_lock() == before
    (lexicon / "phrases" / "doubts.yaml").write_text("author: [was penned by]\n")
    assert [name for name, hash_ in fresh_lock().modules.items() if hash_ != before.modules[name]] == ["locked.low"]
    assert [file.name for file, _ in words_of("locked.lazy")] == ["works.yaml"]
    (package / "low.py").write_text(
        "from locked.lexicon.reading import phrases\nX = [phrases(name) for name in 'ab']\n"
    )
    with pytest.raises(ValueError, match=r"locked.low, line 2: name the file of phrases in place"):
        fresh_lock()


def test_a_list_of_words_is_code_of_whoever_opens_it(package: Path) -> None:
    (package / "low.py").write_text(
        "from importlib.resources import files\nX = files('locked').joinpath('plain.txt')\n"
    )
    (package / "plain.txt").write_text("# words\na the\n")
    before = fresh_lock()
    (package / "plain.txt").write_text("the\na\n")
    assert fresh_lock() == before
    (package / "plain.txt").write_text("the a an\n")
    assert [name for name, hash_ in fresh_lock().modules.items() if hash_ != before.modules[name]] == ["locked.low"]


def test_requests_of_shipped_applications_are_code_of_who_composes_them() -> None:
    found = words_of("synth.exploration.app.explorer")
    assert {"airline.yaml", "tracker.yaml"} <= {file.name for file, entry in found if entry == "requests"}
