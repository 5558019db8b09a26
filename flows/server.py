"""A Prefect server for the time of a ``synth deploy``.

The temporary server that Prefect itself starts for a flow without ``PREFECT_API_URL`` runs no scheduler: a schedule
that is served on it never fires. So a real one is started, on a free port of the loopback interface.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from synth.errors import BuildError

__all__ = ["scheduling_server"]

_HOST = "127.0.0.1"
_PATIENCE = 180.0
"""Seconds: a first start makes the database, which took 20 s on two busy cores."""


@contextmanager
def scheduling_server() -> Iterator[str]:
    """The URL of an API whose scheduler runs: the one that ``PREFECT_API_URL`` or the profile names, else that of a
    server which ends with the block. Within the block, Prefect of this process uses it.

    Raises:
        BuildError: the server did not start.
    """
    from prefect.settings import PREFECT_API_URL, temporary_settings

    given = PREFECT_API_URL.value()
    if given:
        yield str(given)
        return
    with tempfile.TemporaryFile("w+") as log:
        process, url = _start(log)
        try:
            with temporary_settings({PREFECT_API_URL: url}):
                _wait(process, log)
                yield url
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(log: IO[str]) -> tuple[subprocess.Popen[str], str]:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "prefect", "server", "start", "--host", _HOST, "--port", str(port)],
        env={**os.environ, "PREFECT_SERVER_LOGGING_LEVEL": "ERROR"},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,  # Ctrl-C ends the serving first, then this server, in order
        text=True,
    )
    return process, f"http://{_HOST}:{port}/api"


def _wait(process: subprocess.Popen[str], log: IO[str]) -> None:
    from prefect.client.orchestration import get_client

    deadline = time.monotonic() + _PATIENCE
    with get_client(sync_client=True) as client:
        while client.api_healthcheck() is not None:
            ended = process.poll() is not None
            if ended or time.monotonic() > deadline:
                log.seek(0)
                said = [line.strip() for line in log.read().splitlines() if line.strip()]
                raise BuildError(
                    f"it {'ended' if ended else 'did not answer in time'}: {said[-1] if said else 'no word'}",
                    where="Prefect's server",
                    mend="start one with `prefect server start` and name it in PREFECT_API_URL",
                )
            time.sleep(0.2)
