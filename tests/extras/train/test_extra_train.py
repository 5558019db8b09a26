"""TRL trains a tiny model straight from our exports, as their cards say: one step or a few of each trainer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

import datasets
import torch
import trl
from tiny import tiny_config, tiny_tokenizer
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

import synth
from synth.annotate.rewards.adapters import trl_reward
from synth.api import BuildResult

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("default"),  # what the trainers warn of is not ours
]

QUICK: dict[str, Any] = {
    "max_steps": 2,
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 1,
    "logging_steps": 1,
    "learning_rate": 1e-3,
    "save_strategy": "no",
    "report_to": "none",
    "use_cpu": True,
    "bf16": False,
    "disable_tqdm": True,
    "seed": 7,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("build")
    settings = {"source.entities": 600}
    return synth.build("world-search", tasks=12, settings=settings, out=folder / "out", store=folder / "store")


@pytest.fixture(scope="module")
def tokenizer(built: BuildResult) -> PreTrainedTokenizerFast:
    texts = [document.text for document in synth.load(built.path).rows("documents")][:300]
    return tiny_tokenizer(texts)


@pytest.fixture(scope="module")
def model(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a random model: some trainers load it a second time."""
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("model")
    Qwen3ForCausalLM(tiny_config(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def opened(built: BuildResult, name: str, folder: Path, *select: str) -> datasets.Dataset:
    done = synth.export(built.path, name, folder / name, select=["split=train", *select])
    return datasets.load_dataset(str(done.path), cache_dir=str(folder / "cache"), split="train")


def losses(trainer: Any) -> Iterator[float]:
    return (entry["loss"] for entry in trainer.state.log_history if "loss" in entry)


def weights(path: str) -> torch.Tensor:
    return Qwen3ForCausalLM.from_pretrained(path).model.embed_tokens.weight


def check(trainer: Any, model: str, steps: int = 2) -> None:
    trainer.train()
    found = list(losses(trainer))
    assert len(found) == steps
    assert all(torch.isfinite(torch.tensor(loss)) for loss in found)
    changed = trainer.model.get_input_embeddings().weight.detach().cpu().float()
    assert not torch.equal(changed, weights(model)), "nothing was learned"


@pytest.mark.parametrize("name", ["trl-sft", "trl-rft", "trl-corrections"])
def test_supervised_fine_tuning_learns_the_agent_and_not_its_tools(
    name: str, built: BuildResult, tokenizer: PreTrainedTokenizerFast, model: str, tmp_path: Path
) -> None:
    rows = opened(built, name, tmp_path)
    args = trl.SFTConfig(
        output_dir=str(tmp_path / "run"), max_length=None, assistant_only_loss=True, packing=False, **QUICK
    )
    trainer = trl.SFTTrainer(model, args=args, train_dataset=rows, processing_class=tokenizer)
    assert len(trainer.train_dataset) == len(rows)
    for row, tokens in zip(rows, trainer.train_dataset, strict=True):
        messages = row["messages"] if name == "trl-sft" else row["completion"]
        learned = _learned(tokens, tokenizer)
        for message in messages:
            if message["role"] == "assistant":
                assert message["content"] in learned
                assert message.get("reasoning_content", "") in learned  # a call may show itself
                for call in message.get("tool_calls", ()):
                    assert json.dumps(call["function"]["arguments"], ensure_ascii=False) in learned
            elif message["role"] == "tool":
                assert message["content"] not in learned
        before = [] if name == "trl-sft" else row["prompt"]
        assert not any(m["role"] == "tool" and m["content"] in learned for m in before)
    check(trainer, model)


def _learned(tokens: dict[str, Any], tokenizer: PreTrainedTokenizerFast) -> str:
    if "labels" in tokens:
        kept = [token for token, label in zip(tokens["input_ids"], tokens["labels"], strict=True) if label != -100]
    else:
        masks = [tokens[name] for name in ("completion_mask", "assistant_masks") if name in tokens]
        kept = [token for token, *on in zip(tokens["input_ids"], *masks, strict=True) if all(on)]
    return str(tokenizer.decode(kept))


def test_pairs_train_with_dpo(
    built: BuildResult, tokenizer: PreTrainedTokenizerFast, model: str, tmp_path: Path
) -> None:
    rows = opened(built, "trl-dpo", tmp_path, "selected=any")
    assert len(rows) > 8
    args = trl.DPOConfig(output_dir=str(tmp_path / "run"), max_length=None, **QUICK)
    trainer = trl.DPOTrainer(model, args=args, train_dataset=rows, processing_class=tokenizer)
    assert len(trainer.train_dataset) == len(rows), "every pair is tokenized, and none is dropped"
    for row, tokens in zip(rows, trainer.train_dataset, strict=True):
        chosen, rejected = (tokenizer.decode(tokens[name]) for name in ("chosen_ids", "rejected_ids"))
        assert chosen != rejected
        for side, text in (("chosen", chosen), ("rejected", rejected)):
            for message in row[side]:
                assert message["content"] in text
    check(trainer, model)


def test_steps_train_with_kto(
    built: BuildResult, tokenizer: PreTrainedTokenizerFast, model: str, tmp_path: Path
) -> None:
    rows = opened(built, "kto", tmp_path)
    good, bad = ([place for place, label in enumerate(rows["label"]) if label is wanted] for wanted in (True, False))
    rows = rows.select([*good[:4], *bad[:4]])
    assert set(rows["label"]) == {True, False}
    args = trl.KTOConfig(output_dir=str(tmp_path / "run"), max_length=None, **QUICK)
    trainer = trl.KTOTrainer(model, args=args, train_dataset=rows, processing_class=tokenizer)
    assert len(trainer.train_dataset) == len(rows)
    check(trainer, model)


def test_one_step_of_grpo_is_rewarded_by_our_rules(
    built: BuildResult, tokenizer: PreTrainedTokenizerFast, model: str, tmp_path: Path
) -> None:
    rows = opened(built, "trl-grpo", tmp_path)
    seen: list[float | None] = []

    def reward(**columns: Any) -> list[float | None]:
        values = trl_reward(**columns)
        seen.extend(values)
        return values

    options = QUICK | {"max_steps": 1}
    args = trl.GRPOConfig(
        output_dir=str(tmp_path / "run"),
        num_generations=2,
        max_completion_length=8,
        remove_unused_columns=False,
        **options,
    )
    trainer = trl.GRPOTrainer(model, reward_funcs=reward, args=args, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    assert len(seen) == 2
    assert all(value is None or 0 <= value <= 1 for value in seen)
    assert len(list(losses(trainer))) == 1


@pytest.mark.parametrize(
    "name", ["trl-sft", "trl-rft", "trl-corrections", "trl-dpo", "kto", "trl-grpo", "trl-grpo-env"]
)
def test_what_the_card_of_an_export_shows_runs(
    name: str, built: BuildResult, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = synth.export(built.path, name, tmp_path / "out", select=["selected=any"] if name == "trl-dpo" else [])
    monkeypatch.chdir(tmp_path)  # trainers write where they are
    assert run_card(done.path, {"FOLDER": str(done.path), "MODEL": model, "DATASET": str(built.path)}) == 1


def test_what_the_card_of_the_dataset_shows_of_trl_runs(
    built: BuildResult, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    synth.export(built.path, "trl-sft", tmp_path / "sft")
    assert run_card(built.path, {"MODEL": model, "PATH": str(built.path)}) == 1


def run_card(folder: Path, given: dict[str, str]) -> int:
    """Run the blocks of Python that name TRL. How many there were. Two words more are needed where there is no GPU, and
    the other tests train."""
    blocks = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), flags=re.S)
    shown = [block for block in blocks if "trl" in block]
    for block in shown:
        for word, text in {**given, "Config(": "Config(use_cpu=True, bf16=False, ", ".train()": ""}.items():
            block = block.replace(word, text)
        exec(compile(block, "README.md", "exec"), {})
    return len(shown)


def recorded(number: int, *, right: bool) -> dict[str, Any]:
    """A run in the form of a third party's log."""
    river = f"river number {number} of Tervia"
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": json.dumps({"river": number})}}
    said = f"The {river} is {1000 + number} kilometres long."
    return {
        "messages": [
            {"role": "user", "content": f"How long is the {river}, in kilometres?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": said if right else "Nothing was found."},
            {"role": "assistant", "content": str(1000 + number) if right else "7"},
        ],
    }


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("import")
    runs = [recorded(number, right=right) for number in range(24) for right in (True, False)]
    asked = [{"question": run["messages"][0]["content"], "answer": str(1000 + n)} for n, run in enumerate(runs[::2])]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    return synth.annotate(runs, folder / "questions.jsonl", folder / "out")


@pytest.mark.parametrize(
    ("name", "config", "trainer", "more"),
    [
        ("trl-sft", trl.SFTConfig, trl.SFTTrainer, {"assistant_only_loss": True}),
        ("trl-rft", trl.SFTConfig, trl.SFTTrainer, {}),
        ("kto", trl.KTOConfig, trl.KTOTrainer, {}),
        ("trl-dpo", trl.DPOConfig, trl.DPOTrainer, {}),
    ],
)
def test_runs_of_an_import_train(
    name: str,
    config: Any,
    trainer: Any,
    more: dict[str, Any],
    imported: BuildResult,
    tokenizer: PreTrainedTokenizerFast,
    model: str,
    tmp_path: Path,
) -> None:
    rows = opened(imported, name, tmp_path, *(("selected=any",) if name == "trl-dpo" else ("role=policy",)))
    assert len(rows) > 8
    args = config(output_dir=str(tmp_path / "run"), max_length=None, **more, **QUICK)
    made = trainer(model, args=args, train_dataset=rows, processing_class=tokenizer)
    assert len(made.train_dataset) == len(rows), "every row is tokenized, and none is dropped"
    check(made, model)
