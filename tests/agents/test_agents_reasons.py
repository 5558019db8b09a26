"""Nothing is looked up without a reason, and what is said of it is said as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from graph_world import TaskWorld, graph_world, page_world, set_world
from search_results import page_of

from synth.agents.contract import History, Step
from synth.agents.grounding.said import found_in, says
from synth.agents.scripted.credibility import CredibilityCheck
from synth.agents.scripted.graph.planner import GraphPlanner
from synth.agents.scripted.options import listed_with, options_in
from synth.agents.scripted.pages.gold_results import GoldResults
from synth.agents.scripted.pages.narration import PageNarration
from synth.agents.scripted.pages.shared import shared_by
from synth.agents.scripted.phrases import PHRASES, Thoughts, read_notes
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.environments.observed import observe
from synth.environments.passages import passages_of
from synth.environments.rendering import plain
from synth.environments.shown import Hit
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.text.words import fold

Played = list[tuple[Task, History]]
_SETTLED = ("found", "confirm", "told", "keep", "strike", "complete", "member", "candidate", "candidate_next")


def played(world: TaskWorld) -> Played:
    runs = [(task, world.play(task, "teacher", verify=1.0, crosscheck=1.0)) for task in world.tasks[:120]]
    return [(task, done.history) for task, done in runs if done.verdict.correct]


@pytest.fixture(scope="module")
def pages() -> Played:
    return [*played(page_world()), *played(set_world())]


@pytest.fixture(scope="module")
def graph() -> Played:
    return played(graph_world())


def thoughts(runs: Played) -> Iterator[tuple[Task, History, int, str]]:
    for task, history in runs:
        yield from ((task, history, turn, step.turn.thought or "") for turn, step in enumerate(history))


def noted(task: Task, history: History) -> int:
    """The last turn in which something was settled."""
    seen, last = [task.question], -1
    for turn, step in enumerate(history):
        if any(intent in (*_SETTLED, "candidate_read") for intent, _ in read_notes(step.turn.thought or "", seen)):
            last = turn
        seen += [plain(result.content) for result in step.results]
    return last


def test_what_is_known_is_not_searched_for_again(pages: Played, graph: Played) -> None:
    after = [
        (task, history, call)
        for task, history in (*pages, *graph)
        for step in history[max(noted(task, history), 0) :]
        for call in step.turn.calls
        if len(history) > 1
    ]
    for task, history, call in after:
        assert call.name not in ("find", "find_entity")
        if call.name == "search":  # for what another of a list leads to
            seen = [task.question, *(plain(result.content) for step in history for result in step.results)]
            notes = [note for step in history for note in read_notes(step.turn.thought or "", seen)]
            known = {name for intent, name in notes if intent in _SETTLED}
            assert not any(name in call.arguments["query"] for name in known - {n for i, n in notes if i == "dismiss"})
    names = {call.name for _, _, call in after}
    assert "open" in names  # the page of the answer itself may be read
    assert "get_triples" in names  # so may what stood on a list beside it


def test_a_result_that_says_otherwise_is_a_reason_to_read_on() -> None:
    hop = SimpleNamespace(relation="founding_year", forward=True, target=SimpleNamespace(name="1884", aliases=()))

    def says_so(text: str, relation: str, forward: bool, **options: Any) -> bool:
        return "founded in" in text

    chooser: Any = SimpleNamespace(says=says_so, _all_hops=lambda clue: [hop])
    other = Hit("Keld (1974 yearbook)", "c/keld-2", "Keld was founded in 1890. It is small.")
    line = GoldResults.disputes(chooser, 0, "Keld", "1884", other)
    assert line is not None
    assert line.text == "Keld was founded in 1890."
    same = Hit("Keld (1974 yearbook)", "c/keld-2", "Keld was founded in 1884.")
    own = Hit("Keld", "c/keld", "Keld was founded in 1890.")
    assert GoldResults.disputes(chooser, 0, "Keld", "1884", same) is None
    assert GoldResults.disputes(chooser, 0, "Keld", "1884", own) is None


def test_a_bound_is_said_with_its_date(pages: Played) -> None:
    said = 0
    for task, _, _, thought in thoughts(pages):
        for intent in ("fits_bound", "fits_bound_several"):
            for match in found_in(intent, thought):
                cue = next((one.cue for one in task.walk.operations if one.kind == "filter"), None)
                if cue is None:  # another sentence that has the same words
                    continue
                assert re.search(rf"\b{cue} (?=\d)" if cue in ("after", "before") else re.escape(cue), match.group())
                assert f'"{cue}"' not in match.group()
                said += 1
    assert said > 3


def test_of_two_one_is_earlier_and_not_the_earliest(pages: Played) -> None:
    compared = 0
    for _, _, _, thought in thoughts(pages):
        for intent in ("is_first", "is_last", "is_least", "is_most"):
            assert not any(match.group().count(" for ") == 2 for match in found_in(intent, thought)), thought
            compared += any(True for _ in found_in(f"{intent}_of_two", thought))
    assert compared > 3


def test_doubtful_is_what_is_asked_for() -> None:
    state: Any = SimpleNamespace(
        reading=SimpleNamespace(clues=[SimpleNamespace(cue="who owns the newspaper")], question="Who?"),
        seen=SimpleNamespace(documents={}),
    )
    page = SeenDocument("d", "On the air: Keld Gazette", 1)
    page.pages[1] = passages_of(
        "A call-in show. A caller was sure that 12,581 copies are printed. The host had not been able to confirm this.",
        "d",
        "",
        1,
    )
    said = Thoughts("Who?", derive_generator(1, "doubt"), terse=False)
    assert not CredibilityCheck(state, {}).rejects(0, "", page, said)
    assert not said
    assert CredibilityCheck(state, {}, lambda number, line: "12,581" in line.text).rejects(0, "", page, said)


def test_a_graph_has_no_pages(graph: Played) -> None:
    turns = ("g_triples_next", "g_triples_next_each", "g_relations_next")
    told = [thought for _, _, _, thought in thoughts(graph) if not any(says((one,), thought) for one in turns)]
    assert [one for one in told if re.search(r"\bpages?\b", re.sub(r'"[^"]*"', "", one))] == []


def entity_of(step: Step, name: str) -> str:
    return next((str(call.arguments["entity"]) for call in step.turn.calls if call.name == name), "")


def test_what_was_asked_of_one_is_asked_of_the_next_without_a_list(graph: Played) -> None:
    needless = direct = 0
    for _, history in graph:
        listed: set[str] = set()
        asked: dict[tuple[str, str, str], str] = {}
        for step in history:
            listed |= {entity_of(step, "get_relations")} - {""}
            for call in step.turn.calls:
                if call.name != "get_triples":
                    continue
                entity, relation = str(call.arguments["entity"]), str(call.arguments["relation"])
                key = (entity.rpartition("/")[0], relation, str(call.arguments["direction"]))
                if asked.setdefault(key, entity) != entity:
                    needless += entity in listed
                    direct += entity not in listed
    assert direct > 20
    assert needless < direct / 4, (needless, direct)


def test_who_is_not_on_a_list_is_said_not_to_be(graph: Played) -> None:
    assert any(says(("g_fails_listed",), thought) for _, _, _, thought in thoughts(graph))
    fan = SimpleNamespace(unread=None)
    way = SimpleNamespace(relation="won")
    clue: Any = SimpleNamespace()
    planner: Any = SimpleNamespace(
        state=SimpleNamespace(reading=SimpleNamespace(clues=[clue])),
        seen=SimpleNamespace(fans={("a/prize", "won (in)"): fan}, listed={"a/prize": {"won (in)": way}}),
        title=lambda entity: "Keld Prize",
        chooser=SimpleNamespace(fits=lambda number, relation: True),
    )
    assert GraphPlanner.listed_under(planner, clue, "Keld Prize") == "won"
    fan.unread = 2
    assert GraphPlanner.listed_under(planner, clue, "Keld Prize") is None


def test_a_candidate_whose_page_was_read_is_not_announced(pages: Played) -> None:
    for task, history in pages:
        seen = [task.question]
        for turn, step in enumerate(history):
            read = {observe(result.content).about for result in history[turn - 1].results} if turn else set()
            titles = {one.rpartition("/")[2].rpartition("-")[0] for one in read if one}
            for intent, name in read_notes(step.turn.thought or "", seen):
                if intent in ("candidate", "candidate_next"):
                    assert re.sub(r"\W+", "-", name.casefold()).strip("-") not in titles, step.turn.thought
            seen += [plain(result.content) for result in step.results]


def test_what_two_pages_name_is_tried_first() -> None:
    clues = [
        SimpleNamespace(name=name, source=None, target=0, value=False, described=False, every=False)
        for name in ("Keld", "Orl")
    ]
    natives = "Natives are [Jon Maak](p/jon), [Ida Venn](p/ida) and [Per Holt](p/per)."
    dead = "Here died [Ida Venn](p/ida)."
    state: Any = SimpleNamespace(
        reading=SimpleNamespace(clues=clues),
        values={},
        seen=SimpleNamespace(
            documents={"c/keld": page_of("c/keld", "Keld", natives), "c/orl": page_of("c/orl", "Orl", dead)}
        ),
    )
    options = [("Jon Maak", "p/jon"), ("Ida Venn", "p/ida"), ("Per Holt", "p/per")]
    assert shared_by(state, lambda clue, line, name="": False, 0, options) == ["Ida Venn"]
    assert shared_by(state, lambda clue, line, name="": True, 0, options) == []


def test_nobody_types_the_whole_question(pages: Played) -> None:
    queries = [
        (str(call.arguments["query"]), task.question)
        for task, history in pages
        for step in history
        for call in step.turn.calls
        if call.name == "search"
    ]
    for query, question in queries:
        plain_words = [word for word in query.split() if word.islower()]
        assert len(plain_words) <= 6 or query in question, query


def test_things_that_the_question_names_are_no_candidates(pages: Played) -> None:
    named = 0
    for task, _, _, thought in thoughts(pages):
        for match in found_in("open_named", thought):
            named += 1
            titles = next(part for part in match.groups() if part)
            assert all(re.sub(r" \(.*\)$", "", one) in task.question for one in re.split(r", | and ", titles)), titles
    assert named
    assert not any("could fit" in phrase for phrase in PHRASES["open_named"])


def test_a_page_that_gives_another_value_is_not_called_silent() -> None:
    line = passages_of("Dunn is a city in North Lorr.", "c/dunn", "Dunn", 1)[0]
    clue = SimpleNamespace(cue="lies in", value=False)
    thoughts = Thoughts("Which city?", derive_generator(1, "silent"), terse=False)
    narration: Any = SimpleNamespace(
        credibility=None,
        thoughts=thoughts,
        state=SimpleNamespace(reading=SimpleNamespace(clues=[clue])),
        chooser=SimpleNamespace(contrary=lambda number, name, page: line),
        _speaking_of=lambda name, page: [],
        _other_than=lambda number, name, said: None,
    )
    page = page_of("c/dunn", "Dunn", "Dunn is a city in North Lorr.")
    PageNarration._say_why(narration, 0, "North Traen", page, "dismiss_why_silent")
    assert says(("dismiss_why_other",), thoughts.text())
    assert line.text in thoughts.text()


@pytest.mark.parametrize(("cue", "intent"), [("died in 1912", "dismiss_why_unsaid"), ("of", "dismiss_why_silent")])
def test_a_year_that_is_missing_is_told_with_what_is_asked_of_it(cue: str, intent: str) -> None:
    """A page may have the year in another connection ("born in 1912")."""
    clue = SimpleNamespace(cue=cue, value=True, span=None, name="in 1912")
    thoughts = Thoughts("Who?", derive_generator(1, "unsaid"), terse=False)
    page = page_of("p/sol", "Sol Kirn", "Sol Kirn was born on 2 May 1912.")
    narration: Any = SimpleNamespace(
        thoughts=thoughts,
        seen=SimpleNamespace(documents={"p/sol": page}, current="p/sol"),
        state=SimpleNamespace(reading=SimpleNamespace(clues=[clue]), values={}),
        chooser=SimpleNamespace(contrary=lambda *some: None),
        _speaking_of=lambda name, page: [],
        _other_than=lambda number, name, said: None,
        _say_others=lambda *some: None,
    )
    PageNarration.fails(narration, cast(Any, clue), "in 1912", Value("Sol Kirn", "p/sol", 0))
    assert says((intent,), thoughts.text())


def test_a_teacher_says_which_of_a_list_the_results_rule_out(pages: Played) -> None:
    """And does not open it."""
    said = 0
    for task, history, turn, thought in thoughts(pages):
        for found in found_in("out_in_results", thought):
            notes = read_notes(thought, [task.question, *(plain(r.content) for s in history[:turn] for r in s.results)])
            out = [name for intent, name in notes if intent == "dismiss" and name in found.group()]
            assert out, thought
            calls = [call for step in history[turn:] for call in step.turn.calls if call.name == "open"]
            said += 1
            for name in out:
                assert not any(fold(name).replace(" ", "-") in str(call.arguments) for call in calls), thought
    assert said


def test_a_thing_is_corrected_by_what_is_said_of_it() -> None:
    clue = SimpleNamespace(cue="was founded in", name="Keld", source=None)
    for title, claimed in (("Treasure hunt: Keld", True), ("Treasure hunt: Orl", False)):
        page = SeenDocument("d", title, 1)
        page.pages[1] = passages_of("A sheet. It was founded in 1202. Its writer did not look it up.", "d", "", 1)
        state: Any = SimpleNamespace(
            reading=SimpleNamespace(clues=[clue]), dismissed={(0, "d")}, seen=SimpleNamespace(documents={"d": page})
        )
        own: Any = SimpleNamespace(text="945", sentence=passages_of("It was founded in 945.", "k", "Keld", 1)[0])
        said = Thoughts("When?", derive_generator(1, "corrected"), terse=False)
        CredibilityCheck(state, {}).corrects(0, own, said)
        assert bool(said) is claimed


def test_half_a_sentence_is_not_what_something_fits(graph: Played) -> None:
    for _, _, _, thought in thoughts(graph):
        for match in found_in("g_fails_value", thought):
            assert not re.search(r'"(?:was|is|has|had|lies) ', match.group()), match.group()
    assert any(says(("g_fails_predicate",), thought) for _, _, _, thought in thoughts(graph))


def test_a_name_in_a_list_is_not_found_in_a_longer_word() -> None:
    text = "Nivanian is used by the courts of [Nivania](c/n), [Murdashan](c/m) and [Bindania](c/b)."
    line = passages_of(text, "l/nivanian", "Nivanian", 1)[0]
    assert [listed_with(one) for one in options_in(line, "entity")] == [["Nivania", "Murdashan", "Bindania"]] * 3


def quoting(seen: Any) -> Any:
    """What quotes pages, in a thought of its own."""
    thoughts = Thoughts("Who?", derive_generator(1, "quoting"), terse=False)
    narration: Any = SimpleNamespace(thoughts=thoughts, seen=seen, quoted=None, _place_of=lambda line, about: "quote")
    narration.quote = partial(PageNarration.quote, narration)
    return narration


def test_the_line_that_was_just_read_is_the_one_that_was_quoted() -> None:
    """Not one of another page in the same words, and not words of the question that are said in passing."""
    here, there = (passages_of("Torenda was a citizen of Murdania.", name, "T", 1)[0] for name in ("p/a", "p/b"))
    narration = quoting(SimpleNamespace(current="p/a"))
    narration.thoughts.add("check_whether", name="Dishana Torenda", cue="was a citizen of Murdania")
    for line, again in ((here, 0), (here, 1), (there, 1)):
        narration.quote(line, "Torenda", "")
        assert sum(True for _ in found_in("quote_again", narration.thoughts.text())) == again


def test_this_page_is_the_page_in_view() -> None:
    line = passages_of("The original language of the book is Brennoyan.", "b/gallery", "The Gallery", 1)[0]
    for number in range(40):
        narration = quoting(SimpleNamespace(current="b/voices"))
        narration.thoughts = Thoughts("Which?", derive_generator(number, "view"), terse=False)
        narration.quote(line, "The Gallery", "")
        assert "The Gallery" in narration.thoughts.text()
        assert "this page" not in narration.thoughts.text()
