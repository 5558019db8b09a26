"""``synth reward``: serve the reward function over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from synth.schemas.rl import GroundTruth

__all__ = ["reward"]


def reward(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A dataset: requests may then name a ground truth by the id of its row."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Another name by which requests may call the server. Repeatable."
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8177,
) -> None:
    """Serve the reward function over HTTP, for trainers (TRL, verl) that run elsewhere. Ctrl-C or SIGTERM ends it."""
    from synth.annotate.rewards.server import RewardServer
    from synth.serving.bounds import loopback
    from synth.serving.http import serve

    server = RewardServer(host, port, _truths(folder), allow_hosts=allow_hosts or ())
    if not loopback(host):
        print(f"synth: {host} is no loopback address: anyone who reaches it may ask", file=sys.stderr)
    serve(server, say=lambda url: print(f"rewards at {url} ({len(server.truths):,} ground truths)", flush=True))


def _truths(folder: Path | None) -> dict[str, GroundTruth]:
    if folder is None:
        return {}
    from synth.annotate.rewards import read_truth
    from synth.dataset.reader import load

    dataset = load(folder)
    found: dict[str, GroundTruth] = {}
    for config in dataset.configs:
        if config not in ("rl", "contexts"):
            continue
        for batch in dataset.batches(config, columns=["id", "task_id", "reward_model"], size=100):
            for row in batch.to_pylist():
                found[row["id"]] = found[row["task_id"]] = read_truth(row["reward_model"], f"{config} {row['id']}")
    return found
