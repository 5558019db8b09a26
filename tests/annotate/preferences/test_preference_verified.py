"""Pairs of verified steps, from continuations that the real policy continued."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_world import PreferenceWorld, act, adp_problems, redo
from stand_ins.bare import bare

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.consistency import poor_reason
from synth.agents.scripted.phrases import PHRASES
from synth.agents.trajectory import history_of, step_items
from synth.annotate.preferences.sides import PairPosition, not_grounded, parsed
from synth.annotate.preferences.verified import _as_good, _better, _skips, off_path, verified_pairs
from synth.environments.contract import Episode
from synth.identity import derive_generator
from synth.schemas.adp import ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.preferences import PairKind, PreferenceRow, swap
from synth.schemas.rejections import Reason
from synth.schemas.steps import ContinuationRow, Criticality, LabelReason, Side, StepRow
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.schemas.turns import action_kind, turn_ranges
from synth.testing.corpus import PROVENANCE

K = 4


@dataclass(frozen=True)
class Searched:
    run: TrajectoryRow
    steps: tuple[StepRow, ...]
    continuations: tuple[ContinuationRow, ...]


def step_rows(run: TrajectoryRow, found: dict[int, Criticality], first_error: int | None = None) -> tuple[StepRow, ...]:
    ranges = turn_ranges(run.content)
    return tuple(
        bare(
            StepRow,
            id=f"{run.id}/{number}",
            trajectory_id=run.id,
            task_id=run.task_id,
            step=number,
            content_start=start,
            content_end=end,
            role=run.role,
            action_kind=action_kind(run.content[start:end]),
            first_error=number == first_error,
            criticality=found.get(number),
            train=True,
            split=run.split,
        )
        for number, (start, end) in enumerate(ranges)
    )


def branch(
    world: PreferenceWorld, run: TrajectoryRow, step: int, turn: Turn, side: Side, alternative: int, sample: int
) -> ContinuationRow:
    """One continuation: the prefix, the turn put there, and the policy from there on."""
    task = world.tasks[run.task_id]
    _, history = history_of(run)
    at = redo_history(world, run, step)
    calls = tuple(call.model_copy(update={"id": f"call_{step}_{n}"}) for n, call in enumerate(turn.calls))
    turn = turn.model_copy(update={"calls": calls})
    if calls:
        results = tuple(at.step(call) for call in calls)
        begun = (*history[:step], Step(turn=turn, results=results))
        done = world.play(world.policy(task), task, "branch", run.id, step, side, alternative, sample, history=begun)
        ended, verdict, stop = done.history, done.verdict, done.stop_reason
    else:
        ended, verdict, stop = (*history[:step], Step(turn=turn)), at.check(turn.answer), run.stop_reason
    items = tuple(item for part in ended[step:] for item in step_items(part))
    return ContinuationRow(
        id=f"branch-{run.id}-{step}-{side}-{alternative}-{sample}",
        trajectory_id=run.id,
        task_id=run.task_id,
        step=step,
        side=side,
        alternative=alternative,
        sample=sample,
        action_kind=action_kind(items[: turn_ranges(items)[0][1]]),
        content=items,
        success=verdict.correct is True,
        verdict=verdict,
        answer=ended[-1].turn.answer,
        stop_reason=stop,
        turns=len(ended) - step,
        split=run.split,
        provenance=PROVENANCE,
    )


def redo_history(world: PreferenceWorld, run: TrajectoryRow, step: int) -> Episode:
    _, history = history_of(run)
    episode = world.environment.reset(world.tasks[run.task_id])
    for past in history[:step]:
        for call in past.turn.calls:
            episode.step(call)
    return episode


def search(world: PreferenceWorld, run: TrajectoryRow, proposer: Role, options: dict[str, float]) -> Searched:
    """Branch from every step at which ``proposer`` would act otherwise; verified by a plain rule, good enough here."""
    task = world.tasks[run.task_id]
    prompt, history = history_of(run)
    found: dict[int, Criticality] = {}
    continuations: list[ContinuationRow] = []
    for step in range(len(history)):
        if len(found) == 3:
            break
        generator = derive_generator(5, "proposal", run.id, step)
        other = world.policy(task, proposer, **options).act(prompt, history[:step], generator)
        mine, theirs = ([(c.name, c.arguments) for c in t.calls] for t in (history[step].turn, other.turn))
        if mine == theirs and history[step].turn.answer == other.turn.answer:
            continue
        sides: dict[Side, list[ContinuationRow]] = {
            "original": [branch(world, run, step, history[step].turn, "original", -1, n) for n in range(K)],
            "alternative": [branch(world, run, step, other.turn, "alternative", 0, n) for n in range(K)],
        }
        continuations += [row for rows in sides.values() for row in rows]
        wins = {side: sum(row.success for row in rows) for side, rows in sides.items()}
        gap = (wins["alternative"] - wins["original"]) / K
        found[step] = Criticality(
            alternative=0,
            difference=gap,
            low=gap - 0.4,
            high=gap + 0.4,
            confidence=0.95,
            alternative_successes=wins["alternative"],
            alternative_n=K,
            original_successes=wins["original"],
            original_n=K,
            verified=gap >= 0.75 if not run.success else gap <= -0.75,
        )
    return Searched(run, step_rows(run, found), tuple(continuations))


@pytest.fixture(scope="module")
def failures(world: PreferenceWorld) -> list[Searched]:
    return [search(world, run, "teacher", {}) for run in world.of("policy", False)]


@pytest.fixture(scope="module")
def successes(world: PreferenceWorld) -> list[Searched]:
    weak = {"skill": 0.0, "lookalike": 0.9, "early_stop": 0.5}
    return [search(world, run, "policy", weak) for run in world.of("policy", True)[:11]]


def check(world: PreferenceWorld, one: Searched, pairs: tuple[PreferenceRow, ...], failed: bool) -> None:
    verified = [row.step for row in one.steps if row.criticality and row.criticality.verified]
    for pair in pairs:
        start, end = turn_ranges(one.run.content)[pair.step]
        assert pair.prompt == one.run.content[:start]
        bare = [item.model_dump(exclude={"tool_call_id"}) for item in one.run.content[start:end]]
        recorded, other = (pair.rejected, pair.chosen) if failed else (pair.chosen, pair.rejected)
        assert [item.model_dump(exclude={"tool_call_id"}) for item in recorded] == bare
        tried = next(row for row in one.continuations if (row.step, row.side) == (pair.step, "alternative"))
        assert [item.model_dump(exclude={"tool_call_id"}) for item in other] == [
            item.model_dump(exclude={"tool_call_id"}) for item in tried.content[: len(other)]
        ]
        assert pair.chosen != pair.rejected
        assert adp_problems(pair, pair.chosen) == () == adp_problems(pair, pair.rejected)
        assert pair.same_kind == (tried.action_kind == one.steps[pair.step].action_kind)
        assert pair.position == ("earliest" if pair.step == min(verified) else "later")
        prompt, history = parsed(one.run, (*pair.prompt, *pair.chosen))
        assert ungrounded(prompt, history, start=pair.step) == []
        strength = pair.strength
        assert strength is not None
        assert strength.difference > 0
        wins = {
            side: sum(row.success for row in one.continuations if (row.step, row.side) == (pair.step, side))
            for side in ("original", "alternative")
        }
        mine = (strength.rejected_successes, strength.chosen_successes)
        assert mine == ((wins["original"], wins["alternative"]) if failed else (wins["alternative"], wins["original"]))
        assert swap(swap(pair)) == pair
        # The observations of the prompt are what the environment says, and the first chosen call is accepted.
        at = redo(world, pair)
        if isinstance(pair.chosen[0], ApiAction) and failed:
            assert act(at.episode, pair.chosen[0])[1] is None


def test_failed_runs(world: PreferenceWorld, failures: list[Searched]) -> None:
    total = 0
    for one in failures:
        pairs = verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE)
        verified = [row for row in one.steps if row.criticality and row.criticality.verified]
        assert len(pairs.rows) + len(pairs.rejected) == len(verified)
        check(world, one, pairs.rows, failed=True)
        assert all(pair.selected for pair in pairs.rows)
        assert all(pair.kind is PairKind.VERIFIED_STEP and not pair.from_success for pair in pairs.rows)
        assert from_arrow(to_arrow(pairs.rows, PreferenceRow), PreferenceRow) == list(pairs.rows)
        total += len(pairs.rows)
    assert total >= 2


def test_successful_runs(world: PreferenceWorld, successes: list[Searched]) -> None:
    total = 0
    for one in successes:
        pairs = verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE)
        check(world, one, pairs.rows, failed=False)
        assert all(pair.selected for pair in pairs.rows)
        assert all(pair.kind is PairKind.VERIFIED_STEP_SUCCESS and pair.from_success for pair in pairs.rows)
        total += len(pairs.rows)
        wrong = [row.model_copy(update={"label": -1}) for row in one.steps]
        assert verified_pairs(one.run, wrong, one.continuations, provenance=PROVENANCE).rows == ()
    assert total >= 2


def test_order_of_rows_does_not_matter(failures: list[Searched], successes: list[Searched]) -> None:
    everything = [row for one in failures for row in one.continuations]
    for one in failures:
        straight = verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE)
        turned = verified_pairs(one.run, one.steps[::-1], everything[::-1], provenance=PROVENANCE)
        assert straight == turned


def test_missing_branches_are_refused(failures: list[Searched]) -> None:
    one = next(one for one in failures if any(row.criticality and row.criticality.verified for row in one.steps))
    with pytest.raises(ValueError, match="no branch holds its alternative"):
        verified_pairs(one.run, one.steps, (), provenance=PROVENANCE)


def test_a_chosen_side_that_knows_too_much_is_rejected(failures: list[Searched]) -> None:
    one = next(
        one for one in failures if verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE).rows
    )
    good = verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE)
    step = good.rows[0].step
    told = [
        row.model_copy(update={"content": (_telling(row.content[0]), *row.content[1:])})
        if row.step == step and row.side == "alternative"
        else row
        for row in one.continuations
    ]
    bad = verified_pairs(one.run, one.steps, told, provenance=PROVENANCE)
    assert len(bad.rows) == len(good.rows) - 1
    assert [item.reason for item in bad.rejected] == [Reason.UNGROUNDED]
    assert bad.rejected[0].row_id == f"{one.run.id}/{step}"
    assert "Xanadu" in bad.rejected[0].detail


def _telling(item: ContentItem, thought: str = "It must be Xanadu Quentrill.") -> ContentItem:
    return item.model_copy(update={"reasoning_content": thought})


def test_an_expert_that_is_a_model_may_think_in_its_own_words_and_name_nothing(failures: list[Searched]) -> None:
    """Whoever made the run: it is the alternative's words that are judged."""
    one = next(
        one for one in failures if verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE).rows
    )
    step = verified_pairs(one.run, one.steps, one.continuations, provenance=PROVENANCE).rows[0].step

    def rows(thought: str, own_words: bool | None) -> int:
        continuations = [
            row.model_copy(update={"content": (_telling(row.content[0], thought), *row.content[1:])})
            if row.step == step and row.side == "alternative"
            else row
            for row in one.continuations
        ]
        made = verified_pairs(one.run, one.steps, continuations, provenance=PROVENANCE, own_words=own_words)
        return len([row for row in made.rows if row.step == step])

    assert one.run.model is None
    prose = "Hmm, perhaps a cleverer phrasing pays off."
    assert (rows(prose, True), rows(prose, None)) == (1, 0)
    assert rows("It must be Xanadu Quentrill.", True) == 0


