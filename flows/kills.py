"""The nightly kills: the suite that kills everything at random times, round after round, from a checkout."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

from prefect import flow
from pydantic import Field

from synth.errors import BuildError, InputError

__all__ = ["kills"]

_SUITE = "tests/extras/kills/test_extra_kills.py"


@flow(
    name="synth-kills",
    description="Kill builds, imports, exports, pushes and uploads at random times: same bytes, nothing paid twice.",
    retries=0,
    persist_result=False,
    log_prints=True,
)
def kills(
    checkout: str,
    minutes: Annotated[float, Field(ge=0)] = 60,
    each: Annotated[int, Field(ge=1)] = 40,
    seed: int | None = None,
    only: str | None = None,
) -> int:
    """Returns how many kills were survived.

    Args:
        checkout: The repository, by its absolute path where the worker runs: its tests are not in the package.
        minutes: Rounds begin for so long; one that has begun is finished.
        each: Kills of one round.
        seed: Of the times of the kills in the first round; empty = the time, so that no night repeats another.
        only: Targets by name (`pytest -k`); empty = all.

    Raises:
        InputError: the checkout holds no such suite.
        BuildError: a round failed. The line names the command that repeats it.
    """
    if not os.path.isfile(os.path.join(checkout, _SUITE)):
        raise InputError(f"it holds no {_SUITE}", where=checkout, mend="give the repository, not the package")
    first = int(time.time()) if seed is None else seed
    end = time.monotonic() + 60 * minutes
    survived = 0
    with tempfile.TemporaryDirectory(prefix="synth-kills-") as folder:
        told = Path(folder) / "kills"
        for number in itertools.count(first):
            chosen = {"SYNTH_KILLS": str(each), "SYNTH_KILLS_SEED": str(number)}
            command = [
                "-m",
                "pytest",
                "-q",
                "-x",
                "-m",
                "extras",
                "--timeout=7200",
                *(["-k", only] if only else []),
                _SUITE,
            ]
            done = subprocess.run(
                [sys.executable, *command],
                cwd=checkout,
                env=os.environ | chosen | {"SYNTH_KILLS_TOLD": str(told)},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                print(done.stdout[-20_000:] + done.stderr[-2_000:])  # noqa: T201 - the log of the flow run
                words = [*(f"{name}={value}" for name, value in chosen.items()), "python", *command]
                raise BuildError(f"a round failed after {survived:,} kills; it repeats with: {' '.join(words)}")
            survived = len(told.read_text(encoding="utf-8"))
            print(f"{survived:,} kills survived")  # noqa: T201 - as above
            if time.monotonic() >= end:
                break
    return survived
