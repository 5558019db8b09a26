"""What a report says of rows, counted while they stream past: by the writer of a dataset, and again by ``validate``."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.card.calibration import Calibrations
from synth.dataset.card.variety import Variety
from synth.dataset.licences import StatedLicences
from synth.identity import hash_64
from synth.inputs import parse_json
from synth.schemas.difficulty import TaskYield
from synth.schemas.preferences import PairKind
from synth.schemas.reports import ContextReport, CriticalReport, LabelReport, OutcomeReport, PairReport
from synth.schemas.tasks import SHAPES, QuestionRank
from synth.tasks.difficulty import Target

__all__ = ["COUNTS", "Count", "Counts", "ranked"]


@dataclass(frozen=True)
class Count:
    """One field of a report that rows give."""

    says: str
    """What is wrong where they give another."""
    columns: Mapping[str, tuple[str, ...]]
    """Table -> columns in which a single wrong value changes it."""


COUNTS: Mapping[str, Count] = {
    "outcomes": Count(
        "the trajectories give other counts of successes by role and hops",
        {"trajectories": ("role", "success", "verdict.correct", "turns", "tool_calls", "retry_of")},
    ),
    "task_yields": Count(
        "tasks and rejected give other counts of candidates by shape", {"tasks": ("shape",), "rejected": ("stage",)}
    ),
    "labels": Count(
        "the steps give other counts of labels by role", {"steps": ("role", "label", "first_error", "train")}
    ),
    "critical": Count(
        "the steps and continuations give other counts of what was searched and found",
        {"steps": ("criticality.verified",)},
    ),
    "pairs": Count(
        "the preferences give other counts by kind and family",
        {"preferences": ("kind", "family", "same_kind", "position", "nature", "selected")},
    ),
    "contexts": Count("the contexts give other shares of tiers by budget", {"contexts": ("budget", "tier_shares[]")}),
    "variety": Count("the thoughts give other figures of variety", {}),
    "difficulty": Count(
        "the rows give other counts of predicted and measured success",
        {"difficulty": ("predicted", "chosen", "target")},
    ),
    "document_licences": Count("the documents state other licences", {"documents": ("licence",)}),
    "row_licences": Count("the rows state other licences", {"tasks": ("licence",)}),
}
"""By the name of the report's field."""


class Counts:
    """Tables come in the order of the configs, the steps of a trajectory one after the other. Holds one number per
    task, and some thirty bytes per trajectory."""

    def __init__(self, targets: Sequence[Target] = ()) -> None:
        """``targets``: shares of difficulty that were asked for."""
        self._outcomes, self._criticals, self._yields = _Outcomes(), _Criticals(), _Yields()
        self._contexts, self._variety = _Contexts(), Variety()
        self._difficulty, self._licences = Calibrations(targets), StatedLicences()
        self._watchers: dict[str, tuple[Callable[[pa.RecordBatch], None], ...]] = {
            "tasks": (self._outcomes.see_tasks, self._yields.see_tasks, partial(self._licences.see, "tasks")),
            "trajectories": (
                self._outcomes.see_trajectories,
                self._criticals.see_trajectories,
                self._variety.see,
                partial(self._licences.see, "trajectories"),
            ),
            "steps": (self._criticals.see_steps,),
            "continuations": (self._criticals.see_continuations,),
            "preferences": (self._criticals.see_pairs,),
            "documents": (partial(self._licences.see, "documents"),),
            "rejected": (self._yields.see_rejected,),
            "difficulty": (self._difficulty.see,),
            "contexts": (self._contexts.see,),
        }

    def see(self, config: str, batch: pa.RecordBatch) -> None:
        for see in self._watchers.get(config, ()):
            see(batch)

    def stated(self) -> dict[str, Any]:
        """Values of the report's fields that :data:`COUNTS` names."""
        return {
            "outcomes": self._outcomes.reports(),
            "task_yields": self._yields.reports(),
            "labels": self._criticals.labels(),
            "critical": self._criticals.critical(),
            "pairs": self._criticals.pairs(),
            "contexts": self._contexts.reports(),
            "variety": self._variety.reports(),
            "difficulty": self._difficulty.report(),
            "document_licences": self._licences.documents,
            "row_licences": self._licences.rows,
        }


class _Contexts:
    """Shares of tiers by budget."""

    def __init__(self) -> None:
        self._sums: dict[int, tuple[int, ...]] = {}
        self._count: Counter[int] = Counter()

    def see(self, batch: pa.RecordBatch) -> None:
        for budget, shares in zip(*_lists(batch, "budget", "tier_shares"), strict=True):
            # Shares have four decimals: whole numbers sum to the same in any order.
            whole = tuple(round(share * 10_000) for share in shares)
            self._sums[budget] = tuple(map(sum, zip(self._sums.get(budget, (0,) * len(whole)), whole, strict=True)))
            self._count[budget] += 1

    def reports(self) -> tuple[ContextReport, ...]:
        """One per budget."""
        return tuple(
            ContextReport(
                budget=budget,
                contexts=self._count[budget],
                tier_shares=tuple(round(total / self._count[budget] / 10_000, 4) for total in sums),
            )
            for budget, sums in sorted(self._sums.items())
        )


