"""The dataset ``web-site``: a whole build in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_here import needs_browser

import synth
from synth.exporters.validate import validate
from synth.pipelines.reopen import reopen
from synth.schemas.adp import WebObservation

pytestmark = [pytest.mark.extras, needs_browser, pytest.mark.timeout(1800)]


def test_a_whole_build_validates_and_opens_again(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "critical.share": 1.0,
        "critical.search.max_pairs": 2,
        "environment.screenshots": True,
        "questions.writes": {1: 1.0},
    }
    out = tmp_path / "out"
    synth.build("web-site", tasks=2, out=out, store=tmp_path / "store", settings=settings)
    assert validate(out) == []
    dataset = synth.load(out)
    runs = list(dataset.rows("trajectories"))
    assert [run.success for run in runs if run.role == "teacher"] == [True, True]
    for run in runs:
        seen = [item for item in run.content if isinstance(item, WebObservation)]
        assert seen
        assert all(item.image_observation is not None and item.html and item.url for item in seen)
        assert run.details["environment"]["browser"].startswith("Chromium ")
    environment, tasks = reopen(dataset)
    episode = environment.reset(tasks.by_number(0))
    assert episode.check("Done.").correct is False
    episode.close()
    written = [path for path in out.rglob("*") if path.suffix in (".md", ".json", ".yaml", ".svg")]
    assert written
    assert not any(str(tmp_path) in path.read_text("utf-8") for path in written)
