"""What a new wording may not do. Every case is a sentence that a model may well write."""

from __future__ import annotations

from typing import Any

import pytest

from synth.schemas.documents import Evidence
from synth.schemas.tasks import Difficulty, Hop, Node, Operation, Walk
from synth.tasks.draft import Draft
from synth.tasks.writing.parts import Part, parts_of, reworded
from synth.tasks.writing.words import problem_with, strangers

PLACE = Evidence(document_id="p", start=0, end=1, quote="x")


def hop(source: Node, target: Node, cue: str, *needs: int) -> Hop:
    return Hop(source=source, target=target, relation="r", forward=True, needs=needs, evidence=PLACE, cue=cue)


BO = Node(id="bo", name="Bo Wick", aliases=("Wick",), kind="person", document_id="bo")
TARN = Node(id="tarn", name="Tarn Vale", kind="person", document_id="tarn")
ORRIN = Node(id="orrin", name="Orrin", kind="city", document_id="orrin")
DECADE = Node(id="1870-01-01/1879-12-31", name="in the 1870s", kind="range")
YEAR = Node(id="1874", name="1874", kind="year")

QUESTION = "Which painter was born in the 1870s and was a pupil of Bo Wick, and which year was their city founded in?"
HOPS = (
    hop(DECADE, TARN, "was born in the 1870s"),
    hop(BO, TARN, "was a pupil of Bo Wick"),
    hop(TARN, ORRIN, "their city", 0, 1),
    hop(ORRIN, YEAR, "which year was", 2),
)


def draft(question: str = QUESTION, hops: tuple[Hop, ...] = HOPS, **more: Any) -> Draft:
    values: dict[str, Any] = {
        "question": question,
        "answer": "1874",
        "answer_kind": "year",
        "shape": "composition",
        "walk": Walk(shape="composition", hops=hops, operations=more.pop("operations", ())),
        "gold_entities": (),
        "gold_documents": (),
        "difficulty": Difficulty(hops=4, constraints=2, branching=1.0, documents=1),
        "split": "train",
    }
    return Draft(**{**values, **more})


PARTS = parts_of(draft())
GOOD = "In which year was the city of the painter founded who learned from Bo Wick and was born in the 1870s?"
WORDS = {
    "was born in the 1870s": "was born in the 1870s",
    "was a pupil of Bo Wick": "who learned from Bo Wick",
    "their city": "the city of the painter",
    "which year was": "In which year was",
}


def test_parts_are_the_cues_with_the_names_and_values_that_they_state() -> None:
    assert (
        Part("was born in the 1870s", ("in the 1870s",)),
        Part("was a pupil of Bo Wick", ("Bo Wick",)),
        Part("their city", ()),
        Part("which year was", ()),
    ) == PARTS


def test_an_alias_stays_as_the_question_writes_it_and_a_shared_cue_is_one_part() -> None:
    after = Node(id="1900/", name="after 1900", kind="range")
    two = (hop(BO, TARN, "Wick taught"), hop(BO, ORRIN, "Wick taught"))
    operation = Operation(kind="filter", over=(0, 1), bound=after, result=(TARN,), cue="after 1900")
    found = parts_of(draft("Of those whom Wick taught, who died after 1900?", two, operations=(operation,)))
    assert found == (Part("Wick taught", ("Wick",)), Part("after 1900", ("after 1900",)))


@pytest.mark.parametrize("shape", ["masked", "given"])
def test_a_passage_and_a_users_question_are_not_ours_to_word(shape: Any) -> None:
    assert parts_of(draft(shape=shape)) == ()


def test_a_description_that_was_proven_to_fit_one_page_stays_word_by_word() -> None:
    told = Node(id="description:1", name="module that sorts lists", kind="description")
    found = parts_of(draft("What does the module that sorts lists use?", (hop(told, ORRIN, "that sorts lists use"),)))
    assert found == (Part("that sorts lists use", ("that sorts lists use",)),)


def test_other_words_for_the_same_are_accepted() -> None:
    assert problem_with(QUESTION, GOOD, PARTS, WORDS) is None
    asked = reworded(draft(), GOOD, WORDS)
    assert (asked.question, asked.surface) == (GOOD, "written")
    assert [hop.cue for hop in asked.walk.hops] == [WORDS[part.cue] for part in PARTS]
    assert asked.details["question_before"] == QUESTION
    assert [hop.evidence for hop in asked.walk.hops] == [hop.evidence for hop in HOPS]


def test_the_old_words_have_no_problem() -> None:
    assert problem_with(QUESTION, QUESTION, PARTS, {part.cue: part.cue for part in PARTS}) is None


