from __future__ import annotations

import pytest
from efficacy_lab.rows import Action, Step, action_of, call, encoded
from efficacy_lab.words import AGENT, CALL, END, Conversation, SlotsUsedUp, Vocabulary, WordsConfig, join, split
from hypothesis import given
from hypothesis import strategies as st

LOOK = call("look", place="city/mirova-00d3")


def steps(name: str) -> tuple[str, tuple[Step, ...]]:
    """A question, and the call that answers it."""
    return f"Where was {name} born?", (Step(LOOK, f"- [{name}](person/x), born_in: Mirova\n- end"),)


NAMES = ("Orvan Tells", "Kessa Blum", "Ib Marrow", "Una Fletch")


def learned(slots: int = 16) -> Vocabulary:
    rows = [[f"Where was {name} born?", f"- [{name}](person/x), born_in: Mirova\n- end"] for name in NAMES]
    return Vocabulary.learn(rows, WordsConfig(share=0.5, names=True, merges=50, merge_count=2, slots=slots))


@given(st.text(alphabet=st.sampled_from(list("ab_/-.,\"'()[]{}: \n\té数9")), max_size=60))
def test_splitting_loses_nothing(text: str) -> None:
    assert join(split(text)) == text


@given(st.text(alphabet=st.sampled_from(list("Wwhere asborn?-[]\n")), max_size=60))
def test_a_conversation_gives_back_what_it_read(text: str) -> None:
    conversation = Conversation(learned(slots=64).tables(), "one")
    assert conversation.text(conversation.ids(text)) == text


def test_frequent_words_are_known_and_names_are_slots() -> None:
    vocabulary = learned()
    assert {"Where", "born", "Mirova"} <= set(vocabulary.words)
    assert not {"Orvan", "Kessa", "Tells"} & set(vocabulary.words)
    conversation = Conversation(vocabulary.tables(), "one")
    first, again = conversation.ids("Orvan Tells"), conversation.ids("Where was Orvan Tells born?")
    assert len(first) == 2
    assert min(first) >= vocabulary.first_slot
    assert [one for one in again if one >= vocabulary.first_slot] == first
    assert conversation.used == frozenset(first)


def test_merges_make_a_frequent_line_one_token_and_stop_at_its_end() -> None:
    vocabulary = learned()
    ids = Conversation(vocabulary.tables(), "one").ids("](person/x), born_in: Mirova\n- end")
    pieces = vocabulary.tables().pieces
    assert ["".join(pieces[one]) for one in ids][-1].startswith("-")
    assert len(ids) < len(split("](person/x), born_in: Mirova\n- end"))
    for merged in pieces:
        assert "\n" not in merged[:-1]


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [[f"Where was {name} born? In {name[0]}."] for name in NAMES]
    config = WordsConfig(share=0.5, merges=20, merge_count=2)
    assert Vocabulary.learn(rows, config) == Vocabulary.learn(rows[::-1], config)


def test_slots_are_called_by_the_conversation() -> None:
    tables = learned().tables()
    same, other = Conversation(tables, "one").ids("Orvan"), Conversation(tables, "two").ids("Orvan")
    assert same == Conversation(tables, "one").ids("Orvan")
    assert same != other


def test_too_many_rare_words_are_said_to_be_too_many() -> None:
    conversation = Conversation(learned(slots=8).tables(), "one")
    with pytest.raises(SlotsUsedUp, match="more than 8"):
        conversation.ids(" ".join(f"rare{number}" for number in range(9)))


def test_a_slot_that_stands_for_nothing_is_marked() -> None:
    vocabulary = learned()
    assert Conversation(vocabulary.tables(), "one").text([vocabulary.first_slot]) == "<slot>"


def test_only_what_the_agent_wrote_is_a_target() -> None:
    row = encoded(learned().tables(), *steps("Orvan Tells"), Action(None, "Mirova"))
    ids, targets = row.ids.tolist(), row.targets.tolist()
    inside = [at for at, one in enumerate(ids) if one == AGENT]
    ends = [ids.index(END, at) for at in inside]
    assert [at for at, wanted in enumerate(targets) if wanted] == [
        place for at, end in zip(inside, ends, strict=True) for place in range(at + 1, end + 1)
    ]
    assert ids[inside[0] + 1] == CALL


def test_of_a_correction_only_the_side_is_a_target_and_what_is_before_is_read_alike() -> None:
    tables = learned().tables()
    sides = (Action(None, "Mirova"), Action(None, "Orvan"))
    good, bad = (encoded(tables, *steps("Orvan Tells"), side, first=1) for side in sides)
    shared = len(good.ids) - int(good.targets.sum())
    assert good.ids[:shared].tolist() == bad.ids[:shared].tolist()
    assert not good.targets[:shared].any()
    assert good.targets[shared:].all()


def test_a_turn_is_read_as_it_was_written() -> None:
    conversation = Conversation(learned().tables(), "one")
    ids = [CALL, *conversation.ids(LOOK.written)]
    assert action_of(ids, conversation) == LOOK
    assert action_of(conversation.ids("Mirova"), conversation) == Action(None, "Mirova")
    for wrong in ([CALL, *conversation.ids("look")], [*conversation.ids("so"), *ids], [*ids, *ids]):
        assert action_of(wrong, conversation) is None


def test_names_in_links_are_slots_however_frequent() -> None:
    rows = [[f"Where is {name}?", "- [Lake Orn](lake/lake-orn-12ab), lies_in: here\n- no end"] for name in NAMES]
    config = WordsConfig(share=0.5, merges=0, merge_count=2)
    words = set(Vocabulary.learn(rows, config).words)
    assert {"Where", "lies_in", "here", "end"} <= words
    assert not {"Lake", "Orn", "lake/lake-orn-12ab"} & words
    assert {"Lake", "Orn", "lake/lake-orn-12ab"} <= set(
        Vocabulary.learn(rows, config.model_copy(update={"names": True})).words
    )
