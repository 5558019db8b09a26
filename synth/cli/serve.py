"""``synth serve-env``: an environment for agents and trainers that run elsewhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synth.distribution import install
from synth.errors import InputError

if TYPE_CHECKING:
    from synth.environments.contract import Environment
    from synth.episodes.sessions import TaskSource
    from synth.schemas.tasks import Task

__all__ = ["serve_env"]


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
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Run the programs, read the files and reach the servers that the dataset names."),
    ] = False,
    task: Annotated[
        str | None, typer.Option("--task", help="Over MCP: id of the task that clients are told; without one, none.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Another name by which requests may call the server. Repeatable."
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8178,
    sessions: Annotated[int, typer.Option("--sessions", min=1, max=10_000, help="Open at once, at most.")] = 64,
    idle: Annotated[float, typer.Option("--idle", min=1, help="Seconds until an unused session is ended.")] = 900.0,
    calls: Annotated[int, typer.Option("--calls", min=1, help="Tool calls of one session, at most.")] = 200,
) -> None:
    """Serve an environment: over HTTP for RL trainers, or as an MCP server. Ctrl-C or SIGTERM ends it."""
    from synth.episodes.sessions import Sessions
    from synth.serving.bounds import loopback
    from synth.serving.http import serve

    if over is not Over.HTTP and find_spec("mcp") is None:
        raise InputError("the library mcp is not installed", where=f"--over {over}", mend=install("mcp"))
    opened, tasks = _open(folder, environment, trust=trust)
    made = Sessions(opened, tasks, most=sessions, idle_seconds=idle, max_calls=calls)

    def say(line: str) -> None:
        if not loopback(host):
            print(f"synth: {host} is no loopback address: anyone who reaches it may act", file=sys.stderr)
        print(line, flush=True)

    if over is Over.HTTP:
        from synth.episodes.http import EpisodeServer

        if task is not None:
            raise InputError("goes with --over mcp; over HTTP each /reset names its task", where="--task")
        server = EpisodeServer(host, port, made, allow_hosts=allow_hosts or ())
        serve(server, say=lambda url: say(f"{opened.name} at {url} ({len(tasks):,} tasks)"))
        return
    from synth.episodes.mcp import McpServer

    chosen = _task(tasks, task)
    wrapped = McpServer(made, chosen, tell=task is not None)
    if over is Over.MCP:
        wrapped.run_stdio()  # stdout is the protocol's: not a word of ours on it
    else:
        wrapped.run_http(host, port, allow_hosts=allow_hosts or (), say=lambda url: say(f"{opened.name} at {url}"))


def _open(folder: Path, environment: Path | None, *, trust: bool) -> tuple[Environment, TaskSource]:
    from synth.dataset.reader import load
    from synth.pipelines.reopen import DatasetTasks, open_environment, reopen

    dataset = load(folder)
    if environment is None:
        return reopen(dataset, trust=trust)
    return open_environment(_options(environment)), DatasetTasks(dataset)


def _options(path: Path) -> dict[str, Any]:
    from synth.inputs import parse_yaml, read_text

    value = parse_yaml(read_text(path, mend="give a YAML file with `kind`"), str(path), mend="mend the line")
    if not isinstance(value, dict) or "kind" not in value or not all(isinstance(key, str) for key in value):
        raise InputError("it holds no object with `kind`", where=str(path))
    return value


def _task(tasks: TaskSource, wanted: str | None) -> Task:
    if wanted is None:
        return tasks.by_number(0)
    found = tasks.by_id(wanted)
    if found is None:
        raise InputError(f"the dataset has no task {wanted!r}", where="--task")
    return found
