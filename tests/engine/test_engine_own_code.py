"""Code of the user's: whatever module of it changes, exactly the stages that are given it begin anew."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from synth.engine.fingerprint import fingerprints
from synth.errors import InputError
from synth.own_code import beside, files_of, load, source_of
from synth.pipelines.planner import plan
from synth.recipe.load import load_recipe

FILES = {
    "yard/__init__.py": "",
    "yard/rewards.py": (
        "from yard import weights\n\ndef score(responses, truth):\n    return [weights.ONE for _ in responses]\n"
    ),
    "yard/weights.py": "ONE = 1.0\n",
    "yard/words.txt": "kind\n",
    "shed.py": "import tools_of_shed\n\ndef judge(task, run):\n    return tools_of_shed.mark(run)\n",
    "tools_of_shed.py": "def mark(run):\n    return 3\n",
    "unrelated.py": "x = 1\n",
    "recipe.yaml": """name: small
tasks: 5
source: {kind: world, entities: 400}
questions: {kind: world}
reward: yard.rewards:score
ratings: {}
roles: {teacher: {}, policy: {}, judge: {backend: shed:judge}}
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def values(folder: Path) -> dict[str, str]:
    return {label: one.value for label, one in fingerprints(plan(load_recipe(file=folder / "recipe.yaml"))).items()}


RATINGS = {"teacher-ratings", "policy-ratings"}


@pytest.mark.parametrize(
    ("file", "begin_anew"),
    [
        ("yard/rewards.py", {"rl"}),
        ("yard/weights.py", {"rl"}),
        ("yard/__init__.py", {"rl"}),
        ("yard/words.txt", {"rl"}),
        ("shed.py", RATINGS),
        ("tools_of_shed.py", RATINGS),
        ("unrelated.py", set()),
    ],
)
def test_whatever_module_changes(file: str, begin_anew: set[str], folder: Path) -> None:
    before = values(folder)
    assert values(folder) == before
    with (folder / file).open("a") as text:
        text.write("# another text\n")
    after = values(folder)
    assert {label for label in before if before[label] != after[label]} == begin_anew


def test_a_notebook_goes_on_with_the_edited_code(folder: Path) -> None:
    beside(folder)
    first = source_of("yard.rewards:score", "reward")
    assert load("yard.rewards:score", "reward")(["a"], None) == [1.0]
    os.utime(folder / "yard" / "weights.py", (1, 1))
    (folder / "yard" / "weights.py").write_text("ONE = 0.5\n")
    assert source_of("yard.rewards:score", "reward") != first
    assert load("yard.rewards:score", "reward")(["a"], None) == [0.5]


def test_the_module_beside_the_recipe_is_taken(tmp_path: Path) -> None:
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same_name.py").write_text(f"def give(*a):\n    return {value}\n")
    for name, value in (("one", 1), ("two", 2), ("one", 1)):
        beside(tmp_path / name)
        source_of("same_name:give", "reward")
        assert load("same_name:give", "reward")() == value
        assert list(files_of("same_name:give").values()) == [tmp_path / name / "same_name.py"]


def test_a_folder_without_code_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "not_a_library").mkdir()
    beside(tmp_path)
    with pytest.raises(ModuleNotFoundError):
        __import__("not_a_library")
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("files", "place", "said"),
    [
        ({}, "nowhere_at_all:f", "No module named 'nowhere_at_all'. Put its file beside the recipe"),
        ({"needs_more.py": "import nowhere_at_all\n"}, "needs_more:f", "No module named 'nowhere_at_all'$"),
        ({"half_done.py": "def f(:\n"}, "half_done:f", "SyntaxError: .*line 1"),
        ({"falls_over.py": "1 / 0\n"}, "falls_over:f", "ZeroDivisionError: division by zero"),
        ({"has_none.py": ""}, "has_none:f", "has_none has no function 'f'"),
        ({"has_a_number.py": "f = 3\n"}, "has_a_number:f", "no function under the name 'f'"),
        ({"random.py": "def f(): ...\n"}, "random:f", "random.py is hidden by .*random.py. Give your module"),
    ],
)
def test_a_mistake_is_one_line(files: dict[str, Any], place: str, said: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    beside(tmp_path)
    with pytest.raises(InputError, match=f"^reward: .*{said}"):
        load(place, "reward")
