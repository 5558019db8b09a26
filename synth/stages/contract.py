"""What a stage is.

A stage is a pure function of its rows, its config and a seed. It sees no path, clock, environment variable or global
random state (a source's location is the one exception, and the hash of its content stands in for it). The engine
(``synth.engine``) reads, writes, shards, resumes and counts; a stage only turns rows into rows.

Four shapes cover all stages:

    ShardStage      makes tables from a source or from whole input tables, in a fixed number of shards
    RowStage        one input row -> one outcome, journalled row by row (rollouts, per-row checks)
    CandidateStage  candidates 0, 1, 2, ... until exactly N are accepted, in order of the candidate index
    TableStage      whole tables -> tables or arrays, in one piece (graph, index, dedup)

A stage object is made once per worker process from ``(config, context)``, so that heavy collaborators (an index that
is memory-mapped, an environment) are opened once and never pickled.

A stage whose config holds a model (:attr:`Implementation.model`) runs in the engine's own process: many of its rows are
worked on at once, in one thread, with one stage object. Another row goes on wherever one waits for a model. So
``process`` keeps nothing about its row in ``self`` (a cache whose entries are right for every row is fine);
``context.metrics`` and ``context.checkpoint`` belong to the row at hand, whichever that is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

from synth.models.contract import Models, Runtime, Sampling, public_name
from synth.schemas.described import Described
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import JsonObject, NonEmpty, Row
from synth.stages.context import Checkpoint, Inputs, RowMetrics, Table

__all__ = [
    "Batch",
    "CandidateStage",
    "Context",
    "Implementation",
    "Inputs",
    "Outcome",
    "RowStage",
    "ShardStage",
    "Stage",
    "StageConfig",
    "Table",
    "TableStage",
    "TaskFilter",
    "implementations",
]

C = TypeVar("C", bound="StageConfig")
R = TypeVar("R", bound=Row)


class StageConfig(Described):
    """Config of a stage: every field documented, unknown keys refused, all of it in the fingerprint."""

    unhashed: ClassVar[Mapping[str, str]] = {}
    """Fields left out of the fingerprint, each with the reason (a path, a key, a concurrency)."""


class Implementation(StageConfig):
    """A collaborator that a stage is given by name: an environment, a policy, a lexicon.

    The recipe layer fills it in from the registry, so that a stage depends on no implementation and a worker process
    can make its own. It is part of the config, so of the fingerprint.
    """

    kind: NonEmpty
    """The name that the registry knows it by."""
    factory: NonEmpty
    """``module:function`` that makes it."""
    options: JsonObject = {}
    """Keyword arguments of the factory."""
    versions: JsonObject = {}
    """What must change the fingerprint beside the options and :attr:`version`: the hash of a prompt file, what a server
    shows of itself."""
    model: NonEmpty | None = None
    """Of a model-backed one, the model's name at its endpoint; None = it needs no model."""
    sampling: Sampling = Sampling()
    """How that model draws."""
    runtime: Runtime = Runtime()
    """Where that model is."""
    files: dict[str, str] = {}
    """Files that it reads, by the names that rows call them by: handed to the factory as ``files``. The hashes of their
    contents stand among the options."""
    parts: dict[str, Implementation] = {}
    """Collaborators of its own, by the arguments of the factory that take them."""

    unhashed: ClassVar[Mapping[str, str]] = {
        "runtime": "addresses, prices, patience and concurrency: a reply is the same wherever it came from",
        "files": "locations; the hashes of the contents are among the options",
    }

    @property
    def model_name(self) -> str | None:
        """The model's name as rows hold it: without the folder that a server may have it from."""
        return None if self.model is None else public_name(self.model)

    def origin(self) -> dict[str, Any]:
        """The fields of a row's provenance that say who acted."""
        if self.model is None:
            return {"backend": self.kind}
        sampling = self.sampling.model_dump(mode="json", exclude_none=True)
        return {"backend": self.kind, "model": self.model_name, "sampling": sampling}

    @property
    def version(self) -> int | None:
        """What its factory states (:func:`~synth.identity.versioned`; a stage's own, of a stage); None = nothing."""
        found: int | None = getattr(self._factory(), "version", None)
        return found

    @property
    def needs(self) -> tuple[str, ...]:
        """Tables and arrays that its factory is given beside its options, as it states."""
        return tuple(getattr(self._factory(), "needs", ()))

    @property
    def libraries(self) -> tuple[str, ...]:
        """Distributions whose version can change what it does, as its factory states."""
        return tuple(getattr(self._factory(), "libraries", ()))

    def itself(self) -> Any:
        """What ``factory`` names, where that is what a stage is given and no factory of it."""
        return self._factory()

    def _factory(self) -> Any:
        module, _, attribute = self.factory.partition(":")
        return getattr(import_module(module), attribute)

    def make(self, **collaborators: Any) -> Any:
        """Call the factory with ``options`` and ``collaborators``. One that needs a model gets it by the name
        ``model``: stages call :meth:`Context.make`, which sees to it."""
        if self.files:
            collaborators["files"] = self.files
        for name, part in self.parts.items():
            collaborators[name] = part.make(**({"inputs": collaborators["inputs"]} if part.needs else {}))
        return self._factory()(**self.options, **collaborators)


