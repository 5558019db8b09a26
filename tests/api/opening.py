"""What a reader of a dataset does first: opens every config with ``load_dataset``, and runs what the card shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq
import yaml
from typer.main import get_command

import synth
from synth.cli.app import app

__all__ = ["card_runs", "every_config_opens"]


def every_config_opens(folder: Path, cache: Path) -> set[str]:
    """Every config opens, with the features that the front matter states, which are those of its files, and with every
    row. The names of the configs."""
    import datasets

    matter = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    dataset = synth.load(folder)
    infos = {info["config_name"]: info for info in matter["dataset_info"]}
    assert set(infos) == {config["config_name"] for config in matter["configs"]}
    assert set(infos) == {name for name in dataset.configs if dataset.count(name)}
    for name, info in infos.items():
        stated = datasets.Features._from_yaml_list(info["features"])
        opened = datasets.load_dataset(str(folder), name, cache_dir=str(cache))
        assert {split: part.num_rows for split, part in opened.items()} == {
            split: dataset.count(name, split) for split in opened
        }
        assert sum(part.num_rows for part in opened.values()) == dataset.count(name)
        for part in opened.values():
            assert part.features == stated
        for path in (folder / name).glob("*.parquet"):
            written = pq.read_schema(path).remove_metadata()
            assert datasets.Features.from_arrow_schema(written) == stated, path
    return set(infos)


def card_runs(folder: Path) -> int:
    """Run each Python block of the card that needs no trainer, and read each command as the command line does. How many
    there were."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|console)\n(.*?)^```", text, flags=re.M | re.S)
    ran = 0
    names: dict[str, Any] = {}  # a reader runs one block after the other
    for language, block in blocks:
        code = block.replace("PATH", str(folder))
        if language == "python" and "trl" not in code:
            exec(compile(code, "README.md", "exec"), names)
            ran += 1
        elif language == "console":
            for line in code.strip().splitlines():
                reads(line.split())
                ran += 1
    return ran


def reads(words: list[str]) -> None:
    """
    Raises:
        click.UsageError: the command line takes no such command or option.
    """
    assert words[0] == "synth", words
    group: Any = get_command(app)
    with click.Context(group) as context:
        command = group.get_command(context, words[1])
        assert command is not None, words[1]
        command.make_context(words[1], words[2:], parent=context)
