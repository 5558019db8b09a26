from __future__ import annotations

import sys
from pathlib import Path

for _folder in ("agents", "environments"):  # what their tests share: a small graph, applications
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))
