from __future__ import annotations

import pytest
from efficacy_lab.rows import Pair, Row, encode_row, reply_of
from efficacy_lab.words import AGENT, CALL, END, Conversation, SlotsUsedUp, Vocabulary, WordsConfig, join, split
from hypothesis import given
from hypothesis import strategies as st

CALL_MESSAGE = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"type": "function", "function": {"name": "look", "arguments": {"place": "city/mirova-00d3"}}}],
}


def question(name: str) -> list[dict[str, object]]:
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"Where was {name} born?"},
        CALL_MESSAGE,
        {"role": "tool", "name": "look", "content": f"- [{name}](person/x), born_in: Mirova\n- end"},
        {"role": "assistant", "content": "Mirova"},
    ]


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
    vocabulary = learned()
    encoded = encode_row(Row("r", "t", tuple(question("Orvan Tells"))), vocabulary.tables(), "r")
    ids, targets = encoded.ids.tolist(), encoded.targets.tolist()
    assert len(ids) == len(targets)
    for at, one in enumerate(ids):
        if one == AGENT:
            assert not targets[at]
            end = ids.index(END, at)
            assert all(targets[at + 1 : end + 1])
    inside = [at for at, one in enumerate(ids) if one == AGENT]
    written = sum(ids.index(END, at) - at for at in inside)
    assert sum(targets) == written
    assert ids[inside[0] + 1] == CALL


def test_of_a_pair_only_the_sides_are_targets_and_the_prompt_is_read_alike() -> None:
    tables = learned().tables()
    messages = tuple(question("Orvan Tells"))
    other = {"role": "assistant", "content": "Orvan"}
    chosen, rejected = Pair("p", "t", messages[:4], messages[4:], (other,)).sides
    good, bad = (encode_row(side, tables, "p") for side in (chosen, rejected))
    shared = len(good.ids) - int(good.targets.sum())
    assert good.ids[:shared].tolist() == bad.ids[:shared].tolist()
    assert not good.targets[:shared].any()
    assert good.targets[shared:].all()


def test_a_reply_is_read_as_it_was_written() -> None:
    tables = learned().tables()
    conversation = Conversation(tables, "one")
    ids = [CALL, *conversation.ids('look{"place":"city/mirova-00d3"}')]
    assert reply_of(ids, conversation) == ("", [("look", '{"place":"city/mirova-00d3"}')])
    assert reply_of(conversation.ids("Mirova"), conversation) == ("Mirova", [])
    assert reply_of([CALL, *conversation.ids("look")], conversation) == ("", [("look", "")])


def test_names_in_links_are_slots_however_frequent() -> None:
    rows = [[f"Where is {name}?", "- [Lake Orn](lake/lake-orn-12ab), lies_in: here\n- no end"] for name in NAMES]
    config = WordsConfig(share=0.5, merges=0, merge_count=2)
    words = set(Vocabulary.learn(rows, config).words)
    assert {"Where", "lies_in", "here", "end"} <= words
    assert not {"Lake", "Orn", "lake/lake-orn-12ab"} & words
    assert {"Lake", "Orn", "lake/lake-orn-12ab"} <= set(
        Vocabulary.learn(rows, config.model_copy(update={"names": True})).words
    )
