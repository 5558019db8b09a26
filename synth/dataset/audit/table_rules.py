"""Rules that need all rows of a table: duplicates, splits, provenance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.sparse import csr_array

from synth.dataset.audit.findings import Findings, Place, rows
from synth.dataset.audit.values import squeezed
from synth.dataset.reader import Dataset
from synth.environments.app.state import AppBeginning
from synth.environments.web.storage import WebBeginning
from synth.filtering.dedup import Rules, TaskRules, canonical_text, compared_answer, text_hash
from synth.filtering.dedup.levels import LEVELS, LevelName
from synth.filtering.dedup.text import shingles
from synth.identity import digest
from synth.retrieval.encoder import hashed_encoder
from synth.schemas.documents import Document
from synth.schemas.preferences import PreferenceRow
from synth.schemas.reports import BuildReport
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["COPY_RULES", "NEAR_DUPLICATE_RULES", "TABLE_RULES", "NearDuplicates", "TaskTable", "judge_copies"]

TABLE_RULES: Mapping[str, str] = {
    "duplicate": "No question is asked twice, in other case or other words over the same walk.",
    "overlap": "No gold entity is gold in two splits, and no gold document of one split is evidence in another.",
    "beginning": "No data of an application and no start of a site is where tasks of two splits begin.",
    "provenance": "Ids are the hash of what the task is; stage, seed and source are those of the report.",
}


class TaskTable:
    """Sees every task once."""

    def __init__(self, found: Findings, exempt: Collection[str], report: BuildReport | None) -> None:
        self._found = found
        self._exempt = exempt
        self._questions: dict[bytes, tuple[str, Place]] = {}
        self._walks: dict[bytes, tuple[str, Place]] = {}
        self._gold: dict[str, tuple[str, str]] = {}
        self._pages: dict[str, tuple[str, str]] = {}
        self._starts: dict[tuple[str, ...], tuple[str, str]] = {}
        self._report = report
        self._stages = {stage.fingerprint for stage in report.stages} if report is not None else set()

    def see(self, place: Place, task: Task, exempt_pages: Collection[str]) -> None:
        for rule, problems in (
            ("duplicate", self._duplicates(place, task)),
            ("overlap", self._splits(task, exempt_pages)),
            ("provenance", self._provenance(task)),
        ):
            self._found.rows[rule] += 1
            for what in problems:
                self._found.add(place, task.id, rule, what)
        if (start := _beginning(task)) is not None:
            self._found.rows["beginning"] += 1
            split, other = self._starts.setdefault(start, (task.split, task.id))
            if split != task.split:
                self._found.add(place, task.id, "beginning", f"{other} begins there too, in {split}")

    def _duplicates(self, place: Place, task: Task) -> Iterator[str]:
        twin = self._questions.setdefault(_short(squeezed(task.question)), (task.id, place))
        if twin[1] != place:
            yield f"{twin[0]} asks the same in the same words"
        if not task.walk.hops:
            return
        twin = self._walks.setdefault(_short(repr(_meaning(task))), (task.id, place))
        if twin[1] != place:
            yield f"{twin[0]} asks for the same walk"

    def _splits(self, task: Task, exempt_pages: Collection[str]) -> Iterator[str]:
        for held, names, free in (
            (self._gold, task.gold_entities, self._exempt),
            (self._pages, task.gold_documents, exempt_pages),
        ):
            for name in names:
                if name not in free:
                    split, other = held.setdefault(name, (task.split, task.id))
                    if split != task.split:
                        yield f"{name!r} is gold of {other} in {split} too"

    def _provenance(self, task: Task) -> Iterator[str]:
        made = task.provenance
        if task.walk.hops or task.shape == "reverse":
            walk = task.walk.model_dump(mode="json")
            wanted = digest("task", task.question, task.answer, walk, made.source)[:16]
            if task.id.rpartition("-")[2] != wanted:
                yield f"the id is not the hash of question, answer, walk and source: {wanted}"
        report = self._report
        if report is None:
            return
        if self._stages and made.fingerprint not in self._stages:
            yield f"no stage of the report has the fingerprint {made.fingerprint[:16]}"
        if made.seed != report.seed:
            yield f"made with seed {made.seed}, the report says {report.seed}"
        recorded = (report.recipe.get("source") or {}).get("kind") == "runs"  # its tasks are of a file of questions
        if made.source_sha256 != report.source.sha256 and not recorded:
            yield f"made of a source with sha256 {made.source_sha256[:16]}, the report says {report.source.sha256[:16]}"


def _beginning(task: Task) -> tuple[str, ...] | None:
    """Where a task begins, of those that begin with data or a page of their own."""
    app = AppBeginning.of(task.details)
    if app.app_seed is not None:
        return "app", str(app.app), str(app.app_seed)
    web = WebBeginning.of(task.details)
    return None if web.web_start is None else ("web", str(web.site), web.web_start)


def _short(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=12).digest()


def _meaning(task: Task) -> object:
    """Equal for walks that ask the same, in whatever order a conjunction puts its constraints."""
    hops = [(hop.source.id, hop.relation, hop.forward, hop.target.id) for hop in task.walk.hops]
    operations = [
        (
            op.kind,
            sorted(map(repr, (hops[n] for n in op.over if 0 <= n < len(hops)))),
            op.within,
            op.bound and op.bound.id,
        )
        for op in task.walk.operations
    ]
    return task.shape, hops if task.shape == "composition" else sorted(hops), operations


NEAR_DUPLICATE_RULES: Mapping[str, str] = {
    "near_duplicate": "No two tasks are near duplicates by the thresholds of the dataset's own recipe.",
    "cluster": "No two tasks that are alike enough to belong together are in different splits.",
}
_GROUP = 20_000
"""Of more tasks with one answer than this, not every two are compared: memory and time grow with the square."""
_ROWS = 256
"""Tasks that are compared with their group at once."""


class NearDuplicates:
    """Remembers what tasks ask, then compares every two of the same answer."""

    def __init__(self, found: Findings, report: BuildReport | None) -> None:
        self._found = found
        self._rules = _task_rules(report)
        self._tasks: list[tuple[Place, str, str, str]] = []
        self._groups: dict[str, list[int]] = {}
        self._texts: dict[str, int] = {}

    def see(self, place: Place, task: Task) -> None:
        if self._rules is None:
            return
        self._found.rows["near_duplicate"] += 1
        number = len(self._tasks)
        self._tasks.append((place, task.id, task.question, task.split))
        if self._rules.exact:
            first = self._texts.setdefault(text_hash(task.question), number)
            if first != number:
                self._found.add(place, task.id, "near_duplicate", f"it asks in the words of {self._tasks[first][1]}")
                return
        key = canonical_text(compared_answer(task)) if self._rules.same_answer else ""
        self._groups.setdefault(key, []).append(number)

    def settle(self) -> None:
        """Judge what was seen."""
        for key in sorted(self._groups):
            group = self._groups[key]
            if len(group) > _GROUP:
                self._found.leave("near_duplicate", f"more than {_GROUP:,} tasks have one answer", len(group))
                continue
            if len(group) > 1:
                self._judge(group)

    def _judge(self, group: list[int]) -> None:
        assert self._rules is not None
        least = min((one for one in (self._rules.near, self._rules.cluster) if one is not None), default=None)
        if self._rules.cluster is not None:
            self._found.rows["cluster"] += len(group)
        for one, other, score in _shared([self._tasks[at][2] for at in group], self._rules.words, least):
            place, name, _, split = self._tasks[group[other]]
            _, like, _, of = self._tasks[group[one]]
            if self._rules.near is not None and score >= self._rules.near:
                self._found.add(place, name, "near_duplicate", f"it shares {score:.4f} of its n-grams with {like}")
            if self._rules.cluster is not None and score >= self._rules.cluster and split != of:
                what = f"it is {split} and shares {score:.4f} of its n-grams with {like}, which is {of}"
                self._found.add(place, name, "cluster", what)
        if self._rules.semantic is not None:
            self._vectors(group)

    def _vectors(self, group: list[int]) -> None:
        assert self._rules is not None
        assert self._rules.semantic is not None
        if self._rules.encoder != "hashed":
            self._found.leave("near_duplicate", "vectors of a model are not made again", len(group))
            return
        encoder = hashed_encoder()
        encoder.fit(())
        vectors = encoder.encode([self._tasks[at][2] for at in group]).astype(np.float64)
        for start in range(0, len(group), _ROWS):
            scores = vectors[start : start + _ROWS] @ vectors.T
            # A tenth of a unit more than the threshold: other sums of the same numbers may round the other way.
            for at, other in np.argwhere(scores >= self._rules.semantic + 1e-5).tolist():
                if start + at < other:
                    place, name, *_ = self._tasks[group[other]]
                    like = self._tasks[group[start + at]][1]
                    self._found.add(
                        place, name, "near_duplicate", f"its vector is {scores[at, other]:.4f} near that of {like}"
                    )


def _task_rules(report: BuildReport | None) -> TaskRules | None:
    """The thresholds of the dataset's recipe; None where it looks for no duplicates."""
    wanted = None if report is None else (report.recipe.get("dedup") or {}).get("tasks")
    try:
        return None if wanted is None else TaskRules.model_validate(wanted)
    except ValidationError:
        return None  # of a model whose name stays on the machine that has it