def test_an_alternative_that_is_the_recorded_action_is_no_pair(failures: list[Searched]) -> None:
    one = next(one for one in failures if any(row.criticality and row.criticality.verified for row in one.steps))
    verified = next(row for row in one.steps if row.criticality and row.criticality.verified)
    start, end = turn_ranges(one.run.content)[verified.step]
    same = [
        row.model_copy(update={"content": one.run.content[start:end]})
        if (row.step, row.side) == (verified.step, "alternative")
        else row
        for row in one.continuations
    ]
    made = verified_pairs(one.run, one.steps, same, provenance=PROVENANCE)
    assert verified.step not in {pair.step for pair in made.rows}
    assert not made.rejected


@given(data=st.data())
def test_position_and_nature_by_brute_force(failures: list[Searched], data: st.DataObject) -> None:
    """Any pattern of verified, mistaken and corrected steps on a recorded run."""
    run = max((one.run for one in failures), key=lambda row: row.turns)
    ranges = turn_ranges(run.content)
    verified = data.draw(st.sets(st.integers(0, len(ranges) - 1)))
    error = data.draw(st.none() | st.integers(0, len(ranges) - 1))
    corrected = data.draw(st.sets(st.integers(0, len(ranges) - 1)))
    by_branching = data.draw(st.booleans())
    crit = Criticality(
        alternative=0,
        difference=0.75,
        low=0.2,
        high=1.0,
        confidence=0.95,
        alternative_successes=3,
        alternative_n=4,
        original_successes=0,
        original_n=4,
        verified=True,
    )
    found = {n: crit if n in verified else crit.model_copy(update={"verified": False}) for n in range(len(ranges))}
    steps = [
        row.model_copy(
            update={
                "first_error": row.first_error and not by_branching,
                "first_error_branching": row.first_error if by_branching else None,
                "label_reason": LabelReason.CORRECTED if row.step in corrected else LabelReason.NEUTRAL,
            }
        )
        for row in step_rows(run, found, error)
    ]
    query = run.content[0].content[:-1]  # type: ignore[union-attr]
    action = ApiAction(function="search", kwargs={"query": query}, reasoning_content="I try other words.")
    tried = [
        bare(
            ContinuationRow,
            id=f"b{n}",
            trajectory_id=run.id,
            task_id=run.task_id,
            step=n,
            side="alternative",
            action_kind="search",
            content=(
                action.model_copy(update={"tool_call_id": "x"}),
                TextObservation(content="", source="environment", name="search", tool_call_id="x"),
            ),
            success=True,
            verdict=run.verdict,
            stop_reason=run.stop_reason,
            split=run.split,
        )
        for n in range(len(ranges))
    ]
    made = verified_pairs(run, data.draw(st.permutations(steps)), tried, provenance=PROVENANCE)
    assert not made.rejected
    assert [pair.step for pair in made.rows] == sorted(verified)
    for pair in made.rows:
        wrong = [n for n in (*verified, *([] if error is None else [error])) if n < pair.step]
        off = bool(wrong) and not any(max(wrong) < n < pair.step for n in corrected)
        assert pair.nature == ("recovery" if off else "decision")
        assert off_path(steps, pair.step) == off
        assert pair.position == ("earliest" if pair.step == min(verified) else "later")
        assert pair.same_kind == (
            run.content[ranges[pair.step][0]].class_ == "api_action" and steps[pair.step].action_kind == "search"
        )
        assert pair.chosen == (action,)
        later = run.content[ranges[pair.step][0] :]
        assert all(item not in pair.prompt for item in later if getattr(item, "tool_call_id", None))


