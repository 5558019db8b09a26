"""The scripted teacher and the scripted policy: one solver of clues, over pages or over a graph.

Both read the question the same way and plan by the same planner; what they choose by differs (``choosing``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from pydantic import BaseModel

from synth.agents.actions import DELEGATE
from synth.agents.contract import Decision, History, Policy, Prompt, Turn
from synth.agents.scripted.choosing import Mistakes
from synth.agents.scripted.code.players import CodePolicy, CodeTeacher
from synth.agents.scripted.config import (
    CodePolicyConfig,
    CodeTeacherConfig,
    PolicyConfig,
    TeacherConfig,
    ToolPolicyConfig,
    ToolTeacherConfig,
)
from synth.agents.scripted.credibility import CredibilityCheck
from synth.agents.scripted.delegating import delegates, delegating_turn
from synth.agents.scripted.graph.planner import GraphPlanner
from synth.agents.scripted.graph.policy import GraphReadingChooser
from synth.agents.scripted.graph.teacher import GraphGoldChooser
from synth.agents.scripted.judging import Judging
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.pages.gold_reading import Says
from synth.agents.scripted.pages.lists import PagePlanner
from synth.agents.scripted.pages.policy import PageReadingChooser
from synth.agents.scripted.pages.querying import gold_columns, likely_columns, querying_turn
from synth.agents.scripted.pages.teacher import PageGoldChooser
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading, read_task
from synth.agents.scripted.reference import REFERENCE_LEXICON
from synth.agents.scripted.state import Replay, State
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.environments.contract import ToolSchema
from synth.environments.fact_tables import QUERY_TOOL
from synth.identity import versioned
from synth.schemas.code import Mutated
from synth.schemas.plans import Planned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role
from synth.sources.world.lexicon import lexicon
from synth.sources.world.statements import says
from synth.tasks.world.words import world_words
from synth.text.words import stem

__all__ = [
    "ScriptedPolicy",
    "ScriptedTeacher",
    "gold_planner",
    "scripted_options",
    "scripted_policy",
    "world_lexicon",
]


@dataclass(frozen=True)
class _Adapter:
    """What the solver needs of an environment: acts as calls and words, and two ways to choose."""

    planner: type[PagePlanner] | type[GraphPlanner]
    gold: type[PageGoldChooser] | type[GraphGoldChooser]
    reading: type[PageReadingChooser] | type[GraphReadingChooser]


_PAGES = _Adapter(PagePlanner, PageGoldChooser, PageReadingChooser)
_ADAPTERS = {"graph": _Adapter(GraphPlanner, GraphGoldChooser, GraphReadingChooser)}


def _adapter(task: Task) -> _Adapter:
    return _ADAPTERS.get(task.environment, _PAGES)


def gold_planner(
    task: Task,
    state: State,
    lexicon: Lexicon,
    config: TeacherConfig,
    generator: np.random.Generator,
    tools: Sequence[ToolSchema],
    says: Says | None = None,
) -> PagePlanner | GraphPlanner:
    """A planner of one turn that chooses what is on the gold walk."""
    adapter = _adapter(task)
    chooser = adapter.gold(task, state, lexicon, config, generator)
    if isinstance(chooser, PageGoldChooser):
        chooser.says = says
    make: Any = adapter.planner  # that its chooser fits is what an adapter says
    planner: PagePlanner | GraphPlanner = make(
        state, chooser, generator, patience=config.patience, parallel=config.parallel
    )
    if isinstance(planner, PagePlanner):
        planner.tools = frozenset(tool.name for tool in tools)
        planner.credibility = CredibilityCheck(state, lexicon, planner.chooser.states_line)
    return planner


class ScriptedTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task."""

    privileged = True

    def __init__(
        self,
        task: Task,
        config: TeacherConfig | None = None,
        lexicon: Lexicon | None = None,
        says: Says | None = None,
    ) -> None:
        self._task = task
        self._says = says
        self._config = config or TeacherConfig()
        self._lexicon = lexicon or {}
        self._reading = read_task(task)
        self._replay = Replay(self._reading)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if self._delegates(prompt, history, generator):
            turn = delegating_turn(self._task, history, generator)
            if turn is not None:
                return Decision(turn)
        if QUERY_TOOL in prompt.tools:
            turn = querying_turn(self._reading, history, generator, partial(gold_columns, self._task))
            if turn is not None:
                return Decision(turn)
        state = self._replay.state(history)
        planner = gold_planner(self._task, state, self._lexicon, self._config, generator, prompt.tools, self._says)
        planner.together = True
        return Decision(planner.turn())

    def _delegates(self, prompt: Prompt, history: History, generator: np.random.Generator) -> bool:
        """Whether the parts go to helpers: settled in the first turn."""
        if all(tool != DELEGATE for tool in prompt.tools):
            return False
        return delegates(history) if history else float(generator.random()) < self._config.delegates


