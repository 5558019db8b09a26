"""How a run came out of a finished one, turn by turn, without anybody acting again."""

from __future__ import annotations

from typing import Literal

from synth.schemas.details import Facts
from synth.schemas.row import Row

__all__ = ["Rework", "Reworked"]


class Rework(Row):
    """What was made of the run that ``retry_of`` names."""

    how: Literal["distilled", "compressed", "reworded"]
    """``distilled``: the runs of several agents as one. ``compressed``: notes in the place of what was read.
    ``reworded``: thoughts in the words of the model that is to learn from them."""
    roles: tuple[tuple[str, ...], ...] = ()
    """Of ``distilled``: who speaks in each turn, in order."""
    steps: tuple[int, ...] = ()
    """Of ``compressed``: the turns that write notes; of ``reworded``: those whose thoughts were reworded."""
    tokens: tuple[int, int] | None = None
    """Of ``compressed``: tokens of the longest view before, and after."""
    by: str | None = None
    """Of ``reworded``: the model whose words they are."""
    calls: tuple[str, ...] = ()
    """Of ``reworded``: keys of the calls of that model."""


class Reworked(Facts):
    """That a run is a reworked one."""

    reworked: Rework
