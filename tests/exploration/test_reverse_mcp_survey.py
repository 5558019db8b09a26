"""A server that nobody wrote a book for: what reads is found by trying, what may be asked by its schemas."""

from __future__ import annotations

import pytest

from synth.environments.contract import ToolSchema
from synth.errors import InputError
from synth.tasks.contract import Checked

pytest.importorskip("mcp", reason="extra mcp")

from stand_ins.mcp_server import command

from synth.environments.mcp.environment import open_mcp
from synth.exploration.mcp.config import McpTasksConfig
from synth.exploration.mcp.described import described_book, phrase
from synth.exploration.mcp.propose import McpProposer
from synth.exploration.mcp.survey import survey

HINTS = {"title": ["Tides", "Boats", "Charts"], "text": ["High at noon", "Two were sold", "The north bay is missing"]}


def test_what_reads_is_found_by_trying_and_tasks_follow() -> None:
    notes = open_mcp(servers={"notes": {"command": command("notes")}}, replay_safe=True)
    found = survey(notes, hints=[word for words in HINTS.values() for word in words], calls=30)
    assert (sorted(found.reads), found.writes, found.said) == (["read", "titles"], ("write",), frozenset())
    book = described_book(notes, found, HINTS)
    assert [move.tool for move in book.moves] == ["write"]
    assert len(book.probes) == 4  # the titles, and what stands under each of three
    config = McpTasksConfig(fractions={"train": 1.0})
    tasks = [one for one in McpProposer(notes, book, config).propose(range(4), 1) if isinstance(one, Checked)]
    assert len(tasks) >= 3
    for task in tasks:
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
