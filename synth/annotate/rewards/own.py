"""Rewards and judges of the user's: functions, named as ``module:function``.

    def reward(responses, truth, **more) -> list[float]     # from 0 to 1, one for each response; None = can't tell
    def judge(task, run) -> float                           # from 1 to 5; None = can't tell; or (rating, reason)

``responses`` are texts, all that the policy wrote, and belong to one prompt; ``truth`` is the ground truth of its row.
A reward that takes ``**more`` is also given ``messages``: the responses as the trainer has them. ``task`` and ``run``
are rows of ``tasks`` and ``trajectories``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from synth.annotate.rewards.rating import Rating
from synth.annotate.rewards.response import read_response
from synth.errors import InputError
from synth.identity import versioned
from synth.own_code import load
from synth.schemas.rejections import Reason
from synth.schemas.rl import GroundTruth
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["OwnRater", "named_reward", "own_rater", "own_values"]


def named_reward(name: str) -> tuple[str, str | None]:
    """``module:function``, and the hash of its code, of what a row names as its reward."""
    place, _, source = name.partition("@")
    return place, source or None


def own_values(
    place: str, responses: Sequence[Any], truth: GroundTruth, *, observations: str | None = None
) -> list[float | None]:
    """What the reward ``place`` gives for responses to one prompt.

    Raises:
        InputError: it can't be imported, raises, or gives anything but a number from 0 to 1 for each of them.
    """
    function = load(place, "reward")
    texts = [
        read_response(one, observations=observations, where=f"responses[{number}]").text
        for number, one in enumerate(responses)
    ]
    more = {"messages": list(responses)} if _takes_more(function) else {}
    found = _called(place, "reward", lambda: function(texts, truth, **more))
    if isinstance(found, str | bytes) or not isinstance(found, Sequence) or len(found) != len(texts):
        what = (
            f"{len(found)} values" if isinstance(found, Sequence) and not isinstance(found, str) else repr(found)[:80]
        )
        raise InputError(
            f"{place} gave {what} for {len(texts)} responses", where="reward", mend="return a list, a number for each"
        )
    return [_number(place, "reward", getattr(one, "value", one), 0, 1) for one in found]


def _takes_more(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.kind is one.VAR_KEYWORD or one.name == "messages" for one in parameters)


def _called(place: str, where: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        raise InputError(
            f"{place} raised {type(error).__name__}: {' '.join(str(error).split())} ({_line(error)})", where=where
        ) from error


def _line(error: Exception) -> str:
    """File and line of the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def _number(place: str, where: str, value: Any, least: int, most: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, Real) and math.isfinite(value) and least <= float(value) <= most:
        return float(value)
    raise InputError(f"{place} gave {value!r:.80}, no number from {least} to {most}", where=where)


class OwnRater:
    """A :class:`~synth.annotate.rewards.rating.Rater` that asks a function of the user's."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._function: Callable[..., Any] = load(place, "roles.judge.backend")

    def rate(self, task: Task, run: TrajectoryRow) -> Rating:
        """
        Raises:
            InputError: the function raises, or gives anything but a number from 1 to 5.
        """
        where = "roles.judge.backend"
        found = _called(self._place, where, lambda: self._function(task, run))
        said = ""
        if isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], str):
            found, said = found[0], " ".join(found[1].split())
        value = _number(self._place, where, found, 1, 5)
        if value is None:
            return Rating(reason=said or "it can't tell", abstained=Reason.UNSURE)
        return Rating(coherence=value, completion=value, reason=said or f"{self._place} says so")


@versioned(1)
def own_rater(*, function: str) -> OwnRater:
    """What the registry calls."""
    return OwnRater(function)
