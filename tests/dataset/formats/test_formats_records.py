"""What one row becomes in each format: written out by hand, and what a format refuses."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest
import yaml
from critical_samples import run_pair, step_pair
from exporter_samples import TOOLS, trajectory
from format_samples import ABOUT, ANSWER, PLAIN, QUESTION, called, gave_up, run_of, seen, task_of

from synth.errors import InputError
from synth.export.contract import About, Inexpressible, Run, StepOf, Why
from synth.registry import FORMATS, find
from synth.schemas.adp import CodeAction, ImageObservation, MessageAction, TextObservation, WebObservation
from synth.schemas.trajectories import StopReason

BARE = About(dataset="world-search", thoughts=False)


def records(name: str, item: Any, about: About = ABOUT) -> list[dict[str, Any]]:
    return list(find("formats", name).convert(item, about, 0))


def refused(name: str, item: Any) -> Why:
    with pytest.raises(Inexpressible) as error:
        records(name, item)
    return error.value.why


def said(text: str, thought: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "reasoning_content": thought}


def call(number: int) -> dict[str, Any]:
    function = {"name": "search", "arguments": {"query": f"Place {number}"}}
    return said("", f"Thought {number}.") | {"tool_calls": [{"type": "function", "function": function}]}


def tool(number: int) -> dict[str, Any]:
    return {"role": "tool", "name": "search", "content": f"Page {number}."}


HEAD = [{"role": "system", "content": "You answer questions."}, {"role": "user", "content": "Which place?"}]
BODY = [call(0), tool(0), call(1), tool(1), said("Place 1", "Found.")]


def test_a_conversation_for_trl() -> None:
    run = run_of()
    (record,) = records("trl-sft", run)
    assert record == {
        "messages": HEAD + BODY,
        "tools": json.dumps(list(TOOLS), sort_keys=True, separators=(",", ":")),
        "chat_template_kwargs": {"enable_thinking": True},
        "id": run.row.id,
        "task_id": run.row.task_id,
        "source": "world-search",
        "licence": run.row.licence,
        "cut_observations": 0,
    }


def test_thoughts_are_left_out_when_told_to() -> None:
    for name in ("trl-sft", "trl-rft", "openai", "llamafactory-sft", "adp-1", "adp-2", "atif-1.8", "sts", "prm"):
        assert "Thought 0." in json.dumps(records(name, run_of()))
        assert "Thought 0." not in json.dumps(records(name, run_of(), BARE))


def test_what_comes_behind_the_last_target_is_left_out() -> None:
    (record,) = records("trl-sft", run_of(masked=[1, 2]))
    assert record["messages"] == HEAD + BODY[:1]


def test_a_run_with_a_wrong_turn_in_the_middle_is_cut_into_targets() -> None:
    run = run_of(masked=[1])
    assert refused("trl-sft", run) is Why.MASKED_TURN
    assert refused("llamafactory-sft", run) is Why.MASKED_TURN
    first, second = records("trl-rft", run)
    assert (first["prompt"], first["completion"]) == (HEAD, BODY[:1])
    assert (second["prompt"], second["completion"]) == (HEAD + BODY[:4], BODY[4:])
    (line,) = records("openai", run)
    assert [message.get("weight") for message in line["messages"] if message["role"] == "assistant"] == [None, 0, None]


@pytest.mark.parametrize("name", ["trl-sft", "trl-rft", "llamafactory-sft", "openai"])
def test_a_run_without_a_target_is_no_example(name: str) -> None:
    assert refused(name, run_of(masked=[0, 1, 2])) is Why.NO_TARGET
    failed = run_of(masked=None, success=False)
    assert refused(name, failed) is Why.NO_TARGET, "nobody labelled its steps, and it failed"
    assert records(name, run_of(masked=None))


def test_lines_for_openai() -> None:
    (record,) = records("openai", run_of())
    assert record["messages"][2] == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Thought 0.",
        "tool_calls": [
            {"id": "call_0_0", "type": "function", "function": {"name": "search", "arguments": '{"query":"Place 0"}'}}
        ],
    }
    assert record["messages"][3] == {"role": "tool", "tool_call_id": "call_0_0", "content": "Page 0."}
    assert record["tools"] == list(TOOLS)


def test_turns_for_llamafactory() -> None:
    (record,) = records("llamafactory-sft", run_of())
    assert record["system"] == "You answer questions."
    assert record["conversations"] == [
        {"from": "human", "value": "Which place?"},
        {
            "from": "function_call",
            "value": '<think>\nThought 0.\n</think>\n\n{"name": "search", "arguments": {"query": "Place 0"}}',
        },
        {"from": "observation", "value": "Page 0."},
        {
            "from": "function_call",
            "value": '<think>\nThought 1.\n</think>\n\n{"name": "search", "arguments": {"query": "Place 1"}}',
        },
        {"from": "observation", "value": "Page 1."},
        {"from": "gpt", "value": "<think>\nFound.\n</think>\n\nPlace 1"},
    ]
    assert json.loads(record["tools"]) == [TOOLS[0]["function"]]


def test_several_calls_at_once_for_llamafactory() -> None:
    both = (called(0), called(0, "find", place=1))
    answers = (seen(0, "One."), seen(0, "Two.", "find", place=1))
    (record,) = records("llamafactory-sft", run_of((QUESTION, *both, *answers, ANSWER)))
    _, calls, answer, _ = record["conversations"]
    assert [one["name"] for one in json.loads(calls["value"].partition("</think>")[2])] == ["search", "find"]
    assert answer["value"] == "One.\n</tool_response>\n<tool_response>\nTwo."
    swapped = run_of((QUESTION, *both, *reversed(answers), ANSWER))
    assert refused("llamafactory-sft", swapped) is Why.ANSWERS_OUT_OF_ORDER
    assert refused("adp-1", swapped) is Why.ANSWERS_OUT_OF_ORDER
    assert len(records("atif-1.8", swapped)[0]["steps"]) == 4


def test_text_beside_a_call_stays_in_its_turn_for_llamafactory() -> None:
    """As ``FunctionFormatter`` of LLaMA-Factory 0.9.5 reads it: JSON between the first marks, all else as it stands."""
    both = (called(0, said="I look at two pages."), called(0, "find", place=1))
    content = (QUESTION, *both, seen(0, "One."), seen(0, "Two.", "find", place=1), ANSWER)
    for about, thought in ((ABOUT, "<think>\nThought 0.\n</think>\n\n"), (BARE, "")):
        (record,) = records("llamafactory-sft", run_of(content), about)
        value = record["conversations"][1]["value"]
        found = re.search(r"<tool_call>(.*?)</tool_call>", value, re.DOTALL)
        assert found is not None
        assert value.replace(found.group(0), "") == thought + "I look at two pages.\n"
        assert [one["name"] for one in json.loads(found.group(1))] == ["search", "find"]
    read = find("importers", "sharegpt").read(record)
    assert [item.description for item in read.content[1:3]] == ["I look at two pages.", None]
    pair = step_pair(trajectory(1, "policy"))
    side = (pair.chosen[0].model_copy(update={"description": "I look again."}), *pair.chosen[1:])
    (ranked,) = records("llamafactory-dpo", pair.model_copy(update={"chosen": side}))
    assert "I look again.\n<tool_call>" in ranked["chosen"]["value"]


def test_a_session_for_the_trace_viewer() -> None:
    (record,) = records("sts", run_of())
    head, *messages = record["lines"]
    assert (head["type"], head["harness"], head["id"]) == ("session", "synth", record["name"])
    assert {line["type"] for line in messages} == {"message"}
    assert messages[2]["message"] == {
        "role": "assistant",
        "content": "",
        "model": "scripted",
        "reasoningContent": "Thought 0.",
        "toolCalls": [{"id": "call_0_0", "function": {"name": "search", "arguments": '{"query":"Place 0"}'}}],
    }
    assert messages[3]["message"] == {"role": "tool", "content": "Page 0.", "toolCallId": "call_0_0"}


def test_steps_of_atif() -> None:
    (record,) = records("atif-1.8", run_of(masked=[1]))
    assert record["schema_version"] == "ATIF-v1.8"
    assert [step["source"] for step in record["steps"]] == ["system", "user", "agent", "agent", "agent"]
    assert record["steps"][3] == {
        "step_id": 4,
        "source": "agent",
        "message": "",
        "reasoning_content": "Thought 1.",
        "tool_calls": [{"tool_call_id": "call_1_0", "function_name": "search", "arguments": {"query": "Place 1"}}],
        "observation": {"results": [{"source_call_id": "call_1_0", "content": "Page 1.", "extra": {"name": "search"}}]},
        "extra": {"label": -1, "train": False, "reason": record["steps"][3]["extra"]["reason"]},
    }
    assert "llm_call_count" not in record["steps"][3], "0 would forbid the thought"
    assert records("atif-1.8", run_of(), BARE)[0]["steps"][3]["llm_call_count"] == 0
    assert records("atif-1.7", run_of())[0]["schema_version"] == "ATIF-v1.7"


def test_what_is_said_before_a_call_is_a_step_of_atif_and_comes_back() -> None:
    run = run_of()
    content = (QUESTION, MessageAction(content="I look."), called(0), seen(0), ANSWER)
    (record,) = records("atif-1.8", Run(run.row.model_copy(update={"content": content}), None))
    said = [step for step in record["steps"] if step["source"] == "agent"]
    assert [(step["message"], len(step.get("tool_calls", ()))) for step in said[:2]] == [("I look.", 0), ("", 1)]
    assert find("importers", "atif").read(record).content == content


def test_generation_1_has_no_ids_and_generation_2_has() -> None:
    (one,), (two,) = records("adp-1", run_of()), records("adp-2", run_of())
    assert set(one) == {"id", "content", "details"}
    assert "tool_call_id" not in json.dumps(one["content"])
    assert two["schema_version"] == "1.2.0"
    assert two["content"][1]["tool_call_id"] == "call_0_0"
    assert one["details"]["system_prompt"] == two["details"]["system_prompt"] == "You answer questions."


def test_texts_and_labels_for_process_rewards() -> None:
    (record,) = records("prm", run_of(masked=[1]))
    assert record["prompt"] == "You answer questions.\n\nWhich place?"
    assert record["labels"] == [True, False, True]
    assert record["ratings"] == [1, -1, 1]
    assert record["completions"][1] == (
        "<tool_response>\nPage 0.\n</tool_response>\n<think>\nThought 1.\n</think>\n"
        '<tool_call>\n{"name": "search", "arguments": {"query": "Place 1"}}\n</tool_call>'
    )
    assert refused("prm", run_of(masked=None)) is Why.UNMEASURED


def test_a_step_for_kto() -> None:
    run = run_of(masked=[1])
    assert run.steps is not None
    row = run.row.model_copy(update={"content": PLAIN[:4]})
    (record,) = records("kto", StepOf(Run(row, run.steps), run.steps[1]))
    assert (record["prompt"], record["completion"], record["label"]) == (HEAD + BODY[:2], BODY[2:3], False)
    neutral = run.steps[1].model_copy(update={"label": 0})
    assert refused("kto", StepOf(Run(row, run.steps), neutral)) is Why.NEUTRAL


def test_pairs() -> None:
    pair = step_pair(trajectory(1, "policy"))
    (record,) = records("trl-dpo", pair)
    assert [len(record[side]) for side in ("chosen", "rejected")] == [1, 1]
    assert record["prompt"][-1]["role"] == "tool"
    (row,) = records("trl-corrections", pair)
    assert (row["prompt"], row["completion"], row["id"]) == (record["prompt"], record["chosen"], record["id"])
    assert row.keys() == records("trl-rft", run_of())[0].keys(), "they are trained on together"
    (ranked,) = records("llamafactory-dpo", pair)
    assert len(ranked["conversations"]) % 2 == 1
    assert ranked["chosen"]["from"] == "function_call" != ranked["conversations"][-1]["from"]
    whole = run_pair(trajectory(1, "teacher"), trajectory(1, "policy"))
    assert len(records("trl-dpo", whole)[0]["chosen"]) == 5
    assert refused("llamafactory-dpo", whole) is Why.SEVERAL_MESSAGES


def test_an_agent_that_gives_up_says_so() -> None:
    assert records("trl-sft", gave_up())[0]["messages"][-1]["content"] == "It can't be found."


def test_a_call_that_was_cut_off_ends_a_conversation() -> None:
    cut_off = called(1).model_copy(update={"tool_call_id": None})
    run = run_of((QUESTION, called(0), seen(0), cut_off), stop_reason=StopReason.MAX_TURNS)
    for name in ("trl-sft", "llamafactory-sft", "openai", "atif-1.8", "adp-1", "sts"):
        assert records(name, run)
    assert records("openai", run)[0]["messages"][-1]["tool_calls"][0]["id"] == "call_1_0"


COMPRESSED = (
    QUESTION,
    called(0),
    seen(0),
    called(1, "compress", notes="Page 0 is enough."),
    seen(1, "Noted.", "compress"),
    called(2),
    seen(2),
    ANSWER,
)


def test_a_history_that_was_compressed_is_one_conversation_per_view() -> None:
    run = run_of(COMPRESSED)
    first, second = records("trl-sft", run)
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert "Page 0." not in json.dumps(second["messages"][2:]).replace("Page 0 is", "")
    calls = [m["tool_calls"][0]["function"]["name"] for m in second["messages"] if "tool_calls" in m]
    assert calls == ["compress", "search"]
    prompts = [record["prompt"] for record in records("trl-rft", run)]
    assert [message["role"] for message in prompts[1]] == ["system", "user", "assistant", "tool"]
    _, later = records("openai", run)
    assert [m.get("weight") for m in later["messages"] if m["role"] == "assistant"] == [0, None, None]
    assert refused("prm", run) is Why.COMPRESSED
    failed = run_of(COMPRESSED, details={"tool_errors": {"call_1_0": "refused"}})
    assert len(records("trl-sft", failed)) == 1, "a compress that the tool refuses changes nothing"


CODE = CodeAction(language="python", content="1", tool_call_id="call_0_0")
PAGE = WebObservation(
    html="<p>", axtree=None, url=None, image_observation=None, viewport_size=None, tool_call_id="call_0_0"
)
PICTURE = ImageObservation(content="a.png", source="environment", tool_call_id="call_0_0")
AGENT = TextObservation(content="Hm.", source="agent")
CHAT = ("trl-sft", "trl-rft", "llamafactory-sft", "openai", "sts", "atif-1.8")


@pytest.mark.parametrize(
    ("content", "why", "names"),
    [
        ((QUESTION, called(0), PICTURE, ANSWER), Why.NO_TEXT, CHAT),
        ((QUESTION, called(0), seen(0), AGENT, ANSWER), Why.MIXED_TURN, ("llamafactory-sft",)),
        ((QUESTION, called(0), ANSWER), Why.MIXED_TURN, CHAT),
        ((QUESTION, called(0, query="<tool_call>"), seen(0), ANSWER), Why.RESERVED_TEXT, ("llamafactory-sft",)),
        ((QUESTION, called(0, said="A </tool_call>"), seen(0), ANSWER), Why.RESERVED_TEXT, ("llamafactory-sft",)),
        ((QUESTION, called(0, query="</think>"), seen(0), ANSWER), Why.RESERVED_TEXT, ("llamafactory-sft",)),
        ((QUESTION,), Why.EMPTY, CHAT[:5]),
    ],
)
def test_what_a_format_can_not_hold(content: Any, why: Why, names: tuple[str, ...]) -> None:
    for name in names:
        assert refused(name, run_of(content, masked=None)) is why
        assert why.sentence.endswith(".")


def test_code_is_a_call_pages_are_text_and_what_answers_nothing_is_said() -> None:
    first = PAGE.model_copy(update={"tool_call_id": None, "axtree": "A page."})
    told = MessageAction(content="I look.", reasoning_content="Hm.")
    content = (QUESTION, first, told, CODE.model_copy(update={"reasoning_content": "Now."}), PAGE, ANSWER)
    run = run_of(content, masked=None, tool_schemas=())
    for name, arguments in (("trl-sft", {"code": "1"}), ("openai", '{"code":"1"}')):
        (record,) = records(name, run)
        tools = json.loads(record["tools"]) if name == "trl-sft" else record["tools"]
        assert [one["function"]["name"] for one in tools] == ["run_python"]
        asked, acted, saw, _ = record["messages"][1:]
        assert asked == {"role": "user", "content": f"{QUESTION.content}\n\nA page."}
        assert (acted["content"], acted["reasoning_content"]) == ("I look.", "Hm.\n\nNow.")
        function = acted["tool_calls"][0]["function"]
        assert (function["name"], function["arguments"]) == ("run_python", arguments)
        assert (saw["role"], saw["content"]) == ("tool", "<p>")
    (record,) = records("llamafactory-sft", run)
    assert [turn["from"] for turn in record["conversations"]] == ["human", "function_call", "observation", "gpt"]
    taken = {"type": "function", "function": {"name": "run_python", "description": "", "parameters": {}}}
    assert refused("trl-sft", run_of(content, masked=None, tool_schemas=(taken,))) is Why.CODE


def test_a_state_is_no_ground_truth_for_a_text() -> None:
    (line,) = records("trl-grpo", task_of())
    (row,) = records("verl", task_of())
    assert line["reward_model"]["ground_truth"] == json.loads(row["reward_model"]["ground_truth"])
    for name in ("trl-grpo", "verl"):
        assert refused(name, task_of(judged_by="state")) is Why.JUDGED_BY_STATE
        assert len(records(f"{name}-env", task_of(judged_by="state"))) == 1, "the environment tells"


def test_tasks_for_environments_name_their_task() -> None:
    row = task_of(judged_by="state")
    (line,) = records("trl-grpo-env", row)
    assert (line["task_id"], line["reward_model"]["ground_truth"]["judged_by"]) == (row.task_id, "state")
    (record,) = records("verl-env", row)
    assert record["extra_info"]["tools_kwargs"] == {"environment": {"task": row.task_id}}
    assert record["agent_name"] == "tool_agent"


def test_one_file_of_tools_is_of_one_environment() -> None:
    beside = find("formats", "verl-env").beside
    other = ({"type": "function", "function": {"name": "fly", "parameters": {}}},)
    config = yaml.safe_load(beside("mixed", ["train"], [TOOLS])["tools.yaml"])
    names = [tool["function"]["name"] for tool in TOOLS]
    assert [entry["tool_schema"]["function"]["name"] for entry in config["tools"]] == names
    with pytest.raises(InputError, match="2 environments"):
        beside("mixed", ["train"], [TOOLS, other])


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_python_of_the_cards_of_exports_uses_what_it_imports(name: str) -> None:
    for block in re.findall(r"```python\n(.*?)```", find("formats", name).usage, flags=re.S):
        tree = ast.parse(block)
        bound = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        assert used <= bound | stored
        assert bound <= used


def test_every_format_says_what_it_is() -> None:
    for name in FORMATS:
        made = find("formats", name)
        assert made.name == name
        assert made.summary.endswith(".")
        assert made.usage
        assert (made.columns is None) == (made.layout != "parquet")
    assert {why.sentence for why in Why}.__len__() == len(Why)
