"""Data of a report in pieces that a page loads one by one, from the page itself or from files beside it.

A page that is opened as a file may fetch nothing, but it may add a script. So a piece beside the page is a script that
calls one function with one literal; within the page it is a block of JSON, which no browser runs.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

__all__ = ["Chunks", "literal"]


def literal(value: Any) -> str:
    """JSON that can stand in a script and in HTML: nothing in it can end the element or begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


class Chunks:
    """Writes pieces into ``folder`` as they come, and gives them back for the page when all of them are small."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.bytes = 0
        folder.mkdir(parents=True)

    def add(self, name: str, value: Any) -> None:
        text = f'synthChunk("{name}",{literal(value)});\n'
        self.names.append(name)
        self.bytes += len(text.encode())
        (self.folder / f"{name}.js").write_text(text, encoding="utf-8")

    def inlined(self) -> dict[str, str]:
        """Name -> JSON of every piece; the files are removed."""
        found = {}
        for name in self.names:
            text = (self.folder / f"{name}.js").read_text(encoding="utf-8")
            found[name] = text.removeprefix(f'synthChunk("{name}",').removesuffix(");\n")
        shutil.rmtree(self.folder)
        return found
