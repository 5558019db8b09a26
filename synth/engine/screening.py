"""Candidates that a stage kept and a screen refuses: inside the acceptance loop, so that the next takes the place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.schemas.rejections import Rejection
from synth.stages.contract import CandidateStage, Outcome

__all__ = ["screened"]


def screened(stage: CandidateStage[Any], outcomes: Sequence[Outcome], start: int) -> list[Outcome]:
    """``outcomes`` of the candidates from ``start`` on, with a rejection in the place of each that a screen refuses.

    Nothing of the row is quoted: it was refused for what it holds. Each reason is counted in the stage's report.
    """
    found = list(outcomes)
    for screen in stage.screens:
        kept = [place for place, outcome in enumerate(found) if outcome.kept]
        for place, verdict in zip(kept, screen.look([found[place].kept[0] for place in kept]), strict=True):
            if verdict is None:
                continue
            reason, detail = verdict
            row = found[place].kept[0]
            rejection = Rejection(
                stage=stage.name,
                row_id=str(start + place),
                reason=reason,
                detail=detail,
                split=getattr(row, "split", None),
            )
            found[place] = Outcome(rejected=(rejection,))
    return found
