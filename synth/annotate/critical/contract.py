"""Who scores an action and who proposes another one. Model-backed scorers and experts fill the same interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from synth.agents.contract import History, Prompt, Turn
from synth.environments.contract import Environment
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Row
from synth.schemas.tasks import Task

__all__ = ["Expert", "Point", "Proposals", "Score", "Scorer"]


class Score(Row):
    """How good an action is at a point, 0 to 1. ``value`` None = abstained: no candidate is made of it."""

    value: float | None
    reason: str
    """What the score rests on, in one line; for an abstention, what was wrong."""
    abstained: Reason | None = None
    """Of a model's abstention, what kind it is."""
    calls: tuple[str, ...] = ()
    """Keys of the calls that it rests on; none where no model was asked."""


class Proposals(tuple[Turn, ...]):
    """Turns that an expert proposes, and what became of the others that it was asked for."""

    dropped: Mapping[str, int]
    """How many proposals were none, by reason."""
    sources: tuple[ModelTurn | None, ...]
    """Where each turn comes from, of a model's."""

    def __new__(
        cls,
        turns: Iterable[Turn],
        dropped: Mapping[str, int] | None = None,
        sources: Iterable[ModelTurn | None] | None = None,
    ) -> Proposals:
        """``sources``: one per turn, in order; None = no model made them."""
        made = super().__new__(cls, turns)
        made.dropped = dict(dropped or {})
        made.sources = (None,) * len(made) if sources is None else tuple(sources)
        if len(made.sources) != len(made):
            raise ValueError(f"{len(made.sources)} sources of {len(made)} turns")
        return made


@dataclass(frozen=True)
class Point:
    """A place in a recorded trajectory: everything before step ``step``, and the turn that was taken there."""

    task: Task
    environment: Environment
    prompt: Prompt
    history: History
    """The steps before."""
    recorded: Turn
    """The action of the recorded trajectory at this step: the original, never a resample."""
    facts: JsonObject = field(default_factory=dict)
    """What the record says of its environment: what a replay of ``history`` is given."""

    @property
    def step(self) -> int:
        return len(self.history)


class Scorer(Protocol):
    """The ``prm`` role."""

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        """One score per turn, in order: each as if it were taken at the point. A model is shown them side by side, and
        told to judge each by itself; a rule must not depend on which other turns are scored beside one."""


class Expert(Protocol):
    """The ``expert`` role."""

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        """At most ``n`` turns, each different in its action from the recorded one and from the others, and grounded: it
        names nothing that the question and the history have not shown."""
