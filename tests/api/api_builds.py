"""The small build of this folder's tests, and how builds are compared."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from shared_builds import LEAN
from stand_ins import forked
from stand_ins.model_server import ModelServer, ScriptedPlayer

import synth
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import history_of
from synth.api import BuildResult
from synth.schemas.trajectories import Role, TrajectoryRow


def acted(row: TrajectoryRow) -> dict[str, Any]:
    """The row without what says who acted: model, privilege, where turns come from, and the ids that hash it."""
    left_out = {"id", "model", "privileged", "provenance", "details", "duplicate_of"}
    details = {name: value for name, value in row.details.items() if name != "model_turns"}
    return {**row.model_dump(mode="json", exclude=left_out), "details": details}


def played_by(server: ModelServer, *roles: str) -> dict[str, Any]:
    """Settings that give the roles to the server's players ``toy-ROLE``."""
    given: dict[str, Any] = {}
    for role in roles:
        given |= {
            f"roles.{role}.backend": "openai",
            f"roles.{role}.model": f"toy-{role}",
            f"roles.{role}.endpoints": [server.url],
        }
    return given


def same_through_http(
    built: BuildResult,
    store: Path,
    out: Path,
    *,
    settings: Mapping[str, Any],
) -> int:
    """Teacher and policy once more, through a model server that plays both: their runs are those of ``built``.

    Args:
        store: Of ``built``: its tasks are there.
        settings: Of ``built``, as far as its tasks depend on them.

    Returns:
        The number of runs.
    """
    dataset = synth.load(built.path)
    runs = list(dataset.rows("trajectories"))
    # What of an error a server's observation tells is known here from the run in process.
    known = {result.content: result.error for run in runs for step in history_of(run)[1] for result in step.results}
    tasks = list(dataset.rows("tasks"))
    recipe = yaml.safe_load((built.path / "recipe.yaml").read_text("utf-8"))

    def player(role: Role) -> ScriptedPlayer:
        more = recipe["roles"][role].get("options", {})
        return ScriptedPlayer(
            tasks,
            lambda task: scripted_policy(task=task, role=role, language=recipe["questions"]["kind"], **more),
            error_of=known.get,
        )

    roles: tuple[Role, ...] = ("teacher", "policy")
    with ModelServer({f"toy-{role}": player(role) for role in roles}) as server:
        # Our scripted agents read their own thoughts.
        own = {f"roles.{role}.options": {"send_reasoning": "reasoning"} for role in roles}
        bound = {**played_by(server, *roles), **own}
        name = built.report.dataset
        there = synth.build(name, tasks=len(tasks), out=out, store=store, settings={**settings, **LEAN, **bound})
        assert server.errors == []
    assert [acted(run) for run in synth.load(there.path).rows("trajectories")] == [acted(run) for run in runs]
    return len(runs)


def build_command(dataset: str, tasks: int, folder: Path, settings: Mapping[str, Any]) -> list[str]:
    """The command line of a build whose store and dataset lie in ``folder``."""
    options = [f"--set={key}={json.dumps(value)}" for key, value in settings.items()]
    return ["build", dataset, f"--tasks={tasks}", f"--store={folder / 'store'}", f"--out={folder / 'out'}", *options]


def killed_and_resumed(dataset: str, tasks: int, folder: Path, settings: Mapping[str, Any], failpoint: str) -> Path:
    """The dataset of a build that was killed at ``failpoint`` (``name:count``) and then finished by two workers."""
    command = build_command(dataset, tasks, folder, settings)
    armed = {"SYNTH_FAILPOINT": f"{failpoint}:kill"}
    ended = forked.run(command, folder, variables=armed, memory=resource.RLIM_INFINITY, seconds=500)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (folder / "out").exists()
    journals = [path for path in (folder / "store").rglob("*.journal") if path.stat().st_size]
    assert journals, "it was killed in the middle of a stage"
    built = synth.build(
        dataset, tasks=tasks, out=folder / "out", store=folder / "store", settings=dict(settings), workers=2
    )
    return built.path
