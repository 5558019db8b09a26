"""Labels beside turns, a branch beside its original, pairs: as text for a terminal of any width."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from critical_samples import continuations, perturbed_pair, run_pair, step_pair, steps
from exporter_samples import task, trajectory
from rich.console import Console

from synth.cli import main
from synth.dataset.show.rows import render_branch, render_pair, render_row, render_step, render_trajectory
from synth.schemas.adp import MessageAction, TextObservation
from synth.schemas.steps import LabelReason
from synth.schemas.trajectories import StopReason, Verdict

FAILED = trajectory(3, "policy")
GOOD = trajectory(3, "teacher")


def printed(what: Any, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(what)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_trajectory_shows_its_labels_beside_the_turns() -> None:
    text = words(printed(render_trajectory(FAILED, task(3), steps=steps(FAILED)), 160))
    for piece in (
        "turn 1 label +1 · progress",
        "gain +50% of the evidence, 50% in view · gold hop 1",
        "turn 2 label -1 · wrong_turn · first error · pivot · adaptive_search",
        "failure finding.bad_query",
        "score 0.30",
        "critical verified: alternative 0 succeeds 4 of 4 times, the recorded action 0 of 4, "
        "difference +1.00 (95% interval +0.40 to +1.00)",
        "target no: wrong thinks I look it up.",
        "turn 3 label -1 · propagated",
    ):
        assert piece in text
    assert text.index("first error") < text.index("search(k=5") < text.index("propagated")


def test_steps_of_other_trajectories_are_not_shown() -> None:
    plain = printed(render_trajectory(FAILED))
    assert printed(render_trajectory(FAILED, steps=steps(GOOD))) == plain
    assert "label" not in plain


def test_a_part_of_the_steps_is_enough() -> None:
    text = words(printed(render_trajectory(FAILED, steps=steps(FAILED)[1:2])))
    assert "turn 1 thinks" in text
    assert "turn 2 label -1" in text


def test_what_was_not_tried_is_not_told() -> None:
    step = steps(FAILED)[0]
    assert "score" not in printed(render_step(step))
    assert "critical" not in printed(render_step(step))
    assert "lost here" not in printed(render_step(step))
    told = step.model_copy(update={"first_error_branching": True})
    assert "no more after it" in words(printed(render_step(told)))


def test_a_step_with_its_trajectory_tells_what_was_done() -> None:
    text = words(printed(render_row(steps(FAILED)[1], trajectory=FAILED)))
    assert "step 1 (turn 2), search, by the policy" in text
    assert 'calls search(k=5, query="Place 3")' in text
    assert 'query="Ada"' not in text
    assert "answers" not in text


@pytest.mark.parametrize("width", [100, 120, 250])
def test_a_wide_terminal_has_two_columns(width: int) -> None:
    branch = continuations(FAILED)[5]
    lines = printed(render_branch(branch, FAILED), width).splitlines()
    assert any("recorded: wrong, Nobody" in line and "alternative 0: correct, Ada 10" in line for line in lines)
    assert any('search(k=5, query="Place 3")' in line and 'search(query="Place 10")' in line for line in lines)
    assert any("answers    Nobody" in line and "answers    Ada 10" in line for line in lines)
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [20, 60, 99])
def test_a_narrow_terminal_has_one_after_the_other(width: int) -> None:
    branch = continuations(FAILED)[5]
    text = printed(render_branch(branch, FAILED), width)
    assert max(map(len, text.splitlines())) <= width
    flat = words(text)
    assert flat.index("recorded: wrong") < flat.index("answers Nobody") < flat.index("alternative 0: correct")
    assert flat.index("alternative 0: correct") < flat.rindex("answers Ada 10")


def test_a_branch_shares_what_came_before() -> None:
    text = words(printed(render_row(continuations(FAILED)[5], trajectory=FAILED)))
    assert text.count('search(query="Ada")') == 1
    assert "user Who founded the place where Place 9 lies?" in text
    late = continuations(trajectory(2, "policy"))[0]
    original = trajectory(2, "policy")
    short, full = (words(printed(render_branch(late, original, full=whole), 200)) for whole in (False, True))
    assert "… 1 turn (--full shows all)" in short
    assert 'query="Ada"' not in short
    assert 'query="Ada"' in full


def test_a_branch_alone_and_one_from_the_question() -> None:
    alone = words(printed(render_branch(continuations(FAILED)[5])))
    assert "from step 1 (turn 2), alternative 0: search, sample 1" in alone
    assert "recorded" not in alone
    fresh = continuations(FAILED)[0].model_copy(update={"step": -1, "content": (MessageAction(content="Guess"),)})
    text = words(printed(render_branch(fresh, FAILED)))
    assert "nothing put there, from the question" in text
    assert "answers Guess" in text
    assert 'query="Ada"' in text  # the recorded run, from its beginning


def test_an_unjudged_branch_is_not_called_wrong() -> None:
    row = continuations(FAILED)[0].model_copy(
        update={"verdict": Verdict(correct=None, rule="none"), "stop_reason": StopReason.MAX_TURNS, "answer": None}
    )
    text = words(printed(render_branch(row, FAILED)))
    assert "as recorded: not judged, max_turns" in text


@pytest.mark.parametrize("pair", [step_pair(FAILED), step_pair(trajectory(2, "policy")), run_pair(GOOD, FAILED)])
def test_a_pair_shows_both_sides_and_why(pair: Any) -> None:
    text = printed(render_pair(pair))
    assert any(line.startswith("chosen") and "rejected" in line for line in text.splitlines())
    flat = words(text)
    assert pair.why in flat
    assert pair.difference in flat
    assert ("selected" in flat) == pair.selected
    assert ("verified: chosen 4 of 4, rejected 0 of 4" in flat) == (pair.strength is not None)
    assert ("other run trajectory-policy-0003" in flat) == (pair.other_trajectory_id is not None)


def test_sides_of_unequal_length() -> None:
    text = words(printed(render_row(perturbed_pair(GOOD))))
    assert "answers Nobody" in text
    assert "answers Ada 10" in text
    assert "perturbation, planning" in text


def test_a_row_of_another_trajectory_is_refused() -> None:
    with pytest.raises(ValueError, match="the row is of trajectory-policy-0003, not of trajectory-teacher-0003"):
        render_branch(continuations(FAILED)[0], GOOD)
    with pytest.raises(ValueError, match="not of trajectory-teacher-0003"):
        render_step(steps(FAILED)[0], GOOD)


def test_rows_that_do_not_fit_are_drawn_all_the_same() -> None:
    """Looking at a broken dataset is what ``synth show`` is for, too."""
    far = continuations(FAILED)[5].model_copy(update={"step": 40})
    assert "answers Ada 10" in words(printed(render_branch(far, FAILED)))
    assert "turn 42" in printed(render_step(steps(FAILED)[0].model_copy(update={"step": 41}), FAILED))
    nothing = continuations(FAILED)[5].model_copy(update={"content": ()})
    assert "recorded" in printed(render_branch(nothing, FAILED))


NASTY = "[bold red]x[/] [link=http://evil]y[/link] \x1b[31mred\x1b]0;title\x07 \u202eevil\u2066 \x9b2J \r over :smile:"


def test_no_markup_of_the_data_is_obeyed() -> None:
    said = MessageAction(content=NASTY, description=NASTY, reasoning_content=NASTY)
    content = (TextObservation(content=NASTY, source="user"), said)
    run = FAILED.model_copy(update={"content": content, "answer": NASTY, "id": NASTY})
    step = steps(FAILED)[1].model_copy(
        update={
            "id": NASTY, "trajectory_id": NASTY, "step": 0, "label_detail": NASTY, "train_reason": NASTY,
            "action_kind": NASTY, "task_id": NASTY, "label_reason": LabelReason.NEUTRAL,
        }
    )  # fmt: skip
    verdict = Verdict(correct=True, rule=NASTY, evidence=NASTY)
    branch = continuations(FAILED)[5].model_copy(
        update={
            "id": NASTY, "trajectory_id": NASTY, "step": 0, "content": (said,), "answer": NASTY, "verdict": verdict,
            "action_kind": NASTY, "task_id": NASTY,
        }
    )  # fmt: skip
    names = ("id", "family", "task_id", "trajectory_id", "other_trajectory_id", "difference", "why")
    sides = {"prompt": content, "chosen": (said,), "rejected": (said,)}
    pair = step_pair(FAILED).model_copy(update={**dict.fromkeys(names, NASTY), **sides})
    drawn = (
        render_trajectory(run, steps=[step]),
        render_step(step, run),
        render_branch(branch),
        render_branch(branch, run),
        render_pair(pair),
    )
    for what in drawn:
        for width in (60, 1_000):
            text = printed(what, width)
            for sign in ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\r"):
                assert sign not in text
        assert "[bold red]x[/]" in text
        assert ":smile:" in text
        assert "\\x1b[31mred" in text


def test_the_command_takes_the_id_of_any_row(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(row_id: str) -> str:
        main(["show", str(finished), "--id", row_id])
        return words(capsys.readouterr().out)

    assert "turn 2 label -1 · wrong_turn" in shown(FAILED.id)
    assert "recorded: wrong, Nobody" in shown(continuations(FAILED)[5].id)
    assert "what was done" in shown(steps(FAILED)[1].id)
    assert "strength verified" in shown(step_pair(FAILED).id)
