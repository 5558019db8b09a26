"""What a build is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from synth.late import late
from synth.places import refuse_remote

if TYPE_CHECKING:
    from synth.dataset import html
    from synth.engine import StageStatus
    from synth.engine.supply import Supply
    from synth.pipelines.pilot import Pilot
    from synth.recipe.model import Recipe
    from synth.schemas.rejections import Rejection
    from synth.schemas.reports import BuildReport
    from synth.schemas.tasks import Task
    from synth.schemas.trajectories import TrajectoryRow
    from synth.store.calls_format import Account
else:
    html = late("synth.dataset.html")

__all__ = ["BuildOptions", "BuildRequest", "BuildResult", "Outlook", "Preview", "ProgressName"]

ProgressName = Literal["auto", "json", "quiet"]
"""``auto``: a live table in a terminal, lines elsewhere; ``json``: lines of JSON."""


@dataclass(frozen=True)
class BuildRequest:
    """What a user asks for: a recipe, what to change in it, and where things go. None = as the recipe says."""

    dataset: str | None = None
    """A builtin dataset, or with ``recipe`` the name to give it."""
    recipe: Path | str | None = None
    """A recipe file."""
    source: Path | str | None = None
    """Folder or file of documents, here or in storage (``s3://...``)."""
    tasks: int | None = None
    """Exactly how many tasks."""
    tasks_file: Path | str | None = None
    """The user's own questions and answers."""
    seed: int | None = None
    prompts: Path | str | None = None
    """A folder of prompts that are laid over ours."""
    out: Path | str | None = None
    """A folder, here or in storage; default ``out/<dataset>``."""
    store: Path | str | None = None
    """Default: the user's cache folder."""
    workers: int = 1
    executor: str = "local"
    slurm: Mapping[str, str] = field(default_factory=dict)
    """What jobs of ``executor="slurm"`` ask for: ``partition`` (required), ``time``, ``cpus``, ``memory`` (GiB per
    CPU), ``qos``, ``env`` (shell line that makes Python ready on a node), ``poll`` (seconds), and options of sbatch."""
    in_flight: int = 512
    """How many rows wait for a model at once; how many calls an endpoint gets is its role's ``concurrency``."""
    calls: Path | str | None = None
    """Where model calls are kept, in place of the store: a file, or ``postgresql://USER@HOST/DATABASE``. Builds of one
    recipe that name the same one share its rows: each is done by one of them, and none is paid for twice."""
    max_cost: float | None = None
    """What all model calls of this dataset in this store may cost at most, over all runs, in the currency of the
    recipe's prices. The worst case of a call is reserved before it is sent, so the cap is never exceeded."""
    max_tokens: int | None = None
    """The same for their tokens, prompt and completion together."""
    ledger: Path | str | None = None
    """A file that gets a line for every unit of work that begins: what the fault tests count."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Dotted recipe key -> value, laid over everything else."""

    def __post_init__(self) -> None:
        for name in ("recipe", "store", "ledger"):
            refuse_remote(getattr(self, name), name)


class BuildOptions(TypedDict, total=False):
    """The fields of :class:`BuildRequest` but ``dataset``, as ``synth.build`` takes them."""

    recipe: Path | str | None
    source: Path | str | None
    tasks: int | None
    tasks_file: Path | str | None
    seed: int | None
    prompts: Path | str | None
    out: Path | str | None
    store: Path | str | None
    workers: int
    executor: str
    slurm: Mapping[str, str]
    in_flight: int
    calls: Path | str | None
    max_cost: float | None
    max_tokens: int | None
    ledger: Path | str | None
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class BuildResult:
    path: Path
    report: BuildReport
    reused: bool
    """True when the store held all of it and nothing was run."""
    account: Account | None = None
    """What the dataset's model calls have used in this store, over all runs; None where it never made any."""
    words: Path | None = None
    """How questions speak of the user's facts: a file to edit, beside the dataset; None where there are none."""

    def _repr_html_(self) -> str:
        lines = []
        for role in dict.fromkeys(outcome.role for outcome in self.report.outcomes):
            mine = [outcome for outcome in self.report.outcomes if outcome.role == role]
            total, good = sum(one.trajectories for one in mine), sum(one.successes for one in mine)
            lines.append(f"{role} success {100 * good / total:.1f} % of {total:,} trajectories")
        title = f"{self.report.dataset} {'is up to date' if self.reused else 'is finished'}: {self.path}"
        return html.dataset_html(title, self.report.tables, lines)


@dataclass(frozen=True)
class Outlook:
    """What a build would do."""

    recipe: Recipe
    stages: tuple[StageStatus, ...]
    account: Account | None = None
    """What the dataset's model calls have used in this store so far; None where it never made any."""
    pilot: Pilot | None = None
    """What the rest will take, from a few rows of each stage that calls a model; None when no pilot was run."""
    supply: Supply | None = None
    """Whether the source gives so many tasks; None when no sample was drawn."""
    prompts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each of the user's own prompts -> labels of the stage runs that use it."""


@dataclass(frozen=True)
class Preview:
    """The beginning of a build."""

    tasks: tuple[Task, ...]
    run: TrajectoryRow | None
    """The first that was kept, else the first that was rejected; None where none came about."""
    rejected: Rejection | None = None
    """Why there is no run that was kept."""
