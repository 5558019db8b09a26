"""``synth deploy`` and ``synth push --cron``: serve a build or a push on a schedule, from this process, until it is
stopped."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth import api
from synth.errors import InputError
from synth.flows.build import build, parameters_of
from synth.flows.publish import publish
from synth.flows.server import scheduling_server
from synth.publish.push import token_for

if TYPE_CHECKING:
    from synth.api import BuildRequest

__all__ = ["next_time", "serve", "serve_push"]

_CRON = 'write five fields "minute hour day month weekday", for example --cron "0 3 * * *" for 3:00 every night'


def next_time(cron: str, timezone: str = "UTC") -> datetime:
    """When ``cron`` (five fields, or ``@daily`` and the like) comes next in ``timezone`` (an IANA name).

    Raises:
        InputError: it is not a cron line, it names a time that never comes, or the time zone is unknown.
    """
    import asyncio
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    from prefect.server.schemas.schedules import CronSchedule
    from pydantic import ValidationError

    try:
        ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(f"no time zone {timezone!r}", where="--timezone", mend="name one like Europe/Paris") from None
    if len(cron.split()) != (1 if cron.strip().startswith("@") else 5):
        raise InputError(f"{cron!r} is not a cron line", where="--cron", mend=_CRON)
    try:
        schedule = CronSchedule(cron=cron, timezone=timezone)
    except ValidationError:
        raise InputError(f"{cron!r} is not a cron line", where="--cron", mend=_CRON) from None
    try:
        times = asyncio.run(schedule.get_dates(1))
    except ValueError:  # Prefect's cron reader: no date found
        times = []
    if not times:
        raise InputError(f"{cron!r} names a time that never comes", where="--cron", mend=_CRON)
    return times[0]


def serve(
    request: BuildRequest,
    cron: str,
    *,
    timezone: str = "UTC",
    name: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve ``request`` at the times of ``cron`` until interrupted: one run at a time, each in a process of its own.

    A run that finds nothing to do ends at once; one that was killed goes on in the next. The schedule is paused when
    this process ends. ``announce`` gets one line when all is well and the waiting begins.

    Raises:
        InputError: the request can't be planned, or the cron line is bad: before anything is served.
        BuildError: Prefect's server did not start.
    """
    next_time(cron, timezone)
    prepared = api.prepare(request, progress="quiet")  # what can't be planned now would fail at night
    prepared.engine.close()
    _serve(build, parameters_of(request), name or prepared.recipe.name, cron, timezone, announce)


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
    """Serve the publishing of ``folder`` as ``repo`` at the times of ``cron`` until interrupted. A run that finds the
    very same dataset there makes no commit.

    Raises:
        InputError: the cron line or a name is bad, or no token is there: before anything is served.
        DatasetError: the dataset can't be published as it is.
        BuildError: Prefect's server did not start.
    """
    next_time(cron, timezone)
    token_for(repo)
    api.push(folder, repo, public=public, revision=revision, dry_run=True, announce=announce)
    parameters = {"folder": str(folder.absolute()), "repo": repo, "public": public, "revision": revision}
    _serve(publish, parameters, repo.replace("/", "-"), cron, timezone, announce)


def _serve(
    flow: Any,
    parameters: dict[str, Any],
    name: str,
    cron: str,
    timezone: str,
    announce: Callable[[str], None] | None,
) -> None:
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    first = next_time(cron, timezone)
    with scheduling_server() as url:
        if announce:
            announce(f"serving {name} at {url}: next run {first:%Y-%m-%d %H:%M %Z}, as long as this command runs")
        flow.serve(
            name=name,
            schedule=Cron(cron, timezone=timezone),
            parameters=parameters,
            limit=1,
            print_starting_message=False,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
