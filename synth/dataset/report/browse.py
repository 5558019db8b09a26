"""What a reader of the report can look through: an index of every trajectory, some of them whole, critical steps with
both continuations, and pages that lead astray."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.reader import Dataset
from synth.dataset.show.pages import Chunks
from synth.schemas.adp import ApiAction, CodeAction, ContentItem, MessageAction, TextObservation
from synth.schemas.arrow import from_arrow
from synth.schemas.distractors import Distractor
from synth.schemas.documents import Document
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["Seen", "browse"]

_INDEX_ROWS = 500
_DETAIL_ROWS = 40
_CLIP = 900
"""Characters of a text that the report shows; ``synth show`` has all of it."""
_PAIRS = {PairKind.VERIFIED_STEP: 60, PairKind.VERIFIED_STEP_SUCCESS: 20}
_DISTRACTORS = 15
"""Examples per tier."""


@dataclass
class Seen:
    """What was counted on the way."""

    trajectories: int = 0
    whole: int = 0
    """Those that can be read whole."""
    by_shape: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """(role, shape) -> counts of ``runs`` and ``right``."""
    tools: dict[str, Counter[str]] = field(default_factory=dict)
    """Role -> tool -> calls."""
    tool_orders: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Tools in the order of the calls -> trajectories."""
    questions: Counter[str] = field(default_factory=Counter)
    openings: Counter[str] = field(default_factory=Counter)
    """First three words of a question -> tasks."""
    answers: Counter[str] = field(default_factory=Counter)
    tiers: Counter[str] = field(default_factory=Counter)
    """Tier and kind of distractor -> rows."""
    critical: int = 0
    """Critical steps shown."""
    duplicates: int = 0
    """Pairs of rows that are alike."""


