"""Every rejected side is carried out again, on a fresh episode, and found worse by other means than the ones that made
the pair."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from preference_world import PreferenceWorld, adp_problems, flat, new_of_walk, new_quote, play_side, redo

from synth.agents.grounding.check import ungrounded
from synth.annotate.preferences.perturb.words import quotes, sentences, up_to_quote
from synth.annotate.preferences.perturbation import PERTURBATIONS, perturbation_of, perturbation_pairs
from synth.annotate.preferences.sides import Pairs, parsed
from synth.environments.answers import check_task
from synth.identity import derive_generator
from synth.schemas.adp import MessageAction
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.rejections import Reason
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges
from synth.testing.corpus import PROVENANCE


def pairs_of(world: PreferenceWorld, row: TrajectoryRow, names: tuple[str, ...] = tuple(PERTURBATIONS)) -> Pairs:
    return perturbation_pairs(
        row,
        world.tasks[row.task_id],
        world.environment,
        generator_for=lambda *parts: derive_generator(3, *parts),
        provenance=PROVENANCE,
        names=names,
    )


@pytest.fixture(scope="module")
def made(world: PreferenceWorld) -> list[PreferenceRow]:
    good = [row for row in world.runs if row.success]
    return [pair for row in good for pair in pairs_of(world, row).rows]


def test_all_perturbations_happen(made: list[PreferenceRow]) -> None:
    counts = Counter(map(perturbation_of, made))
    assert set(counts) == set(PERTURBATIONS), counts
    assert {row.family for row in made} == {item.family for item in PERTURBATIONS.values()}


def test_prompt_is_the_prefix_and_chosen_is_what_the_run_did(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    runs = {row.id: row for row in world.runs}
    for pair in made:
        run = runs[pair.trajectory_id]
        start, end = turn_ranges(run.content)[pair.step]
        assert pair.prompt == run.content[:start]
        assert [item.model_dump(exclude={"tool_call_id"}) for item in pair.chosen] == [
            item.model_dump(exclude={"tool_call_id"}) for item in run.content[start:end]
        ]
        assert pair.chosen != pair.rejected
        assert pair.kind is PairKind.PERTURBATION
        assert pair.from_success
        assert not pair.selected


def test_both_sides_are_valid_after_the_prompt(made: list[PreferenceRow]) -> None:
    for pair in made:
        assert adp_problems(pair, pair.chosen) == ()
        assert adp_problems(pair, pair.rejected) == ()


def test_chosen_sides_are_grounded(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    runs = {row.id: row for row in world.runs}
    for pair in made:
        prompt, history = parsed(runs[pair.trajectory_id], (*pair.prompt, *pair.chosen))
        assert ungrounded(prompt, history, start=pair.step) == []


def test_rejected_sides_are_really_worse(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    ways: Counter[str] = Counter()
    for pair in made:
        task = world.tasks[pair.task_id]
        at = redo(world, pair)
        calls, answer = play_side(at, pair.rejected)
        if answer is not None:
            verdict = check_task(task, answer)
            if verdict.correct is False:
                # Nor is it another name of the right page.
                gold = task.walk.hops[-1].target.document_id
                assert f"[{answer}]({gold})" not in "".join(at.seen)
                ways["wrong"] += 1
                continue
            before = " | ".join(map(flat, at.seen))
            assert verdict.correct
            assert any(flat(hop.evidence.quote) not in before for hop in task.walk.hops), pair.why
            ways["unsupported"] += 1
            continue
        assert calls
        if all(error for _, _, error in calls):
            ways["error"] += 1
        elif all((call.function, call.kwargs, content) in at.given for call, content, _ in calls):
            ways["repeat"] += 1
        else:
            assert not new_quote(task, at.seen, [content for _, content, _ in calls]), pair.difference
            good, _ = play_side(redo(world, pair), pair.chosen)
            assert new_of_walk(task, at.seen, [content for _, content, _ in good]), pair.why
            ways["nothing"] += 1
    assert set(ways) == {"wrong", "unsupported", "error", "repeat", "nothing"}, ways


def test_what_is_said_of_a_pair_is_true(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    """Quotations of evidence in ``why`` are those of documents; false citations stand in nothing that was seen."""
    for pair in made:
        task = world.tasks[pair.task_id]
        for hop in task.walk.hops:
            assert world.environment.document(hop.evidence.document_id) is not None
            if f'"{hop.evidence.quote}" ({hop.evidence.document_id})' in pair.why:
                document = world.environment.document(hop.evidence.document_id)
                assert document is not None
                assert hop.evidence.quote in document.text
        if perturbation_of(pair) != "hallucinated_citation":
            continue
        seen = " | ".join(flat(item.content) for item in pair.prompt if item.class_ == "text_observation")
        claimed = [text for item in pair.rejected for text in quotes(item.reasoning_content)]  # type: ignore[union-attr]
        assert any(flat(text) not in seen for text in claimed), pair.rejected


def test_only_false_citations_quote_what_was_not_seen(made: list[PreferenceRow]) -> None:
    for pair in made:
        if perturbation_of(pair) in ("hallucinated_citation", "ignored_error"):
            continue
        seen = " | ".join(flat(item.content) for item in pair.prompt if item.class_ == "text_observation")
        for item in pair.rejected:
            for text in quotes(item.reasoning_content):  # type: ignore[union-attr]
                assert flat(text) in seen


def test_rejected_answers_never_come_from_the_future(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    for pair in made:
        seen = " | ".join(flat(item.content) for item in pair.prompt if item.class_ == "text_observation")
        for item in pair.rejected:
            if isinstance(item, MessageAction):
                # Where several are asked for, each of them was seen.
                parts = [item.content] if flat(item.content) in seen else re.split(r", | and ", item.content)
                assert all(flat(part) in seen for part in parts), pair.difference


def test_having_a_thought_does_not_tell_the_sides_apart(made: list[PreferenceRow]) -> None:
    for pair in made:
        thoughts = [side[0].reasoning_content is None for side in (pair.chosen, pair.rejected)]  # type: ignore[union-attr]
        assert thoughts[0] == thoughts[1]


def test_answering_does_not_tell_the_sides_apart(made: list[PreferenceRow]) -> None:
    """Neither "who answers is wrong" nor "who answers is right" holds in the whole set."""
    answers = Counter(
        (isinstance(pair.chosen[-1], MessageAction), isinstance(pair.rejected[-1], MessageAction)) for pair in made
    )
    early, late = answers[False, True], answers[True, False]
    assert min(early, late) > 0.4 * max(early, late), answers


def test_pairs_depend_on_run_and_name_alone(world: PreferenceWorld) -> None:
    row = next(row for row in world.runs if row.success)
    everything = pairs_of(world, row)
    assert everything == pairs_of(world, row)
    for name in PERTURBATIONS:
        alone = pairs_of(world, row, (name,)).rows
        together = [pair for pair in everything.rows if perturbation_of(pair) == name]
        assert [pair for pair in alone if pair in together] == together  # less what another name had made before


def test_failed_and_changed_runs_make_no_pairs(world: PreferenceWorld) -> None:
    failed = next(row for row in world.runs if not row.success)
    with pytest.raises(ValueError, match="did not succeed"):
        pairs_of(world, failed)
    good = next(row for row in world.runs if row.success)
    at = next(number for number, item in enumerate(good.content) if number and item.class_ == "text_observation")
    changed = good.content[at].model_copy(update={"content": "3 results for nothing."})
    content = (*good.content[:at], changed, *good.content[at + 1 :])
    refused = pairs_of(world, good.model_copy(update={"content": content}))
    assert not refused.rows
    assert [item.reason for item in refused.rejected] == [Reason.ENVIRONMENT_ERROR]


def test_rows_survive_storage(made: list[PreferenceRow]) -> None:
    assert from_arrow(to_arrow(made, PreferenceRow), PreferenceRow) == made
    assert len({pair.id for pair in made}) == len(made)


@pytest.mark.parametrize(
    ("thought", "parts"),
    [
        (None, []),
        ("One. Two.", ["One.", "Two."]),
        ('It says: "A. B. C." So I have it. Done: D.', ['It says: "A. B. C."', "So I have it.", "Done: D."]),
        ('"A is B." - that is what I was after. Go on.', ['"A is B." - that is what I was after.', "Go on."]),
    ],
)
def test_sentences(thought: str | None, parts: list[str]) -> None:
    assert sentences(thought) == parts


def test_who_goes_on_calling_has_not_announced_the_answer(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    runs = {row.id: row for row in world.runs}
    needless = [pair for pair in made if perturbation_of(pair) == "needless_call"]
    assert needless
    for pair in needless:
        closing = sentences(getattr(runs[pair.trajectory_id].content[-1], "reasoning_content", None))[-1]
        assert quotes(closing) or closing not in (getattr(pair.rejected[0], "reasoning_content", None) or "")


def test_a_count_of_results_is_no_value_that_was_read(world: PreferenceWorld, made: list[PreferenceRow]) -> None:
    """`5 results for ...` is what the tool says of itself: nobody would take it for a number of inhabitants."""
    for pair in made:
        answer = pair.rejected[-1]
        if isinstance(answer, MessageAction) and answer.content.isdigit() and len(answer.content) <= 2:
            shown = "\n".join(getattr(item, "content", "") for item in pair.prompt)
            own = len(re.findall(rf"^{answer.content} (?:results?|match(?:es)?) for ", shown, re.MULTILINE))
            assert len(re.findall(rf"(?<![\w.,]){answer.content}(?![\w,])", shown)) > own


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        ('It comes with "Born in 1931." and I want to see the rest.', 'It comes with "Born in 1931."'),
        ('"Born in 1931." - that is what I was after.', '"Born in 1931." - that is what I was after.'),
        ("I go on and see.", "I go on and see."),
    ],
)
def test_what_is_quoted_is_kept_without_what_was_to_come_of_it(part: str, kept: str) -> None:
    assert up_to_quote(part) == kept
