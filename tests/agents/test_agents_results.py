"""What a teacher over pages types into the search, and which results it opens."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from search_results import conditions, over_results, page_of

from synth.agents.scripted.pages.gold_results import GoldResults
from synth.agents.scripted.pages.lists import PagePlanner
from synth.agents.scripted.pages.queries import Queries
from synth.agents.scripted.reading import Clue, Reading
from synth.agents.scripted.seen import Seen
from synth.agents.scripted.state import State
from synth.environments.passages import passages_of
from synth.environments.shown import Hit
from synth.sources.world.statements import says as states


def test_another_region_of_a_like_name_refutes() -> None:
    def stated(clue: Any, sentence: Any, **ends: Any) -> bool:
        return "a mountain in" in sentence.text

    clue = SimpleNamespace(span=None, cue="lies in", value=False)
    chooser: Any = SimpleNamespace(
        says=stated,
        _says=stated,
        _state=SimpleNamespace(reading=SimpleNamespace(clues=[clue]), place=lambda name: "region/west-ryran"),
    )
    lines = passages_of("Mount Yoth is a mountain in [West Syran](region/west-syran).", "m", "Mount Yoth", 1)
    own = passages_of("Mount Yoth is a mountain in [the West](region/west-ryran).", "m", "Mount Yoth", 1)
    assert GoldResults._refuted(chooser, 0, "West Ryran", lines)
    assert not GoldResults._refuted(chooser, 0, "West Ryran", own)


def test_a_result_that_meets_the_other_condition_comes_first() -> None:
    clues = conditions({"name": "Failmoor"}, {"name": "poet", "value": True})
    hits = (
        Hit("Jon Maak", "p/jon", "Jon Maak was a spy."),
        Hit("Ida Venn", "p/ida", "Ida Venn was a poet born in Failmoor."),
    )
    chooser = over_results(
        clues, hits, _says=lambda clue, line, **ends: "was a" in line.text, _refuted=lambda number, name, lines: None
    )
    line = chooser.shown_to_meet(0, "p/ida")
    assert line is not None
    assert "poet" in line.text
    assert chooser.shown_to_meet(0, "p/jon") is None
    chooser.tells = lambda clue, name, hit: name in hit.text
    assert chooser.better_result(0, "Failmoor") == hits[1]
    chooser._seen.documents["p/ida"] = None
    assert chooser.better_result(0, "Failmoor") is None, "it was opened"


def test_a_result_that_fails_the_other_condition_is_not_opened_for_it() -> None:
    """With the line that fails it, also where the snippet leaves words out before that line."""
    clues = conditions({"name": "Lake Ember"}, {"name": "less than 30 km", "value": True, "span": ("", "30")})
    hits = (
        Hit("River Feil", "r/feil", "The River Feil rises on Mount Dun. … The river is 324 kilometres long."),
        Hit("River Treil", "r/treil", "The River Treil flows into Lake Ember."),
    )
    chooser = over_results(
        clues, hits, _says=lambda clue, line, **ends: clue == 1 and states(line.text, "length", False, **ends)
    )
    line = chooser.shown_to_fail(0, "r/feil")
    assert line is not None
    assert "324" in line.text
    assert chooser.shown_to_fail(0, "r/treil") is None


def test_a_result_that_doubts_itself_or_is_on_a_namesake_of_what_was_put_aside_is_not_opened() -> None:
    clues = conditions({"name": "Lower Sisada"}, {"name": "1660", "value": True})
    hits = (
        Hit("Manara (hamlet)", "c/hamlet", "As for its namesake, Manara is situated in Lower Sisada."),
        Hit("Wirawa in conversation", "c/talk", "Wirawa lies in Lower Sisada. This is hearsay."),
        Hit("Rakawa", "c/rakawa", "Rakawa is a city in Lower Sisada."),
    )
    chooser = over_results(
        clues,
        hits,
        denies=lambda *some: False,
        _must_meet=lambda: False,
        _says=lambda *some, **ends: False,
    )
    chooser._stands_back = partial(GoldResults._stands_back, chooser)
    chooser._seen.documents["c/manara"] = page_of("c/manara", "Manara", "Manara was founded in 1413.")
    for put_aside in (False, True):
        chooser._state.is_dismissed = lambda clue, title, one, out=put_aside: out and one == "c/manara"
        shown = [GoldResults._shown(chooser, 0, hit) for hit in hits]
        assert shown == [False if put_aside else None, False, None]


def test_what_has_nothing_to_do_with_one_start_may_with_another() -> None:
    """Who did not die in Hoyagi may have died in Simoshi; a mathematician is no industrialist in either."""
    clues = (
        Clue("in a city in the Highlands", None, "the Highlands", 0),
        Clue("died in", 0, "", 1),
        Clue("was an industrialist", None, "industrialist", 1, value=True),
    )
    state = State(Reading("Which industrialist died in a city in the Highlands?", clues, 1, "entity"), Seen())
    state.note("found", "Hoyagi", 1)
    state.note("candidate", "Tudrek", 2)
    for name in ("Tudrek", "Rirashi", "Hoyagi"):
        state.note("dismiss", name, 3)
    assert not state.is_dismissed(1, "Rirashi", None)
    assert state.is_dismissed(1, "Tudrek", None)
    assert state.is_dismissed(0, "Hoyagi", None)


def test_a_query_has_the_kind_and_the_year_of_what_is_asked_for() -> None:
    question = "Which museum has existed since 1972 and is located in Lorham?"
    clues = conditions(
        {"name": "Lorham", "cue": "is located in Lorham"},
        {"name": "1972", "value": True, "cue": "has existed since 1972"},
    )
    reading = SimpleNamespace(question=question, clues=clues, pages=(), answer=0)
    queries: Any = SimpleNamespace(state=SimpleNamespace(reading=reading))
    for name in ("_said_beside", "_asked_noun"):
        setattr(queries, name, partial(getattr(Queries, name), queries))
    assert Queries._reverse_queries(queries, clues[0], "Lorham")[0][0] == "Lorham museum 1972 located"
    for words, ends, said in (
        ("in April 1972", ("1972-04-01", "1972-04-30"), "April 1972 "),
        ("between 1970 and 1974", ("1970-01-01", "1974-12-31"), ""),
        ("more than 40", ("40", ""), ""),
    ):
        clues[1].name, clues[1].span = words, ends
        assert Queries._reverse_queries(queries, clues[0], "Lorham")[0][0] == f"Lorham museum {said}located"


def test_another_number_of_metres_refutes() -> None:
    clue = SimpleNamespace(span=None, cue="lies at an elevation of", value=True)
    chooser: Any = SimpleNamespace(
        says=states,
        _says=lambda number, line, **ends: states(line.text, "elevation", False, **ends),
        _state=SimpleNamespace(reading=SimpleNamespace(clues=[clue]), place=lambda name: None),
    )
    low = passages_of("The city hall of Dunn lies 70 metres above sea level.", "c", "Dunn", 1)
    high = passages_of("The city hall of Dunn lies 512 metres above sea level.", "c", "Dunn", 1)
    assert GoldResults._refuted(chooser, 0, "512 metres", low)
    assert GoldResults._refuted(chooser, 0, "512 metres", high) is None


def test_who_died_long_after_was_not_born_then() -> None:
    clues = conditions({"name": "Whallby"}, {"name": "in the eighteenth century", "value": True})
    clues[1].span = ("1701-01-01", "1800-12-31")
    hits = tuple(
        Hit(name, name, f"On 7 April {year}, {name} died in Whallby.")
        for name, year in (("Drea", 2004), ("Thoal", 1854))
    )
    born = SimpleNamespace(relation="birth_date", forward=False)
    chooser = over_results(
        clues,
        hits,
        _hop=lambda clue: born if clue else None,
        _says=lambda clue, line, **ends: bool(clue) and states(line.text, "birth_date", False, **ends),
    )
    assert chooser.shown_to_fail(0, "Drea") is not None
    assert chooser.shown_to_fail(0, "Thoal") is None


def test_a_result_that_uses_another_name_is_known_by_it_once_that_was_read() -> None:
    clues = conditions({"name": "Numika Yemichi"}, {"name": "73 minutes", "value": True})
    hit = Hit("The Fountain", "f/fountain", "The Fountain runs for 73 minutes. It features Numika Kinaro Yemichi.")
    actor = SimpleNamespace(
        relation="starring",
        source=SimpleNamespace(name="Numika Yemichi", aliases=("Numika Kinaro Yemichi",)),
        target=SimpleNamespace(document_id="f/fountain"),
    )
    chooser = over_results(
        clues,
        (hit,),
        _hop=lambda clue: actor,
        _all_hops=lambda clue: [actor],
        _folder=lambda hop: "f",
        _off_the_walk=lambda clue: False,
        _says=lambda clue, line, **ends: "features" in line.text,
    )
    chooser.tells = partial(GoldResults.tells, chooser)
    assert not chooser.tells(0, "Numika Yemichi", hit)
    text = "Numika Yemichi (full name Numika Kinaro Yemichi) was an actor."
    chooser._seen.documents["p/numika"] = page_of("p/numika", "Numika Yemichi", text)
    assert chooser.tells(0, "Numika Yemichi", hit)


def test_what_stands_on_a_list_was_not_opened_for_another_name() -> None:
    """Its page may have another name than the list gave it ("Gangani Tisumo Ladanda")."""
    page, put_aside = page_of("p/ladanda", "Gangani Ladanda", "Gangani Ladanda died in Rukaka."), []
    search = SimpleNamespace(query="Rukaka", k=20, hits=[Hit("Gangani Ladanda", "p/ladanda", "He died in Rukaka.")])
    planner: Any = SimpleNamespace(
        seen=SimpleNamespace(documents={"p/ladanda": page}, current="p/ladanda", searches=[search], opened={}),
        chooser=SimpleNamespace(is_source=lambda *some: False, overlooks=lambda *some: False),
        untried=lambda number, hits: [],
        _just_read=lambda document: True,
        _say_why=lambda *some: None,
        note=lambda intent, name: put_aside.append((intent, name)),
    )
    reading = SimpleNamespace(clues=conditions({"name": "Rukaka"}), pages=())
    for listed in ([], [SimpleNamespace(name="Gangani Tisumo Ladanda", document="p/ladanda")]):
        planner.state = SimpleNamespace(
            reading=reading, values={}, members={0: listed}, is_dismissed=lambda *some: False
        )
        assert PagePlanner.source_page(planner, 0, "Rukaka", None) is None
    assert put_aside == [("dismiss", "Gangani Ladanda")], "where it stands on no list"
