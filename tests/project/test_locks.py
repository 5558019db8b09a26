"""The locks: changed code of a stage, or a changed prompt, does not get through without a new version."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGE = "synth/stages/verify.py"
LIBRARY = "synth/agents/grounding.py"
"""A module that the stage above imports."""


def load_locks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("locks_script", ROOT / ".ci" / "locks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


locks = load_locks()


def call(root: Path, *arguments: str) -> tuple[int, str]:
    """The script of ``root`` on its own tree, in a process of its own."""
    done = subprocess.run(
        [sys.executable, ".ci/locks.py", *arguments],
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in (".ci", "synth", "schemas", "flows", "prompts", "data_cards"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    status, text = call(tmp_path, "--same-results")
    assert status == 0, text
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{path.name} holds no {old!r}: mend the test"
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("place", [STAGE, LIBRARY])
def test_a_changed_line_of_code_needs_a_bump(copy: Path, place: str) -> None:
    assert call(copy, "--check")[0] == 0
    with (copy / place).open("a") as file:
        file.write("\nTHRESHOLD = 2\n")
    module = place.removesuffix(".py").replace("/", ".")
    for arguments in (("--check",), ()):
        status, text = call(copy, *arguments)
        assert status == 1
        assert f"stage verify: code changed in {module}; bump its version" in text

    edit(copy / STAGE, "version = 1", "version = 2")
    status, text = call(copy, "--check")
    assert status == 1
    assert "stage verify: version 1 is locked, 2 is here" in text


def test_comments_docstrings_and_layout_are_free(copy: Path) -> None:
    path = copy / STAGE
    path.write_text(path.read_text().replace('"""', '"""Changed. ', 1) + "\n\n# a remark\n\n")
    assert call(copy, "--check")[0] == 0


def test_a_released_prompt_never_changes_and_never_goes(copy: Path) -> None:
    prompt = next((copy / "prompts").glob("*/*/v1.md"))
    text = prompt.read_text()
    prompt.write_text(text + "One more line.\n")
    for arguments in (("--check",), (), ("--same-results",)):
        status, shown = call(copy, *arguments)
        assert status == 1
        assert "was released and changed; put it back and add a new version" in shown
    prompt.unlink()
    assert "was released and is gone" in call(copy, "--check")[1]

    prompt.write_text(text)
    prompt.with_name("v2.md").write_text(text)
    assert "is not locked yet" in call(copy, "--check")[1]
    assert call(copy)[0] == 0
    assert call(copy, "--check")[0] == 0


def test_the_closure_follows_imports_in_functions_and_leaves_out_those_for_type_checkers(tmp_path: Path) -> None:
    package = tmp_path / "synth"
    package.mkdir()
    (package / "a.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import synth.never\n"
        "def f():\n    from synth import b\n    import os\n"
    )
    for name in ("b", "c", "never", "errors"):
        (package / f"{name}.py").write_text("import synth.c\nimport synth.errors\n")
    assert locks.closure(tmp_path, "synth.a") == {"synth.a", "synth.b", "synth.c"}


def test_equal_code_has_an_equal_hash_and_other_code_another(tmp_path: Path) -> None:
    texts = ["x = 1\n", '"""Words."""\n\n\nx  =  1  # why\n', "x = 2\n", "x = 1.0\n", "y = 1\n"]
    hashes = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.py").write_text(text)
        hashes.append(locks.code_hash(tmp_path / f"{number}.py"))
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == len(hashes) - 1
