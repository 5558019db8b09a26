"""What a build did, in numbers: the one structure that the terminal, the card and ``synth stats`` read.

What is published (``BuildReport.published``) is the same for equal data, whatever the number of workers, kills and
resumptions: no time, no host, no count of what a store happened to hold.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import model_validator

from synth.schemas.difficulty import DifficultyReport, TaskYield
from synth.schemas.editions import EditionReport, RedactionReport
from synth.schemas.preferences import PairKind
from synth.schemas.rejections import Reason
from synth.schemas.row import SCHEMA_VERSION, JsonObject, NonEmpty, Row, Split

__all__ = [
    "BuildReport",
    "ContextReport",
    "CriticalReport",
    "FileReport",
    "LabelReport",
    "ModelUse",
    "OutcomeReport",
    "PairReport",
    "RoleReport",
    "RunUse",
    "SourceReport",
    "SplitSize",
    "StageReport",
    "VarietyReport",
]


class ModelUse(Row):
    """Model calls behind the rows of one stage run, by role and model: the same for equal data.

    Each call counts once, whether it was answered in this run, in an earlier one or for another build; calls behind
    rejected rows count too. What was really spent, retries and lost replies included, is in the account of the store.
    """

    role: NonEmpty
    model: NonEmpty
    """Its name at the endpoint."""
    calls: int
    uncounted_calls: int = 0
    """Of those, replies whose tokens the server did not say: they stand in no sum here."""
    prompt_tokens: int
    cached_tokens: int = 0
    """Of the prompt's, those that the server took from its prefix cache."""
    completion_tokens: int
    cost: float = 0.0
    """At the recipe's prices; 0 where it gives none."""

    def plus(self, other: ModelUse) -> ModelUse:
        """Both together, of the same role and model."""
        counts = set(type(self).model_fields) - {"role", "model"}
        return self.model_copy(update={name: getattr(self, name) + getattr(other, name) for name in counts})


class RunUse(Row):
    """What the model calls of a run amount to so far: what was sent, and what the store had. Never published."""

    calls: int = 0
    """That were answered, from wherever."""
    from_store: int = 0
    """Of those: answered in an earlier run, or by an equal call of this one."""
    failed: int = 0
    """Ended without a reply, after every attempt."""
    prompt_tokens: int = 0
    """Of replies that came in this run, as are ``completion_tokens``."""
    completion_tokens: int = 0
    cost: float = 0.0
    """Spent in this run: exact where the server gave the tokens, else at most."""

    def since(self, earlier: RunUse) -> RunUse:
        """What came after ``earlier``."""
        return RunUse(**{name: getattr(self, name) - getattr(earlier, name) for name in type(self).model_fields})


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
    models: tuple[ModelUse, ...] = ()
    """Model calls behind its rows, by role and model."""
    seconds: float | None = None
    """Wall time of this run. Never published."""
    run: RunUse | None = None
    """Model calls of this run; None where it made none. Never published."""

    @model_validator(mode="after")
    def _conserved(self) -> StageReport:
        known = {reason.value for reason in Reason}
        unknown = sorted(set(self.rejected) - known)
        if unknown:
            raise ValueError(f"rejected: {unknown[0]!r} is not a member of Reason")
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
    """First tries; so are all counts but the last two."""
    successes: int
    abstained: int
    """Rollouts whose answer no rule could judge: neither a success nor a failure."""
    turns: int
    """Sum over the trajectories."""
    tool_calls: int
    """Sum over the trajectories."""
    retries: int = 0
    """Second tries of failed rollouts."""
    retry_successes: int = 0
    """Second tries that succeeded."""


class LabelReport(Row):
    """Labels of the steps of one role. The exporter counts them while it writes."""

    role: NonEmpty
    trajectories: int
    """Labelled ones."""
    steps: int
    helps: int
    """Steps with label +1."""
    neutral: int
    """Steps with label 0."""
    harms: int
    """Steps with label -1."""
    unmeasured: int
    """Steps without a label, since nothing was measured for them."""
    first_errors: int
    """Steps that are known to be the first error of their trajectory."""
    targets: int
    """Steps that training may aim at (``train``)."""

    @property
    def signs(self) -> dict[str, tuple[int, float | None]]:
        """Label -> steps, and their share of those that were measured; None where none was."""
        measured = self.helps + self.neutral + self.harms
        counts = {"+1 helps": self.helps, "0 neutral": self.neutral, "-1 harms": self.harms}
        return {name: (count, count / measured if measured else None) for name, count in counts.items()}


class CriticalReport(Row):
    """What the search for critical steps found in the trajectories of one role that ended in one way.

    Counted from the rows: searched is a trajectory with a step that was scored or branched from.
    """

    role: NonEmpty
    outcome: Literal["failed", "succeeded", "unjudged"]
    """How the recorded trajectories ended."""
    trajectories: int
    """Those that were searched."""
    steps: int
    """All their steps."""
    tried: int
    """Steps at which an alternative was measured against the recorded action."""
    verified: int
    """Steps of which that showed a difference, at the stated confidence."""
    continuations: int
    """Rows of ``continuations`` from these trajectories, whatever they were drawn for."""
    pairs: int
    """Pairs that were made of verified steps."""

    @property
    def share(self) -> float:
        """Verified steps over all steps: of failed trajectories, the share supervised. 0 when there is no step."""
        return self.verified / self.steps if self.steps else 0.0

    @property
    def cost(self) -> float | None:
        """Continuations per pair of a verified step; None when there is no pair."""
        return self.continuations / self.pairs if self.pairs else None


