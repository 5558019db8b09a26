"""Prefect flows: they start and schedule builds and show their reports. No row logic lives here.

This package is light, its modules are not: they import Prefect, which reads its settings once. Before, call
:func:`settle_prefect`.
"""

from __future__ import annotations

import os

__all__ = ["PREFECT_DEFAULTS", "settle_prefect"]

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


def settle_prefect(console: str) -> None:
    """Make Prefect's settings; to be called before it is imported. All that it logs goes to its server, and to the
    terminal what is at least as grave as ``console``: CRITICAL for a build, which reports its own progress and errors
    (Prefect would add a traceback)."""
    for name, value in {**PREFECT_DEFAULTS, "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": console}.items():
        os.environ.setdefault(name, value)
