"""``validate`` finds every way of breaking steps and continuations, and takes what is right about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from breaking import CONTINUATIONS, PREFERENCES, STEPS, TASKS, Mutation, edit, item, must_be_found, row, table, values
from critical_breaking import ALTERNATIVE, FAILED, ORIGINAL, critical, without
from critical_samples import whole_tables
from exporter_samples import sample_report, sample_tables
from stand_ins.forging import seal

from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.schemas.adp import MessageAction
from synth.schemas.arrow import arrow_schema, from_arrow, to_arrow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.trajectories import StopReason, Verdict

pytestmark = pytest.mark.thorough

alternative = partial(row, CONTINUATIONS, ALTERNATIVE)
failed = partial(row, STEPS, FAILED)
TEACHER = 9
original = partial(row, CONTINUATIONS, ORIGINAL)

MUTATIONS: dict[str, Mutation] = {
    # steps
    "step of no trajectory": failed("trajectory_id: there is no trajectory nowhere", trajectory_id="nowhere"),
    "step of another task": failed("task_id: task-x", task_id="task-x"),
    "step in another split": failed("split: test, but the file is of train", split="test"),
    "step by another role": failed("role: expert", role="expert"),
    "id is not the key": failed("id: step-4 is not that of", id="step-4"),
    "range begins elsewhere": failed("content_start, content_end: 2, 4, but the turn is 3, 4", content_start=2),
    "range ends elsewhere": failed("content_start, content_end: 3, 5, but the turn is 3, 4", content_end=5),
    "step beyond the end": row(
        STEPS,
        FAILED + 1,
        "step: 3, but the trajectory has 3 turns",
        lambda s: {"step": 3, "id": f"{s.trajectory_id}/3"},
    ),
    "step left out": (without(STEPS, FAILED), STEPS, 3, "trajectory-policy-0001 has no row of step 1"),
    "step twice": (
        table(STEPS, lambda t: pa.concat_tables([t, t.slice(FAILED, 1)])),
        STEPS,
        18,
        "another step has trajectory_id trajectory-policy-0001, step 1 too",
    ),
    "kind of another action": failed("action_kind: open, but the turn is search", action_kind="open"),
    "two first errors": row(STEPS, FAILED + 1, "first_error: trajectory-policy-0001 has another one", first_error=True),
    "first error that helps": failed("first_error: the label is 1", label=1, label_reason="progress"),
    "failure without an error": failed(
        "failure: finding.bad_query on a step that is not the first error", first_error=False
    ),
    "failure of a run that succeeded": row(
        STEPS, 0, "failure: acting.loop, but the run succeeded", failure="acting.loop"
    ),
    "label against its reason": failed("label: 1, though the reason is wrong_turn", label=1),
    "label of another kind": (values(STEPS, "label", lambda row, old: 2 if row == 5 else old), STEPS, 5, "label: "),
    "label lost": (values(STEPS, "label", lambda row, old: None if row == 5 else old), STEPS, 5, "label: "),
    "gain over one": row(STEPS, 0, "information_gain: 1.5", information_gain=1.5),
    "score over one": failed("score: 3 is not from 0 to 1", score=3.0),
    "probability over one": failed("answer_probability: 2 is not from 0 to 1", answer_probability=2.0),
    "gain that the probabilities do not give": failed(
        "answer_gain: 0.5, but the values are 0.25 and 0.5", answer_gain=0.5
    ),
    "first gain below nothing": row(STEPS, 0, "answer_gain: 0.75 can't lead to 0.25", answer_gain=0.75),
    "gain without a probability": failed("answer_gain: 0.25, but answer_probability is null", answer_probability=None),
    "advantages in a group that do not balance": failed(
        "group_advantage: those of the runs on its task do not add up to 0", group_advantage=0.5
    ),
    "leaning over one": failed("outcome_potential: 2 is not from 0 to 1", outcome_potential=2.0),
    "probability of an answer": row(
        STEPS, FAILED + 1, "answer_probability: 0.5, but the turn calls no tool", answer_probability=0.5
    ),
    "probability in a teacher's run": row(
        STEPS, TEACHER, "answer_probability: 0.5 in a run of the teacher", answer_probability=0.5
    ),
    "hop that the walk lacks": row(STEPS, 0, "gold_match: 2", gold_match=2),
    "hop matched twice": row(
        STEPS, 1, "gold_match: another step of trajectory-policy-0000 is matched to hop 0 too", gold_match=0
    ),
    "criticality with other counts": failed(
        "criticality: 3 of 4 on the alternative side, but the continuations hold 4 of 4",
        lambda s: critical(s, alternative_successes=3, difference=0.75),
    ),
    "criticality of more continuations": failed(
        "criticality: 0 of 9 on the original side, but the continuations hold 0 of 4",
        lambda s: critical(s, original_n=9),
    ),
    "criticality of another alternative": failed(
        "criticality: 4 of 4 on the alternative side, but the continuations hold 0 of 0",
        lambda s: critical(s, alternative=1),
    ),
    "difference that the counts do not give": failed(
        "criticality.difference: 0.5, but the counts give 1", lambda s: critical(s, difference=0.5)
    ),
    "more successes than continuations": failed(
        "criticality: 7 of 4 continuations of the original side succeeded", lambda s: critical(s, original_successes=7)
    ),
    "interval beside the difference": failed(
        "criticality: the difference 1 is not within 0.4 to 0.9", lambda s: critical(s, high=0.9)
    ),
    "verified the wrong way round": row(
        STEPS,
        2,
        "criticality.verified: with a difference of 1 in a run that succeeded",
        lambda s: critical(s, difference=1.0, low=0.4, high=1.0),
    ),
    "criticality lost": failed("criticality: null, though both sides were tried", criticality=None),
    # continuations
    "branch of no trajectory": alternative("trajectory_id: there is no trajectory nowhere", trajectory_id="nowhere"),
    "branch from no step": alternative("step: 3, but the trajectory has 3 turns", step=3),
    "alternative to the question": alternative("step: -1, but the trajectory has 3 turns", step=-1),
    "branch twice": (
        table(CONTINUATIONS, lambda t: pa.concat_tables([t, t.slice(ALTERNATIVE, 1)])),
        CONTINUATIONS,
        24,
        "sample: another branch has trajectory_id",
    ),
    "continuation lost": (
        without(CONTINUATIONS, ALTERNATIVE + 1),
        CONTINUATIONS,
        ALTERNATIVE,
        "sample: the alternative 0 side of trajectory-policy-0001/1 lacks one",
    ),
    "last continuation lost": (
        without(CONTINUATIONS, ALTERNATIVE + 3),
        STEPS,
        FAILED,
        "criticality: 4 of 4 on the alternative side, but the continuations hold 3 of 3",
    ),
    "continuation that failed, told as a success": (
        edit(CONTINUATIONS, ORIGINAL, lambda b: {"success": True, "verdict": Verdict(correct=True, rule="exact")}),
        STEPS,
        FAILED,
        "criticality: 0 of 4 on the original side, but the continuations hold 1 of 4",
    ),
    "success against its verdict": original("success: True, but the verdict says False", success=True),
    "alternative on the original side": original("alternative: 0 on the original side", alternative=0),
    "original that was not recorded": original(
        "content: does not begin with what the trajectory did at step 1", lambda b: item(b, 0, kwargs={"query": "x"})
    ),
    "alternative that was recorded": alternative(
        "so it is not an alternative", lambda b: item(b, 0, kwargs={"query": "Place 1", "k": 5})
    ),
    "another action under the same number": row(
        CONTINUATIONS,
        ALTERNATIVE + 1,
        "content: does not begin like sample 0 of alternative 0",
        lambda b: item(b, 0, kwargs={"query": "x"}),
    ),
    "the same action under another number": row(
        CONTINUATIONS, ALTERNATIVE + 3, "content: repeats the action of alternative 0", alternative=1, sample=0
    ),
    "branch that begins with an observation": alternative(
        "content: does not begin with an action", lambda b: {"content": b.content[1:]}
    ),
    "branch with an open call in the middle": alternative(
        "content[0].tool_call_id: missing", lambda b: item(b, 0, tool_call_id=None)
    ),
    "call id of the prefix used again": alternative(
        "content: 'call_0' is already the id of an earlier call",
        lambda b: {
            "content": tuple(
                part.model_copy(update={"tool_call_id": "call_0"}) if hasattr(part, "tool_call_id") else part
                for part in b.content
            )
        },
    ),
    "kind of another first action": alternative("action_kind: open, but the first turn is search", action_kind="open"),
    "turns of a branch miscounted": alternative("turns: 5, but the content holds 2", turns=5),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(name: str, small: Path) -> None:
    must_be_found(MUTATIONS[name], small)


def changed(folder: Path, name: str, change: Callable[[list[Any]], list[Any]], row_type: Any) -> None:
    table(name, lambda rows: to_arrow(change(from_arrow(rows, row_type)), row_type))(folder)


def rows_are_fine(folder: Path) -> None:
    """Counts in report and card may have changed with the rows; nothing else."""
    seal(folder)
    assert {problem.file for problem in validate(folder)} <= {"report.json", "README.md"}


def test_more_continuations_than_were_compared_are_fine(little: Callable[[], Path]) -> None:
    """Other measures share the continuations of a step: a comparison rests on the first ones of each side."""
    folder = little()

    def more(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        last = rows[ALTERNATIVE + 3]
        verdict = Verdict(correct=True, rule="exact")
        extra = last.model_copy(update={"id": "more", "sample": 4, "success": True, "verdict": verdict})
        return [*rows, extra]

    changed(folder, CONTINUATIONS, more, ContinuationRow)
    rows_are_fine(folder)


def test_an_unjudged_continuation_counts_on_no_side(little: Callable[[], Path]) -> None:
    folder = little()

    def unjudged(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        own = rows[ORIGINAL : ORIGINAL + 4]
        open_ = own[0].model_copy(update={"verdict": Verdict(correct=None, rule="none")})
        late = own[0].model_copy(update={"id": "late", "sample": 4})
        return [*rows[:ORIGINAL], open_, *rows[ORIGINAL + 1 :], late]

    changed(folder, CONTINUATIONS, unjudged, ContinuationRow)
    rows_are_fine(folder)


def test_a_step_of_which_nothing_was_judged_has_no_criticality(little: Callable[[], Path]) -> None:
    folder, unjudged = little(), Verdict(correct=None, rule="none")

    def undecided(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        step = (rows[ORIGINAL].trajectory_id, rows[ORIGINAL].step)
        own = [(one.trajectory_id, one.step) == step for one in rows]
        change = {"verdict": unjudged, "success": False}
        return [one.model_copy(update=change) if is_own else one for one, is_own in zip(rows, own, strict=True)]

    changed(folder, CONTINUATIONS, undecided, ContinuationRow)
    changed(folder, STEPS, lambda rows: [one.model_copy(update={"criticality": None}) for one in rows], StepRow)
    seal(folder)
    assert not any("both sides" in str(problem) for problem in validate(folder) if problem.row == FAILED)


def test_an_alternative_with_the_same_counts_is_as_good(little: Callable[[], Path]) -> None:
    """So ``criticality.alternative`` is not proven."""
    folder = little()

    def twice(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        tried = [one for one in rows if one.step == rows[ALTERNATIVE].step and one.side == "alternative"]
        tried = [one for one in tried if one.trajectory_id == rows[ALTERNATIVE].trajectory_id]
        return [*rows, *(one.model_copy(update={"alternative": 1, "id": f"{one.id}b"}) for one in tried)]

    changed(folder, CONTINUATIONS, twice, ContinuationRow)
    seal(folder)
    before = [str(problem) for problem in validate(folder)]
    changed(
        folder,
        STEPS,
        lambda rows: [
            one.model_copy(update=critical(one, alternative=1)) if at == FAILED else one for at, one in enumerate(rows)
        ],
        StepRow,
    )
    seal(folder)
    assert [str(problem) for problem in validate(folder)] == before


def test_continuations_of_the_question_alone_are_fine(little: Callable[[], Path]) -> None:
    folder = little()

    def fresh(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        about = rows[ORIGINAL]
        answers = ("Nobody", "Somebody")
        return rows + [
            about.model_copy(
                update={
                    "id": f"fresh-{sample}",
                    "step": -1,
                    "sample": sample,
                    "content": (MessageAction(content=answer),),
                    "action_kind": "answer",
                    "answer": answer,
                    "turns": 1,
                }
            )
            for sample, answer in enumerate(answers)
        ]

    changed(folder, CONTINUATIONS, fresh, ContinuationRow)
    rows_are_fine(folder)


def test_a_branch_that_gives_up_says_so(little: Callable[[], Path]) -> None:
    folder = little()

    def gives_up(rows: list[ContinuationRow]) -> list[ContinuationRow]:
        about = rows[ALTERNATIVE]
        row = about.model_copy(
            update={
                "id": "gives-up",
                "alternative": 1,
                "content": (MessageAction(content="I can't tell."),),
                "action_kind": "give_up",
                "answer": None,
                "stop_reason": StopReason.GAVE_UP,
                "success": False,
                "verdict": Verdict(correct=False, rule="no_answer"),
                "turns": 1,
            }
        )
        return [*rows, row]

    changed(folder, CONTINUATIONS, gives_up, ContinuationRow)
    rows_are_fine(folder)


@pytest.mark.parametrize("kept", [("steps",), ("continuations",), ("preferences",), ("steps", "preferences"), ()])
def test_any_of_the_tables_may_be_missing(kept: tuple[str, ...], tmp_path: Path) -> None:
    whole = whole_tables(10, 0)
    tables = {
        name: rows
        for name, rows in whole.items()
        if name in kept or name not in ("steps", "continuations", "preferences")
    }
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    assert validate(tmp_path / "out") == []


def test_tables_of_one_role_only(tmp_path: Path) -> None:
    """Labels of the policy's runs, none of the teacher's."""
    whole = whole_tables(10, 0)
    steps = whole["steps"]
    tables = {**whole, "steps": steps.filter(pc.equal(steps["role"], "policy"))}
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    assert validate(tmp_path / "out") == []


def test_a_dataset_of_before_has_no_problem(tmp_path: Path) -> None:
    """Three empty tables are three configs without a file."""
    empty = {
        name: arrow_schema(kind).empty_table()
        for name, kind in (("steps", StepRow), ("continuations", ContinuationRow))
    }
    tables = {**sample_tables(5, 2), **empty}
    done = write_dataset(tmp_path / "out", tables, sample_report(tables))
    assert (done.labels, done.critical, done.pairs) == ((), (), ())
    assert validate(tmp_path / "out") == []


def test_given_questions_have_no_walk_to_match(tmp_path: Path) -> None:
    tables = whole_tables(5, 0)
    rows = from_arrow(tables["steps"], StepRow)
    tables["steps"] = to_arrow(
        [row.model_copy(update={"gold_match": None if row.task_id == rows[0].task_id else -1}) for row in rows], StepRow
    )
    write_dataset(tmp_path / "out", tables, sample_report(tables))

    def no_walk(task: Any) -> dict[str, Any]:
        return {
            "walk": task.walk.model_copy(update={"hops": ()}),
            "difficulty": task.difficulty.model_copy(update={"hops": 0}),
        }

    edit(TASKS, 0, no_walk)(tmp_path / "out")
    rows_are_fine(tmp_path / "out")


_MAY_BE_NULL = {
    "score",
    "criticality",
    "failure",
    "first_error_branching",
    "first_deviation",
    "answer",
    "other_trajectory_id",
    "advantage",
    "pivot",
    "answer_probability",
    "answer_gain",
    "group_advantage",
    "outcome_potential",
    "outcome_gain",
    "judged_right",
    "proposal",
    "repair",
    "strength",
}


@pytest.mark.parametrize(
    ("name", "row_type"), [(STEPS, StepRow), (CONTINUATIONS, ContinuationRow), (PREFERENCES, PreferenceRow)]
)
def test_a_null_is_found_in_every_column(name: str, row_type: Any, little: Callable[[], Path]) -> None:
    """And does not stop ``validate``: counting goes over the file as it is."""
    folder = little()
    names = [column for column in arrow_schema(row_type).names if column not in _MAY_BE_NULL | {"licence"}]
    rows = pq.read_metadata(folder / name).num_rows
    for number, column in enumerate(names):
        values(name, column, lambda row, old, at=number % rows: None if row == at else old)(folder)  # type: ignore[misc]
    found = [problem for problem in validate(folder) if problem.file == name]
    for number, column in enumerate(names):
        at = [problem.what for problem in found if problem.row == number % rows]
        assert any(what.startswith(column) for what in at), (column, at)
