"""Rules on what is recorded of how a model came to its turns: one record per turn, one probability per token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.models.parse import MOST_LOGPROB
from synth.schemas.model_turns import ModelTurn, ModelTurns
from synth.schemas.steps import ContinuationRow
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["branch_source_problems", "run_source_problems"]


def run_source_problems(row: TrajectoryRow) -> Iterator[str]:
    """The model's turns that a trajectory records."""
    path = "details.model_turns"
    try:
        sources = ModelTurns.of(row.details).model_turns
    except ValueError as error:
        yield str(error)
        return
    if len(sources) > row.turns:
        yield f"{path}: there are {len(sources)}, of {row.turns} turns"
    yield from _problems(path, sources)


def branch_source_problems(row: ContinuationRow) -> Iterator[str]:
    """``proposal`` and ``model_turns`` of a branch."""
    own = row.turns - (row.step >= 0)
    if len(row.model_turns) > own:
        yield f"model_turns: there are {len(row.model_turns)}, of {own} turns of the policy's own"
    if row.proposal is not None and row.side == "original":
        yield "proposal: nobody proposed what was recorded"
    yield from _problems("model_turns", row.model_turns)
    if row.proposal is not None:
        yield from _turn_problems("proposal", row.proposal)


def _problems(path: str, sources: Sequence[ModelTurn]) -> Iterator[str]:
    for number, one in enumerate(sources):
        yield from _turn_problems(f"{path}[{number}]", one)


def _turn_problems(where: str, one: ModelTurn) -> Iterator[str]:
    if one.token_ids is not None and one.logprobs is not None and len(one.token_ids) != len(one.logprobs):
        yield f"{where}.logprobs: {len(one.logprobs)}, of {len(one.token_ids)} tokens"
    if any(token < 0 for token in one.token_ids or ()):
        yield f"{where}.token_ids: a number below 0"
    if any(not value <= MOST_LOGPROB for value in one.logprobs or ()):
        yield f"{where}.logprobs: one above 0"
