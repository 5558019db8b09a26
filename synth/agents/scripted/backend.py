"""The ``scripted`` backend: what the registry calls to make a policy for one task."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from synth.agents.contract import Policy
from synth.agents.scripted.config import PolicyConfig, TeacherConfig, ToolPolicyConfig, ToolTeacherConfig
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.agents.scripted.reference import REFERENCE_LEXICON
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.identity import versioned
from synth.schemas.plans import Planned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role
from synth.sources.world.lexicon import lexicon
from synth.tasks.world.words import world_words
from synth.text.words import stem

__all__ = ["scripted_options", "scripted_policy", "world_lexicon"]


@versioned(2)
def scripted_policy(
    *, task: Task, role: Role, language: str = "docs", lexicon: Lexicon | None = None, **options: Any
) -> Policy:
    """The scripted agent of ``role`` for ``task``: for pages, for a graph, or for a plan that is to be carried out.

    ``language`` chooses its understanding of words: ``world`` knows which words of the world's pages and questions
    speak of which relation, anything else knows the usual words of reference documentation; ``lexicon`` (word ->
    relations) takes the place of either. ``options`` are those of
    :class:`TeacherConfig` or :class:`PolicyConfig`, and for a plan those of :class:`ToolTeacherConfig` or
    :class:`ToolPolicyConfig`.

    Raises:
        pydantic.ValidationError: an option that the agent does not have.
    """
    if Planned.stand_in(task.details):
        if role == "policy":
            return ToolPolicy(task, ToolPolicyConfig(**options))
        return ToolTeacher(task, ToolTeacherConfig(**options))
    if lexicon is None:
        lexicon = world_lexicon() if language == "world" else REFERENCE_LEXICON
    if role == "policy":
        return ScriptedPolicy(task, PolicyConfig(**options), lexicon)
    return ScriptedTeacher(task, TeacherConfig(**options), lexicon)


def scripted_options(role: Role, *, plans: bool = False) -> type[BaseModel]:
    """What ``options`` may hold for a role; ``plans``: where tasks have plans."""
    if plans:
        return ToolPolicyConfig if role == "policy" else ToolTeacherConfig
    return PolicyConfig if role == "policy" else TeacherConfig


@cache
def world_lexicon() -> dict[str, frozenset[str]]:
    """Word -> relations, from the sentences of the world's pages and from the phrases of its questions."""

    found: dict[str, set[str]] = {}
    for source in (lexicon(), world_words().by_word):
        for word, relations in source.items():
            names = {world_words().canonical(name, True)[0] for name in relations}
            found.setdefault(stem(word), set()).update(names)
    return {word: frozenset(names) for word, names in found.items()}
