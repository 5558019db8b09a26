"""Small stages of all four shapes, shared by the tests of the engine."""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from synth.engine import Engine, Executor, LocalExecutor, Plan, ProcessesExecutor, StageNode
from synth.engine.units import PartRecord, RowRecord
from synth.errors import InputError, SynthError
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.reports import StageReport
from synth.schemas.row import NonEmpty, Row
from synth.stages.contract import Batch, CandidateStage, Outcome, RowStage, ShardStage, StageConfig, TableStage
from synth.store import Store, activate
from synth.store.journal import read_journal
from synth.store.ledger import LedgerEntry


class Page(Row):
    table: ClassVar[str | None] = "pages"

    id: NonEmpty
    words: tuple[str, ...]


class Question(Row):
    table: ClassVar[str | None] = "questions"

    id: NonEmpty
    question: NonEmpty
    answer: int
    weight: float
    provenance: Provenance


class Answer(Row):
    table: ClassVar[str | None] = "answers"

    id: NonEmpty
    text: NonEmpty
    draw: float
    provenance: Provenance


class Secret(Row):
    table: ClassVar[str | None] = "secrets"

    id: NonEmpty
    why: str


class PagesConfig(StageConfig):
    unhashed: ClassVar[dict[str, str]] = {"path": "the hash of its content stands in for it"}

    pages: int = 60
    """How many pages there are."""
    shards: int = 3
    """In how many shards they come."""
    path: str = ""
    """A file whose lines become pages too."""


class Pages(ShardStage[PagesConfig]):
    """Pages of drawn words; every seventh is rejected."""

    name = "pages"
    version = 1
    writes = {"pages": Page}

    @classmethod
    def content_digest(cls, config: PagesConfig) -> str | None:
        if not config.path:
            return None
        try:
            return hashlib.sha256(Path(config.path).read_bytes()).hexdigest()
        except OSError as error:
            raise InputError("there is no such file", where=config.path) from error

    def shards(self) -> int:
        return self.config.shards

    def produce(self, shard: int) -> Batch:
        numbers = range(self.config.pages)[shard :: self.config.shards]
        kept: list[Page] = []
        rejected: list[Rejection] = []
        for number in numbers:
            if number % 7 == 3:
                rejected.append(
                    Rejection(stage=self.name, row_id=f"p{number}", reason=Reason.EMPTY, detail=f"page {number}")
                )
                continue
            draws = self.context.generator(number).integers(0, 1000, 5)
            kept.append(Page(id=f"p{number}", words=tuple(f"w{draw}" for draw in draws)))
        self.context.metrics["words"] = 5.0 * len(kept)
        return Batch({"pages": kept}, rejected=rejected, rows_in=len(numbers), kept_in=len(kept))


class IndexConfig(StageConfig):
    scale: float = 1.0
    """Multiplies every count."""


class Index(TableStage[IndexConfig]):
    """Counts words."""

    name = "index"
    version = 1
    reads = ("pages",)
    arrays = "index"
    libraries = ("numpy",)

    def run(self) -> Batch:
        pages = self.context.inputs.table("pages")
        words = sorted({word for page in pages.rows() for word in page.words})
        counts = np.zeros(len(words))
        places = {word: place for place, word in enumerate(words)}
        for page in pages.rows():
            for word in page.words:
                counts[places[word]] += self.config.scale
        return Batch(arrays={"words": np.array(words), "counts": counts}, rows_in=len(pages), kept_in=len(pages))


class QuestionsConfig(StageConfig):
    modulus: int = 500
    """Answers lie below it: small ones make duplicates."""
    rejects: int = 3
    """One in so many candidates is rejected; 1 = all."""
    given: int | None = None
    """How many candidates there are at all."""


