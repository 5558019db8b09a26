"""Harmful requests of one state: those that ask for different things are no duplicates of each other."""

from __future__ import annotations

from functools import cache

import pytest

from synth.engine.accepting import asked
from synth.environments.app.environment import open_app
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.propose import AppProposer
from synth.filtering.dedup import TaskFilter, TaskRules
from synth.identity import canonical_json
from synth.schemas.arrow import to_arrow
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE


@cache
def harmful(application: str) -> tuple[Task, ...]:
    """Harmful requests of one split, each asking for another end."""
    proposer = AppProposer(open_app(application=application, user=True), AppTasksConfig(twins=1.0))
    found: dict[str, Task] = {}
    for index, one in enumerate(proposer.propose(range(24), 5)):
        if isinstance(one, Checked) and one.draft.details["kind"] == "harmful":
            task = finish(one.draft, one.checks, PROVENANCE, index).model_copy(update={"split": "train"})
            found.setdefault(canonical_json(task.details["twin"]["other"]["goal"]), task)
    return tuple(found.values())


def kinds(tasks: tuple[Task, ...]) -> list[str | None]:
    accepted = TaskFilter(TaskRules())
    doubles = [accepted.take(one) for one in asked(to_arrow(tasks, Task))]
    return [None if one is None else one.kind for one in doubles]


@pytest.mark.parametrize("application", ["airline", "ledger", "tracker"])
def test_requests_for_different_ends_are_all_accepted(application: str) -> None:
    tasks = harmful(application)
    assert len(tasks) > 3
    assert len({task.answer for task in tasks}) < len(tasks), "they are refused by the same rule"
    assert kinds(tasks) == [None] * len(tasks)


@pytest.mark.parametrize("application", ["airline", "ledger", "tracker"])
def test_the_same_request_in_other_words_is_a_duplicate(application: str) -> None:
    first, *_ = harmful(application)
    again = first.model_copy(update={"id": "again", "question": f"Hello there, good morning to you. {first.question}"})
    assert kinds((first, again)) == [None, "structural"]
    near = again.model_copy(update={"question": f"{first.question} Thanks."})
    accepted = TaskFilter(TaskRules(structural=False))
    found = [accepted.take(one) for one in asked(to_arrow((first, near), Task))]
    assert [one and one.kind for one in found] == [None, "near"]
