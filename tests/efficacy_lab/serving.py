"""A trained model behind an address, in a process of its own that ends with us."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import BuildError

__all__ = ["environment", "served"]

_STOP_SECONDS = 20.0


def environment() -> dict[str, str]:
    """Of a process that runs a module of this package, wherever it is started."""
    tests = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH"))))}


@contextmanager
def served(model: Path, device: str = "cpu") -> Iterator[str]:
    """Serve the model in a folder; gives the address, up to and with ``/v1``.

    Args:
        device: As torch names it.

    Raises:
        BuildError: the server did not start; what it said stands on standard error.
    """
    command = [sys.executable, "-m", "efficacy_lab.server", str(model), device]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise BuildError("the model's server did not start", where=str(model))
            yield address
        finally:
            assert process.stdin is not None
            process.stdin.close()  # it ends with its standard input
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
