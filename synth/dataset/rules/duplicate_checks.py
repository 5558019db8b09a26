"""Duplicates: one row of a cluster stays, the others are rejected or marked, and nothing refers to one that is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.pair_checks import PairCheck
from synth.dataset.rules.row_checks import DocumentCheck, Place, TrajectoryCheck
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.rejections import Rejection

__all__ = ["DuplicateCheck", "DuplicateRejections"]

_METHODS = {"exact": "same words", "structural": "same calls", "near": "n-grams", "semantic": "cosine"}
"""What a rejection calls the kind of its closest pair."""


class DuplicateCheck:
    """Rows of ``duplicates`` against the tables that they speak of, all of which come before."""

    def __init__(
        self,
        found: Problems,
        documents: DocumentCheck,
        trajectories: TrajectoryCheck,
        pairs: PairCheck,
        *,
        listed: bool,
    ) -> None:
        """``listed``: there is the table, so every mark of a run must stand in it."""
        self.found = found
        self._documents, self._trajectories, self._pairs = documents, trajectories, pairs
        self._listed = listed
        self._ids: set[str] = set()
        self._named: dict[str, str] = {}
        """Run that is a duplicate -> the run that stands for it."""
        self.rejected: dict[str, tuple[str, set[str], Place]] = {}
        """Row that left its table -> the one that stays, what a rejection may say of it, and where it is named."""

    def see(self, file: DataFile, row: int, pair: DuplicateRow) -> None:
        for what in self._problems(pair, (file.label, row)):
            self.found.add(file.label, row, what)

    def finish(self) -> None:
        marks = self._trajectories.marks
        for name, (stays, (label, row)) in marks.items():
            if stays in marks:
                self.found.add(label, row, f"duplicate_of: {stays} is itself marked as a duplicate")
            if self._listed and self._named.get(name) != stays:
                said = self._named.get(name, "none")
                self.found.add(label, row, f"duplicate_of: {stays}, but duplicates names {said} for it")

    def _problems(self, pair: DuplicateRow, place: Place) -> Iterator[str]:
        if pair.id in self._ids:
            yield f"id: another pair is {pair.id} too"
        self._ids.add(pair.id)
        if pair.one == pair.other:
            yield "other: a row is not compared with itself"
        if not 0 < pair.score <= 1 or (pair.kind in ("exact", "structural") and pair.score != 1):
            yield f"score: {pair.score} is none of kind {pair.kind}"
        if pair.level == "trajectories":
            yield from self._runs(pair)
            return
        there: Collection[str] = self._documents.lengths if pair.level == "documents" else self._pairs.ids
        if pair.representative not in there:
            yield f"representative: {pair.representative} is not in {pair.level}"
        for name, like in ((pair.one, pair.other), (pair.other, pair.one)):
            if name == pair.representative:
                continue
            if name in there:
                yield f"{name} is in {pair.level}, though {pair.representative} stands for it"
            _, details, _ = self.rejected.setdefault(name, (pair.representative, set(), place))
            details.add(f"like {like}: {_METHODS[pair.kind]} {pair.score:.4f}")

    def _runs(self, pair: DuplicateRow) -> Iterator[str]:
        for name in (pair.one, pair.other, pair.representative):
            if name not in self._trajectories.ids:
                yield f"there is no trajectory {name}"
            elif name != pair.representative:
                self._named[name] = pair.representative
                if name not in self._trajectories.marks:
                    yield f"{name} has no duplicate_of, though {pair.representative} stands for it"


class DuplicateRejections:
    """Rows of ``rejected`` against ``duplicates``: a duplicate that left its table is rejected as the
    duplicate of a row that it was found to be like."""

    _STAGES = ("unique_documents", "mark_duplicates")

    def __init__(self, found: Problems, duplicates: DuplicateCheck, *, listed: bool) -> None:
        """``listed``: there is the table ``duplicates``."""
        self.found, self._duplicates, self._listed = found, duplicates, listed
        self._seen: set[str] = set()

    def see(self, file: DataFile, row: int, rejection: Rejection) -> None:
        if rejection.stage not in self._STAGES or not self._listed:
            return
        self._seen.add(rejection.row_id)
        stays, details, _ = self._duplicates.rejected.get(rejection.row_id, ("", set(), None))
        tie, _, rest = rejection.detail.partition("; ")
        if tie not in details:
            self.found.add(file.label, row, f"detail: duplicates has no such pair of {rejection.row_id}")
        elif rest != ("" if tie.startswith(f"like {stays}: ") else f"{stays} stands for both"):
            self.found.add(file.label, row, f"detail: {stays} stands for {rejection.row_id}")

    def finish(self) -> None:
        for name, (_, _, (label, row)) in self._duplicates.rejected.items():
            if name not in self._seen:
                self.found.add(label, row, f"{name} stands neither in its table nor in rejected")
