"""Builds into a bucket are killed as those of the engine's and of the fault tests are."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / name) for name in ("engine", "faults")]
