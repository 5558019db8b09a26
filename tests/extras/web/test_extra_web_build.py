"""The dataset ``web-site``: a whole build in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from api_builds import killed_and_resumed
from browser_here import needs_browser
from opening import card_runs, every_config_opens
from shared_builds import hashes

import synth
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.pipelines.reopen import reopen
from synth.schemas.adp import WebObservation

pytestmark = [pytest.mark.extras, needs_browser, pytest.mark.timeout(1800)]
TASKS = 2
SETTINGS: dict[str, Any] = {
    "critical.share": 1.0,
    "critical.search.max_pairs": 2,
    "environment.screenshots": True,
    "questions.writes": {1: 1.0},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web-site")
    return synth.build(
        "web-site", tasks=TASKS, out=folder / "out", store=folder / "store", settings=dict(SETTINGS)
    ).path


def test_a_whole_build_validates_and_opens_again(built: Path) -> None:
    assert validate(built) == []
    assert audit(built).violations == ()
    dataset = synth.load(built)
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
    written = [path for path in built.rglob("*") if path.suffix in (".md", ".json", ".yaml", ".svg")]
    assert written
    assert not any(str(built.parent) in path.read_text("utf-8") for path in written)


def test_every_config_opens_with_load_dataset_and_the_card_runs(built: Path, tmp_path: Path) -> None:
    opened = every_config_opens(built, tmp_path)
    assert {"tasks", "trajectories", "steps", "preferences", "rl"} <= opened
    assert card_runs(built) >= 4


def test_bytes_do_not_depend_on_workers_or_on_what_was_killed(built: Path, tmp_path: Path) -> None:
    """Pictures, too: those of a run that was killed are taken anew, by other processes and browsers."""
    again = killed_and_resumed("web-site", TASKS, tmp_path, SETTINGS, "engine.row.processed:3")
    assert hashes(again) == hashes(built)
