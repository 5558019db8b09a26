"""Tasks of repair, broken anew: the project that the dataset holds, with and without the edit of the task."""

from __future__ import annotations

from synth.dataset.audit.findings import rows
from synth.dataset.reader import Dataset
from synth.environments.code.environment import CodeEnvironment
from synth.environments.code.project import Project
from synth.environments.contract import Environment
from synth.schemas.code import CodeFile, Mutated
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["open_project", "unbroken"]


def open_project(place: JsonObject, dataset: Dataset) -> CodeEnvironment:
    """The environment of the dataset's project, with the recipe's keys of it.

    Raises:
        InputError: this machine has no sandbox.
        TypeError: a key that it has not.
    """
    options = {name: value for name, value in place.items() if name != "kind"}
    return CodeEnvironment(Project.of(row for _, row in rows(dataset, "code_files", CodeFile)), **options)


def unbroken(environment: Environment, task: Task) -> str | None:
    """How the tests say something else than the task does; None where they say it."""
    if not isinstance(environment, CodeEnvironment):
        return "its environment is none of code"
    try:
        about = Mutated.of(task.details)
        edit = about.mutation
        broken = {edit.path: edit.applied(environment.texts().get(edit.path, ""))}
    except ValueError as error:
        return str(error)
    passing = environment.tested({}).passed
    failing = tuple(sorted(passing - environment.tested(broken).passed))
    if (failing, len(passing) - len(failing)) == (about.failing, about.passing):
        return None
    return f"with the edit {len(failing)} of {len(passing)} tests fail: {', '.join(failing[:3])}"
