"""A package that is none of ours: a source, an environment, a shape, stages, a label rule, a reward and a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from synth.annotate.labels.label import StepLabel
from synth.annotate.preferences.sides import PairPosition, Pairs, make_pair
from synth.environments.contract import EnvironmentKeys, EnvironmentSpec
from synth.environments.search import SearchEnvironment
from synth.export.contract import About, Format, Record, Run
from synth.identity import versioned
from synth.recipe.sources import SourceSpec
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document
from synth.schemas.preferences import PairKind
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row, Split
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.sources.world.config import WorldConfig
from synth.stages.contract import Batch, Outcome, RowStage, StageConfig
from synth.stages.pair_makers import PairMaker
from synth.stages.world import WorldPages
from synth.tasks.draft import Draft
from synth.tasks.world.shapes.superlative import propose_superlative
from synth.tasks.world.view import WorldView


class AtlasKeys(WorldConfig):
    """A small fictional world."""

    kind: Literal["atlas"]
    entities: int = 400


class AtlasPages(WorldPages):
    name = "atlas_pages"
    version = 1

    def produce(self, shard: int) -> Batch:
        """Pages say whose they are."""
        made = super().produce(shard)
        pages = made.tables["documents"]
        rows = pages if not isinstance(pages, pa.Table) else from_arrow(pages, Document)
        named = [page.model_copy(update={"source": "atlas"}) for page in rows]
        return replace(made, tables={**made.tables, "documents": named})


ATLAS = SourceSpec(AtlasKeys, "atlas_pages", "A small fictional world of another package.", fictional=True)


class RoomKeys(EnvironmentKeys):
    """A reading room: a search that shows fewer results."""

    kind: Literal["reading_room"]
    default_k: int = 4


class ReadingRoom(SearchEnvironment):
    name: ClassVar[str] = "reading_room"


@versioned(1)
def open_room(*, inputs: Any, **options: Any) -> ReadingRoom:
    return ReadingRoom(Bm25Index(inputs.arrays("index")), inputs.table("documents"), **options)


READING_ROOM = EnvironmentSpec(
    kind="reading_room", open=open_room, needs=("documents", "index"), pages=True, keys=RoomKeys
)


@versioned(1)
def propose_extreme(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """A superlative, asked in one more word."""
    draft = propose_superlative(view, split, rng)
    if draft is None:
        return None
    walk = draft.walk.model_copy(update={"shape": "extreme"})
    return draft.model_copy(update={"question": f"Precisely: {draft.question}", "shape": "extreme", "walk": walk})


class ShortRunsConfig(StageConfig):
    turns: int = 8
    """The most that a run may have."""


class ShortRuns(RowStage[ShortRunsConfig, TrajectoryRow]):
    """Leaves out long runs."""

    name = "short_runs"
    version = 1
    config_type = ShortRunsConfig
    reads = ("trajectories",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"trajectories": TrajectoryRow}
    over = "trajectories"

    def process(self, row: TrajectoryRow) -> Outcome:
        if row.turns <= self.config.turns:
            return Outcome(kept=(row,))
        return Outcome(
            rejected=(
                Rejection(
                    stage=self.name,
                    row_id=row.id,
                    reason=Reason.TOKEN_LIMIT,
                    detail=f"{row.turns} turns",
                    split=row.split,
                ),
            )
        )


class WidePairs(PairMaker[StageConfig]):
    """Pairs of whole runs, however their lengths differ."""

    name = "wide_pairs"
    version = 1
    config_type = StageConfig

    def pairs(self, task: Task, teacher: Sequence[TrajectoryRow], policy: Sequence[TrajectoryRow]) -> Pairs:
        return Pairs(
            tuple(
                make_pair(
                    PairPosition.whole(good),
                    kind=PairKind.TRAJECTORY,
                    family="whole_run",
                    chosen=PairPosition.whole(good).recorded,
                    rejected=PairPosition.whole(bad).recorded,
                    difference=f"{good.turns} turns against {bad.turns}",
                    why=f"{good.verdict.evidence} {bad.verdict.evidence}",
                    provenance=self.context.provenance,
                    other=bad,
                )
                for good in teacher
                for bad in policy
                if good.verdict.correct is True and bad.verdict.correct is False
            )
        )


@versioned(1)
def marked(row: TrajectoryRow, task: Task, labels: tuple[StepLabel, ...]) -> Iterator[StepLabel]:
    """Says of every label that it was looked at."""
    for label in labels:
        yield label.model_copy(update={"label_detail": f"{label.label_detail} (looked at)".strip()})


@versioned(3)
def brief_reward(responses: Sequence[Any], truth: Any, **more: Any) -> list[float]:
    return [1.0 / (1 + len(str(response))) for response in responses]


def _lines(run: Run, about: About, cut: int) -> list[Record]:
    return [{"task": run.row.task_id, "answer": run.row.answer}]


ANSWERS = Format(
    name="answers",
    summary="Answers alone.",
    source="trajectories",
    layout="jsonl",
    convert=_lines,
    usage="Lines of JSON.",
)
