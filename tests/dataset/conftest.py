from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from critical_samples import whole_tables
from exporter_samples import sample_report, sample_tables

from synth.dataset.layout import write_dataset


def written(factory: pytest.TempPathFactory, tables: dict[str, pa.Table]) -> Path:
    folder = factory.mktemp("dataset") / "world-search"
    write_dataset(folder, tables, sample_report(tables))
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished dataset. Tests that change it take ``copied``."""
    return written(tmp_path_factory, whole_tables())


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without steps, continuations and pairs."""
    return written(tmp_path_factory, sample_tables())


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a quarter of the tasks."""
    return written(tmp_path_factory, whole_tables(5))


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Callable[[], Path]:
    return lambda: _copy(finished, tmp_path)


@pytest.fixture
def plain_copied(plain: Path, tmp_path: Path) -> Callable[[], Path]:
    return lambda: _copy(plain, tmp_path)


@pytest.fixture
def little(small: Path, tmp_path: Path) -> Callable[[], Path]:
    return lambda: _copy(small, tmp_path)


def _copy(folder: Path, into: Path) -> Path:
    target = into / f"copy-{len(list(into.iterdir()))}"
    shutil.copytree(folder, target)
    return target