class PairReport(Row):
    """Pairs of one kind and family. The exporter counts them while it writes."""

    kind: PairKind
    family: NonEmpty
    pairs: int
    same_kind: int
    """Both sides do the same kind of action."""
    earliest: int
    """At the earliest verified step of their trajectory."""
    recoveries: int
    """The trajectory was off the path before."""
    selected: int
    """In the default selection."""


class ContextReport(Row):
    """Contexts of one budget. The exporter counts them while it writes."""

    budget: int
    contexts: int
    tier_shares: tuple[float, ...]
    """Mean share of their tokens that documents of tier 0 (gold), 1, 2, 3 (near) and 4 (random) take."""


class VarietyReport(Row):
    """How varied the thoughts of a role are, names, numbers and quotations masked. The exporter counts them while it
    writes."""

    role: NonEmpty
    thoughts: int
    """Looked at: 2,000 at most, chosen by their hashes."""
    self_bleu_4: float
    """Mean BLEU-4 of a thought against the others, of 300 of them: 0 to 1, 1 = all alike."""
    distinct_4: float
    """Different runs of four words over all of them: 0 to 1, 0 = all alike."""


class SplitSize(Row):
    """What a split takes on disk."""

    files: int
    bytes: int
    """Of the Parquet files."""
    uncompressed_bytes: int
    """Of the column data before compression."""


class FileReport(Row):
    """A file of the dataset, by its bytes."""

    bytes: int
    sha256: NonEmpty


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
    benchmarks: dict[str, str] = {}
    """File that the tasks were kept away from -> its sha256. ``synth validate --deep`` compares with it again."""
    source: SourceReport
    roles: tuple[RoleReport, ...] = ()
    stages: tuple[StageReport, ...] = ()
    """In the order of the plan."""
    tables: dict[str, dict[str, int]] = {}
    """Rows of the finished dataset: config -> split -> rows. An empty config has no splits. Set by the exporter."""
    sizes: dict[str, dict[str, SplitSize]] = {}
    """Config -> split -> size. Set by the exporter."""
    files: dict[str, FileReport] = {}
    """Path inside the folder -> every file of the dataset but this report. Set by the exporter."""
    rows_sha256: dict[str, dict[str, str]] = {}
    """Config -> split -> hash of its rows in their order, which stays when a file is written anew with the same rows.
    Set by the exporter."""
    outcomes: tuple[OutcomeReport, ...] = ()
    """By role and number of hops. Set by the exporter."""
    task_yields: tuple[TaskYield, ...] = ()
    """Candidates for tasks, by shape. Set by the exporter."""
    labels: tuple[LabelReport, ...] = ()
    """Labels of steps, by role. Set by the exporter."""
    critical: tuple[CriticalReport, ...] = ()
    """The search for critical steps, by role and outcome. Set by the exporter."""
    pairs: tuple[PairReport, ...] = ()
    """Pairs by kind and family. Set by the exporter."""
    contexts: tuple[ContextReport, ...] = ()
    """Contexts by budget. Set by the exporter."""
    variety: tuple[VarietyReport, ...] = ()
    """Of thoughts, by role. Set by the exporter."""
    difficulty: DifficultyReport | None = None
    """Predicted against measured success; None where nothing was measured. Set by the exporter."""
    document_licences: dict[str, int] = {}
    """Documents by licence (``unknown`` when not stated). Set by the exporter."""
    row_licences: dict[str, int] = {}
    """Where there are no documents: tasks (trajectories, where there are no tasks) by licence. Set by the exporter."""
    editions: tuple[EditionReport, ...] = ()
    """What it was before tasks were appended, the oldest first; empty where it was built at once."""
    redacted: RedactionReport | None = None
    """What of the texts is not there; None where all of it is."""
    inverses: dict[str, str] = {}
    """Relation of ``facts`` -> the one that it is read as: both wordings are one fact."""
    split_fractions: dict[Split, float] = {}
    exempt_entities: tuple[str, ...] = ()
    """Ids of hub and type entities that may be gold in more than one split."""
    languages: tuple[str, ...] = ("en",)
    """ISO 639-1 codes of questions and documents."""
    command: str = ""
    """The command that makes the dataset again, without paths of a machine."""
    notes: tuple[str, ...] = ()
    """Sentences that a user of the data must know (what was redacted, what is weak)."""

    def model_uses(self) -> tuple[ModelUse, ...]:
        """Model calls behind the rows of all stages, by role and model."""
        found: dict[tuple[str, str], ModelUse] = {}
        for use in (use for stage in self.stages for use in stage.models):
            before = found.get((use.role, use.model))
            found[use.role, use.model] = use if before is None else before.plus(use)
        return tuple(found[name] for name in sorted(found))

    def published(self) -> BuildReport:
        """This report without what depends on the run: reused shards, seconds, and what was sent and paid."""
        own = {"reused_shards": 0, "seconds": None, "run": None}
        stages = tuple(stage.model_copy(update=own) for stage in self.stages)
        return self.model_copy(update={"stages": stages})

    def to_json(self) -> str:
        """The text of ``report.json``: published part, keys sorted, one newline at the end."""
        value: dict[str, Any] = self.published().model_dump(mode="json")
        for stage in value["stages"]:
            del stage["reused_shards"], stage["seconds"], stage["run"]
        return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
