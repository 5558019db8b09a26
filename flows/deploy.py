"""``synth deploy`` and ``synth push --cron``: serve a build or a push on a schedule, from this process, until it is
stopped; or leave a build with a Prefect server, for the workers of a pool."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth import api
from synth.errors import BuildError, InputError
from synth.flows.build import build, parameters_of
from synth.flows.publish import publish
from synth.flows.server import scheduling_server
from synth.publish.push import token_for

if TYPE_CHECKING:
    from synth.api import BuildRequest

__all__ = ["next_time", "register", "serve", "serve_push"]

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


def register(
    request: BuildRequest,
    pool: str,
    *,
    cron: str | None = None,
    timezone: str = "UTC",
    name: str | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Create or update the deployment of ``request`` on the server that ``PREFECT_API_URL`` or the profile names. The
    workers of ``pool`` run it, one run at a time; they need synth installed, nothing else: no code travels.

    Args:
        cron: Its schedule; None = started by hand only.

    Raises:
        InputError: the request can't be planned, the cron line is bad, no server is named, or it has no such pool.
        BuildError: the server does not answer.
    """
    from prefect.client.orchestration import get_client
    from prefect.deployments.runner import DeploymentApplyError, RunnerDeployment
    from prefect.exceptions import ObjectNotFound
    from prefect.schedules import Cron
    from prefect.settings import PREFECT_API_URL
    from prefect.types.entrypoint import EntrypointType

    if cron is not None:
        next_time(cron, timezone)
    if not (url := PREFECT_API_URL.value()):
        mend = "name one in PREFECT_API_URL (`prefect server start` begins one), or leave --work-pool out"
        raise InputError("needs a Prefect server", where="--work-pool", mend=mend)
    with get_client(sync_client=True) as client:
        if (down := client.api_healthcheck()) is not None:
            reason = str(down) or type(down).__name__
            raise BuildError(f"does not answer: {reason}", where=url, mend="is PREFECT_API_URL right?")
        try:
            client.read_work_pool(pool)  # where a deployment is replaced, the server fails on a pool that it lacks
        except ObjectNotFound:
            mend = f"make it: `prefect work-pool create --type process {pool}`"
            raise InputError(f"the server has no work pool {pool!r}", where="--work-pool", mend=mend) from None
    prepared = api.prepare(request, progress="quiet")
    prepared.engine.close()
    name = name or prepared.recipe.name
    made = RunnerDeployment.from_flow(
        build,
        name,
        schedule=None if cron is None else Cron(cron, timezone=timezone),
        parameters={key: value for key, value in parameters_of(request).items() if value not in (None, {})},
        concurrency_limit=1,
        description=f"`synth build` of {name}. A run that was killed goes on in the next.",
        tags=["synth"],
        work_pool_name=pool,
        job_variables={"env": {"DO_NOT_TRACK": "1"}},
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    try:
        made.apply()
    except DeploymentApplyError as error:
        raise BuildError(" ".join(str(error).split())[:300], where=url) from None
    if announce:
        announce(f"deployed synth-build/{name} at {url}: `prefect deployment run synth-build/{name}` starts it")


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
