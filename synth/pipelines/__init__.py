"""From a recipe to a plan of stages, and from finished stages to a dataset. One module per family of datasets."""

from synth.pipelines.finishing import finish
from synth.pipelines.planning import plan

__all__ = ["finish", "plan"]
