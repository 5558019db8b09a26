"""The rows of a dataset that an export begins with, each with what belongs to it, in the order of the dataset.

Steps stand in the order of their trajectories, so both tables are read side by side. Where that does not hold, what is
read too early waits in memory, and nothing is lost.

Where the user asks that rows fit into so many tokens, the longest observations of a row are cut first, all to the same
length, and each says what it lacks. What the agent wrote, the question and the system prompt are never cut: a row that
is too long without its observations is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from synth.agents.helpers import helper_trajectories
from synth.annotate.contexts.tokens import Tokenizer
from synth.annotate.preferences.select import balance_lengths
from synth.dataset.reader import Dataset
from synth.errors import DatasetError, InputError
from synth.export.contract import Inexpressible, Item, Run, SourceTable, StepOf, TaskPages, Why
from synth.export.pages import task_pages
from synth.export.selection import Selection
from synth.identity import canonical_json
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.judgments import JudgmentKind
from synth.schemas.preferences import PreferenceRow
from synth.schemas.rl import RlRow
from synth.schemas.row import JsonList
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = [
    "Chooser",
    "Cutter",
    "items_of",
]

_LEAST = 32
"""Tokens that are left of an observation at least."""
_MESSAGE = 8
"""Tokens counted for each item beside its text: what a chat template writes around it, about."""
_AT_ONCE = 200
"""Runs whose tasks are in memory at once."""
_MARK = 24
"""Tokens that the mark takes, at most about."""


@dataclass(frozen=True)
class Cutter:
    """Cuts rows to ``limit`` tokens of ``tokenizer``. A chat template's own text is counted roughly."""

    tokenizer: Tokenizer
    limit: int

    def __call__(self, item: Item) -> tuple[Item, int]:
        """The row that fits, and how many of its observations were cut.

        Raises:
            Inexpressible: it does not fit.
        """
        if isinstance(item, StepOf):
            run, cut = self(item.run)
            assert isinstance(run, Run)
            return StepOf(run, item.step), cut
        if isinstance(item, Run):
            row = item.row
            content, cut = self._fit((row.content,), row.system_prompt, row.tool_schemas, longest=sum)
            return replace(item, row=row.model_copy(update={"content": content[0]}), cut=cut), cut
        if isinstance(item, PreferenceRow):
            sides = (item.prompt, item.chosen, item.rejected)
            made, cut = self._fit(sides, item.system_prompt, item.tool_schemas, longest=_pair)
            names = ("prompt", "chosen", "rejected")
            return item.model_copy(update=dict(zip(names, made, strict=True))), cut
        if isinstance(item, TaskPages):
            longest = max((self.tokenizer.count(page.text) for page in item.pages), default=0)
            if (size := self.tokenizer.count(item.row.question) + longest + _MESSAGE) > self.limit:
                raise Inexpressible(Why.TOO_LONG, f"{size} tokens with its longest page")
            return item, 0
        return self._prompt(item), 0

    def _prompt(self, row: RlRow) -> RlRow:
        size = sum(self.tokenizer.count(message.content) + _MESSAGE for message in row.prompt)
        size += self.tokenizer.count(canonical_json(list(row.tools)))
        if size > self.limit:
            raise Inexpressible(Why.TOO_LONG, f"{size} tokens")
        return row

    def _fit(
        self,
        parts: Sequence[tuple[ContentItem, ...]],
        system: str,
        tools: JsonList,
        *,
        longest: Callable[[list[int]], int],
    ) -> tuple[list[tuple[ContentItem, ...]], int]:
        count = self.tokenizer.count
        head = count(system) + count(canonical_json(list(tools))) + _MESSAGE
        sizes = [[count(_text(item)) + _MESSAGE for item in part] for part in parts]

        def total(cap: int | None) -> int:
            return head + longest(
                [
                    sum(
                        size if cap is None or not _cuttable(item) else min(size, cap + _MESSAGE + _MARK)
                        for item, size in zip(part, own, strict=True)
                    )
                    for part, own in zip(parts, sizes, strict=True)
                ]
            )

        if total(None) <= self.limit:
            return list(parts), 0
        if total(_LEAST) > self.limit:
            raise Inexpressible(Why.TOO_LONG, f"{total(_LEAST)} tokens with every observation cut")
        low, high = _LEAST, max(size for own in sizes for size in own)
        while low < high:  # the greatest cap that fits
            middle = (low + high + 1) // 2
            low, high = (middle, high) if total(middle) <= self.limit else (low, middle - 1)
        cut = 0
        made: list[tuple[ContentItem, ...]] = []
        for part, own in zip(parts, sizes, strict=True):
            items: list[ContentItem] = []
            for item, size in zip(part, own, strict=True):
                if _cuttable(item) and size > low + _MESSAGE + _MARK:
                    assert isinstance(item, TextObservation)
                    items.append(item.model_copy(update={"content": self._cut(item.content, low)}))
                    cut += 1
                else:
                    items.append(item)
            made.append(tuple(items))
        return made, cut

    def _cut(self, text: str, tokens: int) -> str:
        starts = self.tokenizer.starts(text)
        end = int(starts[tokens]) if tokens < len(starts) else len(text)
        kept = text[:end].rstrip()
        return f"{kept}\n[cut here: {len(text) - len(kept):,} of {len(text):,} characters are left out]"


