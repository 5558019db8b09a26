"""How well models do on the same tasks: success with intervals, paired differences, failures, cost.

Tasks are the sample, so the runs of one task count as one observation: the interval of a rate is Wilson's with the
effective number of tasks, that of a difference a bootstrap over tasks that both models were given.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from synth.annotate.critical.intervals import wilson
from synth.dataset.reader import Dataset
from synth.identity import derive_generator
from synth.schemas.model_turns import ModelTurns
from synth.schemas.rejections import Reason
from synth.schemas.row import NonEmpty, Row
from synth.schemas.trajectories import CallErrors

__all__ = ["Candidate", "Cut", "Difference", "Evaluation", "Rate", "evaluate_runs", "read_runs"]

_RESAMPLES = 10_000
_CUTS = ("shape", "hops", "obfuscation")
_CONFIDENCE = 0.95
_UNREADABLE = frozenset(
    {
        Reason.TRUNCATED,
        Reason.REFUSAL,
        Reason.CONTENT_FILTER,
        Reason.EMPTY_REPLY,
        Reason.NARRATED_CALL,
        Reason.MALFORMED_CALL,
        Reason.UNKNOWN_TOOL,
        Reason.WRONG_ARGUMENTS,
    }
)
"""Why a run is cut short by a reply that is not a turn."""
_REFUSED = frozenset({"unknown_tool", "bad_arguments"})
"""Errors of calls that no tool carried out."""
_TURN = re.compile(r"\bturn (\d+):")


class Rate(Row):
    """A success rate over tasks."""

    tasks: int
    rate: float | None
    """Mean over tasks of the share of their runs that succeeded; None when no run was judged."""
    low: float | None
    """Lower end of the 95 % interval."""
    high: float | None
    """Upper end of it."""


class Cut(Row):
    """Success on the tasks that agree in one property."""

    by: NonEmpty
    """``shape``, ``hops`` or ``obfuscation``."""
    value: NonEmpty
    rate: Rate


class Candidate(Row):
    """What one model did."""

    name: NonEmpty
    model: str | None
    """Its name at the endpoint; None for a scripted agent."""
    success: Rate
    """Runs that came to no end count as failures; runs that no rule could judge are left out."""
    cuts: tuple[Cut, ...]
    best_of: dict[int, float]
    """k -> chance that one of k runs of a task succeeds (the unbiased estimate), for k up to the runs of a task."""
    majority: float | None
    """Success of the answer that most runs of a task give; None with one run a task."""
    runs: int
    """That came to an end."""
    unfinished: int
    """Runs that a model cut short: it refused, its reply was cut off or held no action."""
    unjudged: int
    """Finished runs that no rule could judge."""
    turns: float | None
    """Mean over runs."""
    tool_calls: float | None
    """Mean over runs."""
    readable: float | None
    """Share of a model's turns whose first reply was a call or an answer; None for a scripted agent. Of a run that was
    cut short every turn but the last counts as such."""
    valid_calls: float | None
    """Share of tool calls with a known tool and arguments of its form; None when there were none."""
    call_errors: dict[str, int]
    """Kind of the error -> tool calls that ended in it."""
    ended: dict[str, int]
    """Why runs ended -> runs."""
    cut_short: dict[str, int]
    """Why runs came to no end (:class:`~synth.schemas.rejections.Reason`) -> runs."""
    failures: dict[str, int]
    """Why runs failed (:class:`~synth.schemas.steps.FailureClass`) -> failed runs that show it."""
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    """At the recipe's prices; 0 where it gives none."""


class Difference(Row):
    """Success of one candidate minus that of another, task by task."""

    first: NonEmpty
    second: NonEmpty
    tasks: int
    """That both were judged on."""
    difference: float | None
    low: float | None
    high: float | None
    first_better: int
    """Tasks on which the first succeeded more often."""
    second_better: int
    p: float | None
    """Two-sided exact sign test over the tasks on which they differ; None if they never do."""


class Evaluation(Row):
    """Candidates on the same tasks."""

    dataset: NonEmpty
    splits: tuple[str, ...]
    tasks: int
    runs_per_task: int
    candidates: tuple[Candidate, ...]
    differences: tuple[Difference, ...]
    """Each candidate but the first against the first."""


