"""What the cards of exports have a shell run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CARDS = Path(__file__).resolve().parents[3] / "data_cards" / "usage"
SNIPPETS = [
    (path.name, code)
    for path in sorted(CARDS.glob("*.md"))
    for code in re.findall(r"python -c '([^']+)'", path.read_text("utf-8"))
]


@pytest.mark.parametrize(("card", "code"), SNIPPETS)
def test_it_prints_a_file(card: str, code: str, tmp_path: Path) -> None:
    """``import synth.annotate.x as y`` finds the function of that name, not the package."""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, (card, done.stderr)
    assert Path(done.stdout.strip()).is_file()


def test_there_is_one() -> None:
    assert {card for card, _ in SNIPPETS} >= {"verl.md"}