def _pair(sizes: list[int]) -> int:
    """Of (prompt, chosen, rejected): the longer of the two conversations."""
    return sizes[0] + max(sizes[1:])


def _cuttable(item: ContentItem) -> bool:
    return isinstance(item, TextObservation) and item.source != "user"


def _text(item: ContentItem) -> str:
    if isinstance(item, TextObservation):
        return item.content
    if isinstance(item, ApiAction | CodeAction | MessageAction):
        if isinstance(item, ApiAction):
            body = item.function + canonical_json(item.kwargs)
        else:
            body = item.content
        return "\n".join(part for part in (item.reasoning_content, item.description, body) if part)
    return canonical_json(item.model_dump(mode="json"))


def items_of(
    dataset: Dataset,
    source: SourceTable,
    split: str,
    *,
    tasks: bool = False,
    helpers: bool = False,
    facts: bool = False,
) -> Iterator[Item]:
    """The rows of one split; with ``tasks``, runs have theirs; with ``helpers``, those of a run come behind it; with
    ``facts``, tasks have comparable facts.

    Raises:
        DatasetError: a row breaks its schema, or a step belongs to no trajectory.
    """
    if source == "preferences" or source == "rl":
        yield from dataset.rows(source, split)
        return
    if source == "tasks":
        yield from task_pages(dataset, split, facts=facts)
        return
    steps = _Steps(dataset, split) if "steps" in dataset.configs else None
    for row, task in _runs(dataset, split, tasks=tasks):
        run = Run(row, None if steps is None else steps.of(row.id), task=task)
        if source == "trajectories":
            yield run
            if helpers:
                yield from (Run(one, None, task=task) for _, one in helper_trajectories(row))
            continue
        for step in run.steps or ():
            before = row.model_copy(update={"content": row.content[: step.content_end]})
            yield StepOf(Run(before, run.steps, task=task), step)
    if steps is not None and source == "steps" and (left := steps.left()):
        where = f"{dataset.path}: steps"
        raise DatasetError(f"step {left!r} belongs to no trajectory of its split", where=where)


def _runs(dataset: Dataset, split: str, *, tasks: bool) -> Iterator[tuple[TrajectoryRow, Task | None]]:
    rows: Iterator[TrajectoryRow] = dataset.rows("trajectories", split)
    while some := list(islice(rows, _AT_ONCE)):
        wanted = sorted({row.task_id for row in some}) if tasks else []
        of = {task.id: task for task in dataset.among("tasks", "id", wanted)} if wanted else {}
        yield from ((row, of.get(row.task_id)) for row in some)


class _Steps:
    """The steps of one split, by trajectory."""

    def __init__(self, dataset: Dataset, split: str) -> None:
        self._rows: Iterator[StepRow] = dataset.rows("steps", split)
        self._waiting: dict[str, list[StepRow]] = {}
        self._next: StepRow | None = next(self._rows, None)

    def of(self, trajectory: str) -> tuple[StepRow, ...]:
        """The steps of a trajectory, in order; none where it has none."""
        found = self._waiting.pop(trajectory, [])
        while self._next is not None and (not found or self._next.trajectory_id == trajectory):
            row, self._next = self._next, next(self._rows, None)
            if row.trajectory_id == trajectory:
                found.append(row)
            else:
                self._waiting.setdefault(row.trajectory_id, []).append(row)
        return tuple(sorted(found, key=lambda step: step.step))

    def left(self) -> str | None:
        """The id of a step that was not asked for."""
        for steps in self._waiting.values():
            return steps[0].id
        return None if self._next is None else self._next.id


