"""Shapes of questions, by name: each module walks, words and says what is done with what the walk finds.

A shape is a function of the view, the split that owns the gold, and a generator. It returns a draft, or None when this
draw came to nothing (no such set here, no wording that fits): then it is called again with the same generator, up to
``attempts`` times. Whatever it promises is proved again by the checks (:mod:`synth.tasks.graph_checks`).

Compositions and conjunctions walk in batches and stand in :mod:`synth.tasks.world.propose`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.shapes.comparison import propose_comparison
from synth.tasks.world.shapes.computation import propose_computation
from synth.tasks.world.shapes.count import propose_count
from synth.tasks.world.shapes.cycle import propose_cycle
from synth.tasks.world.shapes.intersection import propose_intersection
from synth.tasks.world.shapes.parallel import propose_parallel
from synth.tasks.world.shapes.superlative import propose_superlative
from synth.tasks.world.shapes.temporal import propose_temporal
from synth.tasks.world.shapes.total import propose_total
from synth.tasks.world.view import WorldView

__all__ = ["SHAPES", "ShapeMaker"]

ShapeMaker = Callable[[WorldView, Split, np.random.Generator], Draft | None]

SHAPES: Mapping[str, ShapeMaker] = MappingProxyType(
    {
        "comparison": propose_comparison,
        "computation": propose_computation,
        "count": propose_count,
        "cycle": propose_cycle,
        "intersection": propose_intersection,
        "parallel": propose_parallel,
        "superlative": propose_superlative,
        "temporal": propose_temporal,
        "total": propose_total,
    }
)
"""One maker per shape that has a module."""