def browse(dataset: Dataset, chunks: Chunks, whole: int) -> Seen:
    """Write the pieces; at most ``whole`` trajectories are shown whole, evenly spread. Rows stream: memory holds the
    questions and answers of the tasks."""
    seen = Seen()
    tasks = _tasks(dataset, seen)
    total = dataset.count("trajectories")
    picked = _picked_ids(dataset, total, whole)
    place = {id_: number // _DETAIL_ROWS for number, id_ in enumerate(picked)}
    _index(dataset, chunks, seen, tasks, place)
    _details(dataset, chunks, picked)
    seen.whole = len(picked)
    _critical(dataset, chunks, seen, tasks)
    _distractors(dataset, chunks, seen, tasks)
    seen.duplicates = _duplicates(dataset, chunks, {id_: question for id_, (question, _, _) in tasks.items()})
    return seen


def _tasks(dataset: Dataset, seen: Seen) -> dict[str, tuple[str, str, str]]:
    """Id -> question, answer, shape."""
    found: dict[str, tuple[str, str, str]] = {}
    for batch in dataset.batches("tasks", columns=["id", "question", "answer", "shape"]):
        for id_, question, answer, shape in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found[id_] = (question, answer, shape)
            seen.questions[" ".join(question.lower().split())] += 1
            seen.openings[" ".join(question.lower().split()[:3])] += 1
            seen.answers[answer.lower()] += 1
    return found


def _picked_ids(dataset: Dataset, total: int, whole: int) -> list[str]:
    """Every n-th trajectory, so that roles and splits come in their own proportion."""
    if not total or not whole:
        return []
    places = {number * total // min(whole, total) for number in range(min(whole, total))}
    ids: list[str] = []
    at = 0
    for batch in dataset.batches("trajectories", columns=["id"]):
        ids += [id_ for number, id_ in enumerate(batch.column(0).to_pylist(), start=at) if number in places]
        at += batch.num_rows
    return ids


_COLUMNS = ["id", "task_id", "role", "success", "stop_reason", "turns", "tool_calls", "split", "answer"]


def _index(
    dataset: Dataset,
    chunks: Chunks,
    seen: Seen,
    tasks: dict[str, tuple[str, str, str]],
    place: dict[str, int],
) -> None:
    rows: list[list[Any]] = []
    for batch in dataset.batches("trajectories", columns=[*_COLUMNS, "verdict", "content"]):
        judged = pc.struct_field(batch.column("verdict"), "correct").to_pylist()
        orders = _calls(batch.column("content"))
        columns = [batch.column(name).to_pylist() for name in _COLUMNS]
        for calls, correct, values in zip(orders, judged, zip(*columns, strict=True), strict=True):
            id_, task_id, role, success, stop, turns, tool_calls, split, answer = values
            question, gold, shape = tasks.get(task_id, ("", "", "-"))
            counts = seen.by_shape.setdefault((role, shape), Counter())
            counts.update(runs=1, right=int(success))
            seen.tools.setdefault(role, Counter()).update(calls)
            seen.tool_orders[calls] += 1
            mark = "correct" if success else "unjudged" if correct is None else "wrong"
            rows.append(
                [
                    id_,
                    role,
                    mark,
                    shape,
                    split,
                    stop,
                    turns,
                    tool_calls,
                    _clip(question, 400),
                    _clip(gold, 120),
                    _clip(answer or "", 120),
                    place.get(id_, -1),
                ]
            )
            seen.trajectories += 1
            if len(rows) == _INDEX_ROWS:
                chunks.add(f"rows-{seen.trajectories // _INDEX_ROWS - 1:05d}", rows)
                rows = []
    if rows:
        chunks.add(f"rows-{seen.trajectories // _INDEX_ROWS:05d}", rows)


def _calls(content: pa.Array) -> list[tuple[str, ...]]:
    """Names of the tools called in each trajectory, in order."""
    functions = pc.struct_field(content.flatten(), "function").to_pylist()
    lengths = pc.list_value_length(content).to_pylist()
    found, at = [], 0
    for length in lengths:
        found.append(tuple(name for name in functions[at : at + (length or 0)] if name is not None))
        at += length or 0
    return found


def _details(dataset: Dataset, chunks: Chunks, picked: Sequence[str]) -> None:
    steps: dict[str, list[StepRow]] = {}
    for step in _rows_of(dataset, "steps", "trajectory_id", picked):
        steps.setdefault(step.trajectory_id, []).append(step)
    rows: list[TrajectoryRow] = list(_rows_of(dataset, "trajectories", "id", picked))
    tasks = {task.id: task for task in _rows_of(dataset, "tasks", "id", {row.task_id for row in rows})}
    for number in range(0, len(rows), _DETAIL_ROWS):
        value = {
            row.id: _detail(row, tasks.get(row.task_id), steps.get(row.id, []))
            for row in rows[number : number + _DETAIL_ROWS]
        }
        chunks.add(f"whole-{number // _DETAIL_ROWS:05d}", value)


def _rows_of(dataset: Dataset, config: str, column: str, values: Iterable[str]) -> Iterator[Any]:
    """Rows whose ``column`` is one of ``values``: the key alone is read of row groups that hold none."""
    wanted = sorted(values)
    if config in dataset.configs and wanted:
        yield from dataset.among(config, column, wanted)


def _detail(row: TrajectoryRow, task: Task | None, steps: Sequence[StepRow]) -> dict[str, Any]:
    told = {step.content_start: step for step in steps}
    items = []
    for number, item in enumerate(row.content):
        shown = _item(item)
        step = told.get(number)
        if step is not None:
            shown["label"] = step.label
            shown["reason"] = step.label_reason.value
            shown["flags"] = [name for name, is_ in (("first error", step.first_error), ("pivot", step.pivot)) if is_]
            if step.criticality is not None:
                shown["flags"].append("verified" if step.criticality.verified else "tried")
        items.append(shown)
    return {
        "items": items,
        "verdict": f"{row.verdict.rule}: {_clip(row.verdict.evidence, 300)}",
        "model": row.model or row.provenance.backend or "scripted",
        "question": task.question if task else "",
        "gold": task.answer if task else "",
        "evidence": _evidence(task) if task else [],
    }


def _evidence(task: Task) -> list[dict[str, str]]:
    hops = task.walk.hops if task.walk else ()
    return [
        {
            "hop": f"{hop.source.name} → {hop.relation} → {hop.target.name}",
            "quote": _clip(hop.evidence.quote, 300) if hop.evidence else "",
            "document": hop.evidence.document_id if hop.evidence else "",
        }
        for hop in hops
    ]


def _item(item: ContentItem) -> dict[str, Any]:
    thought = _clip(getattr(item, "reasoning_content", None) or "", _CLIP)
    if isinstance(item, ApiAction):
        arguments = ", ".join(f"{name}={value!r}" for name, value in sorted(item.kwargs.items()))
        return {"who": "call", "text": _clip(f"{item.function}({arguments})", _CLIP), "thought": thought}
    if isinstance(item, CodeAction):
        return {"who": "code", "text": _clip(item.content, _CLIP), "thought": thought}
    if isinstance(item, MessageAction):
        return {"who": "answer", "text": _clip(item.content, _CLIP), "thought": thought}
    if isinstance(item, TextObservation):
        return {"who": "user" if item.source == "user" else "observation", "text": _clip(item.content, _CLIP)}
    return {"who": "observation", "text": f"({item.class_})"}


def _critical(dataset: Dataset, chunks: Chunks, seen: Seen, tasks: dict[str, tuple[str, str, str]]) -> None:
    if "preferences" not in dataset.configs:
        return
    pairs: list[PreferenceRow] = []
    for kind, most in _PAIRS.items():
        pairs += islice(dataset.where("preferences", "kind", kind.value), most)
    if not pairs:
        return
    tried: dict[tuple[str, int], list[ContinuationRow]] = {}
    for row in _rows_of(dataset, "continuations", "trajectory_id", {pair.trajectory_id for pair in pairs}):
        tried.setdefault((row.trajectory_id, row.step), []).append(row)
    shown = []
    for pair in pairs:
        question, gold, _ = tasks.get(pair.task_id, ("", "", ""))
        before = pair.prompt[-1] if len(pair.prompt) > 1 else None
        strength = pair.strength
        shown.append(
            {
                "id": pair.id,
                "trajectory": pair.trajectory_id,
                "step": pair.step + 1,
                "kind": pair.kind.value,
                "family": pair.family,
                "question": question,
                "gold": gold,
                "before": _item(before) if before is not None else None,
                "chosen": [_item(item) for item in pair.chosen],
                "rejected": [_item(item) for item in pair.rejected],
                "difference": _clip(pair.difference, 400),
                "why": _clip(pair.why, 400),
                "strength": f"{strength.chosen_successes} of {strength.chosen_n} against "
                f"{strength.rejected_successes} of {strength.rejected_n} continuations succeed"
                if strength
                else "",
                "continuations": [_branch(row) for row in tried.get((pair.trajectory_id, pair.step), [])[:24]],
            }
        )
    chunks.add("critical", shown)
    seen.critical = len(shown)


def _branch(row: ContinuationRow) -> dict[str, Any]:
    verdict = {True: "correct", False: "wrong", None: "not judged"}[row.verdict.correct]
    return {
        "side": "recorded action" if row.side == "original" else f"alternative {row.alternative}",
        "sample": row.sample,
        "verdict": verdict,
        "answer": _clip(row.answer or row.stop_reason, 160),
        "turns": row.turns,
        "items": [_item(item) for item in row.content[:9]],
    }


def _distractors(dataset: Dataset, chunks: Chunks, seen: Seen, tasks: dict[str, tuple[str, str, str]]) -> None:
    if "distractors" not in dataset.configs:
        return
    kept: dict[int, list[Distractor]] = {}
    for batch in dataset.batches("distractors"):
        for tier, kind in zip(batch.column("tier").to_pylist(), batch.column("kind").to_pylist(), strict=True):
            seen.tiers[f"tier {tier}, {kind}"] += 1
        for tier in (1, 2, 3):
            missing = _DISTRACTORS - len(kept.setdefault(tier, []))
            if missing > 0:
                kept[tier] += from_arrow(
                    batch.filter(pc.equal(batch.column("tier"), tier)).slice(0, missing), Distractor
                )
    rows = [row for tier in sorted(kept) for row in kept[tier]]
    pages: dict[str, Document] = {
        page.id: page for page in _rows_of(dataset, "documents", "id", {row.document_id for row in rows})
    }
    shown = []
    for row in rows:
        question, gold, _ = tasks.get(row.task_id, ("", "", ""))
        page = pages.get(row.document_id)
        shown.append(
            {
                "tier": row.tier,
                "kind": str(row.kind),
                "question": question,
                "gold": gold,
                "title": page.title if page else row.document_id,
                "text": _clip(page.text, 400) if page and page.text else "",
                "query": _clip(row.query, 200),
                "rank": row.rank,
                "runs": row.runs,
            }
        )
    chunks.add("distractors", shown)


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]} … ({len(text) - length:,} more characters)"