CASES: dict[str, tuple[str, dict[str, str], str]] = {
    "a part without words": (GOOD, {"their city": ""}, "nothing states 'their city'"),
    "words that are not there": (GOOD, {"their city": "the painter's town"}, "are not in it"),
    "a name in the words of another part": (
        GOOD,
        {"was a pupil of Bo Wick": "the city of the painter"},
        "do not hold 'Bo Wick'",
    ),
    "a name cut short": (
        GOOD.replace("Bo Wick", "Wick"),
        {"was a pupil of Bo Wick": "who learned from Wick"},
        "do not hold 'Bo Wick'",
    ),
    "a name in another case": (
        GOOD.replace("Bo Wick", "bo wick"),
        {"was a pupil of Bo Wick": "who learned from bo wick"},
        "do not hold 'Bo Wick'",
    ),
    "a year made wider": (
        GOOD.replace("in the 1870s", "between 1870 and 1880"),
        {"was born in the 1870s": "was born between 1870 and 1880"},
        "do not hold 'in the 1870s'",
    ),
    "a new name": (GOOD.replace("painter founded", "painter founded near Molde"), {}, "'Molde' may be a name"),
    "a new name that opens a sentence": ("Molde aside: " + GOOD, {}, "'Molde' may be a name"),
    "a name in capitals": (GOOD.replace("painter founded", "painter founded by NASA"), {}, "'NASA' may be a name"),
    "a new number": (GOOD.replace("founded who", "founded 12 miles off who"), {}, "the number '12' is new"),
    "a new number in words": (GOOD.replace("founded who", "founded by two who"), {}, "the number 'two' is new"),
    "a fact told in passing": (
        GOOD.replace("founded who", "founded beside its famous cathedral who"),
        {},
        "'beside' stands outside all parts",
    ),
    "a fact told inside a part": (
        GOOD.replace(
            "who learned from Bo Wick",
            "who learned from Bo Wick the quiet craft of mixing oils with pigments ground from stones found along "
            "the coast of a distant land and sold in small jars",
        ),
        {
            "was a pupil of Bo Wick": "who learned from Bo Wick the quiet craft of mixing oils with pigments ground "
            "from stones found along the coast of a distant land and sold in small jars"
        },
        "characters, the question had",
    ),
    "a negation": (
        GOOD.replace("who learned", "who never learned"),
        {"was a pupil of Bo Wick": "who never learned from Bo Wick"},
        "a negation came or went",
    ),
    "two lines": (GOOD.replace(" who", "\nwho"), {}, "line breaks"),
    "no sentence": (GOOD.rstrip("?"), {}, "does not end as a sentence"),
    "markup": (GOOD.replace("Bo Wick", "**Bo Wick** <b>"), {}, "signs that no question needs"),
    "an invisible sign": (GOOD.replace("painter", "pain\u200bter"), {}, "signs that no question needs"),
}


@pytest.mark.parametrize("case", CASES)
def test_whatever_is_not_shown_to_be_the_same_is_refused(case: str) -> None:
    question, changed, problem = CASES[case]
    found = problem_with(QUESTION, question, PARTS, {**WORDS, **changed})
    assert found is not None
    assert problem in found


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("Who died after the flood?", "Who died before the flood?", "says 'before', the question said 'after'"),
        ("Which one is the longest?", "Which one is the shortest?", "says 'shortest', the question said 'longest'"),
        ("Who was the first to do it?", "Who was the last to do it?", "says 'last', the question said 'first'"),
    ],
)
def test_a_direction_does_not_turn_round(before: str, after: str, problem: str) -> None:
    cue = before.split(" ", 1)[1]
    found = problem_with(before, after, [Part(cue, ())], {cue: after.split(" ", 1)[1]})
    assert found is not None
    assert problem in found


def test_a_number_that_is_gone_is_missed_even_where_no_part_needs_it() -> None:
    parts = [Part("films", ())]
    found = problem_with("Which 3 films are they?", "Which films are they?", parts, {"films": "films"})
    assert found == "the number '3' is gone"


@pytest.mark.parametrize(
    ("phrase", "problem"),
    [
        ("the river that flows through Orrin", None),
        ("the river which flows through Orrin and is 40 miles long", "the number '40' is new"),
        ("the river that flows through Orrin beside a castle", "'castle' stands outside"),
        ("the river that flows through Orrin near Molde", "'Molde' may be a name"),
        ("the river that never flows through Orrin", "'never' stands outside"),
        ("the river; that flows through Orrin", "it is not a plain phrase"),
        ("the river that flows through Orrin?", "it is not a plain phrase"),
        ("the  river that flows through Orrin", "it is not a plain phrase"),
        ("the river that flows through Orrin" + " and so on" * 40, "it is not a plain phrase"),
    ],
)
def test_a_phrase_holds_what_it_is_made_of_and_no_stranger(phrase: str, problem: str | None) -> None:
    found = strangers("the river Orrin beside", phrase, {"Orrin on_river X": "that flows through Orrin"})
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


def test_a_denial_inside_the_words_for_a_fact_is_no_way_to_say_it() -> None:
    words = {"Orrin on_river X": "that never flows through Orrin"}
    assert strangers("the river Orrin", "the river that never flows through Orrin", words) == "'never' denies something"
