"""Plans and runs the stages of a recipe over a store."""

from synth.engine.executors import (
    Executor,
    LocalExecutor,
    ProcessesExecutor,
    RayExecutor,
    SlurmExecutor,
    SlurmOptions,
)
from synth.engine.plan import Plan, StageNode
from synth.engine.progress import Live, Plain, Progress, Quiet, progress_for
from synth.engine.run import Engine, StageStatus

__all__ = [
    "Engine",
    "Executor",
    "Live",
    "LocalExecutor",
    "Plain",
    "Plan",
    "ProcessesExecutor",
    "Progress",
    "Quiet",
    "RayExecutor",
    "SlurmExecutor",
    "SlurmOptions",
    "StageNode",
    "StageStatus",
    "progress_for",
]