class Questions(CandidateStage[QuestionsConfig]):
    """Asks for the sum of two drawn counts."""

    name = "questions"
    version = 1
    reads = ("index",)
    writes = {"questions": Question, "secrets": Secret}
    sealed = frozenset({"secrets"})
    candidates_per_shard = 16

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [self._one(index) for index in range(start, stop)]

    def _one(self, index: int) -> Outcome:
        counts = self.context.inputs.arrays("index")["counts"]
        generator = self.context.generator(index)
        secret = {"secrets": (Secret(id=f"s{index}", why=f"drawn {index}"),)} if index % 2 else {}
        self.context.metrics.add("proposed")
        if generator.integers(self.config.rejects) == 0:
            reason = Reason.NO_WALK if index % 4 else Reason.NOT_UNIQUE
            rejection = Rejection(stage=self.name, row_id=str(index), reason=reason, detail=f"candidate {index}")
            return Outcome(rejected=(rejection,), side=secret)
        answer = int(generator.integers(self.config.modulus))
        row = Question(
            id=f"q{index}",
            question=f"What is {answer}?",
            answer=answer,
            weight=float(counts[answer % len(counts)]),
            provenance=self.context.provenance,
        )
        return Outcome(kept=(row,), side=secret)

    def duplicate_key(self, row: Any) -> str:
        return str(row.answer)

    def ceiling(self, wanted: int) -> int:
        return 20 * wanted + 30

    def exhausted(self) -> int | None:
        return self.config.given


class AnswersConfig(StageConfig):
    per_question: int = 2
    """Rows per question."""
    temper: float = 1.0
    """Multiplies every draw."""
    fail_at: str = ""
    """Id of a question at which the stage has a bug."""


class Answers(RowStage[AnswersConfig, Question]):
    """Answers every question a few times, with draws; some questions are rejected."""

    name = "answers"
    version = 1
    reads = ("questions", "pages")
    over = "questions"
    writes = {"answers": Answer, "secrets": Secret}
    sealed = frozenset({"secrets"})
    rows_per_shard = 8

    def process(self, row: Question) -> Outcome:
        if row.id == self.config.fail_at:
            raise ZeroDivisionError("a bug of the stage")
        generator = self.context.generator(row.id)
        page = self.context.inputs.table("pages").row(int(generator.integers(10)))
        self.context.metrics["length"] = row.answer / 3
        secrets = (Secret(id=row.id, why=page.id),)
        if row.answer % 5 == 0:
            rejection = Rejection(stage=self.name, row_id=row.id, reason=Reason.UNGROUNDED, detail="five, \n and ü")
            return Outcome(rejected=(rejection,), side={"secrets": secrets})
        kept = tuple(
            Answer(
                id=f"{row.id}-{number}",
                text=f"It is {row.answer}, as {page.words[number]} says.\n",
                draw=float(generator.random()) * self.config.temper,
                provenance=self.context.provenance.model_copy(update={"backend": "scripted"}),
            )
            for number in range(self.config.per_question)
        )
        return Outcome(kept=kept, side={"secrets": secrets})


class SummaryConfig(StageConfig):
    top: int = 3
    """How many answers to list."""


class Summary(TableStage[SummaryConfig]):
    """Reads a growing table whole."""

    name = "summary"
    version = 1
    reads = ("answers",)
    writes = {"pages": Page}

    def run(self) -> Batch:
        table = self.context.inputs.table("answers")
        ids = [row.id for row in table.rows()]
        pages = [Page(id=f"summary-{len(ids)}", words=tuple(ids[: self.config.top]))]
        return Batch({"pages": pages}, rows_in=len(ids), kept_in=len(ids))


def plan(
    wanted: int | None = 20,
    *,
    seed: int = 7,
    dataset: str = "toy",
    pages: PagesConfig | None = None,
    index: IndexConfig | None = None,
    questions: QuestionsConfig | None = None,
    answers: AnswersConfig | None = None,
    summary: SummaryConfig | None = None,
    answers_stage: type[Answers] = Answers,
    questions_stage: type[Questions] = Questions,
) -> Plan:
    """pages -> index -> questions -> answers -> summary."""
    return Plan(
        dataset=dataset,
        seed=seed,
        source="toys",
        wanted=wanted,
        nodes=(
            StageNode("pages", Pages, pages or PagesConfig()),
            StageNode("index", Index, index or IndexConfig(), {"pages": "pages"}),
            StageNode("questions", questions_stage, questions or QuestionsConfig(), {"index": "index"}),
            StageNode(
                "answers", answers_stage, answers or AnswersConfig(), {"questions": "questions", "pages": "pages"}
            ),
            StageNode("summary", Summary, summary or SummaryConfig(), {"answers": "answers"}),
        ),
    )


