"""What is done with a finished dataset is what the tests of builds do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "api"))
