from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from exporter_samples import sample_report, sample_tables

from synth.exporters.hub_layout import write_dataset


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished dataset. Tests that change it take ``copied``."""
    folder = tmp_path_factory.mktemp("finished") / "world-search"
    tables = sample_tables()
    write_dataset(folder, tables, sample_report(tables))
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Callable[[], Path]:
    def copy() -> Path:
        target = tmp_path / f"copy-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(finished, target)
        return target

    return copy
