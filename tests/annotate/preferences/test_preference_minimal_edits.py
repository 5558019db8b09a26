"""A model proposes minimal edits; only those that the environment shows to be worse become pairs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from preference_world import PreferenceWorld, new_quote, play_side, redo
from stand_ins.model_server import EditorPlayer, FixedPlayer, Reply
from stand_ins.model_server.listed import Listed, Played, body

from synth.annotate.preferences.perturb.minimal_edit import MinimalEdit
from synth.annotate.preferences.perturb.run import GoodRun
from synth.annotate.preferences.perturbation import perturbation_of, perturbation_pairs
from synth.annotate.preferences.sides import Pairs
from synth.environments.answers import check_task
from synth.identity import derive_generator
from synth.models.contract import CallFailed, FailureKind, Model
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE


def perturber(model: Model) -> tuple[MinimalEdit, Counter[str]]:
    made, counts = MinimalEdit(model), Counter[str]()
    made.count = lambda name: counts.update([name])
    return made, counts


def pairs_of(world: PreferenceWorld, row: TrajectoryRow, kind: MinimalEdit) -> Pairs:
    return perturbation_pairs(
        row,
        world.tasks[row.task_id],
        world.environment,
        generator_for=lambda *parts: derive_generator(3, *parts),
        provenance=PROVENANCE,
        names=(),
        further=(kind,),
    )


def test_accepted_edits_are_really_worse_and_change_one_thing(world: PreferenceWorld) -> None:
    ways: Counter[str] = Counter()
    kind, counts = perturber(Played(EditorPlayer()))
    made = [pair for row in world.of("teacher", True) for pair in pairs_of(world, row, kind).rows]
    for pair in made:
        assert perturbation_of(pair) == "minimal_edit"
        assert pair.same_kind
        assert "Proposed by toy-1 as wrong entity (calls " in pair.why
        task = world.tasks[pair.task_id]
        at = redo(world, pair)
        calls, answer = play_side(at, pair.rejected)
        if answer is not None:
            assert check_task(task, answer).correct is False
            ways["answer"] += 1
            continue
        ((call, content, error),) = calls
        (good,) = pair.chosen
        changed = [name for name in call.kwargs if call.kwargs[name] != good.kwargs[name]]  # type: ignore[union-attr]
        assert len(changed) == 1
        assert error or not new_quote(task, at.seen, [content])
        ways["call"] += 1
    assert set(ways) == {"answer", "call"}, ways
    assert counts["edits_proposed"] > len(made), "some were carried out and found no worse"
    assert counts["edits_none"] > 0


def one(world: PreferenceWorld) -> TrajectoryRow:
    return next(row for row in world.of("teacher", True) if row.turns >= 4)


def test_the_editor_sees_the_way_to_the_step_and_nothing_behind_it(world: PreferenceWorld) -> None:
    row, model = one(world), Played(EditorPlayer())
    kind, _ = perturber(model)
    run = GoodRun(row, world.tasks[row.task_id], world.environment)
    list(kind.propose(run, derive_generator(3, "x")))
    run.close()
    assert len(model.asked) == 4
    for request in model.asked:
        data = json.loads(str(request.messages[0]["content"]).partition("\n\nThe step:\n\n")[2])
        step = data["step"]
        turn = run.history[len(data["before"])].turn
        assert step["thought"] == (turn.thought or "")
        assert ("answer" in step) == (not turn.calls)
        if turn.calls:
            assert step["arguments"] == turn.calls[0].arguments
            assert row.answer is not None
    assert len({request.sample for request in model.asked}) == 4


def edit(**change: Any) -> FixedPlayer:
    """Gives the step back with what of ``change`` it can take."""

    def reply(request: Any, sample: str | None) -> Reply:
        data = json.loads(request["messages"][0]["content"].partition("\n\nThe step:\n\n")[2])
        step = {name: value for name, value in data["step"].items() if name != "tool"}
        fits = {name: value for name, value in change.items() if name in ("kind", "thought", *step)}
        return Reply(content=json.dumps({"kind": "wrong_value", "change": "it", **step, **fits}))

    return FixedPlayer(reply)


MADE_UP = "Gerta Quarn of Nowhere"


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (Played(edit()), "edits_not_minimal"),
        (Played(edit(kind="none")), "edits_none"),
        (Played(edit(thought="Something else altogether, said at length and in other words.")), "edits_not_minimal"),
        (Played(edit(arguments={"query": "x", "k": 7, "more": 1}, answer=" ")), "edits_not_minimal"),
        (Listed([body({"content": None, "refusal": "no"})] * 4), "edits_missing"),
        (Listed([body({"content": "It is fine as it is."})] * 8), "edits_missing"),
        (Listed([CallFailed(FailureKind.SERVER, "500")] * 4), "edits_missing"),
    ],
)
def test_what_is_no_minimal_edit_is_dropped_and_counted(world: PreferenceWorld, model: Model, wanted: str) -> None:
    kind, counts = perturber(model)
    made = pairs_of(world, one(world), kind)
    assert made.rows == ()
    assert made.rejected == ()
    assert counts == {wanted: 4}


def test_what_an_edit_made_up_is_dropped(world: PreferenceWorld) -> None:
    def reply(request: Any, sample: str | None) -> Reply:
        data = json.loads(request["messages"][0]["content"].partition("\n\nThe step:\n\n")[2])
        step = {name: value for name, value in data["step"].items() if name != "tool"}
        if "answer" in step:
            step["answer"] = MADE_UP
        else:
            name = min(step["arguments"])
            step["arguments"] = {**step["arguments"], name: MADE_UP}
        return Reply(content=json.dumps({"kind": "wrong_entity", "change": "it", **step}))

    kind, counts = perturber(Played(FixedPlayer(reply)))
    assert pairs_of(world, one(world), kind).rows == ()
    assert counts == {"edits_ungrounded": 4}


def test_an_edit_that_is_right_too_makes_no_pair(world: PreferenceWorld) -> None:
    row = one(world)
    model = Played(edit(answer=f" the {row.answer}"))
    kind, counts = perturber(model)
    made = pairs_of(world, row, kind)
    assert not [pair for pair in made.rows if pair.step == row.turns - 1]
    assert counts["edits_proposed"] + counts["edits_not_minimal"] + counts["edits_ungrounded"] == 4
