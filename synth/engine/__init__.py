"""Plans and runs the stages of a recipe over a store."""

from synth.engine.executors import (
    Executor,
    LocalExecutor,
    ProcessesExecutor,
    RayExecutor,
    SlurmExecutor,
    SlurmOptions,
)
from synth.engine.model_executor import Hub, ModelExecutor
from synth.engine.plan import Plan, StageNode
from synth.engine.progress import CallsNow, Live, Plain, Progress, Quiet, progress_for
from synth.engine.run import Engine
from synth.engine.stage_run import StageStatus

__all__ = [
    "CallsNow",
    "Engine",
    "Executor",
    "Hub",
    "Live",
    "LocalExecutor",
    "ModelExecutor",
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
