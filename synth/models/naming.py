"""What a model is called where others read it."""

from __future__ import annotations

import re

__all__ = ["public_name"]

_FOLDER = re.compile(r"(?:[/\\~.]|[A-Za-z]:[/\\]).*", re.S)


def public_name(name: str) -> str:
    """``name`` as it may leave this machine: servers call a model by the folder that it was loaded from, and of that
    only the last part is kept. A name that is no path (``Qwen/Qwen3-8B``) stays as it is."""
    if not _FOLDER.fullmatch(name):
        return name
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..", "~")]
    return parts[-1] if parts else "model"