def test_no_pair_prefers_an_answer_before_all_was_seen() -> None:
    answer = [MessageAction(content="Keld")]
    call = [ApiAction(function="search", kwargs={"query": "Keld"})]

    def skips(side: list[ContentItem], progress: float | None, kind: PairKind = PairKind.VERIFIED_STEP) -> bool:
        row: Any = SimpleNamespace(step=2, action_kind="answer" if side is answer else "search")
        before: Any = SimpleNamespace(step=1, progress=progress)
        branch: Any = SimpleNamespace(content=side)
        return _skips([before], row, branch, kind)

    assert skips(answer, 0.5)
    assert skips(answer, 0.5, PairKind.VERIFIED_STEP_SUCCESS)
    assert not skips(answer, 1.0)
    assert not skips(answer, None)  # nothing tells
    assert not skips(call, 0.5)


def test_of_two_results_that_are_tried_none_is_better() -> None:
    def tries(thought: str, document: str) -> list[ContentItem]:
        return [ApiAction(function="open", kwargs={"document": document}, reasoning_content=thought)]

    first = tries("I give Jon Maak a try.", "person/jon-1")
    assert _as_good(first, tries("Next I try Ida Venn.", "person/ida-2"))
    assert not _as_good(first, tries("Next I try Keld.", "city/keld-3"))
    assert not _as_good(tries('Jon Maak says: "I was born in Keld."', "person/jon-1"), first)


