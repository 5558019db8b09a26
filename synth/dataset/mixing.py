"""Several datasets as one, by weights: ``synth mix``.

A weight is a share of the tasks. Which tasks of a dataset are taken is drawn from (seed, its name, the task's id), so
the same datasets give the same mix in every order of their rows, and more tasks keep those that fewer had. Whatever
derives from a task comes with it: runs, steps, pairs, contexts. What belongs to a whole collection (documents, facts,
what was rejected) stays where it is, for ids of two collections may be the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import MIX_FILE, REPORT_FILE, stated_files
from synth.dataset.key_hashes import carry
from synth.dataset.layout import write_config
from synth.dataset.reader import Dataset
from synth.errors import InputError
from synth.filtering.decontamination.benchmarks import Benchmarks, given_benchmarks
from synth.filtering.dedup import Rules, find_duplicates
from synth.filtering.dedup.corpus import Corpus
from synth.identity import digest
from synth.schemas.arrow import arrow_schema
from synth.schemas.mixes import MixOrigin, MixPart, MixReport
from synth.schemas.plans import Planned
from synth.schemas.row import SCHEMA_VERSION
from synth.store import check_destination, staged

__all__ = ["Mixed", "mix_datasets"]


@dataclass(frozen=True)
class Mixed:
    """What came of a mix."""

    path: Path
    report: MixReport


def mix_datasets(
    parts: Mapping[Dataset, float],
    out: Path,
    *,
    tasks: int | None = None,
    seed: int = 7,
    near: float | None = None,
    benchmarks: Sequence[Path] = (),
    refusals: float | None = None,
) -> Mixed:
    """Write a dataset of ``tasks`` tasks to ``out``; None = as many as the weights allow.

    Args:
        near: Share of n-grams of words, in (0, 1], from which a question counts as one of an earlier dataset; None =
            only the same words do.
        benchmarks: Files that no task may overlap with.
        refusals: Share of tasks whose right end is to refuse (PING); None = as it comes.

    Raises:
        InputError: a weight is none, a dataset has too few tasks, or was written with another schema; a benchmark can't
            be read; there are too few or too many refusals.
        StoreError: ``out`` holds something other than a mix, or can't be written.
    """
    check_destination(out, marker=MIX_FILE)
    weights = _shares(parts)
    if near is not None and not 0 < near <= 1:
        raise InputError(f"{near} is not a share of n-grams", where="--near", mend="give more than 0, at most 1")
    screen, known = given_benchmarks(benchmarks)
    datasets = list(parts)
    unclean = [_contaminated(dataset, screen) for dataset in datasets]
    pools, duplicated = _pools(datasets, seed, unclean, _near_duplicates(datasets, unclean, near))
    counts = _counts(weights, [len(pool) for pool in pools], [_name(one) for one in parts], tasks)
    refusing = [_refusing(dataset) if refusals is not None else frozenset() for dataset in datasets]
    quotas = counts
    if refusals is not None:
        quotas = _quotas(pools, counts, refusing, refusals)
    chosen = [
        frozenset(_taken(pool, count, ids, quota))
        for pool, count, ids, quota in zip(pools, counts, refusing, quotas, strict=True)
    ]
    with staged(out, marker=MIX_FILE) as staging:
        tables: dict[str, dict[str, int]] = {}
        hashes: dict[str, dict[str, str]] = {}
        for config in CONFIGS:
            if config.sole_split is None:
                written = write_config(staging, config, _batches(config, list(parts), chosen))
                if written:
                    tables[config.name] = {split: done.rows for split, done in written.items()}
                    hashes[config.name] = {split: done.rows_sha256 for split, done in written.items()}
        report = MixReport(
            schema_version=SCHEMA_VERSION,
            seed=seed,
            parts=tuple(
                MixPart(
                    dataset=_name(dataset),
                    origin=_origin(dataset),
                    weight=weight,
                    available=dataset.count("tasks"),
                    doubled=repeated,
                    contaminated=dirty,
                    tasks=count,
                    refusals=None if refusals is None else quota,
                )
                for dataset, weight, repeated, dirty, count, quota in zip(
                    parts, weights, duplicated, map(len, unclean), counts, quotas, strict=True
                )
            ),
            near=near,
            benchmarks=known,
            tables=tables,
            files=stated_files(staging),
            rows_sha256=hashes,
        )
        (staging / MIX_FILE).write_text(report.to_json(), encoding="utf-8")
        carry([dataset.path for dataset in datasets], staging)
    return Mixed(out, report)


def _name(dataset: Dataset) -> str:
    return dataset.report.dataset if (dataset.path / REPORT_FILE).is_file() else dataset.path.resolve().name


def _origin(dataset: Dataset) -> MixOrigin | None:
    """What the rows of ``dataset`` must say of where they come from; None where it has no report."""
    if not (dataset.path / REPORT_FILE).is_file():
        return None
    return MixOrigin.of(dataset.report)


def _shares(parts: Mapping[Dataset, float]) -> list[float]:
    if len(parts) < 2:
        raise InputError("a mix needs two or more datasets", mend="give two or more, as DIR=WEIGHT")
    for dataset, weight in parts.items():
        if not (math.isfinite(weight) and weight > 0):
            raise InputError(f"{weight} is not a weight", where=str(dataset.path), mend="give a number above 0")
        if "tasks" not in dataset.configs:
            raise InputError("the dataset has no tasks to choose from", where=str(dataset.path))
    total = sum(parts.values())
    if not math.isfinite(total):
        raise InputError("the weights are too large to add up", mend="give shares, such as 0.7 and 0.3")
    return [weight / total for weight in parts.values()]


def _contaminated(dataset: Dataset, screen: Benchmarks | None) -> frozenset[str]:
    """Tasks that overlap with a benchmark."""
    if screen is None:
        return frozenset()
    return frozenset(
        task.id
        for task in dataset.rows("tasks")
        if screen.look([task.model_copy(update={"checks": ()})])[0] is not None
    )


def _near_duplicates(
    datasets: list[Dataset], unclean: list[frozenset[str]], near: float | None
) -> list[frozenset[str]]:
    """Per dataset, the tasks in whose cluster of near questions an earlier dataset has one."""
    if near is None:
        return [frozenset() for _ in datasets]
    names: list[tuple[int, str]] = []
    questions: list[str] = []
    for number, (dataset, gone) in enumerate(zip(datasets, unclean, strict=True)):
        for batch in dataset.batches("tasks", columns=("id", "question")):
            for row in batch.to_pylist():
                if row["id"] not in gone:
                    names.append((number, row["id"]))
                    questions.append(row["question"])
    ids = [f"{place:012}" for place in range(len(names))]
    found = find_duplicates(Corpus(ids, questions), Rules(structural=False, near=near)).clusters()
    alike: list[set[str]] = [set() for _ in datasets]
    for place in found.dropped:
        number, name = names[place]
        if names[found.of[place]][0] < number:  # rows come by dataset, and the first of a cluster stands for it
            alike[number].add(name)
    return [frozenset(one) for one in alike]


def _pools(
    datasets: list[Dataset], seed: int, unclean: list[frozenset[str]], alike: list[frozenset[str]]
) -> tuple[list[list[str]], list[int]]:
    """Per dataset, the ids of its tasks in the order in which they are taken, and how many another one asks already."""
    asked: set[str] = set()
    ids: set[str] = set()
    pools: list[list[str]] = []
    duplicated: list[int] = []
    for dataset, gone, near in zip(datasets, unclean, alike, strict=True):
        keys: list[tuple[str, str]] = []
        own: set[str] = set()
        repeated = 0
        for batch in dataset.batches("tasks", columns=("id", "question")):
            for row in batch.to_pylist():
                words = "".join(sign for sign in row["question"].casefold() if sign.isalnum())
                if row["id"] in gone:
                    continue
                if row["id"] in ids or row["id"] in near or words in asked:
                    repeated += 1
                    continue
                own.add(words)
                keys.append((digest("mix", seed, _name(dataset), row["id"]), row["id"]))
        asked |= own
        pool = [id_ for _, id_ in sorted(keys)]
        ids |= set(pool)
        pools.append(pool)
        duplicated.append(repeated)
    return pools, duplicated


def _counts(weights: list[float], available: list[int], names: list[str], tasks: int | None) -> list[int]:
    """Tasks of each dataset: shares rounded so that they sum to ``tasks``, the largest remainders upwards."""
    most = math.floor(min(has / weight for has, weight in zip(available, weights, strict=True) if weight) + 1e-9)
    wanted = most if tasks is None else tasks
    if wanted < len(weights):
        raise InputError(f"{wanted} tasks are too few to mix", where="--tasks", mend=f"give {len(weights)} or more")
    exact = [wanted * weight for weight in weights]
    counts = [math.floor(share + 1e-9) for share in exact]
    order = sorted(range(len(weights)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: wanted - sum(counts)]:
        counts[place] += 1
    for count, has, name in zip(counts, available, names, strict=True):
        if count > has:
            mend = f"give --tasks {most} or fewer, or another weight"
            raise InputError(
                f"{name} has {has:,} tasks to take, and its share is {count:,}", where="--tasks", mend=mend
            )
    return counts


def _refusing(dataset: Dataset) -> frozenset[str]:
    """Tasks whose right end is to refuse: the policy forbids what is asked for."""
    return frozenset(
        task.id
        for task in dataset.rows("tasks")
        if Planned.stand_in(task.details) and Planned.of(task.details).plan.outcome == "refused"
    )


def _quotas(pools: list[list[str]], counts: list[int], refusing: list[frozenset[str]], share: float) -> list[int]:
    """Refusals of each dataset, so that they are ``share`` of all tasks: from where there is most room."""
    if not 0 <= share <= 1:
        raise InputError(f"{share} is not a share of tasks", where="--refusals", mend="give 0 to 1")
    has = [sum(one in ids for one in pool) for pool, ids in zip(pools, refusing, strict=True)]
    least = [max(0, count - (len(pool) - own)) for pool, count, own in zip(pools, counts, has, strict=True)]
    most = [min(count, own) for count, own in zip(counts, has, strict=True)]
    wanted = round(share * sum(counts))
    if not sum(least) <= wanted <= sum(most):
        said = f"{wanted:,} of {sum(counts):,} tasks can't be refusals: {sum(least):,} to {sum(most):,} can"
        raise InputError(said, where="--refusals", mend="give another share, fewer tasks or other datasets")
    found = list(least)
    for _ in range(wanted - sum(least)):
        found[max(range(len(found)), key=lambda place: (most[place] - found[place], -place))] += 1
    return found


def _taken(pool: list[str], count: int, refusing: frozenset[str], quota: int) -> list[str]:
    """The first ``count`` of ``pool``, of them ``quota`` that are in ``refusing``, where there are any."""
    if not refusing:
        return pool[:count]
    return [one for one in pool if one in refusing][:quota] + [one for one in pool if one not in refusing][
        : count - quota
    ]


def _batches(config: Config, datasets: list[Dataset], chosen: list[frozenset[str]]) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(config.row_type)
    key = "id" if config.name == "tasks" else "task_id"
    for dataset, ids in zip(datasets, chosen, strict=True):
        wanted = pa.array(sorted(ids), pa.string())
        for batch in dataset.batches(config.name):
            if not batch.schema.equals(schema):
                mend = f"build it again with this version (schema {SCHEMA_VERSION})"
                raise InputError(f"{config.name} was written with another schema", where=str(dataset.path), mend=mend)
            taken = batch.filter(pc.is_in(batch.column(key), value_set=wanted))
            if taken.num_rows:
                yield taken