def implementations(value: Any, name: str = "") -> Iterator[tuple[str, Implementation]]:
    """Every collaborator in a config, however deep, with the field that holds it."""
    if isinstance(value, Implementation):
        yield name, value
        yield from implementations(value.parts)
    elif isinstance(value, BaseModel):
        for field_name in type(value).model_fields:
            yield from implementations(getattr(value, field_name), field_name)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from implementations(item, str(key))
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from implementations(item, name)


@dataclass(frozen=True)
class Context:
    """What the engine hands to a stage beside its config."""

    seed: int
    inputs: Inputs
    provenance: Provenance
    """Filled in by the engine for this stage run; rows that the stage makes carry it (with their own additions)."""
    generator: Callable[..., np.random.Generator]
    """``generator(*names)`` -> a generator derived from (seed, the stage's :meth:`~Stage.stream`, *names)."""
    metrics: RowMetrics = field(default_factory=RowMetrics)
    """Numbers for the stage report beyond row counts, of the row (or shard) at hand; the report has their sums."""
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    """Finished parts of the row at hand; for row stages whose rows are long."""
    models: Models | None = None
    """All models of the build; None where no stage of it needs one."""

    def make(self, implementation: Implementation, **collaborators: Any) -> Any:
        """Make a collaborator; one that needs a model gets it, bound, by the name ``model``."""
        if implementation.model is not None:
            if self.models is None:
                raise ValueError(
                    f"{implementation.kind} needs the model {implementation.model}, and the build has no models"
                )
            bound = self.models.bind(implementation.model, implementation.sampling, implementation.runtime)
            collaborators["model"] = bound
        return implementation.make(**collaborators)


