"""The nightly flow runs the suite of kills, and fails with the command that repeats a round."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.errors import BuildError, InputError
from synth.flows.kills import kills

pytestmark = pytest.mark.extras

ROOT = str(Path(__file__).parents[3])


def test_a_round_of_kills_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert kills.fn(ROOT, minutes=0, each=30, seed=5, only="export or import") == 4  # two of each
    assert capsys.readouterr().out == "4 kills survived\n"


def test_a_round_that_fails_says_how_to_repeat_it(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="after 0 kills; it repeats with: SYNTH_KILLS=1 SYNTH_KILLS_SEED=9 python -m"):
        kills.fn(ROOT, minutes=0, each=1, seed=9, only="no_such_target")
    with pytest.raises(InputError, match="holds no tests/extras/kills"):
        kills.fn(str(tmp_path), minutes=0)
