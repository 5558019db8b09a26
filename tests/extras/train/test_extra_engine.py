"""The batched generation of ``tests/benchmarks/small_model``: greedy, it gives what transformers gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="the extra train is not installed")

import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "small_model"))

from engine import Engine, Request

pytestmark = pytest.mark.extras


def test_greedy_tokens_are_those_of_transformers(tmp_path: Path) -> None:
    """More requests than slots, of lengths that differ: what comes late finds slots with another one's keys in them."""
    torch.manual_seed(7)
    sizes = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "head_dim": 8}
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=200, eos_token_id=2, **sizes, **heads)).eval()
    model.save_pretrained(tmp_path)
    engine = Engine(str(tmp_path), slots=3, length=128, dtype=torch.float32)
    engine.start()
    prompts = [torch.randint(3, 200, (length,)).tolist() for length in (5, 40, 17, 3, 60, 22, 9, 31)]
    asked = [
        engine.ask(Request(prompt, budget))
        for prompt, budget in zip(prompts, (4, 20, 9, 30, 12, 25, 1, 16), strict=True)
    ]
    for prompt, future, budget in zip(prompts, asked, (4, 20, 9, 30, 12, 25, 1, 16), strict=True):
        wanted = model.generate(torch.tensor([prompt]), max_new_tokens=budget, do_sample=False)[
            0, len(prompt) :
        ].tolist()
        made = future.result(timeout=60)
        assert [*made.tokens, *[2] * made.ended] == wanted
    engine.stop()
    engine.join(timeout=60)
    assert not engine.is_alive()
