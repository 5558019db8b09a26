"""Every phrase of every relation, in both directions, is English as far as a machine can tell."""

from __future__ import annotations

import pytest
from english_faults import NAMES, faults, named, random_chain, random_constraints, step_options
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.identity import derive_generator
from synth.sources.world.schema import RELATIONS
from synth.tasks.world.compose import word_chain
from synth.tasks.world.conjoin import word_conjunction
from synth.tasks.world.grammar import (
    CLAUSE,
    NAME,
    NESTED,
    NOMINAL,
    Phrase,
    Predicate,
    capitalise,
    indefinite,
    mark,
    unmark,
)
from synth.tasks.world.links import Link, ask_options, noun_phrases
from synth.tasks.world.words import world_words

WORDS = world_words()

DIRECTIONS = sorted(
    {(relation, forward, start, end) for start in NAMES for relation, forward, end in step_options(start)}
)


CROWDED = {("died_in", False), ("citizen_of", False), ("studied_at", False), ("taught_at", False), ("part_of", False)}
"""Many people die in one city and are citizens of one country: nobody says "the person who died in Orrin"."""


def test_every_primary_relation_has_a_wording() -> None:
    assert set(WORDS.wordings) == {name for name, relation in RELATIONS.items() if relation.primary}


@pytest.mark.thorough
@pytest.mark.parametrize(("relation", "forward", "start", "end"), DIRECTIONS)
def test_every_phrase_of_every_direction(relation: str, forward: bool, start: str, end: str) -> None:
    link = Link(0, WORDS.wordings[relation], forward, WORDS.noun(end), named(start))
    phrases = [
        Phrase(named(start), NAME),
        Phrase(f"that {start}", NAME),
        Phrase("the founder of Orrin", NOMINAL),
        Phrase("the one that Tarn Vale saw", CLAUSE),
        Phrase("the one that saw the mayor of Orrin", NESTED),
    ]
    for known in phrases:
        for head in WORDS.noun(end).heads or ("",):
            asks = [text for family in ask_options(link, known, head).values() for text in family]
            for text in asks:
                question, cues = unmark(capitalise(text), 1)
                assert faults(question) == [], question
                assert known.text in question
                assert cues[0] in question
            for way in noun_phrases(link, known, head) if WORDS.noun(end).heads else []:
                for phrase in way:
                    question, _ = unmark(capitalise(f"is it {phrase.text}?"), 1)
                    assert faults(question) == [], question
                    assert phrase.weight > known.weight or known.weight in (NOMINAL, CLAUSE)
    plain = {
        text for texts in ask_options(link, phrases[0], (WORDS.noun(end).heads or ("",))[0]).values() for text in texts
    }
    assert len(plain) >= 4, f"{relation} {forward}: {plain}"


@pytest.mark.parametrize(("relation", "forward", "start", "end"), [d for d in DIRECTIONS if WORDS.noun(d[3]).heads])
def test_every_direction_has_paraphrases(relation: str, forward: bool, start: str, end: str) -> None:
    """At least four ways to name the sought end, or to say something of it, beside the choice of head and frame."""
    link = Link(0, WORDS.wordings[relation], forward, WORDS.noun(end), named(start))
    ways = {phrase.text for way in noun_phrases(link, Phrase(named(start)), WORDS.noun(end).heads[0]) for phrase in way}
    assert len(ways) >= (2 if (relation, forward) in CROWDED else 4), ways


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_chains_are_english(seed: int, hops: int) -> None:
    rng = derive_generator(seed, "chains")
    links = random_chain(hops, rng)
    worded = word_chain(links, rng)
    assert worded is not None, [link.wording.relation for link in links]
    assert faults(worded.question) == [], worded.question
    assert len(worded.cues) == hops
    assert all(cue and cue in worded.question for cue in worded.cues), worded
    assert links[0].known in worded.question or capitalise(links[0].known) in worded.question


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 8))
def test_long_chains_are_english_or_refused(seed: int, hops: int) -> None:
    rng = derive_generator(seed, "long chains")
    worded = word_chain(random_chain(hops, rng), rng)
    if worded is not None:
        assert faults(worded.question) == [], worded.question
        assert len(worded.cues) == hops


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 4), st.booleans())
def test_conjunctions_are_english(seed: int, count: int, tailed: bool) -> None:
    rng = derive_generator(seed, "conjunctions")
    links = random_constraints(count, rng)
    used = {link.wording.relation for link in links}
    options = [o for o in step_options(links[0].kind) if o[0] not in used]
    tail = None
    if tailed and options:
        relation, forward, end = options[int(rng.integers(len(options)))]
        tail = Link(count, WORDS.wordings[relation], forward, WORDS.noun(end))
    worded = word_conjunction(links, tail, rng)
    assert worded is not None
    assert faults(worded.question) == [], worded.question
    assert all(cue and cue in worded.question for cue in worded.cues), worded
    for link in links:
        assert link.known in worded.question or capitalise(link.known) in worded.question


def test_each_shape_has_many_families() -> None:
    chains, pairs = set(), set()
    for seed in range(400):
        rng = derive_generator(seed, "families")
        chain = word_chain(random_chain(2 + seed % 3, rng), rng)
        pair = word_conjunction(random_constraints(2 + seed % 2, rng), None, rng)
        assert chain is not None
        assert pair is not None
        chains.add(chain.surface)
        pairs.add(pair.surface)
    assert len(pairs) >= 6, pairs
    assert len(chains) >= 20, chains


def test_wording_depends_on_the_generator_alone() -> None:
    one = word_chain(random_chain(3, derive_generator(1, "walk")), derive_generator(1, "words"))
    two = word_chain(random_chain(3, derive_generator(1, "walk")), derive_generator(1, "words"))
    assert one == two


