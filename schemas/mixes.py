"""What a mix of datasets states of itself: the file ``mix.json``."""

from __future__ import annotations

from synth.schemas.reports import BuildReport, FileReport, RoleReport
from synth.schemas.row import NonEmpty, Row

__all__ = ["MixOrigin", "MixPart", "MixReport"]


class MixOrigin(Row):
    """What a dataset's report says of where its rows come from: those of a mix must still say so."""

    seed: int
    source: NonEmpty
    source_sha256: NonEmpty
    stages: tuple[tuple[str, str, int], ...]
    """Fingerprint, kind of stage and version of every stage run."""
    roles: tuple[RoleReport, ...] = ()

    @classmethod
    def of(cls, report: BuildReport) -> MixOrigin:
        return cls(
            seed=report.seed,
            source=report.source.name,
            source_sha256=report.source.sha256,
            stages=tuple((stage.fingerprint, stage.stage, stage.version) for stage in report.stages),
            roles=report.roles,
        )


class MixPart(Row):
    """One dataset of a mix."""

    dataset: str
    """Its name."""
    origin: MixOrigin | None = None
    """Where its rows come from; None where it has no report."""
    weight: float
    """Its share of the tasks; the shares of a mix sum to 1."""
    available: int
    """Tasks that it has."""
    doubled: int
    """Of those, tasks whose question an earlier dataset of the mix asks as well, or one that is near it where that was
    asked for: they are never taken."""
    contaminated: int = 0
    """Of the others, tasks that overlap with a benchmark: they are never taken either."""
    tasks: int
    """Tasks that were taken."""
    refusals: int | None = None
    """Of those, tasks whose right end is to refuse; None where no share of them was asked for."""


class MixReport(Row):
    """What a mix is made of. It holds no time, host or path."""

    schema_version: str
    """Version of the tables."""
    seed: int
    """What the tasks were drawn with."""
    parts: tuple[MixPart, ...]
    """In the order in which they were given."""
    near: float | None = None
    """Share of n-grams of words from which two questions of different datasets were taken for one."""
    benchmarks: dict[str, str] = {}
    """Benchmarks that no task overlaps with: name of the file -> sha256."""
    tables: dict[str, dict[str, int]]
    """Rows by config and split."""
    files: dict[str, FileReport] = {}
    """Path inside the folder -> every file of the mix but this one."""
    rows_sha256: dict[str, dict[str, str]] = {}
    """Config -> split -> hash of its rows in their order."""

    def to_json(self) -> str:
        """The text of ``mix.json``."""
        return self.model_dump_json(indent=2) + "\n"
