"""What the scripted teacher knows: the gold walk, used for one thing, to choose among options that are visible.

Whatever it picks stands in an observation of its history, and so does whatever it says (Honesty rules: privilege may
choose, never tell). What it has not seen it can't pick: then it reads on or searches, like anyone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.matching import Lexicon, same_name
from synth.agents.scripted.operations import extreme_of
from synth.agents.scripted.reading import clue_hops
from synth.agents.scripted.state import State, Value
from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.values import Measure

__all__ = ["GoldChooser", "is_end"]


class GoldChooser:
    """The choices that are the same over pages and over a graph."""

    def __init__(
        self, task: Task, state: State, lexicon: Lexicon, config: TeacherConfig, generator: np.random.Generator
    ) -> None:
        self._task = task
        self._state = state
        self._seen = state.seen
        self._lexicon = lexicon
        self._config = config
        self._generator = generator
        self._behind = clue_hops(task)

    def _all_hops(self, clue: int) -> list[Hop]:
        """The hops behind a clue: several where it asks for all that fit."""
        return [self._task.walk.hops[number] for number in self._behind[clue]] if clue < len(self._behind) else []

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        return extreme_of(measures, least), least

    def result(self, number: int) -> int:
        return number

    def early_answer(self) -> str | None:
        return None

    def guess(self) -> str | None:
        return None


def is_end(node: Node, value: Value) -> bool:
    """Whether ``value`` is what ``node`` of the walk is."""
    if value.document is not None and node.document_id is not None:
        return value.document in (node.id, node.document_id)
    return any(same_name(value.name, name) for name in (node.name, *node.aliases))
