"""What the roles ``writer`` and ``checker`` do before any rollout: read documents, word questions, check tasks."""

from __future__ import annotations

from typing import Any

from synth.prompting import load_prompt
from synth.recipe.model import Recipe
from synth.recipe.roles import RoleName, job_of
from synth.registry import factory_of, find
from synth.stages.contract import Implementation
from synth.tasks.writing.asked import CONFIRM, CONFIRM_REQUEST, WRITE, WRITE_REQUEST
from synth.tasks.writing.checker import CHECKS
from synth.tasks.writing.extraction import EXTRACT

__all__ = ["extraction", "modelled"]

_ASKER = factory_of("assistants", "task_asker")


def extraction(recipe: Recipe) -> dict[str, Any]:
    """Config of the stage that reads documents for triples.

    Raises:
        InputError: a user's function can't be imported.
    """
    prompt = load_prompt(EXTRACT).ref
    reader = job_of("writer", recipe.roles["writer"], factory_of("assistants", "triple_asker"), prompt)
    return {"reader": reader, "prompt": str(prompt)}


def modelled(recipe: Recipe, config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and config of the stage of tasks; ``config`` is that of the embedded one.

    Raises:
        InputError: a user's function can't be imported.
    """
    if recipe.questions.kind == "reverse":
        return "explored_tasks", {**config, "writing": _writing(recipe)}
    name = f"{recipe.questions.kind}_tasks"
    writing, checks = _writing(recipe), _checks(recipe)
    if writing is None and checks is None:
        return name, config
    stage = find("stages", name)
    tasks = Implementation(kind=name, factory=factory_of("stages", name))
    values = stage.config_type.model_validate(config).model_dump(mode="json")
    return f"modelled_{name}", {
        "tasks": tasks,
        "path": values.pop("path", None),
        "questions": values,
        "writing": writing,
        "checks": checks,
    }


def _writing(recipe: Recipe) -> dict[str, Any] | None:
    who = recipe.roles.get("writer")
    if who is None or recipe.questions.kind == "given":
        return None
    jobs = (WRITE_REQUEST, CONFIRM_REQUEST) if recipe.questions.kind == "reverse" else (WRITE, CONFIRM)
    prompt, compare = (load_prompt(job).ref for job in jobs)
    found: dict[str, Any] = recipe.writing.model_dump()
    found |= {"writer": job_of("writer", who, _ASKER, prompt), "prompt": str(prompt)}
    if recipe.writing.described and recipe.questions.kind == "world":
        describe = load_prompt("tasks/describe").ref
        found |= {"describer": job_of("writer", who, _ASKER, describe), "describer_prompt": str(describe)}
    if recipe.writing.confirm:
        role: RoleName = "checker" if "checker" in recipe.roles else "writer"
        reader = job_of(role, recipe.roles[role], _ASKER, compare)
        found |= {"reader": reader, "reader_prompt": str(compare)}
    return found


def _checks(recipe: Recipe) -> dict[str, Any] | None:
    who, wanted = recipe.roles.get("checker"), recipe.task_reviews
    prompts = {name: load_prompt(job).ref for name, (job, _) in CHECKS.items() if getattr(wanted, name)}
    if who is None or not prompts:
        return None
    return {
        **wanted.model_dump(),
        "checkers": {name: job_of("checker", who, _ASKER, prompt) for name, prompt in prompts.items()},
        "prompts": {name: str(prompt) for name, prompt in prompts.items()},
    }
