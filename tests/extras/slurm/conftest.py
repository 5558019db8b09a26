"""The suite of Slurm shares the toys of the engine's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "engine"))
