"""``synth serve-env`` and ``synth serve-reward``: for agents and trainers that run elsewhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.cli.options import AllowHostsOption, HostOption, TrustOption, environment_options
from synth.distribution import install
from synth.errors import InputError
from synth.late import late

if TYPE_CHECKING:
    from synth import own_code
    from synth.annotate import rewards
    from synth.annotate.rewards import server as reward_server
    from synth.dataset import reader
    from synth.environments.contract import Environment
    from synth.episodes import http as episode_server
    from synth.episodes import mcp as episode_mcp
    from synth.episodes import sessions as episode_sessions
    from synth.episodes.sessions import TaskSource
    from synth.pipelines import reopen as reopening
    from synth.schemas.rl import GroundTruth
    from synth.schemas.tasks import Task
    from synth.serving import bounds
    from synth.serving import http as serving
else:
    own_code = late("synth.own_code")
    rewards = late("synth.annotate.rewards")
    reward_server = late("synth.annotate.rewards.server")
    reader = late("synth.dataset.reader")
    episode_mcp = late("synth.episodes.mcp")
    episode_server = late("synth.episodes.http")
    episode_sessions = late("synth.episodes.sessions")
    reopening = late("synth.pipelines.reopen")
    serving = late("synth.serving.http")
    bounds = late("synth.serving.bounds")

__all__ = ["serve_env", "serve_reward"]


class Over(StrEnum):
    """How an environment is served."""

    HTTP = "http"
    MCP = "mcp"
    MCP_HTTP = "mcp-http"


def serve_env(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A dataset: its tasks, and the environment of its recipe.")
    ],
    over: Annotated[
        Over,
        typer.Option(
            "--over",
            help="http: reset, step and score for RL trainers. mcp: the Model Context Protocol over stdin and stdout. "
            "mcp-http: the same over streamable HTTP.",
        ),
    ] = Over.HTTP,
    environment: Annotated[
        Path | None,
        typer.Option(
            "--environment",
            metavar="FILE",
            help="YAML with `kind` and options of another environment, in which the dataset's tasks are worked on.",
        ),
    ] = None,
    trust: TrustOption = False,
    task: Annotated[
        str | None, typer.Option("--task", help="Over MCP: id of the task that clients are told; without one, none.")
    ] = None,
    host: HostOption = "127.0.0.1",
    allow_hosts: AllowHostsOption = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8178,
    sessions: Annotated[int, typer.Option("--sessions", min=1, max=10_000, help="Open at once, at most.")] = 64,
    idle: Annotated[float, typer.Option("--idle", min=1, help="Seconds until an unused session is ended.")] = 900.0,
    calls: Annotated[int, typer.Option("--calls", min=1, help="Tool calls of one session, at most.")] = 200,
) -> None:
    """Serve an environment: over HTTP for RL trainers, or as an MCP server. Ctrl-C or SIGTERM ends it."""

    if over is not Over.HTTP and find_spec("mcp") is None:
        raise InputError("the library mcp is not installed", where=f"--over {over}", mend=install("mcp"))
    opened, tasks = _open(folder, environment, trust=trust)
    made = episode_sessions.Sessions(opened, tasks, most=sessions, idle_seconds=idle, max_calls=calls)

    def say(line: str) -> None:
        if not bounds.loopback(host):
            print(f"synth: {host} is not a loopback address: anyone who reaches it may act", file=sys.stderr)
        print(line, flush=True)

    if over is Over.HTTP:
        if task is not None:
            raise InputError("goes with --over mcp; over HTTP each /reset names its task", where="--task")
        server = episode_server.EpisodeServer(host, port, made, allow_hosts=allow_hosts or ())
        serving.serve(server, say=lambda url: say(f"{opened.name} at {url} ({len(tasks):,} tasks)"))
        return
    chosen = _task(tasks, task)
    wrapped = episode_mcp.McpServer(made, chosen, tell=task is not None)
    if over is Over.MCP:
        wrapped.run_stdio()  # stdout is the protocol's: nothing of ours may be on it
    else:
        wrapped.run_http(host, port, allow_hosts=allow_hosts or (), say=lambda url: say(f"{opened.name} at {url}"))


def _open(folder: Path, environment: Path | None, *, trust: bool) -> tuple[Environment, TaskSource]:

    dataset = reader.load(folder)
    if environment is None:
        return reopening.reopen(dataset, trust=trust)
    return reopening.open_environment(environment_options(environment)), reopening.DatasetTasks(dataset)


def _task(tasks: TaskSource, wanted: str | None) -> Task:
    if wanted is None:
        return tasks.by_number(0)
    found = tasks.by_id(wanted)
    if found is None:
        raise InputError(f"the dataset has no task {wanted!r}", where="--task")
    return found


def serve_reward(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A dataset: requests may then name a ground truth by the id of its row."),
    ] = None,
    host: HostOption = "127.0.0.1",
    allow_hosts: AllowHostsOption = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8177,
    reward: Annotated[
        str, typer.Option("--reward", metavar="NAME", help="Where a request names none; your own: module:function.")
    ] = "grounded",
) -> None:
    """Serve the reward function over HTTP, for trainers (TRL, verl) that run elsewhere. Ctrl-C or SIGTERM ends it."""

    if ":" in reward:
        own_code.beside(Path.cwd())
        own_code.load(reward, "--reward")
    elif reward not in rewards.RULES:
        raise InputError(
            f"there is no reward {reward!r}",
            where="--reward",
            mend=f"use {', '.join(rewards.RULES)} or module:function",
        )
    server = reward_server.RewardServer(host, port, _truths(folder), rule=reward, allow_hosts=allow_hosts or ())
    if not bounds.loopback(host):
        print(f"synth: {host} is not a loopback address: anyone who reaches it may ask", file=sys.stderr)
    serving.serve(server, say=lambda url: print(f"rewards at {url} ({len(server.truths):,} ground truths)", flush=True))


def _truths(folder: Path | None) -> dict[str, GroundTruth]:
    if folder is None:
        return {}

    dataset = reader.load(folder)
    found: dict[str, GroundTruth] = {}
    for config in dataset.configs:
        if config not in ("rl", "contexts"):
            continue
        for batch in dataset.batches(config, columns=["id", "task_id", "reward_model"], size=100):
            for row in batch.to_pylist():
                found[row["id"]] = found[row["task_id"]] = rewards.read_truth(
                    row["reward_model"], f"{config} {row['id']}"
                )
    return found