# the machinery -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "finite", "plural", "question"),
    [
        ("was born | in", "was born in X", "were born in X", "in which city was S born"),
        ("studied~study | at", "studied at X", "studied at X", "at which city did S study"),
        ("flows~flow | into", "flows into X", "flow into X", "into which city does S flow"),
        ("carries~carry |", "carries X", "carry X", "which city does S carry"),
        ("has | _ as its mayor", "has X as its mayor", "have X as its mayor", None),
        ("has been open | by", "has been open by X", "have been open by X", None),
        ("succeeded~succeed | _ as mayor", "succeeded X as mayor", "succeeded X as mayor",
         "which city did S succeed as mayor"),
        ("rises~rise on the slopes | of", "rises on the slopes of X", "rise on the slopes of X", None),
    ],
)  # fmt: skip
def test_predicates_inflect(spec: str, finite: str, plural: str, question: str | None) -> None:
    predicate = Predicate.parse(spec)
    assert predicate.finite("X") == finite
    assert predicate.finite("X", plural=True) == plural
    questions = predicate.questions("which city", "S", person=False)
    assert (questions[:1] == [question]) if question else (questions == [])


def test_heavy_objects_go_last() -> None:
    mayor = Predicate.parse("has | _ as its mayor")
    assert mayor.finite("the man who sang", heavy=True) == "has as its mayor the man who sang"
    assert mayor.fits(heavy=True)
    assert not Predicate.parse("is led | by _ as rector").fits(heavy=True)


def test_articles_by_sound_and_by_value() -> None:
    assert [indefinite(word) for word in ("city", "award", "university", "oil painting", "epic")] == [
        "a city", "an award", "a university", "an oil painting", "an epic",
    ]  # fmt: skip
    assert Predicate.parse("worked~work | as a(n)").finite("architect") == "worked as an architect"


def test_relative_clauses_leave_a_gap() -> None:
    born = Predicate.parse("was born | in")
    assert born.gaps("Tarn", person=False, place=True) == ["in which Tarn was born", "where Tarn was born"]
    studied = Predicate.parse("studied~study | under")
    assert studied.gaps("Tarn", person=True, place=False) == ["under whom Tarn studied"]
    stands = Predicate.parse("is situated | on")
    assert stands.gaps("Orrin", person=False, place=True) == ["on which Orrin is situated", "that Orrin is situated on"]
    assert stands.gaps("that city", person=False, place=True) == ["on which that city is situated"]
    assert Predicate.parse("was founded | by").gaps("Orrin", person=True, place=False) == []


@pytest.mark.parametrize("spec", ["was born in", "studied | at", "| in"])
def test_bad_notation_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="predicate"):
        Predicate.parse(spec)


def test_cues_are_the_words_of_the_hop() -> None:
    inner = mark(0, "the city where Tarn was born")
    question, cues = unmark(f"{mark(1, f'Which river flows through {inner}')}?", 2)
    assert question == "Which river flows through the city where Tarn was born?"
    assert cues == ["the city where Tarn was born", "Which river flows through"]
    both = f"Who {mark(0, 'sang')} and {mark(1, 'danced')}?"
    assert unmark(both, 2)[1] == ["sang", "danced"]
    with pytest.raises(ValueError, match="2 hops"):
        unmark(mark(0, "one"), 2)
    with pytest.raises(ValueError, match="twice"):
        unmark(mark(0, "one") + mark(0, "two"), 1)


def test_faults_are_seen() -> None:
    bad = [
        "which city is it?", "Which city is it", "Which city is it??", "Which  city is it?", "Which city , is it?",
        "Which city is (it?", "Which {x} is it?", "Which the city is is it?", "Name the a city?", "Is it a award?",
        "Is it an university?", "Which cities that has a port?", "A city. which one?",
        "Tell me: which is older: A or B?", "Who was the author of Orrin (1874 play)'s setting?",
        "Which people whom it educated died?", "Which museum is situated in a city which is situated in Sarn?",
    ]  # fmt: skip
    assert [question for question in bad if not faults(question)] == []
    assert faults("Who was born in Orrin (1874 play) and won an award?") == []


# the words ----------------------------------------------------------------------------------------------------


def test_inverse_readings_become_their_primary() -> None:
    assert WORDS.canonical("birthplace_of", True) == ("born_in", False)
    assert WORDS.canonical("born_in", False) == ("born_in", False)
    assert WORDS.canonical("spouse", True) == ("spouse", True)
    assert WORDS.inverses["birthplace_of"] == "born_in"
    assert WORDS.inverses["spouse"] == "spouse"
    assert not {name for name in WORDS.inverses.values() if not RELATIONS[name].primary}


def test_lexicon_knows_what_question_words_speak_of() -> None:
    lexicon = WORDS.by_word
    assert lexicon["mentor"] == ("mentor",)
    assert "capital" in lexicon["capital"]
    assert set(lexicon["founded"]) >= {"founded_by", "founding_year"}
    assert set().union(*lexicon.values()) == set(WORDS.wordings)
    assert "the" not in lexicon
    assert "x" not in lexicon


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("Tarn Vale", True),
        ("University of Vale", True),
        ("Lamps (1904 film)", False),
        ("The Harvest and the Lanterns", False),
        ("Questions of Mera", False),
        ("The Bears", False),
    ],
)
def test_long_titles_take_no_possessive(name: str, takes: bool) -> None:
    link = Link(0, WORDS.wordings["author"], True, WORDS.noun("person"), name)
    ways = [phrase.text for way in noun_phrases(link, Phrase(name), "author") for phrase in way]
    assert any("'s" in text or "s' " in text for text in ways) == takes, ways
