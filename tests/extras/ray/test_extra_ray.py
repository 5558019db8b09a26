"""A whole build on Ray. The fast suite tries the executor on toy stages (engine/test_engine_clusters.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import shared_builds

import synth

sys.path.insert(0, str(Path(__file__).parents[2] / "api"))
from shared_builds import hashes

pytestmark = pytest.mark.extras


def test_ray_changes_no_byte(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="extra ray is not installed")
    small = shared_builds.small_build(tmp_path)
    out, store = tmp_path / "there", tmp_path / "fresh"
    built = synth.build("world-search", out=out, store=store, executor="ray", workers=2, **shared_builds.SMALL)
    assert hashes(built.path) == hashes(small.path)
