"""A folder with a Python project and its tests, as a table of files.

Read are Python files and small text files that tests may need (settings, data). Left out are hidden folders, caches,
what is built or installed, and everything that is a link.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import Field

from synth.errors import InputError
from synth.identity import digest
from synth.schemas.code import CodeFile
from synth.schemas.described import Described
from synth.schemas.rejections import Reason, Rejection

__all__ = ["CodeConfig", "CodeFolder", "is_test"]

_SHIPPED = Path(__file__).with_name("shipped")
_TEXT = frozenset((".py", ".pyi", ".txt", ".toml", ".cfg", ".ini", ".json", ".csv", ".md", ".rst", ".yaml", ".yml"))
_ASIDE = frozenset(("__pycache__", "node_modules", "build", "dist", "venv", "env", "site-packages", "docs", "doc"))
_MOST_FILES = 2_000
_TESTS = frozenset(("test", "tests", "testing"))


class CodeConfig(Described):
    """Which project."""

    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str | None = None
    """Its folder; empty = the small library that comes with this package."""
    licence: str | None = None
    """SPDX id of its licence. Empty: the card says that none was stated."""
    max_bytes: int = Field(default=300_000, gt=0)
    """Files above this size are left out."""


class CodeFolder:
    """The project's files, read once."""

    def __init__(self, config: CodeConfig) -> None:
        """
        Raises:
            InputError: there is no such folder, or it holds no Python, no tests, or too many files.
        """
        self.root = _SHIPPED if config.path is None else Path(config.path).expanduser()
        where = str(self.root)
        if not self.root.is_dir():
            raise InputError("there is no such folder", where=where, mend="name the folder of a Python project")
        licence = "Apache-2.0" if config.path is None else config.licence
        self.rows: list[CodeFile] = []
        self.rejected: list[Rejection] = []
        for path in self._paths():
            name = path.relative_to(self.root).as_posix()
            text = self._text(path, name, config.max_bytes)
            if text is not None:
                self.rows.append(CodeFile(id=name, text=text, is_test=is_test(name), licence=licence))
        if not any(row.is_test and row.id.endswith(".py") for row in self.rows):
            raise InputError("it holds no tests", where=where, mend="name files of tests test_*.py or *_test.py")
        if not any(row.id.endswith(".py") and not row.is_test for row in self.rows):
            raise InputError("it holds no Python beside tests", where=where)

    def _paths(self) -> Iterator[Path]:
        found = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(one for one in folders if one not in _ASIDE and not one.startswith("."))
            for name in sorted(names):
                path = Path(folder) / name
                if path.suffix in _TEXT and not name.startswith(".") and path.is_file() and not path.is_symlink():
                    found += 1
                    if found > _MOST_FILES:
                        raise InputError(f"it holds over {_MOST_FILES:,} files", where=str(self.root))
                    yield path

    def _text(self, path: Path, name: str, most: int) -> str | None:
        if path.stat().st_size > most:
            self._reject(name, Reason.TOO_LARGE, f"over {most:,} bytes")
            return None
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            self._reject(name, Reason.NOT_TEXT, "not UTF-8")
            return None

    def _reject(self, name: str, reason: Reason, detail: str) -> None:
        self.rejected.append(Rejection(stage="read_code", row_id=name, reason=reason, detail=detail))

    def digest(self) -> str:
        return digest("code", [[row.id, row.text] for row in self.rows])


def is_test(name: str) -> bool:
    """Whether a path in a project is that of tests, their helpers and data among them."""
    path = PurePosixPath(name)
    named = path.name.startswith("test_") or path.stem.endswith("_test") or path.name in ("conftest.py", "tests.py")
    return named or bool(_TESTS & {part.lower() for part in path.parts[:-1]})
