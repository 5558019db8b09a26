"""Citations, stages and checklists: what a response must show for each, and what it can't earn."""

from __future__ import annotations

from typing import Any

import pytest
from reward_samples import BIRTHDAY, GIVEN

from synth.annotate.rewards import compute_score, group_rewards, reward
from synth.schemas.rl import Criterion

FACTS = {fact.hop: fact for item in BIRTHDAY.rubric for fact in item.facts}
PAGES = {hop: fact.document_id for hop, fact in FACTS.items()}
SAID = {fact.hop: item.names[0] for item in BIRTHDAY.rubric for fact in item.facts}


def page(hop: int) -> dict[str, Any]:
    return {"role": "tool", "content": FACTS[hop].statement}


def run(read: list[int], cite: list[int], *, last: str = "30 January 1868") -> list[dict[str, Any]]:
    """A response that reads the evidence of some hops, and cites that of some."""
    turns: list[dict[str, Any]] = []
    for hop in read:
        call = {"type": "function", "function": {"name": "open", "arguments": {"document": PAGES[hop]}}}
        turns += [{"role": "assistant", "content": "", "tool_calls": [call]}, page(hop)]
    words = " ".join(f"{SAID[hop]} [{PAGES[hop]}]." if hop in cite else f"{SAID[hop]}." for hop in FACTS)
    return [*turns, {"role": "assistant", "content": f"{words}\nAnswer: {last}"}]


EVERY = list(FACTS)
WHOLE = run(EVERY, EVERY)


def test_the_truth_knows_the_chain_and_its_weights() -> None:
    assert len(EVERY) == 3
    assert [fact.needs for fact in FACTS.values()] == [(), (0,), (1,)]
    assert sum(item.weight for item in BIRTHDAY.checklist) == pytest.approx(1.0)
    assert sum(item.weight for item in BIRTHDAY.checklist if item.kind == "answer") == 0.5


def test_a_hop_counts_where_it_is_read_named_cited_and_leads_to_the_answer() -> None:
    assert reward(WHOLE, BIRTHDAY, rule="cited").value == 1.0
    uncited = reward(run(EVERY, [0, 2]), BIRTHDAY, rule="cited")
    assert uncited.parts == {
        "read": 1.0,
        "named": 1.0,
        "cited": pytest.approx(2 / 3),
        "connected": pytest.approx(1 / 3),
    }
    assert uncited.value == pytest.approx(0.7 + 0.3 / 3), "the first hop leads to the answer through the second alone"
    unread = reward(run([0, 1], EVERY), BIRTHDAY, rule="cited")
    assert unread.parts["cited"] == pytest.approx(2 / 3), "a citation of a page that was not read is none"
    assert unread.parts["connected"] == 0.0
    assert reward(run(EVERY, EVERY, last="9 June 1874"), BIRTHDAY, rule="cited").value == 0.0
    best, other = group_rewards([run(EVERY, [2]), run(EVERY, [])], BIRTHDAY, rule="cited")
    assert (best.value, other.value) == (1.0, 0.7), "measured against the best of the group"


def test_stages_are_rewarded_by_themselves() -> None:
    whole = reward(WHOLE, BIRTHDAY, rule="stages")
    assert {**whole.parts, "plan": None} == {"plan": None, "search": 1.0, "evidence": 1.0, "answer": 1.0}
    half = reward(run([0, 1], [], last="9 June 1874"), BIRTHDAY, rule="stages")
    assert half.value == pytest.approx((0.2 + 0.3) * 2 / 3), "a wrong answer still has found two of three"
    planned = [{"role": "assistant", "content": BIRTHDAY.question}, *WHOLE]
    assert reward(planned, BIRTHDAY, rule="stages").value == pytest.approx(1.0)


def test_a_checklist_gives_its_weights_to_the_turns_that_meet_it() -> None:
    found = reward(WHOLE, BIRTHDAY, rule="checklist")
    assert found.value == pytest.approx(1.0)
    assert len(found.turns) == 4
    assert sum(found.turns) == pytest.approx(1.0)
    assert found.turns[0] == pytest.approx(0.5 / 6), "one page of six items on the way"
    wrong = reward(run([0], [], last="9 June 1874"), BIRTHDAY, rule="checklist")
    assert wrong.value == pytest.approx(0.5 * 4 / 6), "one page and three names"


def test_what_no_text_can_tell_is_null() -> None:
    asked = BIRTHDAY.model_copy(
        update={"checklist": (Criterion(text="At the end: paid.", kind="state", weight=1.0, details={"change": None}),)}
    )
    found = reward(WHOLE, asked, rule="checklist")
    assert (found.value, found.parts) == (None, {"1. At the end: paid.": None})
    assert reward("Ann Lee", GIVEN, rule="checklist").value is None, "a given question has no checklist"


def test_texts_with_observations_inside_are_read_as_turns_are() -> None:
    text = "".join(
        f"<tool_call>{{}}</tool_call>\n<tool_response>\n{FACTS[hop].statement}\n</tool_response>\n" for hop in EVERY
    )
    text += WHOLE[-1]["content"]
    assert compute_score(None, text, BIRTHDAY, rule="cited")["score"] == 1.0
    claimed = f"{FACTS[0].statement} {FACTS[1].statement} {FACTS[2].statement} {WHOLE[-1]['content']}"
    assert compute_score(None, claimed, BIRTHDAY, rule="cited")["score"] == 0.7, "what it says itself it has not read"
