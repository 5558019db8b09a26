"""The scripted teacher and the scripted policy: one solver of clues, over pages or over a graph.

Both read the question the same way and plan by the same planner. The teacher's choices know the gold walk; the policy's
only read, and err: its mistakes are functions of what is visible, drawn turn by turn from the turn's generator, never
planned, and each is logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.scripted.config import PolicyConfig, TeacherConfig
from synth.agents.scripted.credibility import CredibilityCheck
from synth.agents.scripted.graph.planner import GraphPlanner
from synth.agents.scripted.graph.policy import GraphReadingChooser
from synth.agents.scripted.graph.teacher import GraphGoldChooser
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.pages.lists import PagePlanner
from synth.agents.scripted.pages.policy import PageReadingChooser
from synth.agents.scripted.pages.teacher import PageGoldChooser
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading, read_task
from synth.agents.scripted.state import State, state_of
from synth.schemas.tasks import Task

__all__ = ["ScriptedPolicy", "ScriptedTeacher", "gold_planner"]


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
    task: Task, state: State, lexicon: Lexicon, config: TeacherConfig, generator: np.random.Generator
) -> PagePlanner | GraphPlanner:
    """A planner of one turn that chooses what is on the gold walk."""
    adapter = _adapter(task)
    chooser = adapter.gold(task, state, lexicon, config, generator)
    make: Any = adapter.planner  # that its chooser fits is what an adapter says
    planner: PagePlanner | GraphPlanner = make(
        state, chooser, generator, patience=config.patience, parallel=config.parallel
    )
    return planner


class ScriptedTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task."""

    privileged = True

    def __init__(self, task: Task, config: TeacherConfig | None = None, lexicon: Lexicon | None = None) -> None:
        self._task = task
        self._config = config or TeacherConfig()
        self._lexicon = lexicon or {}
        self._reading = read_task(task)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        state = state_of(self._reading, history)
        planner = gold_planner(self._task, state, self._lexicon, self._config, generator)
        planner.together = True
        if isinstance(planner, PagePlanner):
            planner.credibility = CredibilityCheck(state, self._lexicon)
        return Decision(planner.turn())


class ScriptedPolicy:
    """A policy (``synth.agents.contract.Policy``) for one task. It holds the task's reading, never its walk."""

    privileged = False

    def __init__(self, task: Task, config: PolicyConfig | None = None, lexicon: Lexicon | None = None) -> None:
        self._adapter = _adapter(task)
        self._config = config or PolicyConfig()
        self._lexicon = lexicon or {}
        self._reading = read_task(task)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if not prompt.tools:
            return Decision(_closed_book(self._reading, generator))
        state = state_of(self._reading, history)
        chooser = self._adapter.reading(state, self._lexicon, self._config, generator)
        make: Any = self._adapter.planner
        planner: PagePlanner | GraphPlanner = make(
            state, chooser, generator, patience=self._config.patience, parallel=0.1
        )
        return Decision(chooser.corrupt(planner.turn()), tuple(chooser.injected))


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
