"""``validate`` finds records of a model's turns that can't be, in trajectories and in continuations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from breaking import CONTINUATIONS, TRAJECTORIES, edit, held
from critical_breaking import ALTERNATIVE, ORIGINAL

from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.model_turns import ModelTurn
from synth.schemas.steps import ContinuationRow

GOOD = ModelTurn(
    call="c" * 32,
    finish="tool_calls",
    prompt_tokens=9,
    completion_tokens=3,
    token_ids=(5, 0, 7),
    logprobs=(-0.5, 0.0, -2.25),
)
SHORT = GOOD.model_copy(update={"logprobs": (-0.5, -0.25)})
LIKELY = GOOD.model_copy(update={"logprobs": (-0.5, 0.5, -0.25)})
NONE = GOOD.model_copy(update={"token_ids": (5, -1, 7)})
BROKEN = [(SHORT, "logprobs: 2, of 3 tokens"), (LIKELY, "logprobs: one above 0"), (NONE, "token_ids: a number below 0")]


def details(sources: Sequence[Any]) -> dict[str, Any]:
    return {"model_turns": [one.model_dump(mode="json") if isinstance(one, ModelTurn) else one for one in sources]}


def found(whole: Path, name: str, row: int, change: Callable[[Any], dict[str, Any]]) -> list[str]:
    problems = held(whole).edited(name, edit(name, row, change).change)
    return [problem.what for problem in problems if (problem.file, problem.row) == (name, row)]


def test_what_a_server_gives_is_taken(finished: Path) -> None:
    assert found(finished, TRAJECTORIES, 0, lambda t: {"details": details([GOOD] * t.turns)}) == []
    assert found(finished, CONTINUATIONS, ORIGINAL, lambda b: {"model_turns": (GOOD,) * (b.turns - 1)}) == []
    here = {"proposal": GOOD, "model_turns": (GOOD,)}
    assert found(finished, CONTINUATIONS, ALTERNATIVE, lambda b: here) == []


@pytest.mark.parametrize(("source", "words"), BROKEN)
def test_probabilities_go_with_their_tokens(source: ModelTurn, words: str, finished: Path) -> None:
    run = found(finished, TRAJECTORIES, 0, lambda t: {"details": details([GOOD, source])})
    assert run == [f"details.model_turns[1].{words}"]
    own = found(finished, CONTINUATIONS, ORIGINAL, lambda b: {"model_turns": (source,)})
    assert own == [f"model_turns[0].{words}"]
    put = found(finished, CONTINUATIONS, ALTERNATIVE, lambda b: {"proposal": source})
    assert put == [f"proposal.{words}"]


def test_no_more_records_than_turns_and_none_of_another_form(finished: Path) -> None:
    run = found(finished, TRAJECTORIES, 0, lambda t: {"details": details([GOOD] * (t.turns + 1))})
    assert len(run) == 1
    assert run[0].startswith("details.model_turns: there are ")
    odd = found(finished, TRAJECTORIES, 1, lambda t: {"details": details([{"call": "c"}])})
    assert len(odd) == 1
    assert odd[0].startswith("details.model_turns[0].")
    own = found(finished, CONTINUATIONS, ALTERNATIVE, lambda b: {"model_turns": (GOOD,) * b.turns})
    assert len(own) == 1
    assert "turns of the policy's own" in own[0]
    put = found(finished, CONTINUATIONS, ORIGINAL, lambda b: {"proposal": GOOD})
    assert put == ["proposal: the recorded action has no proposal"]


def test_branches_come_back_from_parquet_as_they_went_in(copied: Callable[[], Path]) -> None:
    folder = copied()
    edit(CONTINUATIONS, ALTERNATIVE, lambda b: {"proposal": GOOD, "model_turns": (GOOD, SHORT)})(folder)
    rows = from_arrow(pq.read_table(folder / CONTINUATIONS), ContinuationRow)
    assert rows[ALTERNATIVE].proposal == GOOD
    assert rows[ALTERNATIVE].model_turns == (GOOD, SHORT)
    assert rows[ORIGINAL].proposal is None
    assert from_arrow(to_arrow(rows, ContinuationRow), ContinuationRow) == rows
