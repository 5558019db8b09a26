"""What this package is called where packages are installed from: ``synth`` is another project there."""

from __future__ import annotations

from importlib import metadata

__all__ = ["DISTRIBUTION", "install", "version"]

DISTRIBUTION = "synth-posttrain"


def version() -> str:
    """Of the installed package; ``0+checkout`` in an environment that has our files on its path and no more."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+checkout"


def install(extra: str) -> str:
    """The command that adds an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
