"""Tasks on a server of ours: proved by replay, minimal, grounded; on one without a book, found out by trying."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.errors import InputError
from synth.schemas.plans import Plan
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_server import command

from synth.environments.mcp.environment import McpEnvironment, open_mcp
from synth.exploration.argument_schemas import spelled_out
from synth.exploration.config import ExplorationConfig
from synth.exploration.mcp.book import Book, Record, load_book, shipped_books, things
from synth.exploration.mcp.described import described_book
from synth.exploration.mcp.explorer import McpExplorable, book_for
from synth.exploration.mcp.listings import Listing, listings
from synth.exploration.mcp.planning import request
from synth.exploration.mcp.reading import value_of
from synth.exploration.mcp.signatures import signature_of
from synth.exploration.mcp.survey import Survey, survey
from synth.exploration.mcp.trials import typed
from synth.exploration.mcp.wording import about_thing, phrase, questions_on_thing
from synth.exploration.pipeline import Exploration, leaves

CONFIG = ExplorationConfig(
    fractions={"train": 1.0}, kinds={"done": 0.7, "answered": 0.3}, writes={1: 1, 2: 1, 3: 1}, tries=12
)
HINTS = {"title": ["Tides", "Boats", "Charts"], "text": ["High at noon", "Two were sold", "The north bay is missing"]}


def exploration(environment: McpEnvironment, book: Book) -> Exploration[Any]:
    return Exploration(McpExplorable(environment, book, CONFIG))


@cache
def organizer() -> McpEnvironment:
    server = {"command": ["{python}", "-I", "-S", "{shipped}/organizer.py", "studio"]}
    return open_mcp(servers={"organizer": server}, replay_safe=True)


@cache
def proposed(seed: int = 3, number: int = 9) -> tuple[Checked | Rejection, ...]:
    book = book_for(organizer())
    assert book is not None
    return tuple(exploration(organizer(), book).propose(range(number), seed))


@cache
def tasks() -> tuple[Task, ...]:
    kept = [one for one in proposed() if isinstance(one, Checked)]
    return tuple(finish(one.draft, one.checks, PROVENANCE, number) for number, one in enumerate(kept))


def played(task: Task, calls: list[tuple[str, dict[str, Any]]], answer: str = "Done.") -> Any:
    episode = organizer().reset(task)
    try:
        results: list[ToolResult] = [
            episode.step(ToolCall(id=f"c{number}", name=name, arguments=arguments))
            for number, (name, arguments) in enumerate(calls)
        ]
        before = episode.snapshot()
        verdict = episode.check(answer)
        assert episode.snapshot() == before, "looking leaves no trace"
        return verdict, results
    finally:
        episode.close()


def test_most_candidates_become_tasks_of_both_kinds() -> None:
    kinds = Counter(task.details["kind"] for task in tasks())
    assert len(tasks()) >= 6, [one.detail for one in proposed() if isinstance(one, Rejection)]
    assert kinds["done"] >= 3
    assert kinds["answered"] >= 1
    assert len({task.question for task in tasks()}) == len(tasks())


def test_every_solution_is_right_and_nothing_less_is() -> None:
    """By the environment's own verdict, apart from what proposed them: the plan; each plan without one of its changes;
    nothing at all; something more."""
    for task in tasks():
        plan = Plan.model_validate(task.details["plan"])
        calls = [(call.tool, call.arguments) for call in plan.calls]
        verdict, results = played(task, calls, task.answer)
        assert verdict.correct is True, verdict
        assert all(result.error is None for result in results)
        more, _ = played(task, [*calls, ("write_note", {"title": "Stray", "text": "x", "tag": "y"})], task.answer)
        assert (more.correct, more.rule) == (False, "state")
        if plan.outcome == "answered":
            assert played(task, [], "something else")[0].correct is False
            assert played(task, [], task.answer)[0].correct is True  # it is the answer that counts, and it is right
            continue
        changing = [at for at, call in enumerate(plan.calls) if call.changes]
        assert changing
        for left_out in changing:
            verdict, _ = played(task, [call for at, call in enumerate(calls) if at != left_out])
            assert (verdict.correct, verdict.rule) == (False, "state"), "a call that can be left out"


def test_every_value_was_said_or_shown_before() -> None:
    sources = Counter()
    for task in tasks():
        plan = Plan.model_validate(task.details["plan"])
        _, results = played(task, [(call.tool, call.arguments) for call in plan.calls])
        for number, call in enumerate(plan.calls):
            assert set(call.given) == {path for path, _ in leaves(call.arguments)}
            values = dict(leaves(call.arguments))
            for path, given in call.given.items():
                sources[given.source] += 1
                if given.source == "question":
                    assert str(values[path]) == given.words
                    assert given.words in task.question
                elif given.source == "observation":
                    assert given.call is not None
                    assert given.call < number
                    assert given.words in results[given.call].content
                    assert str(values[path]) in given.words
        assert not any(word.startswith("t-") for word in task.question.split()), "no id that must be looked up"
    assert sources["observation"] > 2
    assert sources["question"] > 10


def test_equal_seeds_propose_alike_however_many_work_at_once() -> None:
    book = book_for(organizer())
    assert book is not None
    one_by_one = exploration(organizer(), book)
    again = [*one_by_one.propose([4], 3), *one_by_one.propose([1], 3)]
    assert again == [proposed()[4], proposed()[1]]
    assert proposed()[4] != proposed()[5]


def test_what_takes_back_itself_is_no_task() -> None:
    undo = {
        "servers": ["organizer"],
        "records": {"open": {"tool": "list_tasks", "pattern": r"^\[(?P<id>t-\d+)\] Label", "names": "id"}},
        "words": {"day": ["Monday"]},
        "probes": [{"tool": "list_projects"}],
        "moves": [
            {"tool": "write_note", "arguments": {"title": "{day}", "text": "x", "tag": "y"}, "asks": ["note {day}"]}
        ],
    }
    (found,) = exploration(organizer(), Book.model_validate(undo)).propose([0], 0)
    assert isinstance(found, Rejection), "its probes do not see notes"
    assert found.reason == "no_walk"


def test_a_value_that_nobody_says_is_no_task() -> None:
    silent = {
        "servers": ["organizer"],
        "words": {"line": ["Bring cash"]},
        "probes": [{"tool": "read_note", "arguments": {"title": "Storage"}}],
        "moves": [
            {"tool": "append_to_note", "arguments": {"title": "Storage", "line": "{line}"}, "asks": ["add to Storage"]}
        ],
    }
    (found,) = exploration(organizer(), Book.model_validate(silent)).propose([0], 0)
    assert isinstance(found, Rejection)
    assert (found.reason, "Bring cash" in found.detail) == ("ungrounded", True)


def test_where_calls_may_not_be_made_again_there_are_no_tasks() -> None:
    notes = open_mcp(servers={"notes": {"command": command("notes")}})
    with pytest.raises(InputError, match="replay_safe"):
        exploration(notes, shipped_books()[0])
    replayed = open_mcp(servers={"notes": {"command": command("notes")}}, replay_safe=True)
    assert book_for(replayed) is None
    with pytest.raises(InputError, match="no tool"):
        exploration(replayed, shipped_books()[0])


def test_books_are_checked() -> None:
    assert {name for book in shipped_books() for name in book.servers} == {
        "memory-server",
        "organizer",
        "secure-filesystem-server",
    }
    with pytest.raises(InputError, match="no slot 'ghost'"):
        load_book(
            "servers: [x]\nprobes: [{tool: a}]\nmoves: [{tool: b, arguments: {c: '{ghost}'}, asks: [d]}]", "b.yaml"
        )
    with pytest.raises(InputError, match="not YAML"):
        load_book("servers: [x", "b.yaml")
    with pytest.raises(InputError, match="either a tool"):
        load_book("servers: [x]\nprobes: [{tool: a}]\nmoves: [{asks: [d]}]", "b.yaml")


def test_things_of_text_and_of_json() -> None:
    text = Record(tool="t", pattern=r"^(?P<key>\w+): (?P<value>.+)$", where={"key": "[A-Z].*"})
    assert [parts["value"] for parts in things(text, "Red: 1\nnone\nblue: 2\nGreen: 3")] == ["1", "3"]
    graph = json.dumps({"entities": [{"name": "A", "facts": ["x", "y"]}, {"name": "B", "facts": []}]})
    nested = Record(tool="t", each="entities[].facts[]")
    assert list(things(nested, graph)) == [{"name": "A", "item": "x"}, {"name": "A", "item": "y"}]
    assert list(things(nested, "no JSON")) == []


def test_arguments_are_of_the_types_that_the_schema_names() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"}, "s": {}}}
    assert typed({"n": "3", "f": "2.5", "b": "true", "s": "3"}, schema) == {"n": 3, "f": 2.5, "b": True, "s": "3"}


def test_requests_are_sentences() -> None:
    asks = ["put “a.txt. b” away", "say hello", "go"]
    for count in (1, 2, 3):
        for seed in range(40):
            text = request(asks[:count], np.random.default_rng(seed), ordered=seed % 2 == 0, openings=["Hello there."])
            assert text[0].isupper()
            assert text[-1] in ".?!"
            assert "“a.txt. b”" in text
            if count > 1 and seed % 2 == 0:
                assert any(word in text.lower() for word in ("then", "after that", "once that's done"))
    assert "in this order: a; b; c; d" in request("abcd", np.random.default_rng(0), ordered=True)


def test_what_reads_is_found_by_trying_and_tasks_follow() -> None:
    notes = open_mcp(servers={"notes": {"command": command("notes")}}, replay_safe=True)
    found = survey(notes, hints=[word for words in HINTS.values() for word in words], calls=30)
    assert (sorted(found.reads), found.writes, found.said) == (["read", "titles"], ("write",), frozenset())
    book = described_book(notes, found, HINTS)
    assert [move.tool for move in book.moves] == ["write"]
    assert len(book.probes) == 4  # the titles, and what stands under each of three
    found_tasks = [one for one in exploration(notes, book).propose(range(4), 1) if isinstance(one, Checked)]
    assert len(found_tasks) >= 3
    for task in found_tasks:
        assert "write a note under a title" in task.draft.question
        assert all(check.outcome == "passed" for check in task.checks)


def test_a_clock_is_no_probe() -> None:
    tools = ("write", "titles", "clock")
    environment = open_mcp(servers={"notes": {"command": command("all")}}, tools=tools, replay_safe=True)
    found = survey(environment, hints=["Tides"], calls=15)
    assert "clock" not in found.reads
    assert "titles" in found.reads


def test_without_words_there_is_nothing_to_ask() -> None:
    notes = open_mcp(servers={"notes": {"command": command("notes")}}, replay_safe=True)
    found = survey(notes, hints=["Tides"], calls=12)
    with pytest.raises(InputError, match=r"questions\.hints"):
        described_book(notes, found, {})


def test_a_description_that_gives_orders_gets_into_no_request() -> None:
    poisoned = open_mcp(servers={"bad": {"command": command("poison")}}, replay_safe=True)
    said = {tool.name: phrase(poisoned, tool) for tool in poisoned.tools()}
    assert said == {"add": "add", "div": "div", "good": "good", "multiply": "multiply", "sum": "sum"}
    wordy = ToolSchema(name="good", description="Creates a new folder. It may fail.", parameters={})
    assert phrase(poisoned, wordy) == "create a new folder"
    odd = ToolSchema(name="good", description="Runs <b>anything</b> you like", parameters={})
    assert phrase(poisoned, odd) == "good"


def test_what_a_server_lists_is_spoken_of_by_name() -> None:
    """Nobody knows the numbers of things; the agent has to look them up."""
    chores = open_mcp(servers={"home": {"command": command("chores")}}, replay_safe=True)
    book = described_book(chores, survey(chores, calls=30), {})
    asks = {move.asks[0].format_map(_Holes()): move for move in book.moves}
    assert "delete the chore “chore.name”" in asks
    assert "mark the chore “chore.name” as done" in asks
    assert "set the priority of the chore “chore.name” to “priority”" in asks
    assert "set the room of the chore “chore.name” to “room”" in asks
    assert "What is the room of the chore “chore.name”?" in asks
    assert "How many minutes does the chore “chore.name” have?" in asks, "told only by a second look"
    assert not any("status" in ask for ask in asks), "that is of the call"
    assert any(ask.startswith("create a chore called “new_name”") for ask in asks), "no hints were given"
    assert set(book.words["priority"]) == {"low", "high"}
    assert set(book.words["room"]) == {"hall", "kitchen"}
    done = [one for one in exploration(chores, book).propose(range(12), 2) if isinstance(one, Checked)]
    assert len(done) >= 6
    plans = [Plan.model_validate(one.draft.details["plan"]) for one in done]
    for one, plan in zip(done, plans, strict=True):
        assert re.search(r"\b\d+\b", one.draft.question) is None, "no number is told"
        tools = {call.tool for call in plan.calls}
        assert tools == {"chore_create"} or "chore_list" in tools
    assert {plan.outcome for plan in plans} == {"answered", "done"}


def test_a_tool_that_the_survey_never_called_is_tried_on_what_is_listed() -> None:
    chores = open_mcp(servers={"home": {"command": command("chores")}}, replay_safe=True)
    names = [tool.name for tool in chores.tools()]
    found = Survey({"chore_list": ()}, tuple(name for name in names if name != "chore_list"), frozenset())
    book = described_book(chores, found, {})
    assert any(move.asks[0].startswith("How many minutes does the chore") for move in book.moves)
    assert {probe.tool for probe in book.probes} == {"chore_list", "chore_get"}
    assert not any(move.tool == "chore_get" for move in book.moves)
    assert any(move.tool == "chore_delete" for move in book.moves), "its name does not say that it reads"


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('[{"id": 1}]', [{"id": 1}]),
        ('{"id": 1}\n{"id": 2}\n', [{"id": 1}, {"id": 2}]),
        ("[{'id': 1, 'name': None}]", [{"id": 1, "name": None}]),
    ],
)
def test_answers_are_values_in_several_forms(content: str, value: Any) -> None:
    assert value_of(content) == value


@pytest.mark.parametrize("content", ["", "3 notes", "[1, 2", '{"id": 1} and more', "[" * 100_000, "{open('x')}", "[x]"])
def test_what_is_no_value_is_none(content: str) -> None:
    with pytest.raises(ValueError):
        value_of(content)


class _Holes(dict[str, str]):
    """Each hole as its own name."""

    def __missing__(self, key: str) -> Any:
        return type("Hole", (), {"__getattr__": lambda _, part: f"{key}.{part}", "__format__": lambda _, __: key})()


def _listed(**answers: Any) -> list[Listing]:
    """What tools list that answer so: texts as they are, other values as JSON."""
    told = {tool: value if isinstance(value, str) else json.dumps(value) for tool, value in answers.items()}
    return listings(((tool, {}), content) for tool, content in told.items())


def test_things_are_listed_by_names_and_taken_by_keys() -> None:
    tasks = [{"id": f"t{n}", "title": title, "done": False, "tags": ["home"]} for n, title in enumerate(TITLES)]
    requests = [{"requestId": n, "wanted": text, "tasks": tasks[n : n + 1]} for n, text in enumerate(WANTED)]
    found = _listed(list_requests={"requests": requests, "message": "two"}, get_text="no JSON")
    assert [(one.noun, one.record.each, one.name) for one in found] == [
        ("task", "requests[].tasks[]", "title"),
        ("request", "requests[]", "wanted"),
    ]
    task, request_ = found
    assert task.field_of("taskId", "open_task_details") == "id"
    assert task.field_of("id", "delete_task") == "id"
    assert task.field_of("id", "delete_request") is None
    assert task.field_of("title", "create_task") is None, "of what is made the name is new"
    assert request_.field_of("request_id", "anything") == "requestId"
    assert _listed(list_tasks=[{"id": 1, "name": "Twice"}, {"id": 2, "name": "Twice"}]) == []


TITLES = ("Order moving boxes", "Cancel the contract")
WANTED = ("Move into the new flat", "Plan the summer party")


@pytest.mark.parametrize(
    ("tool", "said", "ask"),
    [
        ("task_delete", "delete a task", "delete the task “X”"),
        ("mark_task_done", "mark a given task", "mark the task “X” as done"),
        ("approve_task_completion", "approve it", "approve the completion of the task “X”"),
        ("finish", "finish the given task", "finish the task “X”"),
        ("archive", "put it away", "archive the task “X”"),
        ("tidy", "put it away", "put it away, for the task “X”"),
    ],
)
def test_what_a_tool_does_is_said_of_one_thing(tool: str, said: str, ask: str) -> None:
    (one,) = _listed(list_tasks=[{"id": n, "title": title} for n, title in enumerate(TITLES)])
    assert about_thing(said, tool, one, "X") == ask


def test_fields_are_asked_for_as_people_say_them() -> None:
    rows = [
        {"id": n, "title": title, "desc": f"About {n}", "created_on": f"May {n + 1}", "totalSteps": n}
        for n, title in enumerate(TITLES)
    ]
    (one,) = _listed(list_tasks=rows)
    told = {field: [row[field] for row in one.things] for field in one.asked()}
    assert [questions_on_thing(field, values, one, "X")[0] for field, values in told.items()] == [
        "What is the description of the task “X”?",
        "When was the task “X” created?",
        "How many steps does the task “X” have?",
    ]
    assert questions_on_thing("notes", ["3 of 4"], one, "X")[0] == "What are the notes of the task “X”?"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("To Do:\n  [HIGH] TASK-1 - Paint the hall\n  [LOW] TASK-2 - Fix the gate (To Do)\n", ["TASK-1", "TASK-2"]),
        ("# Tasks\n*2 tasks*\n\n### [1] Order toner\n**Due**: today\n\n### [2] Book a room | **Due**: now", ["1", "2"]),
        ("- [ ] #4: Pea soup\n- [x] #7: Rye bread", ["4", "7"]),
        ("* Pea soup (id: 4) for four\n* Rye bread (ID 7)", ["4", "7"]),
    ],
)
def test_lists_in_text_are_read(text: str, shown: list[str]) -> None:
    (one,) = _listed(list_tasks=text)
    assert [thing["id"] for thing in one.things] == shown
    assert [one.noun, one.name, one.field_of("task_id", "task_view")] == ["task", "name", "id"]
    assert all(not thing["name"].endswith((" ", "(", "|")) for thing in one.things)


@pytest.mark.parametrize("text", ["12 files were found.", "1. Pea soup\n1. Rye bread", "Chapter 3 ends.\nand 4 begins"])
def test_text_that_lists_nothing_is_no_list(text: str) -> None:
    assert _listed(list_tasks=text) == []


def test_one_object_that_holds_all_arguments_is_opened_and_its_references_followed() -> None:
    inner = {
        "type": "object",
        "properties": {
            "task_id": {"type": "string"},
            "priority": {"anyOf": [{"$ref": "#/$defs/Priority"}, {"type": "null"}], "default": None},
            "response_format": {"$ref": "#/$defs/Format", "default": "markdown"},
        },
        "required": ["task_id"],
    }
    parameters = {
        "$defs": {"In": inner, "Priority": {"enum": ["H", "L"]}, "Format": {"enum": ["markdown", "json"]}},
        "type": "object",
        "properties": {"params": {"$ref": "#/$defs/In"}},
        "required": ["params"],
    }
    found = signature_of(ToolSchema(name="task_get", description="Get a task.", parameters=parameters))
    assert found.required == ("task_id",)
    assert list(found.properties) == ["task_id", "priority"]
    assert found.properties["priority"]["enum"] == ["H", "L"]
    assert found.call({"task_id": "1"}) == {"params": {"task_id": "1"}}
    assert found.look({"task_id": "1"}) == {"params": {"task_id": "1", "response_format": "json"}}


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}, "name": {"type": ["string", "null"]}}}
    found = spelled_out(tree)
    assert found["properties"]["name"] == {"type": "string"}
    assert found["properties"]["child"]["properties"]["name"] == {"type": "string"}
    assert len(json.dumps(found)) < 2_000


def test_numbers_are_asked_for_where_their_field_says_of_what() -> None:
    rows = [
        {"name": name, "task_count": n, "pending": n + 1, "due_this_week": n, "price": n * 2.5, "urgency": n / 3}
        for n, name in enumerate(("Front garden", "Summer party"))
    ]
    (one,) = _listed(list_projects=rows)
    told = {field: questions_on_thing(field, ["1", "2"], one, "X")[0] for field in one.asked()}
    assert told == {
        "task_count": "How many tasks does the project “X” have?",
        "price": "What is the price of the project “X”?",
    }


def test_of_lists_of_one_kind_the_fullest_counts_and_a_list_without_a_noun_is_none() -> None:
    all_, some = [
        [{"id": n, "title": title} for n, title in enumerate(titles)] for titles in ((*TITLES, "Rest"), TITLES)
    ]
    (one,) = _listed(list_ready={"tasks": some}, list_all={"tasks": all_}, triage={"no_due": some, "tasks": some})
    assert (one.record.tool, len(one.things)) == ("list_all", 3)