def executor(name: str, workers: int = 1) -> Executor:
    return LocalExecutor(workers) if name == "local" else ProcessesExecutor(workers)


def build(
    store: Path,
    plan: Plan,
    *,
    name: str = "local",
    workers: int = 1,
    ledger: Path | None = None,
    failpoint: str | None = None,
) -> Built:
    """Build ``plan`` and read everything back."""
    activate(failpoint)
    try:
        with Engine(plan, Store(store, ledger=ledger), executor(name, workers)) as engine:
            return Built.of(engine, engine.run())
    finally:
        activate(None)


def build_and_forget(*args: Any, **kwargs: Any) -> None:
    """``build`` for a child process that is killed: it prints no traceback and returns nothing."""
    try:
        build(*args, **kwargs)
    except SynthError as error:
        sys.exit(error.exit_code)


@dataclass(frozen=True)
class Built:
    """All that a build made: equal builds are equal, byte for byte."""

    tables: Mapping[str, bytes]
    """``label/table`` -> Parquet."""
    arrays: Mapping[str, bytes]
    rejected: bytes
    reports: tuple[StageReport, ...]

    @classmethod
    def of(cls, engine: Engine, reports: Sequence[StageReport]) -> Built:
        tables: dict[str, bytes] = {}
        arrays: dict[str, bytes] = {}
        for node in engine.plan.nodes:
            for name in node.stage.writes:
                tables[f"{node.label}/{name}"] = parquet(engine.table(node.label, name).arrow)
            for name, array in engine.arrays(node.label).items():
                arrays[f"{node.label}/{name}"] = array.tobytes()
        return cls(tables, arrays, parquet(engine.rejected().arrow), tuple(map(published, reports)))


def parquet(table: pa.Table) -> bytes:
    """The Parquet file of a table, whatever chunks it came in."""
    sink = io.BytesIO()
    pq.write_table(table.combine_chunks(), sink)
    return sink.getvalue()


def published(report: StageReport) -> StageReport:
    """A report without what depends on the run and on shard sizes."""
    return report.model_copy(update={"seconds": None, "reused_shards": 0, "shards": 0, "run": None})


def run_twice(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Work that was begun although it was finished."""
    finished: set[tuple[str, int, str | None]] = set()
    again: list[LedgerEntry] = []
    for entry in entries:
        name = (entry.stage, entry.shard if entry.row is None else -1, entry.row)
        if entry.event == "done":
            finished.add(name)
        elif name in finished:
            again.append(entry)
    return again


def finished_on_disk(store: Path) -> set[tuple[str, int, str | None]]:
    """What stands in the store: shards as ``(stage, shard, None)``, rows as ``(stage, -1, key)``."""
    found: set[tuple[str, int, str | None]] = set()
    for entry in Store(store).list():
        name = f"{entry.stage}/{entry.fingerprint}"
        for manifest in entry.path.glob("shards/[0-9]*/manifest.json"):
            start = int(manifest.parent.name.partition("-")[0])
            if (manifest.parent / "_units.arrow").exists():
                units = pa.ipc.open_file(str(manifest.parent / "_units.arrow")).read_all()
                if units["content"].to_pylist()[:1] != [""]:
                    found |= {(name, -1, key) for key in units["key"].to_pylist()}
                    continue
            found.add((name, start, None))
        for journal in entry.path.glob("journals/*.journal"):
            rows = [record for record in read_journal(journal) if not PartRecord.is_part(record)]
            found |= {(name, -1, RowRecord.name_of(record)[0]) for record in rows}
    return found


def begun(entries: Sequence[LedgerEntry]) -> set[tuple[str, int, str | None]]:
    """What was begun, named as in ``finished_on_disk``."""
    return {
        (entry.stage, entry.shard if entry.row is None else -1, entry.row)
        for entry in entries
        if entry.event == "begin"
    }
