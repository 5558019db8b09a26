"""Plans as targets: which parts a question comes apart into, and which is next.

APEX-Searcher (arXiv 2603.13853) trains the whole plan before anything is searched, and rewards it by itself
(:func:`synth.annotate.rewards.plans.plan_reward`); AI-SearchPlanner (arXiv 2508.20368) trains a small planner that is
told what was found so far and says what to search next, or that nothing is left. Both rest on the parts that the walk
proves (:mod:`synth.agents.subquestions`), and on no run.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from synth.agents.subquestions import sub_questions
from synth.dataset.usage import usage
from synth.export.contract import JSONS, About, Format, Inexpressible, Record, TaskPages, Why
from synth.prompting import load_prompt
from synth.schemas.tasks import Task

__all__ = ["TRL_PLANS"]


def _plans(item: TaskPages, about: About, cut: int) -> list[Record]:
    task = item.row
    parts = sub_questions(task)
    if not parts:
        raise Inexpressible(Why.NO_PLAN, task.shape)
    plan = "\n".join(f"{number}. {part.words}" for number, part in enumerate(parts, 1))
    asked = load_prompt("export/plan", 1).render(question=task.question)
    common = {
        "parts": [part.words for part in parts],
        "answers": [part.answer.name for part in parts],
        "task_id": task.id,
        "source": about.dataset,
        "licence": task.licence,
    }
    rows = [("plan", asked, plan), *(("next", prompt, said) for prompt, said in _next(task))]
    return [
        {"prompt": [_message("user", prompt)], "completion": [_message("assistant", said)], "kind": kind, **common}
        for kind, prompt, said in rows
    ]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _next(task: Task) -> Iterator[tuple[str, str]]:
    """(what a planner is told, the question that is next) before every part, and behind the last."""
    prompt = load_prompt("export/next_part", 1)
    known: list[str] = []
    answers: dict[int, str] = {}
    for number, part in enumerate(sub_questions(task), 1):
        said = part.asked(answers)
        yield prompt.render(question=task.question, known="\n".join(known) or "nothing"), said
        answers[number] = part.answer.name
        known.append(f"{said} {part.answer.name}")
    yield prompt.render(question=task.question, known="\n".join(known)), "nothing"


_TEXT = pa.string()
TRL_PLANS = Format(
    name="trl-plans",
    summary="Questions with the plan that takes them apart, and with what is next after each part: for TRL's "
    "SFTTrainer, and for GRPOTrainer with a reward of the plan.",
    source="tasks",
    needs=("documents",),
    layout="parquet",
    convert=_plans,
    columns={
        "prompt": JSONS,
        "completion": JSONS,
        "kind": _TEXT,
        "parts": pa.list_(_TEXT),
        "answers": pa.list_(_TEXT),
        **dict.fromkeys(("task_id", "source", "licence"), _TEXT),
    },
    usage=usage("trl-plans"),
)
