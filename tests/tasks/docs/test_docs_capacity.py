"""A source that can't hold so many questions says so before anything is tried."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from synth.errors import BuildError
from synth.stages.docs_tasks import DocsTasks


@pytest.mark.parametrize(("walks", "words"), [(12, "Ask for fewer"), (0, "source.extract=rules")])
def test_fewer_walks_than_tasks(walks: int, words: str) -> None:
    stage = SimpleNamespace(_capacity=[walks, 0, 0], name="docs_tasks")
    with pytest.raises(BuildError) as caught:
        DocsTasks.ceiling(stage, 13)  # type: ignore[arg-type]
    assert f"{walks} different walks" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
