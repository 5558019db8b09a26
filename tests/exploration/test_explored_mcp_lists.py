"""Lists of texts, of what hangs below something, and of rows; and nothing is asked for that is so before."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_lists import command

from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.environments.mcp.environment import McpEnvironment, open_mcp
from synth.exploration.config import ExplorationConfig
from synth.exploration.mcp.already import is_so
from synth.exploration.mcp.book import Book, Filler, probe_calls
from synth.exploration.mcp.described import described_book
from synth.exploration.mcp.explorer import McpExplorable
from synth.exploration.mcp.listings import listings
from synth.exploration.mcp.making import Maker
from synth.exploration.mcp.signatures import signature_of
from synth.exploration.mcp.slots import Slots
from synth.exploration.mcp.survey import seems_to_read, survey
from synth.exploration.mcp.trials import BookProposer, Watch
from synth.exploration.mcp.wording import about_thing, questions_on_thing
from synth.exploration.pipeline import Exploration, blank_task
from synth.exploration.walks import Coverage, Explored
from synth.schemas.plans import Plan
from synth.schemas.rejections import Rejection
from synth.tasks.contract import Checked

CONFIG = ExplorationConfig(
    fractions={"train": 1.0}, kinds={"done": 0.8, "answered": 0.2}, writes={1: 1, 2: 1, 3: 1}, tries=10
)


@cache
def opened(kind: str) -> tuple[McpEnvironment, Book]:
    environment = open_mcp(servers={kind: {"command": command(kind)}}, replay_safe=True)
    return environment, described_book(environment, survey(environment, calls=25), {})


def asked(kind: str) -> list[str]:
    return [re.sub(r"\{(?:[a-z_]+\.)?([a-z_]+)\}", r"\1", form) for move in opened(kind)[1].moves for form in move.asks]


@cache
def proposed(kind: str) -> tuple[Checked | Rejection, ...]:
    environment, book = opened(kind)
    return tuple(Exploration(McpExplorable(environment, book, CONFIG)).propose(range(8), 1))


def tasks(kind: str) -> tuple[Checked, ...]:
    return tuple(one for one in proposed(kind) if isinstance(one, Checked))


def test_an_answer_in_one_line_shows_a_value_whatever_else_it_shows_later() -> None:
    details = [one.detail for kind in ("board", "requests") for one in proposed(kind) if isinstance(one, Rejection)]
    assert not any("does not show" in detail for detail in details), details


def test_later_calls_are_about_what_was_there_by_its_name_and_remove_nothing_changed() -> None:
    environment, book = opened("board")
    watch, coverage, generator = Watch(environment, book), Coverage(), np.random.default_rng(0)
    proposer = BookProposer(environment, book, watch)
    episode = environment.reset(blank_task("t", "mcp", {}))
    try:
        proposer.begin = watch.state(episode)
        moved = proposer.arguments("move_card", episode, coverage, generator)
        assert moved is not None
        call = ToolCall(id="m", name="move_card", arguments=moved)
        proposer.saw(Explored(call, episode.step(call), "before", "after", True))
        other = next(card for card in ("Mend the gate", "Oil the saw") if card != moved["title"])
        column = "NEXT" if other == "Mend the gate" else "DONE"
        episode.step(ToolCall(id="s", name="stamp_card", arguments={"title": other, "column": column}))
        watch.state(episode)
        drawn = [proposer.arguments("delete_card", episode, coverage, generator) for _ in range(60)]
    finally:
        episode.close()
    titles = {one["title"] for one in drawn if one is not None}
    assert len(titles) == 2
    assert not titles & {moved["title"], f"{other} (stamped)"}


def test_texts_under_columns_are_moved_between_them() -> None:
    assert "move the card “item” to “to_column”" in asked("board")
    assert "In which column is the card “item”?" in asked("board")
    assert "delete the card “item”" in asked("board"), "how it deletes is not what becomes of it"
    assert not any("mode" in ask for ask in asked("board"))
    assert len(tasks("board")) >= 6
    assert any("stamp the card" in one.draft.question.lower() for one in tasks("board"))
    assert not any("(stamped)" in one.draft.question for one in tasks("board")), "what it is called by then"


def test_files_are_called_what_tools_call_them() -> None:
    assert "delete the page “item”" in asked("vault")
    assert "set the status of the page “item” to “status”" in asked("vault"), "a field of any object, with known values"
    assert "What is the status of the page “item”?" in asked("vault")
    assert not any("operation" in ask or "House" in ask for ask in asked("vault"))
    assert any("Garden diary.md" in one.draft.question for one in tasks("vault"))


def test_what_hangs_below_something_is_named_with_it() -> None:
    assert "mark the task “title” of the request “wanted” as done" in asked("requests")
    assert "What is the description of the task “title” of the request “wanted”?" in asked("requests")
    assert not any(ask.startswith("update the task") for ask in asked("requests")), "to what?"
    plans = [Plan.model_validate(one.draft.details["plan"]) for one in tasks("requests")]
    marked = next(plan for plan in plans if plan.calls[-1].tool in ("mark_task_done", "delete_task"))
    assert [call.tool for call in marked.calls[:2]] == ["list_requests", "get_next_task"]


def test_no_field_of_what_lies_below_is_asked_of_what_it_lies_in() -> None:
    about = [ask for ask in asked("requests") if re.search(r"the \w+ of the request", ask)]
    assert not any(word in ask for ask in about for word in ("title", "description", "heading")), about
    assert "What is the room of the request “wanted”?" in about, "within an object of its own number"
    assert "What is the contact of the request “wanted”?" in about
    found = {one.draft.answer for one in tasks("requests") if "contact" in one.draft.question}
    assert found <= {"Ida Whitcombe", "Robin Tate"}
    (move,) = [move for move in opened("requests")[1].moves if move.answer and "contact" in move.asks[0]]
    environment, book = opened("requests")
    episode = environment.reset(blank_task("t", "mcp", {}))
    look, generator = partial(looked, episode), np.random.default_rng(0)
    answers = {Filler(book, look, generator).fill(move.answer) for _ in range(20)}
    episode.close()
    assert answers == {"Ida Whitcombe", "Robin Tate"}, "the steps have a contact each"


def test_folders_are_opened_one_after_the_other() -> None:
    assert "delete the page “item/item”" in asked("vault")
    assert "What is the status of the page “item/item/item”?" in asked("vault")
    environment, book = opened("vault")
    episode = environment.reset(blank_task("t", "mcp", {}))
    look = partial(looked, episode)
    read = {given["path"] for tool, given in probe_calls(book, look) if tool == "read_page"}
    opened_up = {given.get("path") for tool, given in probe_calls(book, look) if tool == "list_directory"}
    episode.close()
    assert {"Loft.md", "House/Boiler.md", "House/Attic/Beams.md"} <= read
    assert opened_up == {None, "House", "House/Attic"}, "nothing lies in Trips"
    asked_for = " ".join(one.draft.question for one in tasks("vault"))
    assert "“House/" in asked_for


def test_rows_are_called_after_their_table() -> None:
    assert "What is the price of the plant “name”?" in asked("shop")
    assert "set the kind of the plant “name” to “kind”" in asked("shop")
    assert "delete the supplier “name”" in asked("shop")
    assert not any("schema" in ask or "table" in ask for ask in asked("shop"))
    assert len(tasks("shop")) >= 6


def test_a_store_of_keys_is_asked_for_values_and_takes_new_ones() -> None:
    assert "What is the value of the key “item”?" in asked("store")
    assert "delete the key “item”" in asked("store")
    assert "set the key “key” to “value”" in asked("store")
    assert len([ask for ask in asked("store") if ask.startswith("What is")]) == 1, "find_related tells no value"
    answers = {one.draft.answer for one in tasks("store")} - {"Done."}
    assert answers
    assert answers <= {"7 February", "4471", "latex"}
    calls = [call for one in tasks("store") for call in Plan.model_validate(one.draft.details["plan"]).calls]
    new = {call.arguments["key"] for call in calls if call.tool == "set"}
    assert new
    assert all(re.fullmatch(r"[a-z]+:[a-z]+", key) for key in new), "as the other keys are written"


TASK = {"title": {"type": "string"}, "priority": {"type": "string", "enum": ["low", "high"]}}
NOTE = {"type": "string", "description": "What it says, e.g. 'Bring a ladder' or 'Ask Henrik'"}


def made(
    name: str, properties: dict[str, Any], required: list[str], *, trusted: bool = True
) -> tuple[Slots, list[str]]:
    schema = {"type": "object", "properties": properties, "required": required}
    slots = Slots({}, listings([(("list_people", {}), '[{"id": 1, "name": "Ada May"}, {"id": 2, "name": "Bo Lind"}]')]))
    tool = signature_of(ToolSchema(name=name, description="", parameters=schema))
    return slots, [move.asks[0] for move in Maker(tool, slots, trusted=trusted).moves(slots.thing(tool))]


def test_new_things_are_called_what_people_call_them() -> None:
    slots, asks = made("create_task", TASK, ["title"])
    assert asks == [
        "create a task called “{new_title}”",
        "create a task called “{new_title}”, with “{priority}” as the priority",
    ]
    assert "Call the plumber" in slots.new["new_title"]
    slots, asks = made("add_contact", {"name": {"type": "string"}}, ["name"])
    assert asks == ["add a contact called “{new_name}”"]
    assert "Ida Whitcombe" in slots.new["new_name"]
    _, asks = made("add_task", {**TASK, "person_id": {"type": "string"}}, ["person_id", "title"])
    assert asks[0] == "add a task called “{new_title}” to the person “{person.name}”"


def test_examples_of_a_schema_are_taken_where_the_server_is_trusted() -> None:
    slots, asks = made("log_visit", {"remark": NOTE}, ["remark"])
    assert asks[0] == "log a visit, with “{remark}” as the remark"
    assert slots.words["remark"] == ("Bring a ladder", "Ask Henrik")
    assert made("log_visit", {"remark": NOTE}, ["remark"], trusted=False)[1] == []


def test_nothing_is_made_of_what_nobody_can_name() -> None:
    words = {"type": "string"}
    assert made("create_widget", {"frob": words}, ["frob"])[1] == []
    assert made("create_task", {**TASK, "owner_id": words}, ["title", "owner_id"])[1] == []
    assert made("create_task", {**TASK, "action": words}, ["title", "action"])[1] == []


def test_the_key_of_something_else_is_none_of_a_thing() -> None:
    rows = [{"id": 7, "person_id": "p1", "text": "Send dates"}, {"id": 8, "person_id": "p2", "text": "Order numbers"}]
    (one,) = listings([(("list_reminders", {}), json.dumps(rows))])
    assert one.field_of("person_id", "record_observation") is None
    assert one.field_of("reminder_id", "complete_reminder") == "id"


def looked(episode: Any, tool: str, given: dict[str, Any]) -> Any:
    return episode.look(ToolCall(id="l", name=tool, arguments=given))


@pytest.mark.parametrize("kind", ["board", "vault", "requests", "shop"])
def test_no_part_asks_for_what_is_so(kind: str) -> None:
    """These servers count writes, so that a call that sets what is set changes what they show."""
    environment, book = opened(kind)
    parts = 0
    for one in tasks(kind):
        plan = Plan.model_validate(one.draft.details["plan"])
        episode = environment.reset(blank_task("t", "mcp", {}))
        look = partial(looked, episode)
        touched: list[str] = []
        for call in plan.calls:
            if call.changes:
                parts += 1
                before = " ".join(look(tool, given).content for tool, given in probe_calls(book, look))
                told = {**call.arguments, **call.arguments.get("fields", {}), **call.arguments.get("data", {})}
                name = str(told.get("title") or told.get("path") or told.get("taskId") or told["conditions"]["name"])
                if call.tool == "update_fields":
                    assert look("get_fields", {"path": name}).content != f'{{"status": "{told["status"]}"}}'
                elif call.tool == "update_records":
                    assert f'"name": "{name}", "kind": "{told["kind"]}"' not in before
                elif call.tool == "move_card":
                    assert told["from_column"] != told["to_column"]
                elif call.tool == "mark_task_done":
                    assert re.search(rf"{name} [^\n]*Done", before.replace("\\n", "\n")) is None
                assert not (call.tool.startswith("delete") and name in touched), "changed, then deleted"
                touched += [name]
            episode.step(ToolCall(id="s", name=call.tool, arguments=call.arguments))
        episode.close()
    assert parts >= 4


def test_hinted_ids_are_asked_about_by_what_they_are() -> None:
    """The survey has no number of an order, and what it tries is not there."""
    only = open_mcp(servers={"requests": {"command": command("requests")}}, tools=("show_order", "list_requests"))
    book = described_book(only, survey(only, calls=15), {"order_id": ["o-1", "o-2"]})
    questions = [move.asks[0] for move in book.moves if move.answer is not None]
    assert "What is the payee of the order “{order_id}”?" in questions, "it stands within another object"
    assert not any("currency" in question for question in questions), "that is the same of all"


RECORDS = {
    "task": {"tool": "list", "each": "[]", "names": "title"},
    "card": {"tool": "cards", "each": "*column[]", "names": "item"},
}
BOOK = Book.model_validate(
    {
        "servers": ["s"],
        "records": RECORDS,
        "words": {"word": ["desk", "shop"]},
        "probes": [{"tool": "pair", "arguments": {"a": "{task.id}", "b": "{word}"}}],
        "moves": [{"tool": "x", "arguments": {"id": "{task.id}"}, "asks": ["do"]}],
    }
)
LISTED = '[{"id": 1, "title": "Call", "contexts": ["desk"], "priority": "High", "done": true, "status": "in_progress"}]'


@pytest.mark.parametrize(
    ("tool", "settings", "content", "so"),
    [
        ("update_task", {"contexts": ["desk"]}, LISTED, True),
        ("update_task", {"contexts": ["shop"]}, LISTED, False),
        ("update_task", {"contexts": ["desk"], "priority": "low"}, LISTED, False),
        ("add_context", {"context": "desk"}, LISTED, True),
        ("update_task", {"new_priority": "high"}, LISTED, True),
        ("update_task", {"task_status": "In progress"}, LISTED, True),
        ("complete_task", {}, LISTED, True),
        ("delete_task", {}, LISTED, False),
        ("complete_task", {}, LISTED.replace("true", "false"), False),
        ("close_task", {}, LISTED.replace("in_progress", "closed"), True),
        ("resolve_blocker", {}, LISTED.replace('"done": true', '"blockers": null'), True),
        ("resolve_blocker", {}, LISTED.replace('"done": true', '"blockers": ["rain"]'), False),
        ("update_task", {"priority": "high"}, "Task 1\n**Priority**: High\n", True),
        ("update_task", {"priority": "high"}, "Task 1\nPriority: Low\n", False),
        ("update_task", {"priority": "high"}, '{"priority": "high"}', True),
    ],
)
def test_what_is_so_is_seen(tool: str, settings: dict[str, Any], content: str, so: bool) -> None:
    template = {"id": "{task.id}", **settings}
    bound = {"task": {"id": "1", "title": "Call"}}
    assert is_so(BOOK, tool, template, {"id": 1, **settings}, bound, [({"id": 1}, content)]) is so


def test_what_a_board_shows_of_a_card_is_its_column() -> None:
    template = {"title": "{card.item}", "to_column": "{word}"}
    bound = {"card": {"item": "Call", "column": "desk"}}
    assert is_so(BOOK, "move_card", template, {"title": "Call", "to_column": "desk"}, bound, [])
    assert not is_so(BOOK, "move_card", template, {"title": "Call", "to_column": "shop"}, bound, [])


def test_a_probe_may_have_several_holes() -> None:
    def look(tool: str, arguments: dict[str, Any]) -> ToolResult:
        return ToolCall(id="c", name=tool, arguments=arguments).answered('[{"id": 1, "title": "A"}, {"id": 2}]')

    assert [given for _, given in probe_calls(BOOK, look)] == [
        {"a": str(number), "b": word} for number in (1, 2) for word in ("desk", "shop")
    ]


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("update_task_status", False),
        ("task_status", True),
        ("ledger_accounts", True),
        ("git_log", True),
    ],
)
def test_what_a_tool_does_is_said_by_the_first_verb(name: str, reads: bool) -> None:
    assert seems_to_read(opened("board")[0], name) is reads


def test_active_projects_are_projects_and_an_inventory_has_items() -> None:
    rows = '[{"id": 1, "name": "Repaint the hall", "sku": "A"}, {"id": 2, "name": "Open day", "sku": "B"}]'
    all_ = rows[:-1] + ', {"id": 3, "name": "New trailer", "sku": "C"}]'
    answers = [(("list_projects", {}), all_), (("get_dashboard", {}), f'{{"active_projects": {rows}}}')]
    assert [one.noun for one in listings(answers)] == ["project"]
    (one,) = listings([(("check_inventory", {}), rows)])
    assert questions_on_thing("sku", ["A", "B"], one, "X")[0] == "What is the SKU of the inventory item “X”?"
    assert questions_on_thing("estimate_hours", ["1"], one, "X")[0] == (
        "How many hours is the estimate of the inventory item “X”?"
    )
    assert about_thing("it", "resolve_blocker", one, "X") == "resolve the blocker of the inventory item “X”"