_ROWS = 500
_WORDS: Mapping[str, tuple[str, str]] = {"documents": ("id", "title"), "preferences": ("id", "difference")}
"""Level -> columns of the table that says what a row is."""


def _duplicates(dataset: Dataset, chunks: Chunks, questions: Mapping[str, str], clip: int = 160) -> int:
    """Write the pieces ``duplicates-00000``, ...: ``[level, kind, score, one, its words, other, its words, the row that
    stays]`` each. How many pairs there are.

    Args:
        questions: Task -> question.
    """
    if "duplicates" not in dataset.configs:
        return 0
    levels = {level for batch in dataset.batches("duplicates", columns=["level"]) for level in batch[0].to_pylist()}
    told = {level: dict(_told(dataset, level, questions, clip)) for level in sorted(levels)}
    rows: list[list[Any]] = []
    count = 0
    names = ["level", "kind", "score", "one", "other", "representative"]
    for batch in dataset.batches("duplicates", columns=names):
        for level, kind, score, one, other, stays in zip(*(batch[name].to_pylist() for name in names), strict=True):
            words = told[level]
            rows.append([level, kind, score, one, words.get(one, ""), other, words.get(other, ""), stays])
            if len(rows) == _ROWS:
                chunks.add(f"duplicates-{count // _ROWS:05d}", rows)
                count += _ROWS
                rows = []
    if rows:
        chunks.add(f"duplicates-{count // _ROWS:05d}", rows)
    return count + len(rows)


def _told(dataset: Dataset, level: str, questions: Mapping[str, str], clip: int) -> Iterator[tuple[str, str]]:
    """Row -> some words of it. Of what is gone the table ``rejected`` keeps them."""
    if level == "trajectories":
        for batch in dataset.batches("trajectories", columns=["id", "role", "task_id", "answer"]):
            for id_, role, task, answer in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, f"{role}: {questions.get(task, '')[:clip]} → {(answer or 'no answer')[:clip]}"
        return
    if "rejected" in dataset.configs:
        for batch in dataset.batches("rejected", columns=["row_id", "preview"]):
            for id_, preview in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, (preview or "")[:clip]
    if level in dataset.configs:
        for batch in dataset.batches(level, columns=list(_WORDS[level])):
            for id_, words in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, (words or "")[:clip]