class _Outcomes:
    """Successes by role and number of hops."""

    def __init__(self) -> None:
        self._hops: dict[str, int] = {}
        self._sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0] * 7)

    def see_tasks(self, batch: pa.RecordBatch) -> None:
        hops = pc.struct_field(batch.column("difficulty"), "hops")
        self._hops.update(zip(batch.column("id").to_pylist(), hops.to_pylist(), strict=True))

    def see_trajectories(self, batch: pa.RecordBatch) -> None:
        names = ("task_id", "role", "success", "turns", "tool_calls", "retry_of")
        columns = {name: batch.column(name).to_pylist() for name in names}
        columns["correct"] = pc.struct_field(batch.column("verdict"), "correct").to_pylist()
        for task, role, success, turns, calls, retry_of, correct in zip(*columns.values(), strict=True):
            sums = self._sums[role, self._hops.get(task, 0)]
            first = (1, bool(success), correct is None, turns, calls, 0, 0)
            again = (0, 0, 0, 0, 0, 1, bool(success))
            for place, value in enumerate(first if retry_of is None else again):
                sums[place] += value

    def reports(self) -> tuple[OutcomeReport, ...]:
        """One per role and number of hops, sorted by both."""
        names = ("trajectories", "successes", "abstained", "turns", "tool_calls", "retries", "retry_successes")
        return tuple(
            OutcomeReport(role=role, hops=hops, **dict(zip(names, sums, strict=True)))
            for (role, hops), sums in sorted(self._sums.items())
        )


_NONE = "-"
_DETAIL = re.compile(rf"(?P<shape>{'|'.join(SHAPES)}): (?:(?P<check>[a-z][a-z_]*)(?: failed| abstained)?: )?")


def ranked(yields: Iterable[TaskYield]) -> dict[str, int]:
    """Tasks of all shapes by rank, the most frequent first."""
    found: Counter[str] = Counter()
    for each in yields:
        found.update(each.ranks)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


class _Yields:
    """How many candidates of each shape became tasks, and which check kept the others out."""

    def __init__(self) -> None:
        self._accepted: Counter[str] = Counter()
        self._ranks: dict[str, Counter[str]] = defaultdict(Counter)
        self._rejected: dict[str, Counter[str]] = defaultdict(Counter)

    def see_tasks(self, batch: pa.RecordBatch) -> None:
        shapes = batch.column("shape").to_pylist()
        self._accepted.update(shapes)
        for shape, details in zip(shapes, batch.column("details").to_pylist(), strict=True):
            # Most tasks have none, and parsing every one's details would cost more than all other counts.
            if '"rank"' in details and (rank := QuestionRank.of(parse_json(details)).rank) is not None:
                self._ranks[shape][rank] += 1

    def see_rejected(self, batch: pa.RecordBatch) -> None:
        """What stages of tasks rejected. Its detail begins with the shape, then comes the check that it failed."""
        columns = (batch.column(name).to_pylist() for name in ("stage", "reason", "detail"))
        for stage, reason, detail in zip(*columns, strict=True):
            if stage.endswith("_tasks"):
                match = _DETAIL.match(detail or "")
                shape = match["shape"] if match else _NONE
                self._rejected[shape][(match["check"] if match else None) or reason] += 1

    def reports(self) -> tuple[TaskYield, ...]:
        """One line per shape, in the order of the schema."""
        return tuple(
            TaskYield(
                shape=shape,
                accepted=self._accepted[shape],
                ranks=dict(sorted(self._ranks[shape].items())),
                rejected=dict(sorted(self._rejected[shape].items())),
            )
            for shape in (*SHAPES, *sorted(self._accepted.keys() - {*SHAPES, _NONE}), _NONE)
            if self._accepted[shape] or self._rejected[shape]
        )


Outcome = Literal["failed", "succeeded", "unjudged"]
_OUTCOMES: dict[bool | None, Outcome] = {True: "succeeded", False: "failed", None: "unjudged"}
_SIGNS = {1: "helps", -1: "harms", None: "unmeasured"}
_OF_STEPS = (PairKind.VERIFIED_STEP.value, PairKind.VERIFIED_STEP_SUCCESS.value)


@dataclass(slots=True)
class _Run:
    """One trajectory of which something was tried or scored."""

    tried: int = 0
    verified: int = 0
    continuations: int = 0
    pairs: int = 0
    scored: bool = False

    @property
    def searched(self) -> bool:
        return self.scored or self.tried > 0 or self.continuations > 0


