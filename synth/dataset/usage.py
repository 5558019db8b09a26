"""How trainers open the files of an export: the texts of ``data_cards/usage``, which cards show."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files

__all__ = ["filled", "usage"]


def usage(name: str) -> str:
    """The Markdown of ``data_cards/usage/<name>.md``. :func:`filled` puts names in."""
    text = files("synth").joinpath("data_cards", "usage", f"{name}.md").read_text(encoding="utf-8")
    return text.removesuffix("\n")


def filled(text: str, dataset: str, folder: str, splits: Collection[str]) -> str:
    """``text`` with ``{dataset}``, ``{folder}``, ``{entry}`` (the training split in ``dataset_info.json``) and
    ``{held_out}`` (a split to try the model on; that of training where ``splits`` holds no other)."""
    given = {
        "dataset": dataset,
        "folder": folder,
        "entry": f"{dataset.replace('-', '_')}_train",
        "held_out": next((split for split in ("validation", "test") if split in splits), "train"),
    }
    for name, value in given.items():
        text = text.replace(f"{{{name}}}", value)
    return text
