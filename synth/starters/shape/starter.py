"""The shape `starter`: how a question is drawn from the graph. This one asks for an extreme; draw your own."""

from __future__ import annotations

import numpy as np

from synth.identity import versioned
from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.shapes.superlative import propose_superlative
from synth.tasks.world.view import WorldView

__all__ = ["propose"]


@versioned(1)  # raise it when its drafts change
def propose(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """A draft whose walk proves it, or None where what was drawn has no good question. The walk's hops, the answer and
    its evidence are checked against the whole graph afterwards."""
    draft = propose_superlative(view, split, rng)
    if draft is None:
        return None
    walk = draft.walk.model_copy(update={"shape": "starter"})
    return draft.model_copy(update={"question": f"Precisely: {draft.question}", "shape": "starter", "walk": walk})
