"""What a build did, in numbers: the one structure that the terminal, the card and ``synth stats`` read.

What is published (``BuildReport.published``) is the same for equal data, whatever the number of workers, kills and
resumptions: no time, no host, no count of what a store happened to hold.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import model_validator

from synth.schemas.rejections import Reason
from synth.schemas.row import SCHEMA_VERSION, JsonObject, NonEmpty, Row, Split

__all__ = ["BuildReport", "OutcomeReport", "RoleReport", "SourceReport", "SplitSize", "StageReport"]


class StageReport(Row):
    """One stage run. Conservation holds: ``rows_in == kept + sum(rejected) + sum(errored)``."""

    label: NonEmpty
    """Its name in the recipe: one kind of stage may run under several labels."""
    stage: NonEmpty
    """Kind of stage, as the registry knows it."""
    version: int
    fingerprint: NonEmpty
    rows_in: int
    """Units read (files, records, rows, candidates)."""
    kept: int
    """Of those, how many led to rows."""
    rejected: dict[str, int] = {}
    """Units by ``Reason``."""
    errored: dict[str, int] = {}
    """Units by kind of error."""
    rows: dict[str, int] = {}
    """Rows written, by table."""
    shards: int = 0
    reused_shards: int = 0
    """Shards that stood in the store already. Depends on the run, not on the data: never published."""
    numbers: dict[str, float] = {}
    """What a stage counted beyond rows, the same for equal data."""
    seconds: float | None = None
    """Wall time of this run. Never published."""

    @model_validator(mode="after")
    def _conserved(self) -> StageReport:
        known = {reason.value for reason in Reason}
        unknown = sorted(set(self.rejected) - known)
        if unknown:
            raise ValueError(f"rejected: {unknown[0]!r} is no member of Reason")
        out = self.kept + sum(self.rejected.values()) + sum(self.errored.values())
        if out != self.rows_in:
            raise ValueError(f"{self.label}: {self.rows_in} rows in but {out} accounted for; nothing may vanish")
        return self

    @property
    def yield_(self) -> float:
        """Kept over read, in [0, 1]; 0 when nothing was read."""
        return self.kept / self.rows_in if self.rows_in else 0.0


class SourceReport(Row):
    """What the dataset was made from."""

    name: NonEmpty
    """Name of the source in the recipe."""
    kind: NonEmpty
    """``world``, ``docs``, ``jsonl``, ..."""
    sha256: NonEmpty
    """Hash of its content."""
    description: str = ""
    """One sentence for the card, without a path or a host."""
    fictional: bool = False
    """True when a generator wrote it: it states nothing about the real world."""


class RoleReport(Row):
    """Who acted in a role."""

    role: NonEmpty
    """``teacher``, ``policy``, ..."""
    backend: NonEmpty
    """``scripted``, ``openai``, ``vllm``."""
    model: str | None = None
    model_revision: str | None = None
    privileged: bool = False
    """True when it could look at the gold walk to choose among options that it saw."""
    rollouts_per_task: int = 1


class OutcomeReport(Row):
    """What became of the rollouts of one role on tasks of one length. The exporter counts it while it writes."""

    role: NonEmpty
    hops: int
    """Hops of the tasks' walks; 0 for given questions."""
    trajectories: int
    successes: int
    abstained: int
    """Rollouts whose answer no rule could judge: neither a success nor a failure."""
    turns: int
    """Sum over the trajectories."""
    tool_calls: int
    """Sum over the trajectories."""


class SplitSize(Row):
    """What a split takes on disk."""

    files: int
    bytes: int
    """Of the Parquet files."""
    uncompressed_bytes: int
    """Of the column data before compression."""


class BuildReport(Row):
    """A whole build."""

    dataset: NonEmpty
    """Name of the recipe."""
    title: str = ""
    schema_version: NonEmpty = SCHEMA_VERSION
    synth_version: str = ""
    seed: int
    wanted: int | None = None
    """Tasks asked for (``--tasks``); None when all given tasks were taken."""
    recipe: JsonObject = {}
    """The resolved recipe: no path, key or host. What ``synth build`` needs to do it again."""
    source: SourceReport
    roles: tuple[RoleReport, ...] = ()
    stages: tuple[StageReport, ...] = ()
    """In the order of the plan."""
    tables: dict[str, dict[str, int]] = {}
    """Rows of the finished dataset: config -> split -> rows. An empty config has no splits. Set by the exporter."""
    sizes: dict[str, dict[str, SplitSize]] = {}
    """Config -> split -> size. Set by the exporter."""
    outcomes: tuple[OutcomeReport, ...] = ()
    """By role and number of hops. Set by the exporter."""
    document_licences: dict[str, int] = {}
    """Documents by licence (``unknown`` when nobody said). Set by the exporter."""
    split_fractions: dict[Split, float] = {}
    exempt_entities: tuple[str, ...] = ()
    """Ids of hub and type entities that may be gold in more than one split."""
    languages: tuple[str, ...] = ("en",)
    """ISO 639-1 codes of questions and documents."""
    command: str = ""
    """The command that makes the dataset again, without paths of a machine."""
    notes: tuple[str, ...] = ()
    """Sentences that a user of the data must know (what was withheld, what is weak)."""

    def published(self) -> BuildReport:
        """This report without what depends on the run: reused shards and seconds."""
        stages = tuple(stage.model_copy(update={"reused_shards": 0, "seconds": None}) for stage in self.stages)
        return self.model_copy(update={"stages": stages})

    def to_json(self) -> str:
        """The text of ``report.json``: published part, keys sorted, one newline at the end."""
        value: dict[str, Any] = self.published().model_dump(mode="json")
        for stage in value["stages"]:
            del stage["reused_shards"], stage["seconds"]
        return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
