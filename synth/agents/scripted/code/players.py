"""The scripted teacher and the scripted policy for code: one way of working, two ways to choose.

Both run the tests, follow the failure to a function (by the stack, by the call that the test makes, by what that
calls), read it, try a repair of a line that they have read, run the tests again, and take back what did not help. The
teacher knows what was broken, and by that it chooses among the repairs that came to mind and the functions in view,
never beyond them. The policy chooses by how likely they look, and at times edits the wrong function, leaves a repair
that did not help, or says that it is done without having run the tests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.contract import Decision, History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.scripted.choosing import Mistakes
from synth.agents.scripted.code.memory import Function
from synth.agents.scripted.code.repairs import Repair
from synth.agents.scripted.code.worker import Worker, added, last_line
from synth.agents.scripted.config import CodePolicyConfig, CodeTeacherConfig
from synth.agents.scripted.phrases import Thoughts
from synth.environments.reports import Hit
from synth.schemas.code import Mutated, Mutation, Place
from synth.schemas.tasks import Task

__all__ = ["CodePolicy", "CodeTeacher"]


class _Teaching(Worker):
    def __init__(
        self,
        broken: Mutation,
        way: Sequence[Place],
        config: CodeTeacherConfig,
        prompt: Prompt,
        history: History,
        generator: np.random.Generator,
    ) -> None:
        super().__init__(prompt, history, generator)
        self.broken, self.way, self.config = broken, way, config
        self.prompt, self.history = prompt, history

    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        options = [one for one in options if one.path == self.broken.path and self._is_grounded(one)]
        gold = [one for one in options if self._mends(one)]
        detour = float(self.generator.random()) < self.config.detour and not self.memory.edits
        if gold and detour and not self.memory.tried:
            return options[0]
        if gold:
            return gold[0]
        if len(self.memory.tried) >= 2 * self.config.tries:
            return None
        guards = [one for one in options if one.operator == "guard"] if self.broken.operator == "guard" else []
        return guards[0] if guards else None

    def _is_grounded(self, repair: Repair) -> bool:
        """Whether all that the repair is made of was seen."""
        old, new = self.texts(repair)
        turn = Turn(thought=added(*repair.change), calls=self.edit(repair.path, old, new).calls)
        return not ungrounded(self.prompt, (*self.history, Step(turn=turn)), start=len(self.history))

    def _mends(self, repair: Repair) -> bool:
        undone = (self.broken.new, self.broken.old)
        return repair.path == self.broken.path and repair.change == undone

    def place(self, name: str) -> Hit | None:
        found = self.memory.defined(name)
        ours = [one for one in self.way if one.name == name]
        near = [(abs(hit.line - one.line), hit.line, hit) for one in ours for hit in found if hit.path == one.path]
        return min(near)[2] if near else super().place(name)

    def leads(self, function: Function) -> Sequence[str]:
        return function.mentions()

    def sees_enough(self, functions: Sequence[Function]) -> bool:
        if not self.way:
            return super().sees_enough(functions)
        return any(self.memory.searched(one.name) for one in self.way)

    def reads_on(self, function: Function) -> bool:
        here = next((at for at, one in enumerate(self.way) if one.name == function.name), None)
        return here is None or not {one.name for one in self.way[here + 1 :]} & set(function.mentions())

    def kind(self, name: str) -> str:
        ours = [one for one in self.way if one.name == name]
        return ("class" if ours[-1].is_class else "def") if ours else super().kind(name)

    def looks_into(self, names: Sequence[str]) -> str | None:
        wanted = self.broken.scope.rpartition(".")[2]
        if self.way:
            return next((one.name for one in reversed(self.way) if one.name in names), None)
        if self.place(wanted) is not None:
            return None
        return wanted if wanted in names else names[0] if names else None

    def last_resort(self, options: Sequence[Repair]) -> Repair | None:
        if len(self.memory.tried) >= 2 * self.config.tries:
            return None
        return next((one for one in options if self._is_grounded(one)), None)

    def stops(self) -> Turn | None:
        return self.gives_up() if self.turns >= self.config.patience else None


class _Trying(Worker, Mistakes):
    def __init__(
        self, config: CodePolicyConfig, prompt: Prompt, history: History, generator: np.random.Generator
    ) -> None:
        Worker.__init__(self, prompt, history, generator)
        Mistakes.__init__(self, config.skill, len(history), generator)
        self.config = config

    def chosen(self, options: Sequence[Repair]) -> Repair | None:
        if not options or float(self.generator.random()) < self.config.deeper:
            return None
        weights = np.array([one.weight for one in options]) ** (4 * self.config.skill)
        return options[int(self.generator.choice(len(options), p=weights / weights.sum()))]

    def looks_into(self, names: Sequence[str]) -> str | None:
        return names[0] if names else None

    def leaves(self) -> bool:
        if len(self.memory.edits) > 1 or not self.errs(self.config.leaves):
            return False
        self.log("leaves", f"goes on with {last_line(self.memory.edits[-1].new)!r}")
        return True

    def stops(self) -> Turn | None:
        if self.memory.untested and self.errs(self.config.unverified):
            self.log("unverified", "says that it is done without running the tests")
            self.thoughts.add("c_sure")
            return Turn(thought=self.thoughts.text(), answer=self.said("c_done", self.memory.edits))
        if self.turns >= self.config.patience:
            self.thoughts.add("c_lost")
            return Turn(thought=self.thoughts.text(), answer=self.said("c_done", self.memory.edits))
        return None


class CodeTeacher:
    """A policy (``synth.agents.contract.Policy``) for one task of repair."""

    privileged = True

    def __init__(self, task: Task, config: CodeTeacherConfig | None = None) -> None:
        known = Mutated.of(task.details)
        self._broken, self._way = known.mutation, known.way
        self._config = config or CodeTeacherConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(_Teaching(self._broken, self._way, self._config, prompt, history, generator).turn())


class CodePolicy:
    """A policy (``synth.agents.contract.Policy``) for any task of repair: it knows nothing of what was broken."""

    privileged = False

    def __init__(self, config: CodePolicyConfig | None = None) -> None:
        self._config = config or CodePolicyConfig()

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if not prompt.tools:
            thoughts = Thoughts(prompt.question, generator)
            thoughts.add("c_lost")
            return Decision(Turn(thought=thoughts.text()))
        work = _Trying(self._config, prompt, history, generator)
        turn = work.turn()
        return Decision(turn, tuple(work.injected))
