"""The same question of somebody's own recipe: does what it builds train?

Worlds can be made anew for every seed; somebody's application, documents or servers are what they are. So nothing of
the recipe's source changes: what differs between seeds is the training and every draw, and arms are tested on the tasks
of its splits ``validation`` and ``test``, whose gold entities no task of ``train`` has.
"""

from __future__ import annotations

from typing import Any

from efficacy_lab.plan import Plan
from synth.recipe.model import Recipe

__all__ = ["asks_models", "own_plan"]

_APART = ("difficulty", "distractors", "contexts", "ratings")
"""Parts of a recipe that bring no row to train on, and cost."""


def own_plan(plan: Plan, recipe: Recipe) -> Plan:
    """``plan`` over ``recipe``: its source, questions, environment, limits and roles, as many tasks as it has.

    Arms whose teacher acts otherwise are left out, since a model would be asked for all of its runs again; numbers of
    runs are those of the plan in proportion. The search for critical steps is the recipe's, of every failed run.
    """
    whole = recipe.model_dump(mode="json", exclude_unset=True)
    whole |= {"seed": recipe.seed, **dict.fromkeys(_APART), "rl": False}
    tasks, critical, preferences = recipe.tasks, whole.pop("critical", None), whole.pop("preferences", None)
    for key in ("name", "description", "tasks"):
        whole.pop(key, None)
    roles = whole.pop("roles", {})
    teacher = roles.pop("teacher", {"backend": "scripted"})
    roles.pop("policy", None)
    body = plan.model_dump(mode="json")
    given = body["data"]["collect"]["settings"]
    settings = {"roles.policy.rollouts": given["roles.policy.rollouts"]}
    if given["critical"] is not None:  # a plan without pairs needs no search
        search = {**given["critical"]["search"], **((critical or {}).get("search") or {}), "all_alternatives": True}
        settings["critical"] = {**(critical or {}), "share": 1.0, "successes": False, "search": search}
        settings["preferences"] = {**(preferences or {}), **given["preferences"]}
    place: dict[str, Any] = {"world": 0, "tasks": tasks, "settings": {}}
    rollouts = body["data"]["places"][plan.first_place]["rollouts"]
    data: dict[str, Any] = {
        "teach": place,
        "collect": {**place, "settings": settings},
        "places": {plan.first_place: {**place, "rollouts": rollouts}},
    }
    arms = {name: arm for name, arm in body["arms"].items() if not arm["teach"]["settings"]}
    for arm in arms.values():
        if arm["teach"]["rows"] is not None:
            rows = max(1, round(arm["teach"]["rows"] * tasks / plan.data.teach.tasks))
            arm["teach"]["rows"], arm["says"] = rows, f"the base, from {rows:,} runs"
    own = {**whole, "roles": roles, "critical": None, "preferences": None}
    left = {
        "core": [name for name in body["core"] if name in arms],
        "endpoints": [end for end in body["endpoints"] if end["arm"] in arms and end["against"] in arms],
    }
    return Plan.model_validate({**body, **left, "data": data, "arms": arms, "recipe": own, "teacher": teacher})


def asks_models(plan: Plan) -> bool:
    """Whether anybody but the tiny policy is played by a model, whose replies are not to be paid for again."""
    roles = [plan.teacher, *plan.recipe.get("roles", {}).values()]
    return any(role.get("backend", "scripted") != "scripted" for role in roles)