@dataclass
class Runs:
    """What a candidate did on each task."""

    name: str
    model: str | None
    wanted: int
    """Runs a task."""
    about: dict[str, tuple[str, str, str]]
    """Task -> shape, hops, obfuscation."""
    verdicts: dict[str, list[bool | None]] = field(default_factory=lambda: defaultdict(list))
    """Task -> verdict of each finished run, in order."""
    answers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """(turns, tool calls) of each finished run."""
    ended: Counter[str] = field(default_factory=Counter)
    cut_short: Counter[str] = field(default_factory=Counter)
    replies: Counter[bool] = field(default_factory=Counter)
    """Turns of a model, by whether the first reply could be read."""
    call_errors: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    use: tuple[int, int, int, float] = (0, 0, 0, 0.0)
    """Calls, prompt tokens, completion tokens, cost."""

    def success(self) -> dict[str, float]:
        """Task -> share of its judged runs that succeeded; runs without an end count as failures."""
        found = {}
        for task in self.about:
            judged = self.judged(task)
            if judged:
                found[task] = sum(judged) / len(judged)
        return found

    def judged(self, task: str) -> list[bool]:
        known = self.verdicts.get(task, [])
        return [one for one in known if one is not None] + [False] * (self.wanted - len(known))


def read_runs(dataset: Dataset, name: str, wanted: int) -> Runs:
    """The policy's runs in a dataset.

    Raises:
        DatasetError: a file can't be read.
    """
    columns = ["id", "shape", "obfuscation", "difficulty"]
    tasks = (row for batch in dataset.batches("tasks", columns=columns) for row in batch.to_pylist())
    report = dataset.report
    runs = Runs(
        name=name,
        model=next((role.model for role in report.roles if role.role == "policy"), None),
        wanted=wanted,
        about={row["id"]: (row["shape"], str(row["difficulty"]["hops"]), str(row["obfuscation"])) for row in tasks},
    )
    wrong = set()
    columns = ["id", "task_id", "role", "rollout", "verdict", "answer", "turns", "tool_calls", "stop_reason", "details"]
    for batch in dataset.batches("trajectories", columns=columns):
        for row in batch.to_pylist():
            if row["role"] != "policy" or row["rollout"] >= wanted:
                continue
            correct = row["verdict"]["correct"]
            runs.verdicts[row["task_id"]].append(correct)
            runs.answers[row["task_id"]].append(_plain(row["answer"] or ""))
            runs.lengths.append((row["turns"], row["tool_calls"]))
            runs.ended[row["stop_reason"]] += 1
            details = json.loads(row["details"])
            runs.replies.update(turn.corrected is None for turn in ModelTurns.of(details).model_turns)
            runs.call_errors.update(CallErrors.of(details).tool_errors.values())
            if correct is False:
                wrong.add(row["id"])
    for batch in dataset.batches("rejected", columns=["stage", "reason", "detail", "part"]):
        for row in batch.to_pylist():
            if row["stage"] == "rollouts" and row["part"] is not None and row["part"] < wanted:
                runs.cut_short[row["reason"]] += 1
                if row["reason"] in _UNREADABLE:
                    before = _TURN.search(row["detail"])
                    runs.replies.update({True: int(before[1]) if before else 0, False: 1})
    seen = set()
    for batch in dataset.batches("steps", columns=["trajectory_id", "failure"]):
        for row in batch.to_pylist():
            if row["failure"] is not None and row["trajectory_id"] in wrong:
                seen.add((row["trajectory_id"], row["failure"]))
    runs.failures.update(failure for _, failure in sorted(seen))
    uses = [use for use in report.model_uses() if use.role == "policy"]
    runs.use = (
        sum(use.calls for use in uses),
        sum(use.prompt_tokens for use in uses),
        sum(use.completion_tokens for use in uses),
        sum(use.cost for use in uses),
    )
    return runs


def evaluate_runs(dataset: str, splits: Sequence[str], candidates: Sequence[Runs]) -> Evaluation:
    """The figures of all candidates; the first is what the others are compared with."""
    first, *others = candidates
    return Evaluation(
        dataset=dataset,
        splits=tuple(splits),
        tasks=len(first.about),
        runs_per_task=first.wanted,
        candidates=tuple(_candidate(runs) for runs in candidates),
        differences=tuple(_difference(other, first) for other in others),
    )


