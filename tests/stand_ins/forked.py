"""Commands in processes forked from a warm one, as if each were started anew, without paying for its imports."""

from __future__ import annotations

import importlib
import multiprocessing as mp
import os
import resource
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from synth.registry import BACKENDS, ENVIRONMENTS, STAGES

_START = mp.get_context("forkserver")
_IMPORTED_LATE = [place.partition(":")[0] for place in (*STAGES.values(), *ENVIRONMENTS.values(), *BACKENDS.values())]
_OF_BUILDS = """
    synth.engine.executors.preload synth.api synth.pipelines.building synth.pipelines.finishing synth.pipelines.pilot
    synth.cli.build synth.flows synth.filtering.dedup.estimate
    jinja2 jsonschema networkx polars rfc3339_validator scipy.optimize yaml
""".split()
WARM = tuple(dict.fromkeys([*_OF_BUILDS, *_IMPORTED_LATE]))
"""What a command imports on its way to a build."""
_START.set_forkserver_preload([*WARM])


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


def _command(arguments: list[str], said: str, cwd: str, environ: dict[str, str], memory: int) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    for descriptor, path in ((0, os.devnull), (1, f"{said}.out"), (2, f"{said}.err")):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    importlib.import_module("synth.cli").main(arguments)


def start(arguments: list[str], folder: Path, variables: dict[str, str], memory: int) -> ForkServerProcess:
    """`synth` with ``arguments`` in ``folder``, begun: what it says goes to the files ``said.out`` and ``said.err``."""
    environ = {**os.environ, **variables}
    process = _START.Process(target=_command, args=(arguments, str(folder / "said"), str(folder), environ, memory))
    process.start()
    return process


def run(arguments: list[str], folder: Path, *, variables: dict[str, str], memory: int, seconds: float) -> Ended:
    """`synth` with ``arguments`` in ``folder``, which may hold no more than ``memory`` bytes of addresses."""
    said = folder / "said"
    process = start(arguments, folder, variables, memory)
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"{arguments} did not end within {seconds} s")
    return Ended(process.exitcode, said.with_suffix(".out").read_text(), said.with_suffix(".err").read_text())
