"""GRPO with an environment of ours in the loop: TRL steps it, and the reward is the state that was left behind."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

import datasets
import torch
import trl
from tiny import tiny_config, tiny_tokenizer
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM
from transformers.utils import get_json_schema

from synth.annotate.rewards import ground_truth
from synth.environments.search import SearchEnvironment
from synth.episodes.sessions import Sessions
from synth.export.contract import About
from synth.registry import find
from synth.schemas.rl import ExtraInfo, Message, RewardModel, RlRow
from synth.testing.corpus import ListTable, WordIndex, small_documents
from synth.training import TrlEnvironments, environment_reward
from synth.training.episodes import LocalEpisodes

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("default"),  # what the trainers warn of is not ours
]

_PLACE = Path(__file__).parents[2] / "training" / "lending.py"
_SPEC = importlib.util.spec_from_file_location("lending", _PLACE)
assert _SPEC is not None
assert _SPEC.loader is not None
lending = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(lending)


def row_of(number: int) -> RlRow:
    task = lending.tasks()[number]
    name = f"rl-{number}"
    return RlRow(
        id=name,
        task_id=task.id,
        data_source="library",
        prompt=(Message(role="system", content="You lend books."), Message(role="user", content=task.question)),
        tools=tuple(tool.function() for tool in lending.desk().tools()),
        reward_model=RewardModel(ground_truth=ground_truth(task)),
        extra_info=ExtraInfo(index=number, split="train", id=name, task_id=task.id),
        environment="app",
        environment_version="1",
        shape="reverse",
        hops=0,
        obfuscation=0,
        split="train",
        licence=None,
        provenance=task.provenance,
    )


class Scripted(Qwen3ForCausalLM):
    """A real model but for what it generates: the first rollout of a batch lends the book, all others only say so."""

    words: PreTrainedTokenizerFast

    def generate(self, input_ids: Any = None, attention_mask: Any = None, **others: Any) -> Any:
        name, arguments = lending.lend_ferns()
        call = json.dumps({"name": name, "arguments": arguments})
        made = []
        for place, ids in enumerate(input_ids):
            acts = place == 0 and "<tool_response>" not in self.words.decode(ids)
            text = f"<tool_call>\n{call}\n</tool_call>" if acts else "I have lent it."
            made.append([*self.words.encode(text), self.words.eos_token_id])
        longest = max(map(len, made))
        filled = [one + [self.words.pad_token_id] * (longest - len(one)) for one in made]
        return torch.cat([input_ids, torch.tensor(filled, device=input_ids.device)], dim=1)


def test_one_step_of_grpo_is_rewarded_by_the_state_of_the_environment(tmp_path: Path) -> None:
    row = row_of(0)
    assert row.reward_model.ground_truth.judged_by == "state"
    words = tiny_tokenizer([json.dumps(tool) for tool in row.tools] * 20)
    torch.manual_seed(7)
    model = Scripted(tiny_config(words))
    model.words = words
    before = model.model.embed_tokens.weight.detach().clone()
    seen: list[float | None] = []
    told: list[Any] = []

    def reward(**columns: Any) -> list[float | None]:
        values = environment_reward(**columns)
        seen.extend(values)
        told.extend(columns["completions"])
        return values

    held = lending.sessions()
    args = trl.GRPOConfig(
        output_dir=str(tmp_path / "run"),
        max_steps=1,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=1,
        num_generations=2,
        max_completion_length=400,
        remove_unused_columns=False,
        learning_rate=1e-2,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        seed=7,
    )
    records = list(find("formats", "trl-grpo-env").convert(row, About("library"), 0))
    trainer = trl.GRPOTrainer(
        model,
        reward_funcs=reward,
        args=args,
        train_dataset=datasets.Dataset.from_list(records * 2),
        processing_class=words,
        environment_factory=TrlEnvironments(LocalEpisodes(held)),
    )
    trainer.train()
    assert seen == [1.0, 0.0], "both say that they have lent it; one has"
    shown = [message for message in told[0] if message["role"] == "tool"]
    assert len(shown) == 1
    assert "has Ferns as loan" in shown[0]["content"]
    assert [message["role"] for message in told[1]] == ["assistant"]
    log = next(entry for entry in trainer.state.log_history if "reward" in entry)
    assert log["reward"] == pytest.approx(0.5)
    assert not torch.equal(trainer.model.model.embed_tokens.weight.detach().cpu(), before), "nothing was learned"
    assert len(held) == 0


def bare(schema: Any) -> Any:
    """Without what a type hint can't say: bounds, defaults, and that nothing else may be given."""
    if isinstance(schema, dict):
        lost = {
            "additionalProperties",
            "default",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "pattern",
        }
        kept = {key: bare(value) for key, value in schema.items() if key not in lost}
        return {key: value for key, value in kept.items() if not (key == "required" and value == [])}
    return [bare(value) for value in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("kind", ["search", "airline", "ledger", "tracker"])
def test_a_model_is_shown_the_tools_as_they_are(kind: str) -> None:
    if kind == "search":
        documents = small_documents()
        environment: Any = SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)
    else:
        environment = find("environments", "app")(inputs=None, application=kind, seed=1)
    made = TrlEnvironments(LocalEpisodes(Sessions(environment, lending.Tasks())))()
    for tool in environment.tools():
        shown, wanted = bare(get_json_schema(getattr(made, tool.name))), bare(tool.function())
        for key, schema in tool.parameters["properties"].items():
            if '"properties"' in json.dumps(schema):  # a type hint can't say what stands in an object: words do
                told = shown["function"]["parameters"]["properties"].pop(key)["description"]
                assert json.loads(told.partition("JSON Schema: ")[2]) == schema
                del wanted["function"]["parameters"]["properties"][key]
        assert shown == wanted
