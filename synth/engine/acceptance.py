"""Exactly N: candidates are taken in order of their index until N are accepted.

A candidate is accepted when its stage kept it, no earlier candidate asks the same, and, where the plan says so, it is
like no accepted one (``synth.engine.accepting``). What is accepted depends on the candidates alone, never on which
shard was finished first; what comes after the N-th accepted candidate leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.engine.accepting import Accepting, asked, double_rejection
from synth.engine.supply import Supply, estimate
from synth.engine.units import REJECTED, UNITS, Counts, main_table
from synth.engine.views import StageView, view_of
from synth.errors import BuildError
from synth.filtering.dedup import Asked
from synth.schemas.arrow import from_arrow
from synth.schemas.rejections import Reason, Rejection
from synth.stages.contract import CandidateStage
from synth.store.files import remove_folder, store_errors
from synth.store.shards import Manifest, ShardWriter, check_shard, read_manifest
from synth.store.store import StageFolder
from synth.store.tables import Part

__all__ = ["Acceptance", "load_view", "too_few"]

_DUPLICATES = "_duplicates"


class Acceptance:
    """Folds candidate shards, in order.

    Args:
        stage: The candidate stage.
        wanted: How many to accept; None = all.
        limit: How many candidates may be looked at.
        accepting: What accepted candidates must not be alike in.
        folder: Where files without a name may lie.
    """

    def __init__(
        self,
        stage: type[CandidateStage[Any]],
        wanted: int | None,
        limit: int,
        accepting: Accepting | None = None,
        folder: Path | None = None,
    ) -> None:
        self._stage = stage
        self._main = main_table(stage)
        self._wanted = wanted
        self._limit = limit
        self._filter = None if accepting is None else accepting.filter(folder)
        self._first: dict[bytes, int] = {}
        self._spans: dict[str, list[tuple[str, int, int]]] = {name: [] for name in (*stage.writes, REJECTED)}
        self._duplicates: list[Rejection] = []
        self._manifests: list[Manifest] = []
        self._numbers = Counts()
        self._reasons: dict[str, int] = {}
        self.candidates = 0
        """How many were looked at."""
        self.accepted = 0

    @property
    def done(self) -> bool:
        return self.accepted == self._wanted or self.candidates >= self._limit

    @property
    def reached(self) -> bool:
        """Whether what was asked for is there."""
        return self.accepted == self._wanted if self._wanted is not None else self.done and self.accepted > 0

    def take(self, manifest: Manifest) -> None:
        """The next shard."""
        columns = manifest.open(UNITS).to_pydict()
        side = [name for name in self._stage.writes if name != self._main]
        at = dict.fromkeys(self._spans, 0)
        self._manifests.append(manifest)
        self._numbers += Counts(numbers=Counts.of_facts(manifest.facts).numbers)
        rows: pa.Table | None = None
        # All of the shard at once, also what is not looked at in the end: so vectors are the same whatever N is.
        tasks, vectors = self._compared(manifest)
        for place, key in enumerate(columns["key"]):
            if self.done:
                break
            first = self._first.setdefault(bytes.fromhex(key), self.candidates) if key is not None else None
            new = key is not None and first == self.candidates
            if new and tasks and self._is_double(tasks[at[self._main]], vectors[at[self._main]]):
                del self._first[bytes.fromhex(key)]  # it was not accepted: a later candidate may ask the same
            elif new:
                self.accepted += 1
                self._span(self._main, manifest, at[self._main], columns[f"rows:{self._main}"][place])
                for name in side:
                    self._span(name, manifest, at[name], columns[f"rows:{name}"][place])
            elif first is not None:
                rows = manifest.open(self._main) if rows is None else rows
                self._duplicate(rows.slice(at[self._main], 1), first)
            else:
                self._span(REJECTED, manifest, at[REJECTED], columns["rejected"][place])
                self._count(columns["reason"][place])
                for name in side:
                    self._span(name, manifest, at[name], columns[f"rows:{name}"][place])
            for name in self._stage.writes:
                at[name] += columns[f"rows:{name}"][place]
            at[REJECTED] += columns["rejected"][place]
            self.candidates += 1

    def _compared(self, manifest: Manifest) -> tuple[list[Asked], Sequence[Any]]:
        if self._filter is None:
            return [], []
        tasks = asked(manifest.open(self._main))
        return tasks, self._filter.encode([task.question for task in tasks])

    def _is_double(self, task: Asked, vector: Any) -> bool:
        """Whether the candidate at hand is like an accepted task; it is rejected then, and remembered otherwise."""
        assert self._filter is not None
        double = self._filter.take(task, vector)
        if double is None:
            return False
        self._reject(double_rejection(self._stage.name, task, self.candidates, double))
        return True

    def _span(self, table: str, manifest: Manifest, start: int, count: int) -> None:
        self._add(table, manifest.folder.name, start, count)

    def _add(self, table: str, source: str, start: int, count: int) -> None:
        if not count:
            return
        spans = self._spans[table]
        if spans and spans[-1][0] == source and spans[-1][2] == start:
            spans[-1] = (source, spans[-1][1], start + count)
        else:
            spans.append((source, start, start + count))

    def _duplicate(self, row: pa.Table, first: int) -> None:
        kept = from_arrow(row, self._stage.writes[self._main])[0]
        self._reject(self._stage.duplicate(kept, self.candidates, first))

    def _reject(self, rejection: Rejection) -> None:
        self._add(REJECTED, _DUPLICATES, len(self._duplicates), 1)
        self._duplicates.append(rejection)
        self._count(rejection.reason.value)

    def _count(self, reason: str) -> None:
        self._reasons[reason] = self._reasons.get(reason, 0) + 1

    def counts(self) -> Counts:
        rows = {name: sum(stop - start for _, start, stop in self._spans[name]) for name in self._stage.writes}
        rejected = {reason: self._reasons[reason] for reason in sorted(self._reasons)}
        return Counts(self.candidates, self.accepted, rejected, rows, self._numbers.numbers)

    def supply(self, label: str, limit: int) -> Supply:
        """What of ``limit`` candidates could be accepted, judged by those so far."""
        assert self._wanted is not None
        kinds: dict[str, Counter[str]] = {}
        sampled = 0
        for manifest in self._manifests:
            units, rows = manifest.open(UNITS), manifest.open(self._main)
            keys = [key for key in units["key"].to_pylist() if key is not None]
            shapes = rows["shape"].to_pylist() if "shape" in rows.column_names else [""] * len(keys)
            for key, shape in zip(keys, shapes, strict=True):
                kinds.setdefault(shape, Counter())[key] += 1
            sampled += units.num_rows
        return estimate(
            label, kinds.values(), sampled=sampled, accepted=self.accepted, limit=limit, wanted=self._wanted
        )

    def commit(self, folder: StageFolder, by: str | None = None) -> StageView:
        """Write down what makes up the accepted tables: no row is copied. ``by`` names what was accepted by.

        Raises:
            StoreError: it can't be written.
        """
        final = folder.view(self._wanted, by)
        counts = self.counts()
        if not counts.conserved:
            raise AssertionError(f"{self._stage.name}: {counts} does not add up: nothing may vanish or count twice")
        facts = {
            "counts": counts.facts(),
            "shards": [manifest.folder.name for manifest in self._manifests],
            "spans": {name: [list(span) for span in spans] for name, spans in self._spans.items()},
        }
        with store_errors(final):
            remove_folder(final)
        with ShardWriter(final, kind="view") as writer:
            writer.table(_DUPLICATES, Rejection, self._duplicates)
            manifest = writer.commit(facts)
        return _view(self._stage, folder, manifest, self._manifests)


def load_view(
    stage: type[CandidateStage[Any]],
    folder: StageFolder,
    wanted: int | None,
    by: str | None = None,
    *,
    quick: bool = False,
) -> StageView | None:
    """The acceptance of ``wanted`` candidates ``by`` some rules if it stands in the store and is sound with all its
    shards, or None.

    ``quick`` looks at manifests alone.
    """
    check = read_manifest if quick else check_shard
    manifest = check(folder.view(wanted, by))
    if manifest is None:
        return None
    shards = [check(folder.shards / name) for name in manifest.facts["shards"]]
    sound = [shard for shard in shards if shard is not None]
    return _view(stage, folder, manifest, sound) if len(sound) == len(shards) else None


def _view(
    stage: type[CandidateStage[Any]], folder: StageFolder, manifest: Manifest, shards: list[Manifest]
) -> StageView:
    parts = {name: list(_parts(name, spans, folder, manifest)) for name, spans in manifest.facts["spans"].items()}
    return view_of(stage, parts, Counts.of_facts(manifest.facts["counts"]), shards)


def _parts(table: str, spans: list[tuple[str, int, int]], folder: StageFolder, manifest: Manifest) -> Iterator[Part]:
    for source, start, stop in spans:
        if source == _DUPLICATES:
            yield Part(manifest.folder / f"{_DUPLICATES}.arrow", start, stop)
        else:
            yield Part(folder.shards / source / f"{table}.arrow", start, stop)


_NEARLY_ALL = 0.95


def too_few(
    label: str, acceptance: Acceptance, wanted: int | None, exhausted: int | None, remedy: str | None = None
) -> BuildError:
    """The one line that says why what was asked for can't be reached; ``remedy``: what the stage advises."""
    counts = acceptance.counts()
    reasons = sorted(counts.rejected.items(), key=lambda item: (-item[1], item[0]))
    shares = ", ".join(f"{100 * number / counts.rows_in:.0f} % {reason}" for reason, number in reasons)
    goal = f" of {wanted:,}" if wanted is not None else ""
    seen = f"{counts.rows_in:,} candidates"
    if exhausted is not None and counts.rows_in >= exhausted:
        seen = f"all {exhausted:,} candidates that there are"
    mend = (
        f"ask for fewer, {f'{remedy}, ' if remedy else ''}or give a larger source"
        if wanted is not None
        else "look at why each was rejected"
    )
    if counts.rejected.get(Reason.NO_WALK, 0) >= _NEARLY_ALL * counts.rows_in:
        mend = "give a source whose things have more to compare (numbers, dates) or lead to more of each other"
    return BuildError(
        f"accepted {counts.kept:,}{goal} after {seen}" + (f": {shares}" if shares else ""), where=label, mend=mend
    )