@dataclass(frozen=True)
class Outcome:
    """What became of one input row or candidate: kept rows, or a rejection. Exactly one of both is non-empty, with one
    exception: a row of several samples is kept with those that came to something, and rejections beside them say which
    sample (``Rejection.part``) did not. It then counts as kept.

    ``side`` holds rows for further tables of the stage (by table name), sealed ones among them.
    """

    kept: tuple[Row, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    side: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole = [rejection for rejection in self.rejected if rejection.part is None]
        if not (self.kept or self.rejected) or (self.kept and whole):
            raise ValueError("an outcome holds either kept rows or rejections: nothing vanishes, nothing counts twice")


@dataclass(frozen=True)
class Batch:
    """What a shard or a whole-table stage made.

    ``tables`` maps a table name to its rows, as row objects or, where a million of them would be slow, as one Arrow
    table with the row type's schema. ``rows_in`` counts the units that were read (files, records, rows); each ended in
    ``kept_in`` or in a rejection: ``rows_in == kept_in + len({r.row_id for r in rejected})``.
    """

    tables: Mapping[str, Sequence[Row] | pa.Table] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    rejected: Sequence[Rejection] = ()
    rows_in: int = 0
    kept_in: int = 0


class Stage(ABC, Generic[C]):
    """Common half of all stages."""

    name: ClassVar[str]
    """Kind of stage, as the registry knows it. A recipe may run one kind several times under different labels."""
    config_type: ClassVar[type[StageConfig]]
    """What ``config`` is an instance of."""
    version: ClassVar[int]
    """Bumped with every change that can change a result; a lock of code hashes makes CI check it."""
    reads: ClassVar[tuple[str, ...]] = ()
    """Names of the tables and arrays that it reads."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Further ones that it reads where some stage writes them: ``name in context.inputs``."""
    gathers: ClassVar[tuple[str, ...]] = ()
    """Tables of which it reads all that stages before it write: ``context.inputs.gathered(name)``."""
    known_as: ClassVar[Mapping[str, str]] = {}
    """What it reads under a name of its own -> the table, ``table@role`` where it is that of one role."""
    writes: ClassVar[Mapping[str, type[Row]]] = {}
    """Tables that it writes. The first one is its main table (what ``kept`` counts)."""
    sealed: ClassVar[frozenset[str]] = frozenset()
    """Those of ``writes`` that no stage may read."""
    arrays: ClassVar[str | None] = None
    """What the arrays that it writes are called together; None = it writes none."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Distributions whose version can change a result: part of the fingerprint."""
    prompts: ClassVar[tuple[str, ...]] = ()
    """Prompts (``agents/retry/v1``) that it loads and its config does not name by their hash."""
    threads: ClassVar[bool] = False
    """True when shards gain from threads of one process, since the work waits for others or lets go of the interpreter
    lock. Every thread then has its own stage object."""

    def __init__(self, config: C, context: Context) -> None:
        self.config = config
        self.context = context

    @classmethod
    def reads_of(cls, config: C) -> tuple[str, ...]:
        """``reads``, and what the collaborators in ``config`` need."""
        return tuple(dict.fromkeys([*cls.reads, *(name for _, one in implementations(config) for name in one.needs)]))

    @classmethod
    def libraries_of(cls, config: C) -> tuple[str, ...]:
        """``libraries``, and those of the collaborators in ``config``; sorted."""
        return tuple(sorted({*cls.libraries, *(name for _, one in implementations(config) for name in one.libraries)}))

    @classmethod
    def stream(cls, config: C) -> str:
        """What its random draws go by, beside the seed and the row: in another environment it draws otherwise."""
        place = getattr(config, "environment", None)
        return f"{place.kind}_{cls.name}" if isinstance(place, Implementation) else cls.name

    @classmethod
    def content_digest(cls, config: C) -> str | None:
        """sha256 over what the stage reads from outside the store (user files). None when it reads nothing.

        Raises:
            InputError: the source is missing, empty or can't be read.
        """
        return None


class ShardStage(Stage[C]):
    """Makes tables in a fixed number of shards. The number may depend on config and inputs, never on workers."""

    @abstractmethod
    def shards(self) -> int: ...

    @abstractmethod
    def produce(self, shard: int) -> Batch:
        """Shard ``shard`` of ``shards()``; the tables of all shards, in order, are the stage's tables."""


class RowStage(Stage[C], Generic[C, R]):
    """Works row by row over one table; every finished row goes to a journal at once."""

    over: ClassVar[str]
    """The table whose rows it works on."""
    looks_up: ClassVar[frozenset[str]] = frozenset()
    """Those of ``reads`` of which a row only sees the rows that belong to it (its task, its trajectories), by key. More
    tasks later add none of those, so how long such a table is stays out of the fingerprint."""
    rows_per_shard: ClassVar[int] = 64
    together: ClassVar[int] = 1
    """So many rows :meth:`look_ahead` is shown at once."""

    @classmethod
    def first_rows(cls, config: C) -> int | None:
        """It works over so many rows of ``over``, from the first; None = over all."""
        return None

    @abstractmethod
    def process(self, row: R) -> Outcome:
        """Must depend on the row, config and seed only; draw from ``context.generator(row.id, ...)``."""

    def look_ahead(self, rows: Sequence[R]) -> None:
        """Told before :meth:`process` which rows come next, where work on several at once is cheaper. It may not be
        called, and changes no outcome."""

    def key(self, row: R) -> str:
        """Names the row in the journal, with the hash of its content beside it."""
        return str(row.id)  # type: ignore[attr-defined]


class TaskFilter(Protocol):
    """Looks at candidates that a stage kept, and may refuse them: each by itself, whatever the others are."""

    def look(self, rows: Sequence[Any], /) -> Sequence[tuple[Reason, str] | None]:
        """Of each row: None, or why it is rejected, and the detail in one line."""


class CandidateStage(Stage[C]):
    """Proposes candidates until exactly N are accepted. N itself is not in the fingerprint: asking for more later
    keeps every accepted row and goes on where acceptance stopped."""

    candidates_per_shard: ClassVar[int] = 256
    filters: Sequence[TaskFilter] = ()
    """Who looks at what it kept before it is accepted. Set by the engine, which asks them; not a stage's business."""

    @abstractmethod
    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        """Candidates ``start`` to ``stop - 1``, one outcome each (one kept row at most), drawn from
        ``context.generator(index)``; no candidate knows of another."""

    def duplicate_key(self, row: Any) -> str:
        """Candidates with an equal key ask the same: the one with the lowest index stays."""
        return str(row.id)

    @classmethod
    def duplicate(cls, row: Any, index: int, first: int) -> Rejection:
        """What is said about candidate ``index`` (which would have been ``row``), whose key candidate ``first`` has."""
        shape = getattr(row, "shape", None)
        return Rejection(
            stage=cls.name,
            row_id=str(index),
            reason=Reason.DUPLICATE_TASK,
            detail=f"{shape}: asks the same as candidate {first}" if shape else f"asks the same as candidate {first}",
            split=getattr(row, "split", None),
            preview=str(getattr(row, "question", ""))[:500],
        )

    def ceiling(self, wanted: int) -> int:
        """How many candidates may be tried for ``wanted`` accepted rows before the build says that it can't."""
        return max(2_000, 200 * wanted)

    def exhausted(self) -> int | None:
        """How many candidates there are at all (a file of given tasks), or None when they never end."""
        return None

    def remedy(self) -> str | None:
        """What else a user may do where too few candidates were accepted; None: a larger source."""
        return None


class TableStage(Stage[C]):
    """Whole tables in, tables or arrays out, in one piece."""

    @abstractmethod
    def run(self) -> Batch: ...
