"""From a recipe to a plan of stages, and from finished stages to a dataset."""

from synth.pipelines.finishing import finish
from synth.pipelines.planner import plan

__all__ = ["finish", "plan"]