class Chooser:
    """Which items a selection takes."""

    def __init__(self, selection: Selection, dataset: Dataset, source: SourceTable) -> None:
        """
        Raises:
            InputError: a condition can't hold for these rows, or a table that it needs is not there.
        """
        self._selection = selection
        by_task = {"split", "difficulty", "chosen"}
        of_runs = by_task | {"success", "rating", "drawn"}
        of_turns = of_runs | {"role", "duplicates", "behaviour"}
        fitting = {
            "tasks": by_task,
            "trajectories": of_turns | {"repeat"},
            "steps": of_turns | {"label", "pivot"},
            "preferences": of_runs | {"selected", "kind", "lengths"},
            "rl": by_task,
        }[source]
        for name in selection.set():
            if name not in fitting:
                mend = f"rows of {source} can be selected by {', '.join(sorted(fitting))}"
                raise InputError(f"rows of {source} have no {name}", where=f"--select {name}", mend=mend)
        for name, table, wanted in (
            ("difficulty", "difficulty", selection.by_task),
            ("rating", "judgments", selection.rating is not None),
            ("drawn", "judgments", selection.drawn is not None),
            ("behaviour", "steps", selection.behaviour is not None),
        ):
            if wanted and table not in dataset.configs:
                raise InputError(
                    f"the dataset has no table {table}", where=f"--select {name}", mend="drop the condition"
                )
        self._tasks = _tasks(selection, dataset) if selection.by_task else None
        rated = selection.rating is not None or selection.drawn is not None
        self._rated = _rated(selection.rating or 0.0, selection.drawn, dataset) if rated else None
        self._surplus: frozenset[str] = frozenset()
        if source == "preferences" and selection.lengths != "any":
            splits = selection.split or dataset.splits(source)
            self._surplus = frozenset().union(*(self._uneven(dataset, split) for split in splits))

    def __call__(self, item: Item) -> str | None:
        """The first condition that leaves ``item`` out; None where it is taken."""
        return next((name for name, holds in self._conditions(item) if not holds), None)

    def _uneven(self, dataset: Dataset, split: str) -> frozenset[str]:
        """Of the pairs that are taken otherwise, those that must be left out for lengths to be even."""
        return balance_lengths(row for row in dataset.rows("preferences", split) if self(row) is None)

    def _conditions(self, item: Item) -> Iterator[tuple[str, bool]]:
        wanted = self._selection
        row: Any = item.row if isinstance(item, TaskPages) else item
        success: bool | None = None
        runs: tuple[str, ...] = ()
        if isinstance(item, Run | StepOf):
            run = item if isinstance(item, Run) else item.run
            row = run.row
            success, runs = row.success, (row.id,)
            yield "duplicates", row.duplicate_of is None or bool(wanted.duplicates)
            yield "role", wanted.role is None or row.role in wanted.role
            looked_at = (item.step,) if isinstance(item, StepOf) else run.steps or ()
            shown = {behaviour for step in looked_at for behaviour in step.behaviours}
            yield "behaviour", wanted.behaviour is None or bool(shown & set(wanted.behaviour))
            if isinstance(item, StepOf):
                yield "label", wanted.label is None or item.step.label in wanted.label
                yield "pivot", wanted.pivot is None or item.step.pivot is wanted.pivot
        elif isinstance(item, PreferenceRow):
            success, runs = item.from_success, (item.trajectory_id,)
            yield "selected", wanted.selected in (None, "any", item.selected)
            yield "kind", wanted.kind is None or item.kind in wanted.kind
        yield "success", wanted.success is None or success is wanted.success
        by = "difficulty" if wanted.difficulty is not None else "chosen"
        task_id = row.id if isinstance(item, TaskPages) else row.task_id
        yield by, self._tasks is None or task_id in self._tasks
        by = "rating" if wanted.rating is not None else "drawn"
        yield by, self._rated is None or all(run in self._rated for run in runs)
        yield "lengths", not isinstance(item, PreferenceRow) or item.id not in self._surplus


def _tasks(selection: Selection, dataset: Dataset) -> frozenset[str]:
    """Tasks of the wanted difficulty."""
    low, high = selection.difficulty or (0.0, 1.0)
    names = ("task_id", "predicted", "successes", "rollouts", "chosen")
    found: list[str] = []
    for batch in dataset.batches("difficulty", columns=names):
        for row in batch.to_pylist():
            rate = row["successes"] / row["rollouts"] if row["rollouts"] else row["predicted"]
            if low <= rate <= high and selection.chosen in (None, row["chosen"]):
                found.append(row["task_id"])
    return frozenset(found)


def _rated(least: float, drawn: bool | None, dataset: Dataset) -> frozenset[str]:
    """Trajectories with a rating of ``least`` or more; with ``drawn``, of those that were drawn by it, or were not.

    Raises:
        InputError: draws are asked for, and none were made.
    """
    found: list[str] = []
    draws = 0
    for batch in dataset.batches("judgments", columns=("kind", "trajectory_id", "value", "parts")):
        for row in batch.to_pylist():
            if row["kind"] != JudgmentKind.RUN or row["value"] is None or row["value"] < least:
                continue
            was = json.loads(row["parts"]).get("drawn") if drawn is not None else None
            draws += was is not None
            if was is drawn:
                found.append(row["trajectory_id"])
    if drawn is not None and not draws:
        mend = "build with ratings.graded: true, or drop the condition"
        raise InputError("no run was drawn by its rating", where="--select drawn", mend=mend)
    return frozenset(found)