def _candidate(runs: Runs) -> Candidate:
    success = runs.success()
    finished = sum(len(known) for known in runs.verdicts.values())
    turns, calls = zip(*runs.lengths, strict=True) if runs.lengths else ((), ())
    return Candidate(
        name=runs.name,
        model=runs.model,
        success=_rate(success.values()),
        cuts=tuple(_cuts(runs, success)),
        best_of=_best_of(runs),
        majority=_majority(runs),
        runs=finished,
        unfinished=len(runs.about) * runs.wanted - finished,
        unjudged=sum(one is None for known in runs.verdicts.values() for one in known),
        turns=float(np.mean(turns)) if turns else None,
        tool_calls=float(np.mean(calls)) if calls else None,
        readable=runs.replies[True] / runs.replies.total() if runs.replies else None,
        valid_calls=1 - sum(runs.call_errors[kind] for kind in _REFUSED) / sum(calls) if sum(calls) else None,
        call_errors=dict(sorted(runs.call_errors.items())),
        ended=dict(sorted(runs.ended.items())),
        cut_short=dict(sorted(runs.cut_short.items())),
        failures=dict(sorted(runs.failures.items(), key=lambda item: (-item[1], item[0]))),
        model_calls=runs.use[0],
        prompt_tokens=runs.use[1],
        completion_tokens=runs.use[2],
        cost=runs.use[3],
    )


def _rate(shares: Iterable[float]) -> Rate:
    values = np.fromiter(shares, dtype=float)
    if not len(values):
        return Rate(tasks=0, rate=None, low=None, high=None)
    rate = float(values.mean())
    variance = float(values.var(ddof=1)) if len(values) > 1 else 0.0
    # With one run a task this is the number of tasks (but for n / (n - 1)); several runs of a task tell more.
    effective = rate * (1 - rate) * len(values) / variance if variance else float(len(values))
    effective = max(effective, float(len(values)))
    low, high = wilson(rate * effective, effective, _CONFIDENCE)
    return Rate(tasks=len(values), rate=rate, low=low, high=high)


def _cuts(runs: Runs, success: Mapping[str, float]) -> Iterable[Cut]:
    for place, by in enumerate(_CUTS):
        values = sorted({about[place] for about in runs.about.values()}, key=lambda value: (value.zfill(4), value))
        for value in values:
            shares = [success[task] for task, about in runs.about.items() if about[place] == value and task in success]
            yield Cut(by=by, value=value, rate=_rate(shares))


def _best_of(runs: Runs) -> dict[int, float]:
    """Chen et al. 2021 (arXiv 2107.03374): 1 - C(n - c, k) / C(n, k), averaged over tasks with n judged runs."""
    counts = [(len(judged), sum(judged)) for task in runs.about if (judged := runs.judged(task))]
    found = {}
    for k in range(1, runs.wanted + 1):
        chances = [1 - math.comb(n - c, k) / math.comb(n, k) for n, c in counts if n >= k]
        if chances:
            found[k] = float(np.mean(chances))
    return found


def _majority(runs: Runs) -> float | None:
    if runs.wanted < 2:
        return None
    shares = []
    for task in runs.about:
        answers, verdicts = runs.answers.get(task, []), runs.verdicts.get(task, [])
        votes = Counter(answer for answer in answers if answer)
        if not votes:
            shares.append(0.0)
            continue
        # Of answers with as many votes, the one that was given first.
        chosen = max(votes, key=lambda answer: (votes[answer], -answers.index(answer)))
        judged = [one for answer, one in zip(answers, verdicts, strict=True) if answer == chosen and one is not None]
        if judged:
            shares.append(float(judged[0]))
    return float(np.mean(shares)) if shares else None


def _difference(other: Runs, first: Runs) -> Difference:
    one, two = other.success(), first.success()
    shared = sorted({*one} & {*two})
    gaps = np.array([one[task] - two[task] for task in shared])
    better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
    low = high = None
    if len(gaps):
        generator = derive_generator(0, "evaluation", other.name, first.name)
        means = np.array([gaps[generator.integers(len(gaps), size=len(gaps))].mean() for _ in range(_RESAMPLES)])
        low, high = (float(value) for value in np.quantile(means, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]))
    return Difference(
        first=other.name,
        second=first.name,
        tasks=len(shared),
        difference=float(gaps.mean()) if len(gaps) else None,
        low=low,
        high=high,
        first_better=better,
        second_better=worse,
        p=_sign_test(better, worse),
    )


def _sign_test(better: int, worse: int) -> float | None:
    n = better + worse
    if not n:
        return None
    tail = float(sum(math.comb(n, k) for k in range(min(better, worse) + 1)) / 2**n)
    return min(1.0, 2 * tail)


def _plain(answer: str) -> str:
    return " ".join(answer.casefold().split()).rstrip(".")
