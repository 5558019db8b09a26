"""A tokenizer and a model that are trained in seconds, in the shape of those that think and call tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config


def tiny_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Bytes and 700 merges, with the chat template of a model that thinks and calls tools."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=960, initial_alphabet=alphabet, special_tokens=special)
    )
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=template
    )


def tiny_config(tokenizer: PreTrainedTokenizerFast) -> Qwen3Config:
    """Of a model of about 60,000 parameters."""
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=16_384,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
