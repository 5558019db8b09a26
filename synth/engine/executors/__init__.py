"""Where shards run: this process, local processes, Ray, Slurm."""

from synth.engine.executors.contract import Executor
from synth.engine.executors.local import LocalExecutor
from synth.engine.executors.processes import ProcessesExecutor
from synth.engine.executors.ray import RayExecutor
from synth.engine.executors.slurm import SlurmExecutor, SlurmOptions

__all__ = ["Executor", "LocalExecutor", "ProcessesExecutor", "RayExecutor", "SlurmExecutor", "SlurmOptions"]
