"""The suite of kills shares the toys and the builds of the engine's and of the fault tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / name) for name in ("engine", "faults", "dataset/publish")]
