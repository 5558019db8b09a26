"""Labels of runs made by hand in the small collection, and what holds for labels of any run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest
from label_runs import ENVIRONMENT, Move, history, row_of
from small_runs import play

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.loop import Limits, Rollout
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.agents.trajectory import history_of, to_row
from synth.annotate.labels import StepLabel, label
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.adp import Action
from synth.schemas.steps import Behaviour, FailureClass, LabelReason, StepRow
from synth.schemas.tasks import Task, Walk
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

TASKS = small_tasks()
OFFICE, BORN, BOOK, STUDENT, LIBRARY = TASKS
R = LabelReason


def search(query: str) -> Move:
    return ("search", {"query": query})


def open_(document: str) -> Move:
    return ("open", {"document": document})


def run(
    task: Task,
    *moves: Move,
    mend: Callable[[ToolResult], ToolResult] = lambda result: result,
    stop: StopReason | None = None,
) -> TrajectoryRow:
    """The row of a run that makes ``moves``: calls, then an answer, or None to give up."""
    steps = [("I go on." if isinstance(move, tuple) else "I stop.", move) for move in moves]
    return row_of(task, history(task, *steps, mend=mend), stop)


def reasons(labels: Sequence[StepLabel]) -> list[LabelReason]:
    return [step.label_reason for step in labels]


def signs(labels: Sequence[StepLabel]) -> list[int]:
    return [step.label for step in labels]


def first(labels: Sequence[StepLabel]) -> int | None:
    (found,) = [step.step for step in labels if step.first_error] or [None]
    return found


CLEAN = (search("Arvel Torrin"), open_("arvel-torrin"), open_("korvan-works"), "Dessau Ferry")


def test_a_clean_run() -> None:
    labels = label(run(OFFICE, *CLEAN), OFFICE)
    assert reasons(labels) == [R.PROGRESS, R.PROGRESS, R.PROGRESS, R.SUPPORTED_ANSWER]
    assert signs(labels) == [1, 1, 1, 1]
    assert first(labels) is None
    assert all(step.train and step.failure is None for step in labels)
    assert [step.action_kind for step in labels] == ["search", "open", "open", "answer"]
    assert labels[-1].progress == 1.0
    assert sum(step.information_gain for step in labels) == pytest.approx(1.0)
    assert sorted(step.gold_match for step in labels if step.gold_match >= 0) == [0, 1]


def test_a_like_name_is_a_wrong_turn_until_it_is_left() -> None:
    labels = label(run(OFFICE, CLEAN[0], open_("arvel-torrent"), *CLEAN[1:]), OFFICE)
    assert reasons(labels)[1:3] == [R.WRONG_TURN, R.CORRECTED]
    assert signs(labels) == [1, -1, 1, 1, 1]
    assert first(labels) == 1
    assert Behaviour.RECOVERY in labels[2].behaviours
    assert [step.train for step in labels] == [True, False, True, True, True]
    assert "context" in labels[1].train_reason
    assert labels[1].failure is None, "the run succeeded"


def test_what_builds_on_an_error_is_propagated() -> None:
    moves = (CLEAN[0], open_("arvel-torrent"), open_("velden-school"), "3 March 1950")
    labels = label(run(OFFICE, *moves), OFFICE)
    assert reasons(labels) == [R.PROGRESS, R.WRONG_TURN, R.PROPAGATED, R.PROPAGATED]
    assert first(labels) == 1
    assert labels[1].failure is FailureClass.FINDING_WRONG_PAGE
    assert [step.train for step in labels] == [True, False, False, False]


def test_a_loop_behind_an_error_is_a_loop() -> None:
    """As a small language model fails: one wrong turn, and the same call until its turns are used up."""
    again = open_("velden-school")
    labels = label(run(OFFICE, CLEAN[0], open_("arvel-torrent"), *[again] * 4, stop=StopReason.MAX_TURNS), OFFICE)
    assert reasons(labels)[1:] == [R.WRONG_TURN, *[R.PROPAGATED] * 4]
    assert labels[1].failure is FailureClass.ACTING_LOOP


def test_following_another_link_although_the_right_one_was_named() -> None:
    moves = (CLEAN[0], open_("arvel-torrin"), open_("lume-press"), "Velden")
    labels = label(run(OFFICE, *moves), OFFICE)
    assert reasons(labels)[2:] == [R.WRONG_TURN, R.PROPAGATED]
    assert first(labels) == 2
    assert labels[2].failure is FailureClass.READING_WRONG_FACT


def test_refused_calls() -> None:
    wrong: Move = ("search", {"q": "Arvel Torrin"})
    labels = label(run(OFFICE, wrong, wrong, *CLEAN), OFFICE)
    assert reasons(labels)[:3] == [R.INVALID_CALL, R.REPEATED_FAILURE, R.PROGRESS]
    assert signs(labels)[:3] == [-1, -1, 1]
    assert first(labels) == 0
    assert [step.train for step in labels] == [False, False, True, True, True, True]


def test_a_broken_tool_is_no_fault_but_asking_it_again_is() -> None:
    def broken(result: ToolResult) -> ToolResult:
        return result.model_copy(update={"content": "timeout", "error": "failure"})

    labels = label(run(OFFICE, search("Mosk"), search("Mosk"), None, mend=broken), OFFICE)
    assert reasons(labels)[:2] == [R.TOOL_FAILURE, R.REPEATED_FAILURE]
    assert signs(labels)[:2] == [0, -1]
    assert first(labels) == 1


def test_the_same_call_again_is_redundant() -> None:
    labels = label(run(OFFICE, CLEAN[0], CLEAN[0], *CLEAN[1:]), OFFICE)
    assert reasons(labels)[1] is R.REDUNDANT
    assert not labels[1].train
    assert first(labels) is None, "a waste, not an error"


def test_an_answer_with_conditions_unread() -> None:
    labels = label(run(OFFICE, *CLEAN[:2], "Korvan Works"), OFFICE)
    assert labels[-1].label_reason is R.PREMATURE
    assert "Korvan Works -> Dessau Ferry" in labels[-1].label_detail
    assert first(labels) == 2
    assert labels[-1].failure is FailureClass.ENDING_EARLY


def test_a_condition_that_was_skipped() -> None:
    moves = (search("Orl Academy"), open_("orl-academy"), "Edda Torrin")
    labels = label(run(STUDENT, *moves), STUDENT)
    assert labels[-1].failure is FailureClass.REASONING_SKIPPED_CONDITION


def test_a_candidate_of_a_list_may_be_tested() -> None:
    moves = (search("Orl Academy"), open_("orl-academy"), open_("edda-torrin"), open_("jon-maak"), "Jon Maak")
    labels = label(run(STUDENT, *moves), STUDENT)
    assert labels[2].label_reason is R.NEUTRAL
    assert first(labels) is None
    assert labels[-1].label_reason is R.SUPPORTED_ANSWER


def test_what_a_candidate_on_the_way_leads_to_may_be_followed() -> None:
    """Of several students the last condition tells which is meant; without it the first hop must be right."""
    jon, wrote = STUDENT.walk.hops
    book = wrote.source
    on = wrote.model_copy(update={"source": jon.target, "target": book, "needs": (0,), "forward": True})
    hops = (jon, on, BOOK.walk.hops[0])
    gold = {"answer": "Atlas of the Orl", "gold_documents": ("orl-academy", "jon-maak")}
    tested = STUDENT.model_copy(update={**gold, "walk": Walk(shape="conjunction", hops=hops)})
    chain = STUDENT.model_copy(update={**gold, "walk": Walk(shape="composition", hops=hops[:2])})
    moves = (search("Orl Academy"), open_("orl-academy"), open_("ilse-brandt"), open_("velden"), "Velden")
    assert reasons(label(run(tested, *moves), tested))[2:4] == [R.NEUTRAL, R.NEUTRAL]
    assert first(label(run(tested, *moves), tested)) == 4
    assert first(label(run(chain, *moves), chain)) == 2


def test_a_right_answer_that_nothing_supports() -> None:
    labels = label(run(OFFICE, search("Hanne Velt"), "Dessau Ferry"), OFFICE)
    assert labels[-1].label == -1
    assert labels[-1].label_reason in (R.UNSUPPORTED_ANSWER, R.PREMATURE)
    assert not labels[-1].train


def test_an_answer_from_nowhere() -> None:
    moves = (search("Ilse Brandt"), open_("ilse-brandt"), open_("orl-academy"), "9,999")
    labels = label(run(LIBRARY, *moves), LIBRARY)
    assert labels[-1].label_reason is R.UNSUPPORTED_ANSWER
    assert labels[-1].failure is FailureClass.REASONING_UNSUPPORTED, "it was never read"


def test_the_wrong_fact_of_the_right_page() -> None:
    moves = (search("Ilse Brandt"), open_("ilse-brandt"), open_("korvan-works"), open_("orl-academy"), "412")
    labels = label(run(LIBRARY, *moves), LIBRARY)
    assert labels[-1].label_reason is R.UNSUPPORTED_ANSWER
    assert labels[-1].failure is FailureClass.READING_WRONG_FACT


def test_looking_again_with_all_in_view_verifies() -> None:
    labels = label(run(OFFICE, *CLEAN[:3], open_("dessau-ferry"), "Dessau Ferry"), OFFICE)
    assert labels[3].label_reason is R.VERIFIED
    assert Behaviour.VERIFICATION in labels[3].behaviours


def test_checking_a_wrong_value_is_a_wrong_turn() -> None:
    moves = (search("Korvan Works"), open_("ilse-brandt"), ("find", {"pattern": "5 July 1911"}), "5 July 1911")
    labels = label(run(BORN, search("Arvel Torrin"), *moves), BORN)
    assert labels[3].label_reason is R.WRONG_TURN
    assert first(labels) == 3


def test_giving_up() -> None:
    labels = label(run(OFFICE, search("Hanne Velt"), None), OFFICE)
    assert labels[-1].action_kind == "give_up"
    assert labels[-1].label_reason is R.PREMATURE
    assert labels[-1].failure is FailureClass.FINDING_BAD_QUERY
    assert label(run(OFFICE, None), OFFICE)[0].failure is FailureClass.FINDING_NO_QUERY


def test_a_call_that_a_limit_cut_off_is_not_judged() -> None:
    row = run(OFFICE, *CLEAN[:2], None)
    prompt, history = history_of(row)
    last = Step(turn=Turn(calls=(ToolCall(id="call_2_0", name="search", arguments={"query": "x"}),)))
    done = Rollout(OFFICE, prompt, (*history[:2], last), StopReason.MAX_TURNS, ENVIRONMENT.reset(OFFICE).check(None))
    labels = label(_row(done), OFFICE)
    assert (labels[-1].label, labels[-1].label_reason) == (None, R.UNMEASURED)
    assert not labels[-1].train


def _row(done: Rollout) -> TrajectoryRow:
    return to_row(done, ENVIRONMENT, role="policy", number=0, privileged=False, provenance=PROVENANCE)


def test_a_question_without_a_walk_is_judged_by_calls_and_answer() -> None:
    given = OFFICE.model_copy(update={"shape": "given", "walk": Walk(shape="given", hops=()), "gold_documents": ()})
    good = label(run(given, *CLEAN), given)
    assert good[-1].label_reason is R.SUPPORTED_ANSWER
    assert {(step.label, step.label_reason) for step in good[:-1]} == {(1, R.PROGRESS)}, "by what results add"
    unread = label(run(given, ("search", {}), "Dessau Ferry"), given)
    assert reasons(unread) == [R.INVALID_CALL, R.PROGRESS], "nothing says that it had to be read"


def test_it_refuses_a_trajectory_on_another_task() -> None:
    with pytest.raises(ValueError, match=f"not on {BOOK.id}"):
        label(run(OFFICE, *CLEAN), BOOK)


@cache
def rollouts() -> list[tuple[Task, TrajectoryRow]]:
    """Runs of weak policies and of the teacher: a hundred and twenty."""
    done: list[tuple[Task, TrajectoryRow]] = []
    for task in TASKS:
        for number in range(24):
            policy = ScriptedPolicy(task, PolicyConfig(skill=(number % 4) / 4, bad_argument=0.1))
            agent = policy if number < 20 else ScriptedTeacher(task)
            result = play(agent, ENVIRONMENT, task, number, seed=3, limits=Limits(max_turns=12))
            done.append((task, _row(result)))
    return done


def test_what_holds_for_all_labels() -> None:
    assert {row.success for _, row in rollouts()} == {True, False}
    seen: set[LabelReason] = set()
    for task, row in rollouts():
        labels = label(row, task)
        seen |= set(reasons(labels))
        assert [step.step for step in labels] == list(range(row.turns))
        covered = [place for step in labels for place in range(step.content_start, step.content_end)]
        assert covered == [place for place, item in enumerate(row.content) if isinstance(item, Action)]
        assert sum(step.first_error for step in labels) <= 1
        assert row.success or first(labels) is not None, "a run that failed went wrong somewhere"
        assert sum(step.information_gain for step in labels) == pytest.approx(labels[-1].progress)
        gains = [step.progress for step in labels]
        assert gains == sorted(gains)
        matched = [step.gold_match for step in labels if step.gold_match >= 0]
        assert len(matched) == len(set(matched))
        for step in labels:
            assert not (step.train and step.label < 0)
            assert (step.failure is not None) == (step.first_error and not row.success)
            if step.first_error:
                assert step.label == -1
                assert all(earlier.label_reason is not R.PROPAGATED for earlier in labels[: step.step])
            made = step.row(PROVENANCE, score=0.5)
            assert isinstance(made, StepRow)
            assert made.id == f"{row.id}/{step.step}"
        failed_targets = [step for step in labels if step.train and not row.success]
        assert all(step.label == 1 and step.step < (first(labels) or 0) for step in failed_targets)
    assert len(seen) >= 8, "the runs show most kinds of steps"


def thinking(task: Task, row: TrajectoryRow, step: int, thought: str) -> tuple[StepLabel, ...]:
    """Labels of the run with another thought in one step."""
    prompt, history = history_of(row)
    changed = history[step].model_copy(update={"turn": history[step].turn.model_copy(update={"thought": thought})})
    steps = (*history[:step], changed, *history[step + 1 :])
    return label(_row(Rollout(task, prompt, steps, row.stop_reason, row.verdict)), task)


LATE = (CLEAN[0], open_("arvel-torrin"), search("Korvan Works"), open_("lume-press"), "Velden")
"""Reads the page that names the right company and the wrong one, does something useful, then opens the wrong one."""


def test_who_concludes_the_wrong_thing_and_acts_on_it_later_went_wrong_where_it_concluded() -> None:
    row = run(OFFICE, *LATE)
    assert first(label(row, OFFICE)) == 3
    labels = thinking(OFFICE, row, 2, 'It says "He wrote for Lume Press." So it must be Lume Press. Now Korvan Works.')
    assert first(labels) == 2
    assert labels[2].label_reason is R.WRONG_TURN
    assert "acted on in step 3" in labels[2].label_detail
    assert labels[2].failure is not None
    assert labels[3].failure is None
    assert not labels[2].train


@pytest.mark.parametrize(
    "thought",
    [
        pytest.param('It says "He wrote for Lume Press." I go on.', id="quoted"),
        pytest.param("I have to choose between Korvan Works and Lume Press.", id="beside a rival"),
        pytest.param("So it must be Orl Academy.", id="never acted on"),
        pytest.param("So it must be Korvan Works.", id="the right one"),
    ],
)
def test_to_name_a_thing_is_not_to_go_for_it(thought: str) -> None:
    row = run(OFFICE, *LATE)
    assert [step.label for step in thinking(OFFICE, row, 2, thought)] == [step.label for step in label(row, OFFICE)]
    assert first(thinking(OFFICE, row, 2, thought)) == 3


def test_an_answer_is_judged_where_it_was_concluded() -> None:
    moves = (search("Ilse Brandt"), open_("ilse-brandt"), open_("korvan-works"), open_("orl-academy"))
    row = run(LIBRARY, *moves, search("Orl Academy"), "412")
    late = label(row, LIBRARY)
    assert first(late) == 5
    early = thinking(LIBRARY, row, 4, "So the number is 412. Let me look for Orl Academy.")
    assert first(early) == 4
    assert early[-1].label_reason is R.PROPAGATED, "the answer builds on what was concluded"


def test_thoughts_prove_nothing_by_themselves() -> None:
    """The same run without thoughts, or with thoughts of what is right, has the same labels; a thought that says
    something wrong can only bring the first error forward; and a target may be lost by a thought."""
    for task, row in rollouts()[::3]:
        prompt, history = history_of(row)
        silent = label(_with_thoughts(task, prompt, history, row, None), task)
        right = f"I take from this: {task.answer}. That confirms {task.answer}."
        assert _facts(label(_with_thoughts(task, prompt, history, row, right), task)) == _facts(silent)
        spoken, unspoken = first(label(row, task)), first(silent)
        assert unspoken is None or (spoken is not None and spoken <= unspoken)
    row = run(OFFICE, CLEAN[0], open_("arvel-torrin"), open_("lume-press"), "Velden")
    prompt, history = history_of(row)
    assert [step.train for step in label(row, OFFICE)] == [True, True, False, False]
    doubtful = _with_thoughts(OFFICE, prompt, history, row, "Lume Press will do.")
    assert not any(step.train for step in label(doubtful, OFFICE))


def _with_thoughts(
    task: Task, prompt: Prompt, history: History, row: TrajectoryRow, thought: str | None
) -> TrajectoryRow:
    steps = tuple(s.model_copy(update={"turn": s.turn.model_copy(update={"thought": thought})}) for s in history)
    return _row(Rollout(task, prompt, steps, row.stop_reason, row.verdict))


def _facts(labels: Sequence[StepLabel]) -> list[dict[str, object]]:
    return [step.model_dump(exclude={"trajectory_id", "train", "train_reason"}) for step in labels]
