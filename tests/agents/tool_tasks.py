"""Tasks with plans, made by hand in an application, for tests of whoever acts or judges by plans."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.plan_view import stands_in
from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.exploration.pipeline import blank_task
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.schemas.plans import Given, Plan, PlannedCall
from synth.schemas.tasks import Task
from synth.testing.corpus import PROVENANCE

LIBRARY = str(Path(__file__).parent.parent / "environments" / "library.yaml")
Call = tuple[str, dict[str, Any]]


@cache
def opened(application: str, **options: Any) -> AppEnvironment:
    return open_app(application=application, **options)


def planned(
    environment: AppEnvironment,
    question: str,
    calls: list[Call],
    *,
    outcome: str = "done",
    answer: str = "It is done.",
    rule: str | None = None,
    number: int = 0,
) -> Task:
    """A task whose plan is ``calls``; where each value comes from is found in the question and in the observations."""
    task = _task(environment, question, answer, number, {})
    episode = environment.reset(task)
    made: list[PlannedCall] = []
    shown: list[str] = []
    for tool, arguments in calls:
        result = episode.step(ToolCall(id="c", name=tool, arguments=arguments))
        assert result.error is None, (tool, arguments, result.content)
        given = {name: _given(name, value, question, shown) for name, value in arguments.items()}
        writes = environment.definition.tools[tool].writes
        made.append(
            PlannedCall(tool=tool, arguments=arguments, changes=writes, instruction=f"Call {tool}.", given=given)
        )
        shown.append(result.content)
    goal = episode.goal(answer="required" if outcome == "answered" else "free")
    episode.close()
    plan = Plan(outcome=outcome, calls=tuple(made), rule=rule)  # type: ignore[arg-type]
    changing = [name for name, tool in environment.definition.tools.items() if tool.writes]
    details = {
        "plan": plan.model_dump(mode="json"),
        "goal": goal.model_dump(mode="json"),
        "changing": changing,
    }
    return _task(environment, question, answer, number, details)


def _given(name: str, value: Any, question: str, shown: list[str]) -> Given:
    if stands_in(name, value, question) is not None:
        return Given(source="question", words=str(stands_in(name, value, question)))
    for place, text in enumerate(shown):
        for line in text.split("\n"):
            if stands_in(name, value, line) is not None:
                return Given(source="observation", words=line, call=place)
    return Given(source="schema", words=str(value))


def _task(environment: AppEnvironment, question: str, answer: str, number: int, details: dict[str, Any]) -> Task:
    said = {"question": question, "answer": answer, "candidate_index": number, "provenance": PROVENANCE}
    return blank_task(f"planned-{number}", environment.name, details).model_copy(update=said)


def bags(environment: AppEnvironment, number: int) -> Task:
    """A passenger of the airline wants bags; their reservations are listed, one of them is meant."""
    episode = environment.reset(_task(environment, "?", "?", 0, {}))
    rows = episode.look(
        """SELECT c.email, c.given_name, c.family_name, c.customer_id, r.reservation_id, m.method_id, m.ending,
             f.departs, a.city AS origin, b.city AS destination
           FROM reservations r JOIN customers c USING (customer_id)
             JOIN payment_methods m ON m.customer_id = c.customer_id AND m.kind = 'card'
             JOIN legs l ON l.reservation_id = r.reservation_id AND l.leg = 1 JOIN flights f USING (flight_id)
             JOIN airports a ON a.airport = f.origin JOIN airports b ON b.airport = f.destination
           WHERE r.status = 'booked' AND r.bags = 0
             AND (SELECT count(*) FROM reservations o WHERE o.customer_id = c.customer_id) > 1
           ORDER BY r.reservation_id"""
    )
    episode.close()
    row = rows[number % len(rows)]
    question = (
        f"I'm {row['given_name']} {row['family_name']} ({row['email']}). Please add two bags to my trip from "
        f"{row['origin']} to {row['destination']} on {row['departs'][:10]} and use the card ending in {row['ending']}."
    )
    calls: list[Call] = [
        ("find_customer", {"email": row["email"]}),
        ("get_customer", {"customer_id": row["customer_id"]}),
        ("list_reservations", {"customer_id": row["customer_id"]}),
        ("add_bags", {"reservation_id": row["reservation_id"], "bags": 2, "method_id": row["method_id"]}),
    ]
    return planned(environment, question, calls, number=number)


def run(
    policy: Policy, environment: AppEnvironment, task: Task, sample: int = 0, limits: Limits | None = None
) -> Rollout:
    """One run with the shipped prompt."""
    system = load_prompt("agents/app").render(instructions=environment.instructions())

    def generator(turn: int) -> np.random.Generator:
        return derive_generator(7, "doer", task.id, sample, turn)

    return rollout(policy, environment, task, system=system, limits=limits or Limits(), generator_for_turn=generator)