def test_who_looks_to_see_gives_no_reason() -> None:
    prompt = Prompt(system="s", question="Who?", tools=())
    earlier = Step(turn=Turn(thought="I search for Keld.", calls=()))
    turn = Step(turn=Turn(thought="I give Jon Maak a try.", calls=()))
    assert poor_reason(prompt, (earlier, turn), start=1) is not None


def test_a_call_that_was_refused_is_no_decision() -> None:
    good = SimpleNamespace(verified=True, difference=1.0)
    row: Any = SimpleNamespace(criticality=good, label=-1, label_reason=LabelReason.WRONG_TURN)
    assert _better(row, PairKind.VERIFIED_STEP)
    row.label_reason = LabelReason.INVALID_CALL
    assert not _better(row, PairKind.VERIFIED_STEP)


def test_no_pair_prefers_a_call_that_has_just_gone_through(failures: list[Searched]) -> None:
    for searched in failures:
        _, history = history_of(searched.run)
        for at, step in enumerate(history[:-1]):
            if not step.turn.calls or any(result.error for result in step.results):
                continue
            same = [
                item.model_copy(update={"reasoning_content": None, "description": None})
                for item in searched.run.content[slice(*turn_ranges(searched.run.content)[at])]
                if isinstance(item, ApiAction)
            ]
            refused = not_grounded(PairPosition.at(searched.run, at + 1), same, stage="test")
            assert refused is not None
            assert "has just gone through" in refused.detail
            refused = not_grounded(PairPosition.at(searched.run, at), same, stage="test")
            assert refused is None or "has just gone through" not in refused.detail
            return
    pytest.fail("no failed run calls anything")


def test_no_pair_prefers_what_is_thought_by_who_errs(failures: list[Searched]) -> None:
    """That nothing had to be done is no reason to say that all is done."""
    run = failures[0].run.model_copy(update={"environment": "app"})
    for thought, said, fits in (
        ("I do not like the way this is said, so I do not do it.", "That is against the rules.", False),
        ("Nothing is left to do. I say what was done.", PHRASES["m_done_plain"][0], False),
        ("So I say so.", "That is against the rules.", True),
    ):
        told = [MessageAction(content=said, description=thought, reasoning_content=thought)]
        refused = not_grounded(PairPosition.at(run, len(turn_ranges(run.content)) - 1), told, stage="test")
        assert (refused is None or "errs" not in refused.detail) is fits
