"""A project of the user's becomes a dataset of repairs: tasks, runs, labels and verdicts that the tests decide."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.dataset.audit.audit import audit
from synth.dataset.reader import Dataset
from synth.environments.contract import ToolCall
from synth.pipelines.reopen import reopen
from synth.schemas.code import Mutated
from synth.schemas.rejections import Reason

pytestmark = pytest.mark.extras

MODULE = '''"""Ranges of numbers."""

from datetime import datetime


def clamp(value, low=0, high=10):
    if low > high:
        raise ValueError("low is above high")
    return max(low, min(value, high))


def steps(start, end, size):
    found = []
    while start <= end:
        found.append(start)
        start += size
    return found


def stamp(number):
    return f"{datetime.now().year}-{number + 1}"


def unused(text):
    return text + text
'''
TESTS = """from datetime import datetime

from ranges.core import clamp, stamp, steps


def test_inside():
    assert clamp(4) == 4


def test_low():
    assert clamp(-3) == 0


def test_high():
    assert clamp(15) == 10


def test_equal():
    assert clamp(7, 3, 3) == 3


def test_steps():
    assert steps(1, 7, 3) == [1, 4, 7]


def test_no_steps():
    assert steps(3, 2, 1) == []


def test_stamp():
    assert stamp(3) == f"{datetime.now().year}-4"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in {"ranges/__init__.py": "", "ranges/core.py": MODULE, "tests/test_core.py": TESTS}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".git").mkdir()
    (folder / ".git" / "hook.py").write_text("not to be read")
    return folder


@pytest.fixture(scope="module")
def made(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("code")
    settings = {"critical.share": 0.2, "questions.most_failing": 0.5}
    built = synth.build(
        "code-repair", source=project, tasks=4, out=folder / "out", store=folder / "store", settings=settings
    )
    return synth.load(built.path)


def test_tasks_are_bugs_that_a_test_sees(made: Dataset) -> None:
    files = {row.id: row for row in made.rows("code_files")}
    assert sorted(files) == ["ranges/__init__.py", "ranges/core.py", "tests/test_core.py"]
    assert [name for name, row in files.items() if row.is_test] == ["tests/test_core.py"]
    for task in made.rows("tasks"):
        about = Mutated.of(task.details)
        assert about.failing
        assert about.passing + len(about.failing) == 7
        assert about.mutation.applied(MODULE) != MODULE
        assert "core.py" not in task.question
        assert any(f"{name}(" in task.question for name in ("clamp", "steps"))
    untested = [row.detail for row in made.rows("rejected") if row.reason is Reason.UNTESTED]
    assert all("no test fails" in detail for detail in untested)
    dated = [row.detail for row in made.rows("rejected") if row.reason is Reason.DATED]
    assert dated
    assert all("a test tells of 20" in detail for detail in dated)
    for task in made.rows("tasks"):
        about = Mutated.of(task.details)
        assert about.shown_by in about.failing
        assert [place.scope for place in about.way] == [about.mutation.scope]


def test_runs_are_judged_and_labelled_by_tests(made: Dataset) -> None:
    teachers = [run for run in made.rows("trajectories") if run.role == "teacher"]
    assert any(run.success for run in teachers)
    assert {run.verdict.rule for run in made.rows("trajectories")} == {"state"}
    good = {run.id for run in teachers if run.success}
    steps = [step for step in made.rows("steps") if step.trajectory_id in good]
    last = {step.trajectory_id: step for step in steps if step.action_kind == "edit_file"}
    assert {step.label for step in last.values()} == {1}
    assert {step.label for step in steps if step.action_kind == "run_tests"} == {1}
    assert all("tests fail" in step.label_detail for step in last.values())


def test_every_row_holds_and_a_false_one_is_found(made: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    main(["validate", str(made.path), "--deep"])
    assert audit(made.path).total == 0
    rules = {rule.rule: rule.rows for rule in audit(made.path).rules}
    assert rules["broken"] == 4
    assert rules["rerun"] == rules["verdict"] >= 12


def test_it_opens_again_from_what_the_dataset_holds(made: Dataset) -> None:
    environment, tasks = reopen(made)
    assert len(tasks) == 4
    episode = environment.reset(tasks.by_number(0))
    fault = Mutated.of(tasks.by_number(0).details).mutation
    assert episode.check(None).correct is False
    repaired = {"path": fault.path, "file_text": MODULE}
    episode.step(ToolCall(id="c", name="write_file", arguments=repaired))
    assert episode.check(None).correct is True
