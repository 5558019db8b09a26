"""Whole builds whose policy, a model behind HTTP, compresses its history and asks helpers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from stand_ins.model_server import Call, FixedPlayer, ModelServer, Reply

import synth
from synth.agents.actions import COMPRESS
from synth.agents.summaries import seen_history
from synth.agents.trajectory import facts_of, history_of
from synth.dataset.rules.validate import validate
from synth.environments.rendering import find_links, link
from synth.errors import InputError
from synth.schemas.delegations import delegations_of

LEAN: dict[str, Any] = {
    "source.entities": 600,
    "management": {"helper_turns": 4},
    "difficulty": None,
    "distractors": None,
    "contexts": None,
    "rl": False,
    "critical.search.max_more": 4,
}


def play(request: Mapping[str, Any], sample: str | None) -> Reply:
    """Searches, compresses, delegates, opens, answers; a helper searches and answers."""
    messages = request["messages"]
    question = messages[1]["content"]
    if len(messages) == 2:
        return Reply(reasoning="I search.", calls=(Call.of("search", query=" ".join(question.split()[:6])),))
    before, last = messages[-2], messages[-1]["content"]
    links = list(find_links(last))
    tool = before["tool_calls"][0]["function"]["name"]
    if COMPRESS.name not in [tool["function"]["name"] for tool in request["tools"]]:
        return Reply(content=links[0].anchor if links else "It can't be found.")
    if tool == "search" and links:
        number = int(sample or "0", 16) % len(links)
        return Reply(calls=(Call.of("compress", notes=link(links[number].anchor, links[number].target)),))
    if tool == "compress":
        return Reply(
            calls=(Call.of("delegate", question=f"What is {before['tool_calls'][0]['function']['arguments']}?"),)
        )
    if tool == "delegate":
        assert len(messages) == 6, "what came before the notes is gone"
        seen = next(find_links(messages[2]["tool_calls"][0]["function"]["arguments"]))
        return Reply(calls=(Call.of("open", document=seen.target),))
    return Reply(content=links[0].anchor if links else "It can't be found.")


def test_a_policy_that_manages_its_context(tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 4, "store": world_store}
    with ModelServer({"toy-policy": FixedPlayer(play)}) as server:
        role = {"backend": "openai", "model": "toy-policy", "endpoints": [server.url], "rollouts": 2}
        settings = {**LEAN, "roles": {"policy": role}}
        built = synth.build("world-search", out=tmp_path / "out", settings=settings, **base)
        asked = len(server.log.records())
        assert server.errors == []
    assert validate(built.path) == []
    assert built.account is not None
    assert built.account.calls == asked
    dataset = synth.load(built.path)
    rows = list(dataset.rows("trajectories"))
    assert len(rows) == 8
    used = [row for row in rows if delegations_of(facts_of(row))]
    assert len(used) >= 6, "a search without results leads nowhere"
    for row in used:
        (one,) = delegations_of(facts_of(row)).values()
        assert one.model_turns
        assert one.completion_tokens > 0
        _, history = history_of(row)
        assert [step.turn.calls[0].name for step in history[:-1]] == ["search", "compress", "delegate", "open"]
        assert seen_history(row, 4) == history[1:4]
    continuations = list(dataset.rows("continuations"))
    assert continuations
    searched = {row.trajectory_id for row in continuations}
    assert searched & {row.id for row in used}, "runs with notes and helpers are branched from"
    helped = [
        item.content for row in continuations for item in row.content if getattr(item, "name", None) == "delegate"
    ]
    assert any(text.startswith("The helper answers: ") for text in helped), "continuations ask helpers of their own"


def test_keys_that_there_are_not(tmp_path: Path) -> None:
    settings = {"management": {"helpers": 0}}
    with pytest.raises(InputError, match="helpers") as caught:
        synth.build("world-search", tasks=2, out=tmp_path / "out", store=tmp_path / "s", settings=settings)
    assert "\n" not in str(caught.value)
