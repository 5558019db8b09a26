"""What a scripted agent leaves out, or says and does not do, is seen: each kind is planted in a good run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from graph_world import TaskWorld, graph_world, long_page_world, page_world, set_world

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.consistency import Flaw, inconsistencies
from synth.agents.grounding.said import found_in, named_in
from synth.agents.scripted.phrases import PHRASES, read_notes
from synth.environments.contract import ToolCall, ToolResult

pytestmark = pytest.mark.thorough

Run = tuple[Prompt, History]
Plant = Callable[[History], Iterator[History]]


def played(world: TaskWorld) -> list[Run]:
    runs = []
    for number, task in enumerate(world.tasks[:70]):
        look = {"verify": 1.0} if number % 3 == 0 else {}
        runs.append(world.play(task, "teacher", parallel=0.5, detour=0.4, rivals=20, **look))
    return [(done.prompt, done.history) for done in runs if done.verdict.correct]


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Run]]:
    return {
        "pages": [*played(set_world()), *played(page_world())],
        "graph": played(graph_world()),
        "long": played(long_page_world()),
    }


def test_the_teacher_leaves_nothing_out(runs: dict[str, list[Run]]) -> None:
    for some in (runs["pages"], runs["graph"]):
        assert len(some) > 30
        assert [str(one) for run in some for one in inconsistencies(*run)] == []


def said(intent: str) -> re.Pattern[str]:
    """A phrasing of the intention, its slots as groups."""
    parts = [re.sub(r"\\\{\w+\\\}", "(.+?)", re.escape(phrase)) for phrase in PHRASES[intent]]
    return re.compile(rf"(?:(?<=\s)|\A)(?:{'|'.join(parts)})(?=\s|\Z)")


def rewritten(history: History, turn: int, thought: str, *, calls: tuple[ToolCall, ...] | None = None) -> History:
    old = history[turn].turn
    new = old.model_copy(update={"thought": thought or "I go on.", "calls": old.calls if calls is None else calls})
    return (*history[:turn], history[turn].model_copy(update={"turn": new}), *history[turn + 1 :])


def thoughts(history: History) -> Iterator[tuple[int, str]]:
    return ((turn, step.turn.thought) for turn, step in enumerate(history) if step.turn.thought)


def without(intent: str, which: int, history: History) -> Iterator[History]:
    """One phrase of ``intent`` left out, in a turn that has three of them or more; or in any, of the first."""
    for turn, thought in thoughts(history):
        found = list(said(intent).finditer(thought))
        if len(found) > (2 if which else 0):
            yield rewritten(history, turn, thought.replace(found[which].group(), "", 1))


def omitted(which: int, history: History) -> Iterator[History]:
    """One of a list taken up by no word, then or later."""
    for turn, thought in thoughts(history):
        for found in said("members").finditer(thought):
            names = next(group for group in found.groups() if group).split("; ")
            name = names[which]
            left = "; ".join(other for other in names if other != name)
            spoilt = rewritten(history, turn, thought.replace("; ".join(names), left, 1))
            for later, text in thoughts(spoilt):
                parts = re.split(r'("[^"]*")', text)
                kept = [part if part.startswith('"') else part.replace(name, "it") for part in parts]
                spoilt = rewritten(spoilt, later, "".join(kept)) if later >= turn else spoilt
            yield spoilt


def from_candidates(intent: str, history: History) -> Iterator[History]:
    """One name taken out of what is named as possible."""
    for turn, thought in thoughts(history):
        for found in said(intent).finditer(thought):
            names = re.split(r", | and ", next(group for group in found.groups() if group))
            yield rewritten(history, turn, thought.replace(found.group(), found.group().replace(names[-1], "it")))


def from_conclusion(which: int, of: Sequence[str], history: History) -> Iterator[History]:
    """One of the list left out where all of it is compared, counted or measured by a bound."""
    last = len(history) - 1
    thought = history[last].turn.thought or ""
    members = [
        name
        for _, text in thoughts(history)
        for intent in ("member", "members")
        for names in noted(intent, text)
        for name in names.split("; ")
    ]
    before = ("told", "untold", "complete", "all_listed", "keep", "strike", "member", "members")
    at = max((found.end() for intent in before for found in said(intent).finditer(thought)), default=0)
    if len(members) > 2 and any(said(intent).search(thought) for intent in of):
        yield rewritten(history, last, thought[:at] + thought[at:].replace(members[which], "it"))


def noted(intent: str, thought: str) -> list[str]:
    return [next(group for group in found.groups() if group) for found in said(intent).finditer(thought)]


def without_reason(intent: str, history: History) -> Iterator[History]:
    """A thought that begins where something is put aside."""
    for turn, thought in thoughts(history):
        for found in said(intent).finditer(thought):
            yield rewritten(history, turn, thought[found.start() :])


def silent_after(names: Sequence[str], several: bool, history: History) -> Iterator[History]:
    """Nothing said any more behind a page (or several, opened together) but that a call is made."""
    for turn, step in enumerate(history[:-2]):
        calls = step.turn.calls
        if calls and all(call.name in names for call in calls) and (len(calls) > 1) == several:
            silent = history
            for later in range(turn + 1, len(history)):
                silent = rewritten(silent, later, "I try other words.")
            yield silent


def same_words(history: History) -> Iterator[History]:
    for turn, thought in thoughts(history):
        found = said("search_longer").search(thought) or said("search_rest").search(thought)
        if found is not None and turn > 1:
            again = next(call for step in history[:turn] for call in step.turn.calls if "query" in call.arguments)
            yield rewritten(history, turn, "I change the words of the search and see what comes up.", calls=(again,))


def taken_back(history: History) -> Iterator[History]:
    for turn, thought in thoughts(history):
        for found in said("found").finditer(thought):
            name = next(group for group in found.groups() if group)
            yield rewritten(history, turn, f"{thought} This page is about {name}. I drop {name}.")


def wrong_after_all(history: History) -> Iterator[History]:
    for turn, thought in thoughts(history):
        for found in said("found").finditer(thought):
            name = next(group for group in found.groups() if group)
            why = f"born_in gives {name}. That was the wrong relation, so I go back to the list."
            yield rewritten(history, turn, f"{thought} {why} I drop {name}.")


def matches(told: str, history: History) -> Iterator[History]:
    """Another number of matches than the tool has shown."""
    for turn, thought in thoughts(history):
        for intent in ("verified_once", "verified_often"):
            found = said(intent).search(thought)
            if found is not None:
                yield rewritten(history, turn, thought.replace(found.group(), told))


def unlike_names(history: History) -> Iterator[History]:
    for turn, _ in thoughts(history):
        if any(call.name == "open" for call in history[turn].turn.calls):
            yield rewritten(history, turn, "Orvenne resembles quux-limit. I have a look.")


def unchecked(history: History) -> Iterator[History]:
    last = len(history) - 1
    yield rewritten(history, last, f"{history[last].turn.thought} There is another condition to test before I answer.")


def unsearched(history: History) -> Iterator[History]:
    asked = " ".join(str(call.arguments.get("query")) for step in history for call in step.turn.calls)
    for turn, thought in thoughts(history):
        for found in said("complete").finditer(thought):
            title = re.search(r"\]\(", history[1].results[0].content) and re.findall(
                r"\[(.+?)\]", history[0].results[0].content
            )
            other = next((name for name in title or () if name not in asked), None)
            if other is not None:
                yield rewritten(history, turn, thought.replace(found.group(), f"I find no others for {other}."))


def another_page(history: History) -> Iterator[History]:
    """It speaks of one page and opens another that was shown."""
    places = re.findall(r"\]\((.+?)\)", " ".join(result.content for step in history[:1] for result in step.results))
    for turn, thought in thoughts(history):
        calls = history[turn].turn.calls
        for name in ("document", "entity"):
            if len(calls) == 1 and calls[0].name in ("open", "get_relations") and name in calls[0].arguments:
                other = next((place for place in places[::-1] if place != calls[0].arguments[name]), None)
                if other is not None:
                    call = calls[0].model_copy(update={"arguments": {name: other}})
                    yield rewritten(history, turn, thought, calls=(call,))


def undone(history: History) -> Iterator[History]:
    last = len(history) - 1
    yield rewritten(history, last, f"I search for it. Let me rephrase the search. {history[last].turn.thought}")


def one_start(history: History) -> Iterator[History]:
    names = [str(call.arguments.get("query", "")) for call in history[0].turn.calls]
    if names[1:]:
        yield rewritten(history, 0, f"Step one is to learn about {names[0]}. I search for {names[0]}.")


def further_down(history: History) -> Iterator[History]:
    """The last of a list is tried first."""
    for turn, thought in thoughts(history):
        for listing in said("candidates").finditer(thought):
            names = re.split(r", | and ", next(group for group in listing.groups() if group))
            tried = next((one for one in said("candidate").finditer(thought) if names[0] in one.groups()), None)
            if tried is not None and len(names) > 1:
                yield rewritten(history, turn, thought.replace(tried.group(), f"I start with {names[-1]}."))


def mentioned(history: History) -> Iterator[History]:
    """A page is put aside as if it did not hold what it links to."""
    for turn, step in enumerate(history[:-1]):
        if [call.name for call in step.turn.calls] == ["open"] and step.results[0].error is None:
            title, *links = re.findall(r"\[(.+?)\]\(", step.results[0].content)
            yield from (
                rewritten(history, turn + 1, f"The page on {title} does not mention {link} at all. I drop {title}.")
                for link in links[:1]
                if link != title
            )


def unlinked(history: History) -> Iterator[History]:
    """Who opens what a search has shown says that the page in view links to it."""
    for turn, step in enumerate(history[:-1]):
        calls = history[turn + 1].turn.calls
        if [call.name for call in step.turn.calls] != ["search"] or [call.name for call in calls] != ["open"]:
            continue
        found = re.findall(r"\[([^\]]+)\]\(([^)#]+)", step.results[0].content)
        names = [name for name, target in found if target == calls[0].arguments["document"]]
        yield from (rewritten(history, turn + 1, f"I follow the link to {name}.") for name in names[:1])


COMPARED = ("is_first", "is_last", "is_least", "is_most")


def stops_early(history: History) -> Iterator[History]:
    """It answers where it would have read the others on the list."""
    shown = [result.content for step in history for result in step.results]
    for turn, thought in thoughts(history):
        fits = [name for intent, name in read_notes(thought, shown) if intent == "confirm"]
        earlier = [said for _, one in thoughts(history[: turn + 1]) for said in found_in("candidates", one)]
        earlier += [said for _, one in thoughts(history[: turn + 1]) for said in found_in("g_candidates", one)]
        # Others may have been shown by results, and stand on no list.
        fits = [name for name in fits if any(named_in(one.group(), name) for one in earlier)]
        ways = (phrase.format(name=name) for name in fits for phrase in PHRASES["rest_too"])
        for at in (thought.find(words) for words in ways if words in thought):
            last = history[-1].turn
            end = Turn(thought=f"{thought[:at]}My answer is {last.answer}.", answer=last.answer)
            yield (*history[:turn], Step(turn=end))


PLANTS: dict[str, tuple[str, Flaw, Plant]] = {
    "the first of a list": ("pages", Flaw.LIST, partial(omitted, 0)),
    "one in the middle of a list": ("pages", Flaw.LIST, partial(omitted, 1)),
    "the last of a list": ("pages", Flaw.LIST, partial(omitted, -1)),
    "the first far end": ("graph", Flaw.LIST, partial(omitted, 0)),
    "the last far end": ("graph", Flaw.LIST, partial(omitted, -1)),
    "what was possible": ("pages", Flaw.CANDIDATE, partial(without, "candidates", 0)),
    "one that was possible": ("pages", Flaw.CANDIDATE, partial(from_candidates, "candidates")),
    "far ends that were possible": ("graph", Flaw.CANDIDATE, partial(without, "g_candidates", 0)),
    "one far end that was possible": ("graph", Flaw.CANDIDATE, partial(from_candidates, "g_candidates")),
    "one further down a list": ("pages", Flaw.PASSED, further_down),
    "what is mentioned after all": ("pages", Flaw.SILENT, mentioned),
    "the first of a comparison": ("pages", Flaw.COMPARISON, partial(from_conclusion, 0, COMPARED)),
    "one in the middle of a comparison": ("pages", Flaw.COMPARISON, partial(from_conclusion, 1, COMPARED)),
    "one that is measured by a bound": (
        "pages",
        Flaw.COMPARISON,
        partial(from_conclusion, 1, ("fits_bound", "fits_bound_several")),
    ),
    "one that is counted": ("pages", Flaw.COMPARISON, partial(from_conclusion, 1, ("counted",))),
    "the first that was looked up": ("pages", Flaw.UNTOLD, partial(without, "about", 0)),
    "the last that was looked up": ("pages", Flaw.UNTOLD, partial(without, "about", -1)),
    "why a page is put aside": ("pages", Flaw.DISMISSED, partial(without_reason, "dismiss")),
    "why a member is struck": ("pages", Flaw.DISMISSED, partial(without_reason, "strike")),
    "why a relation is put aside": ("graph", Flaw.DISMISSED, partial(without_reason, "dismiss")),
    "others on the list of a page": ("pages", Flaw.FIRST, stops_early),
    "others under a relation": ("graph", Flaw.FIRST, stops_early),
    "a page": ("pages", Flaw.PAGE, partial(silent_after, ("open",), False)),
    "one of several pages": ("pages", Flaw.PAGE, partial(silent_after, ("open",), True)),
    "an entity": ("graph", Flaw.PAGE, partial(silent_after, ("get_relations",), False)),
    "words that stay the same": ("pages", Flaw.REWORDED, same_words),
    "taken and dropped": ("pages", Flaw.CONTRADICTED, taken_back),
    "right and yet the wrong relation": ("graph", Flaw.CONTRADICTED, wrong_after_all),
    "more matches than there are": (
        "long",
        Flaw.MATCHES,
        partial(matches, "There are 41 matches, among them the line that I read."),
    ),
    "names that have nothing in common": ("pages", Flaw.ALIKE, unlike_names),
    "a check that is not made": ("pages", Flaw.UNCHECKED, unchecked),
    "a list that was not searched for": ("pages", Flaw.UNSEARCHED, unsearched),
    "a search that is not made": ("pages", Flaw.UNDONE, undone),
    "a start in one place": ("pages", Flaw.AT_ONCE, one_start),
    "a link that does not exist": ("pages", Flaw.LINK, unlinked),
    "another page than it says": ("pages", Flaw.OTHER, another_page),
    "another entity than it says": ("graph", Flaw.OTHER, another_page),
}


@pytest.mark.parametrize("name", PLANTS)
def test_what_is_planted_is_seen(name: str, runs: dict[str, list[Run]]) -> None:
    where, flaw, plant = PLANTS[name]
    planted = [(prompt, spoilt) for prompt, history in runs[where] for spoilt in plant(history)]
    assert planted, "no run lends itself to it"
    seen = [flaw in {one.flaw for one in inconsistencies(*run)} for run in planted]
    assert sum(seen) >= 0.7 * len(seen), f"{sum(seen)} of {len(seen)}"


def test_a_page_may_be_opened_under_any_of_its_names() -> None:
    def step(thought: str, call: ToolCall, content: str) -> Step:
        return Step(
            turn=Turn(thought=thought, calls=(call,)),
            results=(ToolResult(call_id=call.id, name=call.name, content=content),),
        )

    links = (
        "[University of Orl](university/orl)",
        "[Orl University](university/orl) [Ada Bey](person/ada) [Cy Dorn](person/cy)",
    )
    for document, flawed in (("university/orl", False), ("person/cy", True)):
        opened = ToolCall(id="c", name="open", arguments={"document": document})
        history = (
            step("I look.", ToolCall(id="a", name="search", arguments={"query": "Orl"}), links[0]),
            step("I look.", ToolCall(id="b", name="search", arguments={"query": "Orl"}), links[1]),
            step("Of Orl University and Ada Bey, I need Orl University.", opened, "# Orl"),
        )
        seen = inconsistencies(Prompt(system="", question="Which one?", tools=()), history)
        assert (Flaw.OTHER in {one.flaw for one in seen}) is flawed, document


@pytest.mark.parametrize("name", ["University of Orl", "Orl University", "Orl Museum"])
def test_a_page_is_spoken_of_by_its_own_name_or_by_that_of_a_link(name: str) -> None:
    calls = [
        ToolCall(id="a", name="search", arguments={"query": "Orl"}),
        ToolCall(id="b", name="open", arguments={"document": "university/orl"}),
    ]
    shown = [
        "[Orl University](university/orl)",
        "[University of Orl](university/orl), page 1 of 1\n\n# University of Orl",
    ]
    history = tuple(
        Step(
            turn=Turn(thought="I look.", calls=(call,)),
            results=(ToolResult(call_id=call.id, name=call.name, content=text),),
        )
        for call, text in zip(calls, shown, strict=True)
    )
    end = Step(turn=Turn(thought=f"The page on {name} does not say.", answer="Ada"), results=())
    seen = inconsistencies(Prompt(system="", question="Who?", tools=()), (*history, end))
    assert (Flaw.PAGE in {one.flaw for one in seen}) is (name == "Orl Museum")


def test_a_possibility_that_is_confirmed_at_once_comes_from_the_first_list() -> None:
    """The list that confirms it is another one: of that, nothing is left out."""

    def read(number: int, about: str, relation: str, *facts: str) -> Step:
        call = ToolCall(id=f"c{number}", name="get_triples", arguments={"entity": about, "relation": relation})
        content = "\n".join([f"[X]({about}), {relation} (out), page 1 of 1", "", *facts])
        return Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id=call.id, name=call.name, content=content),))

    pupils = [f"- [{name}](person/{name[0]}), mentor: [Naun](person/naun)" for name in ("Halde", "Jengen")]
    stars = [f"- [Winter](film/w), starring: [{name}](person/{name[0]})" for name in ("Veissor", "Halde")]
    history = (read(0, "person/naun", "mentor", *pupils), read(1, "film/w", "starring", *stars))
    first, second = '"Halde, mentor: Naun"', '"Winter, starring: Halde"'
    fits = f"According to the graph, {second}. This fits Halde."
    for thought, flawed in (
        (f"I read {first}. The possibilities are Halde and Jengen. I take Halde first. {fits}", False),
        (f"I read {first}. I take Halde first. {fits}", True),
    ):
        run = (*history, Step(turn=Turn(thought=thought, answer="Halde")))
        seen = inconsistencies(Prompt(system="", question="Who starred in Winter?", tools=()), run)
        assert (Flaw.CANDIDATE in {one.flaw for one in seen}) is flawed, thought


def test_a_line_that_is_said_to_be_among_the_matches_was_quoted() -> None:
    def run(thought: str) -> list[Flaw]:
        shown = '2 matches for "ttl" in [Cache](cache) (1 page):\n1. page 1, character 9: The ttl is 5 s.\n'
        shown += "2. page 1, character 40: A ttl of zero is refused."
        looks = ToolCall(id="0", name="find", arguments={"pattern": "ttl"})
        found = ToolResult(call_id="0", name="find", content=shown)
        history = (
            Step(turn=Turn(thought=thought, calls=(looks,)), results=(found,)),
            Step(turn=Turn(thought="There are 2 matches, among them the line that I read.", answer="5 s"), results=()),
        )
        return [one.flaw for one in inconsistencies(Prompt(system="", question="What is the ttl?", tools=()), history)]

    assert Flaw.MATCHES in run("Let me make sure by looking for ttl in the document.")
    assert Flaw.MATCHES not in run('I read "The ttl is 5 s." Let me make sure by looking for ttl in the document.')


@pytest.mark.parametrize(("tool", "takes", "flawed"), [("find_payee", "name", False), ("find", "pattern", True)])
def test_a_desk_is_no_run_over_pages_though_its_tools_begin_alike(tool: str, takes: str, flawed: bool) -> None:
    call = ToolCall(id="0", name=tool, arguments={takes: "Juniper Hardware"})
    shown = ToolResult(call_id="0", name=tool, content="1 payee fits:\nPY3: Juniper Hardware")
    turn = Turn(thought="Let me look up Juniper Hardware before I do anything.", calls=(call,))
    history = (Step(turn=turn, results=(shown,)),)
    seen = inconsistencies(Prompt(system="", question="Who is Juniper Hardware?", tools=()), history)
    assert (Flaw.UNDONE in {one.flaw for one in seen}) is flawed
