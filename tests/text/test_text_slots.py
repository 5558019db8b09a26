from __future__ import annotations

import pytest

from synth.text.slots import is_part, with_slots

WORDINGS = "|".join(map(with_slots, ["{told}. None is left {bound}.", "It may be stated elsewhere."]))


@pytest.mark.parametrize(
    ("phrase", "part"),
    [
        ("none is left", True),
        ("None is left before", True),
        ("by then none is left by", True),
        ("is left by now", False),
        ("none is seen by", False),
        ("it may be stated", True),
        ("it may be said", False),
        ("left it may be", False),
    ],
)
def test_what_runs_into_a_slot_is_of_the_wording(phrase: str, part: bool) -> None:
    assert is_part(phrase, WORDINGS) == part
