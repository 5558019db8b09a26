"""Trainers whose requirements clash with ours, each in an environment of its own, and what their loaders read.

They are installed once, below the folder that SYNTH_TRAINERS_HOME names (else ``.venv-trainers`` of the checkout),
without what their loaders do not need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["CannotBeHad", "read_with"]

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = {
    "llamafactory": (
        "llamafactory==0.9.5",
        (
            "accelerate==1.11.0",
            "datasets==4.0.0",
            "einops",
            "fire",
            "omegaconf",
            "pandas",
            "peft==0.18.1",
            "pillow",
            "platformdirs",
            "polars",
            "pyyaml",
            "scipy",
            "sentencepiece",
            "tiktoken",
            "transformers==5.6.0",
            "trl==0.24.0",
            "tyro<0.9",
        ),
    ),
    "verl": (
        "verl==0.9.1",
        (
            "aiohttp",
            "cachetools",
            "codetiming",
            "datasets>=4.7",
            "greenlet",
            "hydra-core",
            "numpy>=2",
            "omegaconf",
            "packaging",
            "pillow",
            "platformdirs",
            "polars",
            "pydantic>=2.11",
            "pylatexenc",
            "ray>=2.50",
            "tensordict==0.10.0",
            "torchdata",
            "transformers==5.10.0",
            "xxhash",  # this, greenlet, platformdirs, polars and pydantic: what our tools import, which verl makes
        ),
    ),
}
"""The trainer, and what its loaders import."""

TOKENIZER = """
import json, sys
from pathlib import Path
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

def tokenizer():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=special)
    made.train_from_iterator(["a b"], trainer)
    template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\\n{% endfor %}"
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=template
    )
"""
SCRIPTS = {
    "llamafactory": """
import importlib.machinery
import types
import transformers

# Builds of torchaudio for the CPU are hard to come by, and no text needs it: the loaders only import its name.
audio = types.ModuleType("torchaudio")
audio.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
sys.modules["torchaudio"] = audio

import yaml
from llamafactory.data.loader import _get_merged_dataset
from llamafactory.data.template import get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args

folder, card = sys.argv[1:]
asked = yaml.safe_load(card) | {"cache_dir": folder + "/.cache", "overwrite_cache": True, "use_cpu": True}
model, data, training, finetuning, _ = get_train_args(asked)  # a key that it does not know is an error
stage = {"dpo": "rm"}.get(finetuning.stage, finetuning.stage)  # as its workflow of DPO calls it
rows = _get_merged_dataset(data.dataset, model, data, training, stage=stage)
words = tokenizer()
template = get_template_and_fix_tokenizer(words, data)
kept = texts = 0
for row in rows:
    if len(row["_prompt"]) % 2 == 1 and len(row["_response"]) == (2 if stage == "rm" else 1):
        answers = row["_response"] if stage == "rm" else row["_response"][:1]
        for answer in answers:
            pairs = template.encode_multiturn(words, row["_prompt"] + [answer], row["_system"], row["_tools"])
            texts += len(words.decode(pairs[-1][1])) > 10
        kept += 1
found = {"rows": len(rows), "kept": kept, "texts": texts, "stage": finetuning.stage, "length": data.cutoff_len}
print("RESULT " + json.dumps(found))
""",
    "verl": """
import importlib.util
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from verl.experimental.reward_loop.reward_loop import migrate_legacy_reward_impl
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

folder, source, *card = sys.argv[1:]
sys.path.append(source)  # tools.yaml names a class of ours
settings = Path(importlib.util.find_spec("verl").submodule_search_locations[0]) / "trainer" / "config"
with initialize_config_dir(config_dir=str(settings), version_base=None):
    config = compose("ppo_trainer", overrides=card)  # a key that verl does not know is an error
asked = config.data.max_prompt_length
OmegaConf.set_struct(config, False)
config.data.cache_dir = folder + "/.cache"
config.data.max_prompt_length = 100_000  # the tokenizer here has next to no words
config.data.filter_overlong_prompts = True
config.data.filter_overlong_prompts_workers = 1
data = RLHFDataset(data_files=[config.data.train_files], tokenizer=tokenizer(), config=config.data)
rows = [data[place] for place in range(len(data))]
batch = collate_fn(rows)
truths = [json.loads(row["reward_model"]["ground_truth"]) for row in rows]
judge = get_custom_reward_fn(migrate_legacy_reward_impl(config))
scores = []
for row, truth in zip(rows, truths):
    if config.actor_rollout_ref.rollout.multi_turn.tool_config_path is None:  # else the environment judges
        told = dict(data_source=row["data_source"], ground_truth=row["reward_model"]["ground_truth"])
        for said in (truth["answer"], "no such thing"):
            given = judge(solution_str=said, extra_info=row["extra_info"], **told)
            scores.append(given["score"] if isinstance(given, dict) else given)
found = {
    "rows": len(batch["raw_prompt"]),
    "tasks": sorted(row["extra_info"]["task_id"] for row in rows),
    "asked": sorted((row["tools_kwargs"] or {}).get("environment", {}).get("task", "") for row in rows),
    "turns": sum(len(run["turns"]) for row in rows for run in json.loads(row["extra_info"]["turn_values"])),
    "judged": sorted({truth["judged_by"] for truth in truths}),
    "agents": sorted({row["agent_name"] for row in rows}),
    "tools": data.tool_schemas,
    "length": asked,
    "calls": config.actor_rollout_ref.rollout.multi_turn.max_parallel_calls,
    "right": scores[::2],
    "wrong": scores[1::2],
}
print("RESULT " + json.dumps(found))
""",
}


class CannotBeHad(Exception):
    """This machine can't have the trainer; the text says why, in one line."""


def read_with(trainer: str, *arguments: str) -> dict[str, Any]:
    """What the loaders of a trainer make of an export.

    Raises:
        CannotBeHad: the trainer could not be installed.
        AssertionError: its loaders failed.
    """
    python = _python(trainer)
    script = TOKENIZER + SCRIPTS[trainer]
    # Nothing of ours is in that environment, and nothing of it may reach a network.
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    settings = {**kept, "HF_HUB_OFFLINE": "1", "DISABLE_VERSION_CHECK": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [str(python), "-c", script, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**settings, "HF_HOME": os.environ["HF_HOME"]},
        timeout=500,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert done.returncode == 0, done.stderr[-3_000:]
    assert found, done.stdout[-3_000:]
    result: dict[str, Any] = json.loads(found[0].removeprefix("RESULT "))
    return result


def _python(trainer: str) -> Path:
    home = Path(os.environ.get("SYNTH_TRAINERS_HOME") or ROOT / ".venv-trainers") / trainer
    python, ready = home / "bin" / "python", home / ".ready"
    wanted, others = REQUIREMENTS[trainer]
    if ready.exists() and ready.read_text() == repr((wanted, others)):
        return python
    uv = Path(sys.executable).parent / "uv"
    install = [str(uv), "pip", "install", "-q", "--python", str(python)] if uv.exists() else None
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", str(home)],
        [*pip, "torch==2.13.0"],
        [*(install or pip), *others],
        [*(install or pip), "--no-deps", wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise CannotBeHad(f"{trainer} can't be installed: {(done.stderr.strip().splitlines() or ['?'])[-1][:300]}")
    ready.write_text(repr((wanted, others)))
    return python