def _shared(texts: list[str], words: int, least: float | None) -> Iterator[tuple[int, int, float]]:
    """(one, other, Jaccard similarity) of every two texts from ``least`` on: by a product of sparse matrices."""
    if least is None:
        return
    grams = [shingles(text, words) for text in texts]
    sizes = np.array([len(own) for own in grams], dtype=np.int64)
    known, columns = np.unique(np.concatenate(grams), return_inverse=True)
    ones: NDArray[np.int32] = np.ones(len(columns), dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    matrix = csr_array((ones, columns, ends), shape=(len(texts), len(known)))
    for start in range(0, len(texts), _ROWS):
        both = (matrix[start : start + _ROWS] @ matrix.T).tocoo()
        scores = np.round(both.data / (sizes[start + both.row] + sizes[both.col] - both.data), 4)
        chosen = (scores >= least) & (start + both.row < both.col)
        rows = zip((start + both.row[chosen]).tolist(), both.col[chosen].tolist(), scores[chosen].tolist(), strict=True)
        yield from sorted(rows)


COPY_RULES: Mapping[str, str] = {
    "copy": "By the dataset's own recipe no two documents, pairs, or unmarked runs of a role are the same.",
}
_TABLES: tuple[tuple[LevelName, str, type[Any]], ...] = (
    ("documents", "documents", Document),
    ("trajectories", "trajectories", TrajectoryRow),
    ("preferences", "pairs", PreferenceRow),
)
_READ = ("docs", "records", "hub")
"""Sources whose documents are compared."""


def judge_copies(dataset: Dataset, report: BuildReport | None, found: Findings) -> None:
    """Every row of the tables that the recipe of ``report`` says are compared. Memory: 100 bytes a row."""
    recipe = {} if report is None else report.recipe
    for level, key, row_type in _TABLES:
        rules = _rules((recipe.get("dedup") or {}).get(key))
        if rules is None or (level == "documents" and not _read(recipe)):
            continue
        held: dict[tuple[str, ...], str] = {}
        for place, row in rows(dataset, level, row_type):
            if level == "trajectories" and row.duplicate_of is not None:
                continue
            found.rows["copy"] += 1
            role = (row.role,) if level == "trajectories" else ()
            for how, key_of_row in _keys(level, row, rules):
                first = held.setdefault((*role, how, key_of_row), row.id)
                if first != row.id:
                    found.add(place, row.id, "copy", f"it has the same {how} as {first}")


def _keys(level: LevelName, row: Any, rules: Rules) -> Iterator[tuple[str, str]]:
    wanted = LEVELS[level]
    if rules.exact:
        yield "words", text_hash(wanted.text(row))
    if rules.structural and wanted.structure is not None and (key := wanted.structure(row)) is not None:
        yield "calls", key


def _read(recipe: Mapping[str, Any]) -> bool:
    kinds = {part: (recipe.get(part) or {}).get("kind") for part in ("source", "questions")}
    return kinds["source"] in _READ and kinds["questions"] != "given"


def _rules(given: Any) -> Rules | None:
    if given is None:
        return None
    try:
        return Rules.model_validate({**given, "semantic": None, "encoder": "hashed", "model": None})
    except ValidationError:
        return None
