"""The small build of this folder's tests, and how builds are compared."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

SMALL: dict[str, Any] = {"tasks": 12, "settings": {"source.entities": 600}}


def hashes(folder: Path) -> dict[str, str]:
    """Path inside a dataset -> sha256 of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