class ScriptedPolicy:
    """A policy (``synth.agents.contract.Policy``) for one task. It holds the task's reading, never its walk."""

    privileged = False

    def __init__(self, task: Task, config: PolicyConfig | None = None, lexicon: Lexicon | None = None) -> None:
        self._adapter = _adapter(task)
        self._config = config or PolicyConfig()
        self._lexicon = lexicon or {}
        self._reading = read_task(task)
        self._replay = Replay(self._reading)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if not prompt.tools:
            return Decision(_closed_book(self._reading, generator))
        if QUERY_TOOL in prompt.tools:
            mistakes = Mistakes(self._config.skill, len(history), generator)
            choose = partial(likely_columns, self._reading, self._lexicon, self._config, mistakes)
            turn = querying_turn(self._reading, history, generator, choose, forgets=lambda: self._forgets(mistakes))
            if turn is not None:
                return Decision(turn, tuple(mistakes.injected))
        state = self._replay.state(history)
        chooser = self._adapter.reading(state, self._lexicon, self._config, generator)
        make: Any = self._adapter.planner
        planner: PagePlanner | GraphPlanner = make(
            state, chooser, generator, patience=self._config.patience, parallel=0.1
        )
        if isinstance(planner, PagePlanner):
            planner.tools = frozenset(tool.name for tool in prompt.tools)
        return Decision(chooser.corrupt(planner.turn()), tuple(chooser.injected))

    def _forgets(self, mistakes: Mistakes) -> bool:
        if not mistakes.errs(self._config.skipped_check):
            return False
        mistakes.log("skipped_check", "the condition is left out of the query")
        return True


def _closed_book(reading: Reading, generator: np.random.Generator) -> Turn:
    """What can be said without tools: a guess between the things that the question compares by name; else no answer."""
    thoughts = Thoughts(reading.question, generator)
    last = reading.deeds[-1] if reading.deeds else None
    named = [reading.clues[number].name for number in last.over] if last and last.kind in ("argmin", "argmax") else []
    options = list(dict.fromkeys(named))
    if len(options) > 1 and all(options):
        guess = options[int(generator.integers(len(options)))]
        thoughts.add("answer_guess", answer=guess)
        return Turn(thought=thoughts.text(), answer=guess)
    thoughts.add("no_result")
    return Turn(thought=thoughts.text())


@versioned(162)
def scripted_policy(
    *, task: Task, role: Role, language: str = "docs", lexicon: Lexicon | None = None, **options: Any
) -> Policy:
    """The scripted agent of ``role`` for ``task``: for pages, for a graph, for a plan that is to be carried out,
    or for code that is to be mended.

    ``language`` chooses its understanding of words: ``world`` knows which words of the world's pages and questions
    speak of which relation, anything else knows the usual words of reference documentation; ``lexicon`` (word ->
    relations) takes the place of either. ``options`` are those of :func:`scripted_options`.

    Raises:
        pydantic.ValidationError: an option that the agent does not have.
    """
    return Judging(_player(task, role, language, lexicon, options), task)


def _player(task: Task, role: Role, language: str, lexicon: Lexicon | None, options: dict[str, Any]) -> Policy:
    if Mutated.stand_in(task.details):
        if role == "policy":
            return CodePolicy(CodePolicyConfig(**options))
        return CodeTeacher(task, CodeTeacherConfig(**options))
    if Planned.stand_in(task.details):
        if role == "policy":
            return ToolPolicy(task, ToolPolicyConfig(**options))
        return ToolTeacher(task, ToolTeacherConfig(**options))
    if lexicon is None:
        lexicon = world_lexicon() if language == "world" else REFERENCE_LEXICON
    if role == "policy":
        return ScriptedPolicy(task, PolicyConfig(**options), lexicon)
    return ScriptedTeacher(task, TeacherConfig(**options), lexicon, says if language == "world" else None)


def scripted_options(role: Role, *, plans: bool = False, code: bool = False) -> type[BaseModel]:
    """What ``options`` may hold for a role; ``plans``: where tasks have plans; ``code``: where they are repairs."""
    if code:
        return CodePolicyConfig if role == "policy" else CodeTeacherConfig
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
