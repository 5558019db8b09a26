"""Builds through a model server that plays both roles, and what is left of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared_builds import hashes
from stand_ins.call_log import Intent, intents, served
from stand_ins.model_server import FaultKind, Faults, ModelServer, Player, Record, Reply, ScriptedPlayer, ServerOptions

import synth
from synth.dataset.reader import Dataset
from synth.identity import derive_generator, digest, key_of
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.store.calls import Account, CallStore

NAME = "world-search"
SEED = 7
ROLES = ("teacher", "policy")
PRICES = {"prompt": 1, "completion": 3}
"""Per million tokens."""

REASONS: Mapping[FaultKind, frozenset[Reason]] = {
    FaultKind.LENGTH: frozenset({Reason.TRUNCATED}),
    FaultKind.REFUSAL: frozenset({Reason.REFUSAL}),
    FaultKind.LOST_CALLS: frozenset({Reason.EMPTY_REPLY}),
    FaultKind.EMPTY_ARGUMENTS: frozenset({Reason.WRONG_ARGUMENTS, Reason.MALFORMED_CALL}),
    FaultKind.WRONG_TYPES: frozenset({Reason.WRONG_ARGUMENTS}),
}
"""What may be said of a rollout whose last reply had this fault. Every other fault must be lived through."""


class Fuse:
    """A player that makes a file once it is asked for the n-th time: the sign to kill who asks."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._left = 0
        self._file: Path | None = None

    def light(self, replies: int, file: Path) -> None:
        file.unlink(missing_ok=True)
        self._left, self._file = replies, file

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        self._left -= 1
        if self._left == 0 and self._file is not None:
            self._file.touch()
        return self._player.reply(request, sample)


@dataclass(frozen=True)
class Served:
    """A model server, and the sign by which it has its client killed."""

    server: ModelServer
    fuses: tuple[Fuse, ...]

    def light(self, replies: int, file: Path) -> None:
        for fuse in self.fuses:
            fuse.light(replies, file)


@contextmanager
def serve(tasks: Sequence[Task], faults: Faults) -> Iterator[Served]:
    """Plays both roles of the builtin recipe for ``tasks``."""
    fuses = {role: Fuse(ScriptedPlayer.scripted(tasks, role, language="world")) for role in ROLES}  # type: ignore[arg-type]
    with ModelServer(
        dict(fuses), ServerOptions(faults=faults, latency=(0.002, 0.01), strict_alternation=True)
    ) as server:
        yield Served(server, tuple(fuses.values()))
        assert server.errors == []


def arguments(folder: Path, tasks: int, entities: int, share: float) -> list[str]:
    """Of a build with scripted roles in ``folder``, without the stages that no model has a part in."""
    given = {"source.entities": entities, "critical.share": share, "contexts": "null", "distractors": "null"}
    sizes = ["--tasks", str(tasks), *(f"--set={key}={value}" for key, value in given.items())]
    return ["build", NAME, *sizes, "--store", str(folder / "store"), "--out", str(folder / "out")]


def bound(url: str) -> list[str]:
    """Further arguments: both roles are models at ``url``."""
    settings = {
        "backend": "openai",
        "base_url": url,
        "timeout": "1.5",
        "attempts": "12",
        "options.send_reasoning": "reasoning",
        **{f"price.{part}": str(price) for part, price in PRICES.items()},
        "price.cached": "0.5",
    }
    said = [f"roles.{role}.{key}={value}" for role in ROLES for key, value in {**settings, "model": role}.items()]
    return [part for one in said for part in ("--set", one)]


@dataclass(frozen=True)
class Built:
    """A build that is through."""

    folder: Path
    records: tuple[Record, ...]
    """The server's log."""
    kills: int = 0

    @property
    def dataset(self) -> Dataset:
        return synth.load(self.folder / "out")

    @property
    def tasks(self) -> list[Task]:
        return [row for row in self.dataset.rows("tasks") if isinstance(row, Task)]

    @property
    def rejections(self) -> list[Rejection]:
        rows = self.dataset.rows("rejected") if "rejected" in self.dataset.configs else ()
        return [row for row in rows if isinstance(row, Rejection)]

    def hashes(self) -> dict[str, str]:
        return hashes(self.folder / "out")

    def books(self) -> tuple[Account, list[Intent], list[str]]:
        """The account, all intents, and the request ids whose replies are served."""
        with CallStore(self.folder / "store" / "calls.sqlite") as calls:
            return calls.account(NAME), intents(calls), served(calls)


def with_store_of(built: Path, folder: Path) -> Path:
    """A new folder that begins with the finished stages of another."""
    folder.mkdir()
    shutil.copytree(built / "store", folder / "store")
    return folder


def samples_of(task: str, role: str, rollout: int, turn: int) -> list[str]:
    """Samples under which a turn of a rollout is asked for: the first, and the one that corrects it."""
    first = key_of(derive_generator(SEED, "search_rollouts", task, role, "rollout", rollout, turn))
    return [first, digest("corrective turn", first)[:32]]
