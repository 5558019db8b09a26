"""The language understanding of scripted policies: words of relations, sentences to facts."""

from __future__ import annotations

import pytest

from synth.sources.world.lexicon import Reading, content_words, lexicon, read_sentence, stem
from synth.sources.world.schema import RELATIONS


@pytest.mark.parametrize(
    ("word", "relation"),
    [
        ("directed", "director"),
        ("director", "director"),
        ("born", "born_in"),
        ("birthplace", "born_in"),
        ("mentor", "mentor"),
        ("capital", "capital"),
        ("founder", "founded_by"),
        ("written", "author"),
        ("adaptation", "adapted_from"),
        ("headquarters", "headquartered_in"),
        ("married", "spouse"),
        ("inhabitants", "population"),
        ("summit", "height"),
    ],
)
def test_words_lead_to_relations(word: str, relation: str) -> None:
    assert relation in lexicon()[stem(word)]


def test_every_relation_has_words() -> None:
    known = {name for names in lexicon().values() for name in names}
    assert known == set(RELATIONS)
    assert not {"the", "of", "and", "was"} & set(lexicon())
    # Most words are telling: they speak of few relations.
    sizes = sorted(len(names) for names in lexicon().values())
    assert sizes[len(sizes) // 2] <= 2


def test_stem_and_content_words() -> None:
    assert stem("directed") == stem("Director") == stem("directs") == stem("directing")
    assert content_words("Who directed {o} in the year?") == ["direct"]


@pytest.mark.parametrize(
    ("sentence", "reading"),
    [
        ("Vale was born in Tarn.", Reading("born_in", "Vale", ("Tarn",))),
        ("The River Senn rises on the slopes of Mount Hark.", Reading("rises_on", "River Senn", ("Mount Hark",))),
        ("It flows through Tarn.", Reading("flows_through", "It", ("Tarn",))),
        ("Alumni of it include A Tarn, B Dale and C Vale.", Reading("educated", "it", ("A Tarn", "B Dale", "C Vale"))),
        ("Tarn has a population of 12,345.", Reading("population", "Tarn", ("12,345",))),
        ("Mount Hark rises to 1,204 metres.", Reading("height", "Mount Hark", ("1,204 metres",))),
        ("Vale was born on 4 March 1874.", Reading("birth_date", "Vale", ("4 March 1874",))),
    ],
)  # fmt: skip
def test_read_sentence(sentence: str, reading: Reading) -> None:
    assert reading in read_sentence(sentence)


def test_joint_sentence_reads_as_two_facts() -> None:
    found = read_sentence("Tarn Press was founded in 1874 by Orrin Vale.", kind="company")
    assert Reading("founded_by", "Tarn Press", ("Orrin Vale",)) in found
    assert Reading("founding_year", "Tarn Press", ("1874",)) in found


def test_known_names_settle_what_and_means() -> None:
    names = {"The Mill and the Stones", "Glass Roads", "The Mill"}
    found = read_sentence("Vale wrote The Mill and the Stones and Glass Roads.", names, kind="person")
    assert found == (Reading("wrote", "Vale", ("The Mill and the Stones", "Glass Roads")),)
    assert read_sentence("Vale wrote The Unheard Of.", names) == ()


def test_kind_settles_direction() -> None:
    sentence = "Lake Tarn receives the waters of the River Senn."
    assert {item.relation for item in read_sentence(sentence)} == {"fed_by", "flows_into"}
    assert {item.relation for item in read_sentence(sentence, kind="lake")} == {"fed_by"}
    assert {item.relation for item in read_sentence(sentence, kind="river")} == {"flows_into"}


@pytest.mark.parametrize(
    "text", ["", "Anglers prize the River Senn for its trout.", "He was born in", "The capital of"]
)
def test_other_sentences_state_nothing(text: str) -> None:
    assert read_sentence(text) == ()
