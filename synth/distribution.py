"""What this package is called where packages are installed from: ``synth`` is another project there."""

from __future__ import annotations

from importlib import metadata

__all__ = ["DISTRIBUTION", "install", "version"]

DISTRIBUTION = "synth-posttrain"


def version() -> str:
    """Of the installed package."""
    return metadata.version(DISTRIBUTION)


def install(extra: str) -> str:
    """The command that adds an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
