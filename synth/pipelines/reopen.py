"""The environment of a finished dataset, open again: its tools over its documents, and its tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from synth.dataset.reader import Dataset
from synth.environments.contract import STATEFUL, Environment, EnvironmentSpec, stateful_options
from synth.environments.trust import untrusted
from synth.errors import InputError
from synth.graph.graph import Graph
from synth.pipelines.collaborators import parts_of, vectors_of
from synth.registry import find
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow
from synth.schemas.code import CodeFile
from synth.schemas.documents import Document, Entity
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.sources.dataset import edges_of, entities_of, inverses_of
from synth.stages.index import names_of, passages_of

__all__ = ["DatasetTasks", "open_environment", "reopen", "trusted_environment"]


class _Rows:
    """A table in memory, its rows made when they are asked for."""

    def __init__(self, arrow: pa.Table, row_type: type[Row]) -> None:
        self.arrow = arrow
        self._row_type = row_type

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def row(self, number: int) -> Any:
        """Row ``number`` as its row type."""
        return from_arrow(self.arrow.slice(number, 1), self._row_type)[0]


class DatasetTasks:
    """The tasks of a dataset, in its order (train, validation, test), by id or number."""

    def __init__(self, dataset: Dataset) -> None:
        self._rows = _Rows(dataset.table("tasks"), Task)
        self._numbers = {name: number for number, name in enumerate(self._rows.arrow.column("id").to_pylist())}

    def __len__(self) -> int:
        return len(self._rows)

    def by_id(self, task_id: str) -> Task | None:
        """The task, None when there is none."""
        number = self._numbers.get(task_id)
        return None if number is None else self.by_number(number)

    def by_number(self, number: int) -> Task:
        """Task ``number``, 0 to ``len - 1``."""
        found: Task = self._rows.row(number)
        return found


class _Inputs:
    """What a build would have given an environment, from what the dataset holds."""

    def __init__(self, dataset: Dataset, place: Mapping[str, Any]) -> None:
        """``place``: keys of the environment."""
        self._dataset = dataset
        self._place = place

    def table(self, name: str) -> Any:
        tables = {
            "tasks": lambda: _Rows(self._dataset.table("tasks"), Task),
            "documents": lambda: self._documents,
            "entities": lambda: self._entities,
            "code_files": lambda: _Rows(self._dataset.table("code_files"), CodeFile),
        }
        return self._made(name, tables)

    def arrays(self, name: str) -> Mapping[str, Any]:

        # Made anew, with what every recipe has: they are functions of documents and facts.
        arrays = {
            "index": lambda: Bm25Index.build(self._documents.arrow),
            "names": lambda: names_of(self._entities.arrow),
            "graph": self._graph,
            "passages": self._passages,
        }
        found: Mapping[str, Any] = self._made(name, arrays)
        return found

    def _made(self, name: str, makers: Mapping[str, Callable[[], Any]]) -> Any:
        if name not in makers:
            what = f"the environment needs {name}, which a dataset does not hold"
            raise InputError(what, where=str(self._dataset.path))
        return makers[name]()

    def _passages(self) -> Mapping[str, Any]:
        vectors = vectors_of(self._place)
        assert vectors is not None  # else nothing asks for them
        encoder, wanted = vectors
        return passages_of(self._documents.arrow, encoder.make(), wanted.passage)

    def _graph(self) -> Mapping[str, Any]:
        facts, entities = self._dataset.table("facts"), self._entities.arrow
        documents = self._documents.arrow.column("id").combine_chunks()
        edges = edges_of(facts, entities.column("id").combine_chunks(), documents)
        inverses = inverses_of(facts, self._dataset.report.inverses)
        return Graph.build(entities, edges, inverses).to_arrays()

    @cached_property
    def _entities(self) -> _Rows:
        documents = self._documents.arrow.column("id").combine_chunks()
        return _Rows(entities_of(self._dataset.table("entities"), documents), Entity)

    @cached_property
    def _documents(self) -> _Rows:
        if "documents" not in self._dataset.configs:
            raise InputError("the dataset holds no documents", where=str(self._dataset.path))
        return _Rows(self._dataset.table("documents"), Document)


def reopen(dataset: Dataset, *, trust: bool = False) -> tuple[Environment, DatasetTasks]:
    """The environment that the dataset's recipe names, and its tasks.

    Args:
        trust: Run the programs, read the files and reach the servers that the dataset names. Without it, it may name
            only what ships with this package.

    Raises:
        InputError: the dataset has no tasks, its environment needs what it does not hold, or names what takes trust.
    """
    tasks = DatasetTasks(dataset)
    if not len(tasks):
        raise InputError("the dataset holds no tasks", where=str(dataset.path))
    given, source = trusted_environment(dataset, trust=trust)
    if source.get("kind") in STATEFUL:
        given = {"kind": given.get("kind"), **stateful_options(source, given)}
    return open_environment(given, _Inputs(dataset, given)), tasks


def trusted_environment(dataset: Dataset, *, trust: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Environment and source of the dataset's recipe, keys without a value left out.

    Raises:
        InputError: what :func:`reopen` raises, but for what opening it shows.
    """
    where = str(dataset.path)
    source, given = (
        {key: value for key, value in _mapping(dataset, part).items() if value is not None}
        for part in ("source", "environment")
    )
    options = given
    if source.get("kind") in STATEFUL:
        options = {"kind": given.get("kind"), **stateful_options(source, given)}
    if options.get("simulated") is not None:
        raise InputError(
            "a model wrote the results of this dataset's searches: it can't be opened without", where=where
        )
    if not trust and (would := untrusted(options)) is not None:
        mend = "if you trust it, add --trust (in Python: trust=True); or name the environment with --environment FILE"
        raise InputError(f"to open its environment, the dataset would {would}", where=where, mend=mend)
    return given, source


def _mapping(dataset: Dataset, part: str) -> dict[str, Any]:
    found = dataset.report.recipe.get(part) or {}
    if not isinstance(found, dict):
        raise InputError(f"recipe.{part} of its report is not an object", where=str(dataset.path))
    return found


def open_environment(options: Mapping[str, Any], inputs: Any = None) -> Environment:
    """The environment that ``options`` name by ``kind`` (``search`` without one), with the other keys as its options.

    Raises:
        InputError: there is no such kind, or an option is wrong.
    """
    given = dict(options)
    kind = given.pop("kind", "search")
    spec: EnvironmentSpec = find("environments", str(kind))
    if spec.needs and inputs is None:
        what = f"an environment of kind {kind} needs {' and '.join(spec.needs)}"
        raise InputError(what, where="environment", mend="give a dataset")
    parts = {name: part.make(inputs=inputs) for name, part in parts_of(given).items()}
    kept = {key: value for key, value in given.items() if key not in ("retriever", "vectors", "reranker")}
    given = kept | parts
    try:
        made = spec(inputs=inputs, **given)
    except TypeError as error:
        named = re.search(r"(missing|unexpected).*'(\w+)'", str(error))
        what = f"option {named[2]!r} is {'missing' if named[1] == 'missing' else 'unknown'}" if named else str(error)
        raise InputError(what, where=f"environment {kind}") from None
    return made
