"""Runs in this process: many at once, turn by turn, so that one batch draws the turns of all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from efficacy_lab.checkpoints import Trained
from efficacy_lab.rows import Action, Step, Transcript, action_of
from efficacy_lab.sampling import Prefixes, Wanted, draw
from efficacy_lab.words import AGENT, SlotsUsedUp
from efficacy_lab.world import Route, World
from synth.environments.answers import check_task
from synth.environments.contract import ToolCall

__all__ = ["Actor", "Live", "Model", "Run", "follow", "play"]

_AT_ONCE = 256
_TOKENS = 48
"""Of one turn at most; the longest calls have about twenty."""


@dataclass(frozen=True)
class Run:
    """A finished run."""

    task: int
    """Number of the task in its world."""
    steps: tuple[Step, ...]
    answer: Action | None
    """None = it came to no end."""
    success: bool
    calls: int
    """Turns that the actor was asked for: those that were put there are not counted."""

    @property
    def turned(self) -> bool:
        """Whether a page was turned."""
        return any(step.action.tool == "page" for step in self.steps)


@dataclass
class Live:
    """A run that goes on."""

    world: World
    task: int
    sample: str
    """Names the draw: other names, other draws."""
    steps: list[Step] = field(default_factory=list)
    put: Action | None = None
    """The next action, whoever acts."""
    answer: Action | None = None
    over: bool = False
    calls: int = 0
    transcript: Transcript | None = None
    """As a model reads it; None = no model acts."""

    def take(self, action: Action | None, turns: int) -> None:
        """Carry out an action; None ends the run without an answer."""
        if action is None or action.tool is None:
            self.answer, self.over = action, True
            return
        place = len(self.steps)
        arguments = json.loads(action.text)
        made = ToolCall(id=f"call_{place}", name=action.tool or "none", arguments=arguments)
        step = Step(action, self.world.environment.reset(self.world.tasks[self.task]).step(made).content)
        self.steps.append(step)
        self.over = len(self.steps) >= turns
        try:
            if self.transcript is not None:
                self.transcript.add(step)
        except SlotsUsedUp:
            self.over = True

    def finished(self) -> Run:
        said = None if self.answer is None else self.answer.text
        success = said is not None and check_task(self.world.tasks[self.task], said).correct is True
        return Run(self.task, tuple(self.steps), self.answer, success, self.calls)


Actor: TypeAlias = Callable[[Sequence[Live]], list[Action | None]]


class Model:
    """An actor: a trained decoder at a temperature."""

    def __init__(self, trained: Trained, temperature: float) -> None:
        self._trained, self._tables, self._temperature = trained, trained.vocabulary.tables(), temperature
        self._prefixes = Prefixes(room=2**28)

    def __call__(self, live: Sequence[Live]) -> list[Action | None]:
        wanted, asked = [], []
        for one in live:
            transcript = self._transcript(one)
            if transcript is None or len(transcript.ids) + 1 >= self._trained.decoder.context:
                continue
            asked.append((one, transcript))
            prompt, used = (*transcript.ids, AGENT), transcript.conversation.used
            wanted.append(Wanted(prompt, used, f"{one.sample}/{len(one.steps)}", _TOKENS, self._temperature))
        first = self._trained.vocabulary.first_slot
        drawn = draw(self._trained.weights, self._trained.decoder, first, wanted, prefixes=self._prefixes)
        found = {
            id(one): action_of(turn.ids, transcript.conversation) if turn.ended and turn.ids else None
            for (one, transcript), turn in zip(asked, drawn, strict=True)
        }
        return [found.get(id(one)) for one in live]

    def _transcript(self, one: Live) -> Transcript | None:
        if one.transcript is None:
            try:
                one.transcript = Transcript(self._tables, one.world.tasks[one.task].question, one.steps)
            except SlotsUsedUp:
                return None
        return one.transcript


def follow(routes: Sequence[Route | None]) -> Actor:
    """An actor that goes the route of each task."""

    def act(live: Sequence[Live]) -> list[Action | None]:
        found = ((one, routes[one.task]) for one in live)
        return [None if route is None else route.next(one.steps)[0] for one, route in found]

    return act


def play(runs: Sequence[Live], actor: Actor, turns: int) -> Iterator[Run]:
    """All of ``runs`` to their ends, in order."""
    for start in range(0, len(runs), _AT_ONCE):
        some = runs[start : start + _AT_ONCE]
        for one in some:
            if one.put is not None:
                one.take(one.put, turns)
        while live := [one for one in some if not one.over]:
            for one, action in zip(live, actor(live), strict=True):
                one.calls += 1
                one.take(action, turns)
        yield from (one.finished() for one in some)
