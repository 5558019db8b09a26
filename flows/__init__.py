"""Prefect flows: they start and schedule builds and show their reports. No row logic lives here.

This package is light: Prefect is imported when a function is called, after its settings were made, because Prefect
reads them once, at its import.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synth.api import BuildRequest

__all__ = ["PREFECT_DEFAULTS", "deploy_request", "run_request", "serve_push", "serve_request"]

PREFECT_DEFAULTS = {
    # A build says nothing to anybody: no usage data leaves the machine.
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # Without PREFECT_API_URL, Prefect starts a server of its own for the time of the run; on a busy laptop that takes
    # longer than the 20 s that it allows.
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}
"""Set for Prefect where the user's environment says nothing else."""


def run_request(request: BuildRequest) -> Any:
    """Build through Prefect, in this process: same plan, same bytes, one task run per stage and three artifacts.

    Uses the server that ``PREFECT_API_URL`` names, else a temporary one.

    Raises:
        SynthError: as without Prefect.
    """
    _settle("CRITICAL")  # a build speaks for itself, and its SynthError too: Prefect would print a traceback beside it
    from synth.flows.build import build, parameters_of

    return build(**parameters_of(request))


def serve_request(
    request: BuildRequest,
    cron: str,
    *,
    timezone: str = "UTC",
    name: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve a schedule until interrupted; see :func:`synth.flows.deploy.serve`."""
    _settle("WARNING")
    from synth.flows.deploy import serve

    serve(request, cron, timezone=timezone, name=name, announce=announce)


def deploy_request(
    request: BuildRequest,
    pool: str,
    *,
    cron: str | None = None,
    timezone: str = "UTC",
    name: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Register a deployment with a server; see :func:`synth.flows.deploy.register`."""
    _settle("WARNING")
    from synth.flows.deploy import register

    register(request, pool, cron=cron, timezone=timezone, name=name, announce=announce)


def serve_push(
    folder: Path,
    repo: str,
    cron: str,
    *,
    public: bool = False,
    revision: str | None = None,
    timezone: str = "UTC",
    announce: Callable[[str], None] | None = None,
) -> None:
    """Publish a dataset at the times of ``cron`` until interrupted; see :func:`synth.flows.deploy.serve_push`."""
    _settle("WARNING")
    from synth.flows.deploy import serve_push

    serve_push(folder, repo, cron, public=public, revision=revision, timezone=timezone, announce=announce)


def _settle(console: str) -> None:
    """What is logged goes to Prefect's server; to the terminal, what is at least as grave as ``console``."""
    for name, value in {**PREFECT_DEFAULTS, "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": console}.items():
        os.environ.setdefault(name, value)
