"""Builds that share their rows by claims, in a file of SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from shared_rows import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_in_a_file(case: Callable[[Path, Path | str], None], tmp_path: Path) -> None:
    case(tmp_path, tmp_path / "calls.sqlite")
