"""With search switched off: a guess between what the question names, else no answer."""

from __future__ import annotations

from graph_world import set_world

from synth.agents.contract import Prompt
from synth.agents.scripted.players import ScriptedPolicy
from synth.identity import derive_generator
from synth.schemas.tasks import Task


def asked(task: Task, draws: int = 12) -> list[str | None]:
    policy = ScriptedPolicy(task)
    prompt = Prompt(system="No tools.", question=task.question, tools=())
    return [policy.act(prompt, (), derive_generator(1, task.id, number)).turn.answer for number in range(draws)]


def test_without_tools_a_policy_guesses_or_abstains() -> None:
    guessed = 0
    for task in set_world().tasks:
        answers = asked(task)
        hops = [task.walk.hops[number] for number in task.walk.operations[-1].over] if task.walk.operations else []
        if task.shape == "comparison" and not any(hop.needs for hop in hops):
            guessed += 1
            assert set(answers) == {hop.source.name for hop in hops}, "named in the question, both are guessed"
            assert all(answer is not None and answer in task.question for answer in answers)
        else:
            assert answers == [None] * len(answers)
    assert guessed
