"""The ``scripted`` backend: what the registry calls to make a policy for one task."""

from __future__ import annotations

from functools import cache
from typing import Any

from synth.agents.contract import Policy
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.policy import PolicyConfig, ScriptedPolicy
from synth.agents.scripted.reference import REFERENCE_LEXICON
from synth.agents.scripted.teacher import ScriptedTeacher, TeacherConfig
from synth.agents.scripted.walker.policy import GraphPolicy
from synth.agents.scripted.walker.teacher import GraphTeacher
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

__all__ = ["scripted_options", "scripted_policy", "world_lexicon"]


def scripted_policy(*, task: Task, role: Role, language: str = "docs", **options: Any) -> Policy:
    """The scripted agent of ``role`` for the environment of ``task``: pages, or a graph.

    ``language`` chooses its understanding of words: ``world`` knows which words of the world's pages and questions
    speak of which relation, anything else knows the usual words of reference documentation. ``options`` are those of
    :class:`TeacherConfig` or :class:`PolicyConfig`.

    Raises:
        pydantic.ValidationError: an option that the agent does not have.
    """
    lexicon: Lexicon = world_lexicon() if language == "world" else REFERENCE_LEXICON
    config = scripted_options(role)(**options)
    if task.environment == "graph":
        if isinstance(config, PolicyConfig):
            return GraphPolicy(task, config, lexicon)
        return GraphTeacher(task, config, lexicon)
    if isinstance(config, PolicyConfig):
        return ScriptedPolicy(task, config, lexicon)
    return ScriptedTeacher(task, config, lexicon)


def scripted_options(role: Role) -> type[PolicyConfig] | type[TeacherConfig]:
    """What ``options`` may hold for a role."""
    return PolicyConfig if role == "policy" else TeacherConfig


@cache
def world_lexicon() -> dict[str, frozenset[str]]:
    """Word -> relations, from the sentences of the world's pages and from the phrases of its questions."""
    from synth.agents.scripted.matching import stem
    from synth.sources.world.lexicon import lexicon
    from synth.tasks.world.phrasebook import canonical, question_lexicon

    found: dict[str, set[str]] = {}
    for source in (lexicon(), question_lexicon()):
        for word, relations in source.items():
            names = {canonical(name, True)[0] for name in relations}
            found.setdefault(stem(word), set()).update(names)
    return {word: frozenset(names) for word, names in found.items()}
