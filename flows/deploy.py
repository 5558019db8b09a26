"""``synth deploy``: serve a build on a schedule, from this process, until it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from synth.errors import InputError

if TYPE_CHECKING:
    from synth.api import BuildRequest

__all__ = ["next_time", "serve"]

_CRON = 'write five fields "minute hour day month weekday", for example --cron "0 3 * * *" for 3:00 every night'


def next_time(cron: str, timezone: str = "UTC") -> datetime:
    """When ``cron`` (five fields, or ``@daily`` and the like) comes next in ``timezone`` (an IANA name).

    Raises:
        InputError: it is no cron line, it names a time that never comes, or nobody knows the zone.
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
        raise InputError(f"{cron!r} is no cron line", where="--cron", mend=_CRON)
    try:
        schedule = CronSchedule(cron=cron, timezone=timezone)
    except ValidationError:
        raise InputError(f"{cron!r} is no cron line", where="--cron", mend=_CRON) from None
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
    first = next_time(cron, timezone)
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from synth import api
    from synth.flows.build import build, parameters_of
    from synth.flows.server import scheduling_server

    prepared = api.prepare(request, progress="quiet")  # what can't be planned now would fail at night
    prepared.engine.close()
    name = name or prepared.recipe.name
    with scheduling_server() as url:
        if announce:
            announce(f"serving {name} at {url}: next run {first:%Y-%m-%d %H:%M %Z}, as long as this command runs")
        build.serve(
            name=name,
            schedule=Cron(cron, timezone=timezone),
            parameters=parameters_of(request),
            limit=1,
            print_starting_message=False,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
