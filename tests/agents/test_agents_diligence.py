"""What a teacher over pages reads and leaves: nothing that was shown is passed over, nothing is looked up twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from graph_world import graph_world, page_world, set_world

from synth.agents.contract import History
from synth.agents.grounding.said import says
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.credibility import CredibilityCheck
from synth.agents.scripted.pages.lists import PagePlanner
from synth.agents.scripted.pages.teacher import PageGoldChooser
from synth.agents.scripted.phrases import PHRASES
from synth.agents.scripted.players import world_lexicon
from synth.agents.scripted.reading import read_task
from synth.agents.scripted.seen import Search, Seen, SeenDocument
from synth.agents.scripted.state import State, state_of
from synth.agents.scripted.wording import is_noun_phrase, is_predicate
from synth.environments.observed import observe
from synth.environments.passages import passages_of
from synth.environments.shown import Hit
from synth.schemas.tasks import Hop, Task
from synth.sources.world.statements import says as states


@cache
def played() -> tuple[tuple[Task, History], ...]:
    worlds = [(world, task) for world in (page_world(), set_world()) for task in world.tasks[:100]]
    return tuple((task, world.play(task, "teacher").history) for world, task in worlds)


def document(name: str, title: str, text: str) -> SeenDocument:
    seen = SeenDocument(name, title, 1)
    seen.pages[1] = passages_of(text, name, "", 1)
    return seen


def chooser(task: Task) -> PageGoldChooser:
    made = PageGoldChooser(
        task, State(read_task(task), Seen()), world_lexicon(), TeacherConfig(detour=1.0), np.random.default_rng(1)
    )
    made.says = states
    return made


def one_hop(relation: str, *, forward: bool = True) -> Iterator[Task]:
    for task in page_world().tasks:
        hops = task.walk.hops
        if hops[0].relation == relation and hops[0].forward == forward and not hops[0].needs:
            yield task


def natives() -> Iterator[tuple[PageGoldChooser, int, Hop]]:
    """Clues that ask for somebody who was born in a place."""
    for task in page_world().tasks:
        gold = chooser(task)
        for number, clue in enumerate(gold._state.reading.clues):
            hop = next(iter(gold._all_hops(number)), None)
            if hop is not None and hop.relation == "born_in" and not hop.forward and not clue.every:
                yield gold, number, hop


def test_what_was_found_is_not_said_to_lead_on() -> None:
    """It may be the last of all."""
    assert not [text for text in PHRASES["found"] if "go on" in text or "next" in text or "missing" in text]


def test_a_page_that_names_things_of_the_kind_is_not_called_silent() -> None:
    silent, beside = [], 0
    for task, history in played():
        reading = read_task(task)
        folders = {(hop.target.document_id or "-").rpartition("/")[0] for hop in task.walk.hops}
        for turn, step in enumerate(history[1:], 1):
            before = [call for call in history[turn - 1].turn.calls if call.name == "open"]
            if len(before) != 1 or len(folders) > 1 or len(reading.clues) > 1:
                continue
            shown = observe(history[turn - 1].results[0].content).passages
            links = {link.document.rpartition("/")[0] for passage in shown for link in passage.links}
            silent += [turn] if says(("silent",), step.turn.thought or "") and folders & links else []
    for _, history in played():
        beside += sum(says(("silent_beside",), step.turn.thought or "") is not None for step in history)
    assert not silent
    assert beside > 2


@pytest.mark.parametrize(
    ("relation", "sentence", "alone"),
    [
        ("born_in", "Jon Maak was born in Velt.", True),
        ("starring", "The film stars Jon Maak.", False),
    ],
)
def test_what_has_but_one_end_is_told_from_what_may_have_several(relation: str, sentence: str, alone: bool) -> None:
    """Seen from the page that it stands on: from the other end, both may have several."""
    assert states(sentence, relation, forward=False, of_target=True)
    assert states(sentence, relation, forward=False, of_target=True, alone=True) is alone


def test_a_candidate_whose_page_rules_it_out_is_not_looked_up_from_the_other_side() -> None:
    """Who was born elsewhere was not born there: the list of natives is not read for it."""
    gold, number, hop = next(natives())
    city = hop.source.name
    elsewhere = document("person/x", "Jon Maak", "Jon Maak was born in Velt.")
    there = document("person/y", "Jon Maak", f"Jon Maak was born in {city}.")
    assert gold.excludes(number, city, elsewhere)
    assert not gold.excludes(number, city, there)
    assert not gold.excludes(number, city, document("person/z", "Jon Maak", "Jon Maak died in Velt."))


def test_a_result_that_is_ruled_out_by_its_snippet_is_no_detour() -> None:
    gold, number, hop = next(found for found in natives() if found[0]._state.reading.clues[found[1]].source is None)
    right = Hit(hop.target.name, str(hop.target.document_id), f"{hop.target.name} was born in {hop.source.name}.")
    wrong = Hit("Jon Maak", "person/x", "Jon Maak was born in Velt.")
    other = Hit("Jon Maak", "person/x", f"Jon Maak came from {hop.source.name}, his place of birth.")
    assert gold._worse(number, wrong, right)
    assert gold._shown(number, other) is not False
    assert gold.tells(number, hop.source.name, other)
    assert not gold.tells(number, hop.source.name, wrong)


def test_a_line_that_says_something_else_of_the_right_thing_is_not_taken() -> None:
    task = next(t for t in page_world().tasks if t.walk.hops[0].relation == "died_in" and t.walk.hops[0].forward)
    hop, gold = task.walk.hops[0], chooser(task)
    born = document("person/x", hop.source.name, f"{hop.source.name} was born in {hop.target.name}.")
    died = document("person/x", hop.source.name, f"{hop.source.name} died in {hop.target.name}.")
    assert gold._option(hop, hop.source.name, born) is None
    assert gold._option(hop, hop.source.name, died) is not None


def test_the_entry_of_whom_a_page_is_about_is_read_when_that_page_is_put_aside() -> None:
    task = page_world().tasks[0]
    gold = chooser(task)
    planner = PagePlanner(gold._state, gold, np.random.default_rng(1), patience=9, parallel=0.0)
    planner.credibility = CredibilityCheck(gold._state, world_lexicon())
    text = "What the yearbook of 1930 had to say about [Jon Maak](person/jon-maak)."
    page = document("person/jon-maak-yearbook", "Jon Maak (1930 yearbook)", text)
    assert planner.go_to_entry(0, page) == [("open", {"document": "person/jon-maak"})]
    gold._state.seen.documents["person/jon-maak"] = document("person/jon-maak", "Jon Maak", "Jon Maak was a poet.")
    assert planner.go_to_entry(0, page) == []


def test_below_a_heading_what_it_says_of_the_thing_is_quoted() -> None:
    gold = chooser(page_world().tasks[0])
    planner = PagePlanner(gold._state, gold, np.random.default_rng(1), patience=9, parallel=0.0)
    text = "# Fields\n\n## glaze\n\nA table of the tints that a potter can choose for the rim.\n\n## rim\n\nThe rim."
    page = gold._state.seen.documents["fields"] = document("fields", "Fields", text)
    heading = next(passage for passage in page.pages[1] if passage.text == "glaze")
    clue = replace(gold._state.reading.clues[0], cue="specifies a table of the tints that a potter can choose")
    told = planner.entry_of(clue, heading)
    assert told is not None
    assert told.text.startswith("A table of the tints")
    other = next(passage for passage in page.pages[1] if passage.text == "rim")
    assert planner.entry_of(clue, other) is None


def test_no_further_page_of_facts_is_read_once_the_candidate_was_seen() -> None:
    world, seen_before = graph_world(), []
    for task in world.tasks:
        history = world.play(task, "teacher", detour=0.0).history
        for turn, step in enumerate(history):
            for call in step.turn.calls if any("page" in call.arguments for call in step.turn.calls) else ():
                state = state_of(read_task(task), history[:turn])
                number = state.open_clue()
                value = state.values.get(state.reading.clues[number].target) if number is not None else None
                entity = call.arguments.get("entity"), call.arguments.get("relation")
                fans = [fan for (one, label), fan in state.seen.fans.items() if (one, label.split(" ")[0]) == entity]
                ends = {end.id for fan in fans for end in fan.ends()}
                seen_before += [(task.id, turn)] if value is not None and value.place in ends else []
    assert not seen_before


def test_what_was_tried_from_a_page_is_told_from_a_page_that_leads_nowhere() -> None:
    task = page_world().tasks[0]
    gold = chooser(task)
    planner = PagePlanner(gold._state, gold, np.random.default_rng(1), patience=9, parallel=0.0)
    page = document("person/x", "Jon Maak", "Jon Maak was born in Velt.")
    gold._state.seen.documents["person/x"] = page
    assert not planner._has_tried(0, "Velt", None)
    gold._state.dismissed.add((0, "person/x"))
    assert planner._has_tried(0, "Velt", None)
    assert not planner._has_tried(0, "Orl", None)
    assert not set(PHRASES["used_up"]) & set(PHRASES["dead_end"])


def test_a_page_that_leaves_a_condition_open_is_spoken_of_before_another_is_read() -> None:
    """The page of a candidate that was just read, before the other side of the condition is looked up."""
    silent = 0
    for task, history in played():
        for step in history[1:]:
            thought = step.turn.thought or ""
            opens = [call for call in step.turn.calls if call.name in ("search", "open")]
            if task.walk.shape == "intersection" and opens:
                silent += says(("silent", "names_others"), thought) is not None
    assert silent > 0


def test_a_line_with_the_names_of_the_evidence_that_says_something_else_is_no_evidence() -> None:
    task = next(t for t in page_world().tasks if t.walk.hops[0].relation == "founded_by" and t.walk.hops[0].evidence)
    hop, gold = task.walk.hops[0], chooser(task)
    evidence = hop.evidence.model_copy(update={"quote": "Maak founded the Jaazash Mercury."})
    hop = hop.model_copy(update={"evidence": evidence})
    wrote, founded = passages_of("Maak wrote for the Jaazash Mercury. Maak founded the Jaazash Mercury.", "d", "", 1)
    assert not gold._is_evidence(hop, wrote)
    assert gold._is_evidence(hop, founded)


@pytest.mark.parametrize(
    "cue",
    [
        "which language does Jon Maak's country use",
        "how long is the river's course",
        "from which city Jon Maak's mentor hailed",
        "in what year the ferry's port closed",
    ],
)
def test_a_question_is_no_noun_phrase(cue: str) -> None:
    assert not is_noun_phrase(cue)
    assert is_noun_phrase("the language of Jon Maak's country")


def test_no_page_that_the_question_names_is_taken_for_another() -> None:
    """What was opened for one part of a question is no wrong turn of the next."""
    task = next(
        t for t in set_world().tasks if t.shape == "comparison" and all(not hop.needs for hop in t.walk.hops[:2])
    )
    first, second = (hop.source for hop in task.walk.hops[:2])
    gold = chooser(task)
    seen = gold._state.seen
    planner = PagePlanner(gold._state, gold, np.random.default_rng(1), patience=9, parallel=0.0)
    hits = tuple(Hit(one.name, str(one.document_id), "") for one in (first, second))
    seen.searches.append(Search(0, second.name, None, hits))
    page = document(str(first.document_id), first.name, f"{first.name} was founded in 1893.")
    page.turns.append(0)
    seen.documents[page.document], seen.current, seen.turns = page, page.document, 1
    number = next(n for n, clue in enumerate(gold._state.reading.clues) if clue.name == second.name)
    assert planner.source_page(number, second.name, None) == [("open", {"document": second.document_id})]
    assert not gold._state.dismissed


@pytest.mark.parametrize("cue", ["founded in the 1830s", "published after 1900", "established by Jon Maak"])
def test_what_shares_a_was_with_the_condition_before_lacks_one_alone(cue: str) -> None:
    """ "The one that founded in the 1830s"."""
    assert not is_predicate(cue)
    assert is_predicate(f"was {cue}")
    assert is_predicate("founded Maarara University")


def test_a_list_of_none_that_is_right_in_the_end_is_taken_up_all_the_same() -> None:
    """What two conditions leave over is no reason to pass over what the page of one of them names."""
    seen = 0
    for task in [task for task in set_world().tasks if task.shape == "intersection"]:
        gold = chooser(task)
        for number, clue in enumerate(gold._state.reading.clues):
            hop = gold._all_hops(number)[0]
            if (hop.relation, hop.forward) == ("composer", False) and hop.source.document_id is not None:
                text = f"Film scores by {clue.name} include the music of [Aaa](film/aaa) and [Bbb](film/bbb)."
                page = document(hop.source.document_id, clue.name, text)
                assert [option.text for option in gold.members(number, clue.name, page)] == ["Aaa", "Bbb"]
                seen += 1
    assert seen
