"""One folder and one store for all that is built here: recipes of one world share its stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from systems_table import ROOT


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, in which commands of the manual find what they name."""
    folder = tmp_path_factory.mktemp("gallery")
    (folder / "docs").symlink_to(ROOT / "docs")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setenv("SYNTH_STORE", str(folder / "store"))
    yield folder
    patch.undo()
