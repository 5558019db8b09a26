"""Facts in ``details``: what was written is read back, and what can't be read is one line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import synth
from synth.schemas.details import details_with
from synth.schemas.model_turns import ModelTurn, ModelTurns
from synth.schemas.plans import CallItem, Plan, Planned, Request, StateItem, Wanted
from synth.schemas.trajectories import Recorded

BORDER = {
    "agents/imported.py",
    "export/adp.py",
    "export/importing/contract.py",
    "export/importing/frameworks.py",
    "stages/read_runs.py",
    "stages/recorded_runs.py",
}
"""Where trajectories of the protocol are read and written: their details are somebody else's JSON."""

PLAN = Plan(outcome="refused", calls=(), rule="No refunds.")


def test_facts_are_read_as_they_were_written() -> None:
    said = details_with(Planned(plan=PLAN), Request(kind="refused", changing=("pay", "cancel")), {"note": [1, None]})
    assert said["note"] == [1, None]
    assert Planned.of(said) == Planned(plan=PLAN)
    assert (Request.of(said).kind, Request.of(said).changing, Request.of(said).asks) == (
        "refused",
        ("pay", "cancel"),
        (),
    )
    assert "asks" not in said, "what was not given is not written"
    later = details_with(said, Request(kind="done"))
    assert (later["kind"], later["changing"], said["kind"]) == ("done", ["pay", "cancel"], "refused")


def test_none_is_written_only_where_it_says_something() -> None:
    assert details_with(Wanted(goal=None)) == {}
    assert details_with(StateItem(change=None)) == {"change": None}
    assert StateItem.of({"change": None}).change is None


def test_rows_inside_leave_out_what_is_as_by_default() -> None:
    turn = ModelTurn(call="c", finish="stop", prompt_tokens=None, completion_tokens=3)
    said = details_with(ModelTurns(model_turns=(turn,)))
    assert said == {"model_turns": [{"call": "c", "finish": "stop", "prompt_tokens": None, "completion_tokens": 3}]}
    assert ModelTurns.of(said).model_turns == (turn,)


def test_other_peoples_keys_are_not_looked_at() -> None:
    assert Request.of({"plan": 7, "kind": "done"}).kind == "done"
    assert Recorded.of({"environment": "bash"}).environment == {}
    assert Planned.stand_in({"plan": 7})
    assert not Planned.stand_in({"kind": "done"})


@pytest.mark.parametrize(
    ("kind", "details", "line"),
    [
        (Request, {"kind": 7}, "details.kind: "),
        (Request, {"changing": "all"}, "details.changing: "),
        (Planned, {}, "details.plan: missing"),
        (Planned, {"plan": {"outcome": "done", "calls": []}}, "only a refusal is a plan without calls"),
        (CallItem, {"tool": ""}, "details.tool: "),
        (Wanted, {"goal": {"x": float("nan")}}, "details.goal: "),
    ],
)
def test_what_cannot_be_read_is_one_line(kind: type, details: dict[str, object], line: str) -> None:
    with pytest.raises(ValueError, match=line) as caught:
        kind.of(details)  # type: ignore[attr-defined]
    assert "\n" not in str(caught.value)


def test_details_are_read_by_their_facts_everywhere_but_at_the_border() -> None:
    package = Path(synth.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted(package.rglob("*.py"))
        if str(path.relative_to(package)) not in BORDER
        for node in ast.walk(ast.parse(path.read_text()))
        if _reads_a_key(node)
    ]
    assert found == []


def _reads_a_key(node: ast.AST) -> bool:
    """``x.details["k"]``, ``x.details.get("k")`` and ``"k" in x.details``."""
    if isinstance(node, ast.Subscript):
        return _details(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("get", "items", "pop", "setdefault") and _details(node.func.value)
    if isinstance(node, ast.Compare):
        return any(
            isinstance(op, ast.In | ast.NotIn) and _details(at)
            for op, at in zip(node.ops, node.comparators, strict=True)
        )
    return False


def _details(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "details"


def test_the_scan_sees_each_way_of_reading_a_key() -> None:
    for text in ('x.details["k"]', 'x.details.get("k")', '"k" in x.details', '"k" not in x.details'):
        assert _reads_a_key(ast.parse(text, mode="eval").body), text
