"""Where shards run: this process, local processes, Ray, Slurm."""

from synth.engine.executors.contract import Executor
from synth.engine.executors.local import LocalExecutor

__all__ = ["Executor", "LocalExecutor"]
