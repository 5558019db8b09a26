"""Tasks at the desk of a small library, for rollouts of trainers: one is judged by its state, one by its answer."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from synth.annotate.rewards import ground_truth
from synth.environments.app.environment import AppEnvironment, AppEpisode, open_app
from synth.environments.contract import ToolCall
from synth.episodes.sessions import Sessions
from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks

LIBRARY = Path(__file__).parents[1] / "environments" / "library.yaml"
Call = tuple[str, dict[str, Any]]


@cache
def desk() -> AppEnvironment:
    return open_app(application=str(LIBRARY))


def _task(name: str, question: str, **changes: Any) -> Task:
    walk = small_tasks()[0].walk.model_copy(update={"shape": "reverse", "hops": ()})
    plain = {"gold_entities": (), "gold_documents": (), "answer_parts": (), "answer_aliases": (), "shape": "reverse"}
    given = {"id": name, "question": question, "environment": "app", "walk": walk, **plain, **changes}
    return small_tasks()[0].model_copy(update=given)


@cache
def lend_ferns() -> Call:
    """The call that the first task wants, for a reader who may have the book."""
    episode = desk().reset(_task("-", "-"))
    reader = episode.look("SELECT reader_id FROM readers WHERE vip ORDER BY 1 LIMIT 1")[0]["reader_id"]
    episode.close()
    return "lend", {"reader_id": reader, "book": "Ferns"}


@cache
def tasks() -> tuple[Task, ...]:
    name, arguments = lend_ferns()
    episode = desk().reset(_task("-", "-"))
    assert isinstance(episode, AppEpisode)
    asked = episode.goal(answer="required").model_dump(mode="json")
    assert episode.step(ToolCall(id="call_0", name=name, arguments=arguments)).error is None
    lent = episode.goal().model_dump(mode="json")
    episode.close()
    return (
        _task(
            "task-lend",
            f"Lend Ferns to reader {arguments['reader_id']}.",
            answer="Done.",
            answer_kind="text",
            details={"goal": lent},
        ),
        _task(
            "task-ask", "How many copies of Moss are there?", answer="2", answer_kind="number", details={"goal": asked}
        ),
    )


class Tasks:
    def __len__(self) -> int:
        return len(tasks())

    def by_id(self, task_id: str) -> Task | None:
        return next((task for task in tasks() if task.id == task_id), None)

    def by_number(self, number: int) -> Task:
        return tasks()[number]


def sessions(**limits: Any) -> Sessions:
    return Sessions(desk(), Tasks(), **limits)


def truth(number: int) -> dict[str, Any]:
    """The column ``reward_model`` of a task."""
    return {"style": "rule", "ground_truth": ground_truth(tasks()[number]).model_dump(mode="json")}
