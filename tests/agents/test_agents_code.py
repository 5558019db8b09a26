"""The teacher of repairs finds its way in code that it was not written for: from a line that only compares, through the
test, a class and a method, to the function that is broken."""

from __future__ import annotations

import numpy as np
import pytest

from synth.agents.grounding.check import ungrounded
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.code.players import CodeTeacher
from synth.agents.scripted.config import CodeTeacherConfig
from synth.environments.code.environment import CodeEnvironment
from synth.environments.code.project import Project
from synth.exploration.pipeline import blank_task
from synth.schemas.code import CodeFile, Mutated, Mutation
from synth.schemas.details import details_with
from synth.sources.code.definitions import Definitions

SHELF = '''"""Books on a shelf."""


class Shelf:
    """Many."""

    room = 3

    def __init__(self, names):
        self.names = tidy(names)

    @property
    def labels(self):
        return [label(name) for name in self.names]


def tidy(names):
    return sorted(names, key=len)


def label(name):
    if len(name) > 3:
        return name[:3]
    return name


class label_maker:
    """Not the function."""

    def label(self):
        return None
'''
TESTS = """from shelf import Shelf


def shelf(*names):
    return Shelf(names)


def test_labels():
    made = shelf("Emma", "Ivanhoe")
    found = made.labels
    for one in found:
        assert len(one) == 3


def test_names():
    assert shelf("b", "a").names == ["b", "a"]
"""
FILES = {"shelf.py": SHELF, "tests/test_shelf.py": TESTS}


def place(scope: str) -> int:
    return next(number for number, line in enumerate(SHELF.splitlines(), 1) if line.strip().startswith(scope))


def test_a_way_leads_by_names_from_a_test_to_a_function() -> None:
    known = Definitions(FILES)
    way = known.way("tests/test_shelf.py::test_labels", "shelf.py", "label")
    assert [(one.path, one.scope, one.line) for one in way] == [
        ("shelf.py", "Shelf.labels", place("def labels")),
        ("shelf.py", "label", place("def label(name)")),
    ]
    way = known.way("tests/test_shelf.py::test_names[param]", "shelf.py", "tidy")
    assert [(one.path, one.scope, one.is_class) for one in way] == [
        ("tests/test_shelf.py", "shelf", False),
        ("shelf.py", "Shelf", True),
        ("shelf.py", "tidy", False),
    ]
    assert known.way("tests/test_shelf.py::test_names", "shelf.py", "Shelf.__init__")[-1].scope == "Shelf"
    assert known.way("tests/test_shelf.py::test_names", "shelf.py", "label_maker.label") == ()
    assert known.way("tests/test_shelf.py::test_nothing", "shelf.py", "label") == ()


@pytest.fixture(scope="module")
def environment() -> CodeEnvironment:
    rows = [CodeFile(id=path, text=text, is_test=path.startswith("tests")) for path, text in FILES.items()]
    return CodeEnvironment(Project.of(rows))


@pytest.mark.parametrize(("old", "new"), [(":3", "3:"), (">", "<")])
def test_the_teacher_reads_the_test_where_the_line_that_fails_says_nothing(
    old: str, new: str, environment: CodeEnvironment
) -> None:
    edit = Mutation(path="shelf.py", start=SHELF.index(old), old=old, new=new, operator="slice", scope="label")
    failing = "tests/test_shelf.py::test_labels"
    way = Definitions(FILES).way(failing, edit.path, edit.scope)
    known = Mutated(mutation=edit, failing=(failing,), passing=1, shown_by=failing, way=way)
    task = blank_task(f"{old}-{new}", "code", details_with(known))
    done = rollout(
        CodeTeacher(task, CodeTeacherConfig(detour=0)),
        environment,
        task,
        system="Act.",
        limits=Limits(),
        generator_for_turn=np.random.default_rng,
    )
    calls = [call for step in done.history for call in step.turn.calls]
    looked_for = [call.arguments["text"] for call in calls if call.name == "search_files"]
    assert looked_for == ["def test_labels(", "def labels(", "def label("]
    assert done.verdict is not None
    assert done.verdict.correct
    assert ungrounded(done.prompt, done.history) == []


ENDS = """def before_last(names):
    place = len(names) - 2
    return names[place]


def last(names):
    place = len(names) - 1
    return names[place]
"""
ENDS_TESTS = 'from ends import last\n\n\ndef test_last():\n    assert last(["Ann", "Bo"]) == "Bo"\n'


def test_a_line_that_stands_twice_is_named_with_the_one_before_it() -> None:
    """Broken, the line reads as one above what the teacher has read: only the refusal says so."""
    files = {"ends.py": ENDS, "tests/test_ends.py": ENDS_TESTS}
    rows = [CodeFile(id=path, text=text, is_test=path.startswith("tests")) for path, text in files.items()]
    failing = "tests/test_ends.py::test_last"
    edit = Mutation(path="ends.py", start=ENDS.rindex("1"), old="1", new="2", operator="off_by_one", scope="last")
    known = Mutated(mutation=edit, failing=(failing,), passing=1, shown_by=failing, way=())
    task = blank_task("twice", "code", details_with(known))
    teacher = CodeTeacher(task, CodeTeacherConfig(detour=0))
    environment = CodeEnvironment(Project.of(rows))
    done = rollout(teacher, environment, task, system="Act.", limits=Limits(), generator_for_turn=np.random.default_rng)
    edits = [call.arguments["old"] for step in done.history for call in step.turn.calls if call.name == "edit_file"]
    assert edits == ["    place = len(names) - 2", "def last(names):\n    place = len(names) - 2"]
    assert done.verdict is not None
    assert done.verdict.correct
    assert ungrounded(done.prompt, done.history) == []