class _Criticals:
    """Labels, critical steps, continuations and pairs."""

    def __init__(self) -> None:
        self._names, self._kinds, self._steps = array("q"), array("i"), array("i")
        """Of each trajectory: hash of its id, number of its kind, labelled steps."""
        self._known: dict[tuple[str, Outcome], int] = {}
        """Kinds of trajectories (role and outcome) and their numbers."""
        self._order: np.ndarray[Any, Any] | None = None
        self._runs: dict[int, _Run] = {}
        """By number of the trajectory."""
        self._last: tuple[str | None, int | None] = (None, None)
        """Id and number of the trajectory whose steps came last."""
        self._labels: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._pairs: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 5)

    def see_trajectories(self, batch: pa.RecordBatch) -> None:
        correct = pc.struct_field(batch.column("verdict"), "correct").to_pylist()
        for name, role, right in zip(*_lists(batch, "id", "role"), correct, strict=True):
            if role:
                self._names.append(hash_64(name or ""))
                self._kinds.append(self._known.setdefault((role, _OUTCOMES[right]), len(self._known)))
                self._steps.append(0)
        self._order = None

    def _number(self, name: str | None) -> int | None:
        """Of a trajectory, by its id."""
        names = np.frombuffer(self._names, np.int64) if self._names else np.empty(0, np.int64)
        if self._order is None:
            self._order = np.argsort(names, kind="stable")
        wanted = hash_64(name or "")
        place = int(np.searchsorted(names, wanted, sorter=self._order))
        number = int(self._order[place]) if place < len(names) else None
        return number if number is not None and names[number] == wanted else None

    def _run(self, name: str | None) -> _Run | None:
        number = self._number(name)
        return None if number is None else self._runs.setdefault(number, _Run())

    def see_steps(self, batch: pa.RecordBatch) -> None:
        columns = _lists(batch, "trajectory_id", "role", "label", "first_error", "train", "score")
        tried = pc.is_valid(batch.column("criticality")).to_pylist()
        verified = pc.struct_field(batch.column("criticality"), "verified").to_pylist()
        for name, role, label, first, train, score, was_tried, shown in zip(*columns, tried, verified, strict=True):
            if not role:  # ``validate`` looks at files that may hold anything
                continue
            sums = self._labels[role]
            if name != self._last[0]:
                sums["trajectories"] += 1
                self._last = name, self._number(name)
            sums["steps"] += 1
            sums[_SIGNS.get(label, "neutral")] += 1
            sums["first_errors"] += bool(first)
            sums["targets"] += bool(train)
            number = self._last[1]
            if number is None:
                continue
            self._steps[number] += 1
            if score is not None or was_tried or shown:
                run = self._runs.setdefault(number, _Run())
                run.scored |= score is not None
                run.tried += was_tried
                run.verified += bool(shown)

    def see_continuations(self, batch: pa.RecordBatch) -> None:
        for name in batch.column("trajectory_id").to_pylist():
            if run := self._run(name):
                run.continuations += 1

    def see_pairs(self, batch: pa.RecordBatch) -> None:
        columns = _lists(batch, "trajectory_id", "kind", "family", "same_kind", "position", "nature", "selected")
        for name, kind, family, same, position, nature, selected in zip(*columns, strict=True):
            if not kind or not family:
                continue
            sums = self._pairs[kind, family]
            for place, value in enumerate((1, same, position == "earliest", nature == "recovery", selected)):
                sums[place] += bool(value)
            if kind in _OF_STEPS and (run := self._run(name)):
                run.pairs += 1

    def labels(self) -> tuple[LabelReport, ...]:
        """One per role, sorted."""
        names = ("trajectories", "steps", "helps", "neutral", "harms", "unmeasured", "first_errors", "targets")
        return tuple(
            LabelReport(role=role, **{name: sums[name] for name in names})
            for role, sums in sorted(self._labels.items())
        )

    def critical(self) -> tuple[CriticalReport, ...]:
        """One per role and outcome of which trajectories were searched, sorted by both."""
        names = ("tried", "verified", "continuations", "pairs")
        grouped: dict[int, list[int]] = defaultdict(list)
        for number, run in self._runs.items():
            if run.searched:
                grouped[self._kinds[number]].append(number)
        return tuple(
            CriticalReport(
                role=role,
                outcome=outcome,
                trajectories=len(grouped[kind]),
                steps=sum(self._steps[number] for number in grouped[kind]),
                **{name: sum(getattr(self._runs[number], name) for number in grouped[kind]) for name in names},
            )
            for (role, outcome), kind in sorted(self._known.items())
            if kind in grouped
        )

    def pairs(self) -> tuple[PairReport, ...]:
        """One per kind and family, kinds in the order of ``PairKind``."""
        names = ("pairs", "same_kind", "earliest", "recoveries", "selected")
        return tuple(
            PairReport(kind=kind, family=family, **dict(zip(names, sums, strict=True)))
            for kind in PairKind
            for (name, family), sums in sorted(self._pairs.items())
            if name == kind.value
        )


def _lists(batch: pa.RecordBatch, *names: str) -> list[list[Any]]:
    return [batch.column(name).to_pylist() for name in names]
