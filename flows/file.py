"""``synth deploy --file``: a build as an entry of a file that ``prefect deploy`` reads, to be kept in a repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from synth import api
from synth.errors import InputError
from synth.flows.build import parameters_of
from synth.flows.deploy import next_time
from synth.store.files import store_errors, write_file

if TYPE_CHECKING:
    from synth.api import BuildRequest

__all__ = ["write_deployment"]

_HEAD = """\
# Deployments of synth, written by `synth deploy --file`; it keeps other entries and no comments.
#
#   prefect deploy --prefect-file {file} --all
#   prefect worker start --pool {pool}       # where synth is installed

"""


def write_deployment(
    request: BuildRequest,
    pool: str,
    file: Path,
    *,
    cron: str | None = None,
    timezone: str = "UTC",
    announce: Callable[[str], None] | None = None,
) -> None:
    """Add the deployment of ``request`` to ``file``, in the place of one of the same name. No server is asked.

    Raises:
        InputError: the request can't be planned, the cron line is bad, or the file is none of deployments.
        StoreError: the file can't be written.
    """
    if cron is not None:
        next_time(cron, timezone)
    body = _read(file)
    prepared = api.prepare(request, progress="quiet")
    prepared.engine.close()
    name = prepared.recipe.name
    entry = {
        "name": name,
        "description": f"`synth build` of {name}. A run that was killed goes on in the next.",
        "entrypoint": "synth.flows.build.build",
        "tags": ["synth"],
        "concurrency_limit": 1,
        "parameters": {key: value for key, value in parameters_of(request).items() if value not in (None, {})},
        "schedules": [] if cron is None else [{"cron": cron, "timezone": timezone, "active": True}],
        "work_pool": {"name": pool, "job_variables": {"env": {"DO_NOT_TRACK": "1"}}},
    }
    others = [one for one in body.get("deployments") or [] if one.get("name") != name]
    body = {"name": "synth", "build": None, "push": None, "pull": [], **body, "deployments": [*others, entry]}
    text = _HEAD.format(file=file.name, pool=pool) + yaml.safe_dump(body, sort_keys=False, allow_unicode=True)
    with store_errors(file):
        write_file(file, text.encode())
    if announce:
        announce(f"wrote synth-build/{name} to {file}; next: prefect deploy --prefect-file {file} --all")


def _read(file: Path) -> dict[str, Any]:
    try:
        body = yaml.safe_load(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        body = None
    entries = body.get("deployments") or [] if isinstance(body, dict) else None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError("it is no file of deployments", where=str(file), mend="name another with --file")
    return dict(body)
