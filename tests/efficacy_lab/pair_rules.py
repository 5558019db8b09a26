"""Which disagreements between policy and expert become pairs: the rules that the arms compare.

A disagreement is a step of a failed run at which the search for critical steps put another action in the place of the
recorded one and let the policy go on. All of it is read from the dataset's tables ``trajectories``, ``steps`` and
``continuations``, as any user could; nothing is measured anew.

    all           every disagreement, whatever came of it
    cso           those whose first continuation succeeded (CSO, arXiv 2602.03412: one continuation, no control)
    verified      those that the dataset calls verified: k continuations of either side
    same_kind     verified, and both actions are of one kind
    earliest      of each run the earliest verified one
    random_same   drawn from all of the same kind, as many as ``same_kind`` has
    same_call     those of ``same_kind`` whose actions are calls of tools, not answers. A right answer is verified with
                  certainty wherever the run has seen it, so answers crowd the verified pairs, and most of them correct
                  a run that had already gone too far: they teach to answer with something else than what was found last
    random_call   drawn from all calls of the same kind, as many as ``same_call`` has
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from efficacy_lab.rows import Message, Pair, Row
from synth.dataset.reader import Dataset
from synth.export.contract import About
from synth.export.messages import as_chat, messages_of
from synth.schemas.adp import ContentItem
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import bare_actions, turn_ranges

__all__ = ["RULES", "Disagreement", "Rule", "choose", "disagreements", "pair_of", "unlabelled_rows"]

Rule = Literal["all", "cso", "verified", "same_kind", "earliest", "random_same", "same_call", "random_call"]
RULES: tuple[Rule, ...] = get_args(Rule)
_ABOUT = About(dataset="efficacy", thoughts=False)


@dataclass(frozen=True)
class Disagreement:
    """An action that was put in the place of a recorded one."""

    trajectory: TrajectoryRow
    step: int
    alternative: int
    action: tuple[ContentItem, ...]
    same_kind: bool
    call: bool
    """Whether the other action calls a tool; else it ends the run."""
    first_success: bool
    """Whether the first continuation ended with the right answer."""
    verified: bool

    @property
    def id(self) -> str:
        return f"{self.trajectory.id}:{self.step}:{self.alternative}"


def disagreements(dataset: Dataset) -> list[Disagreement]:
    """All of the policy's failed runs, by trajectory, step and number of the alternative."""
    runs = {
        row.id: row
        for row in dataset.rows("trajectories")
        if isinstance(row, TrajectoryRow) and row.role == "policy" and not row.success
    }
    steps: dict[tuple[str, int], StepRow] = {}
    for row in dataset.rows("steps"):
        if isinstance(row, StepRow) and row.trajectory_id in runs:
            steps[row.trajectory_id, row.step] = row
    found: list[Disagreement] = []
    for row in dataset.rows("continuations"):
        if (
            not isinstance(row, ContinuationRow)
            or row.side != "alternative"
            or row.sample
            or row.trajectory_id not in runs
        ):
            continue
        step = steps[row.trajectory_id, row.step]
        measured = step.criticality
        first, last = turn_ranges(row.content)[0]
        found.append(
            Disagreement(
                trajectory=runs[row.trajectory_id],
                step=row.step,
                alternative=row.alternative,
                action=bare_actions(row.content[first:last]),
                same_kind=row.action_kind == step.action_kind,
                call=row.action_kind not in ("answer", "give_up"),
                first_success=row.success,
                verified=measured is not None
                and measured.verified
                and measured.difference > 0
                and measured.alternative == row.alternative,
            )
        )
    return sorted(found, key=lambda one: (one.trajectory.id, one.step, one.alternative))


def choose(found: Sequence[Disagreement], rule: Rule, generator: np.random.Generator) -> list[Disagreement]:
    """Those that ``rule`` takes, in order; ``generator`` draws for ``random_same`` and ``random_call`` alone."""
    if rule == "all":
        return list(found)
    if rule == "cso":
        return [one for one in found if one.first_success]
    verified = [one for one in found if one.verified]
    if rule == "verified":
        return verified
    if rule == "earliest":
        first: dict[str, Disagreement] = {}
        for one in verified:
            first.setdefault(one.trajectory.id, one)
        return list(first.values())
    calls = rule in ("same_call", "random_call")
    same = [one for one in verified if one.same_kind and (one.call or not calls)]
    if rule in ("same_kind", "same_call"):
        return same
    pool = [one for one in found if one.same_kind and (one.call or not calls)]
    drawn = generator.permutation(len(pool))[: len(same)]
    return [pool[place] for place in sorted(drawn.tolist())]


def pair_of(one: Disagreement) -> Pair:
    """The pair: chosen = the other action, rejected = the recorded one."""
    row = one.trajectory
    start, end = turn_ranges(row.content)[one.step]
    first = one.step
    return Pair(
        id=one.id,
        task_id=row.task_id,
        prompt=_chat(row.content[:start], system=row.system_prompt),
        chosen=_chat(one.action, first_turn=first),
        rejected=_chat(bare_actions(row.content[start:end]), first_turn=first),
    )


def unlabelled_rows(
    dataset: Dataset, *, role: str = "teacher", failed: bool = False, copies: bool = False
) -> list[Row]:
    """The runs of ``role`` on tasks of the split ``train`` that succeeded, every turn a target: what one trains on who
    has no labels of steps.

    Args:
        failed: All of its runs, as one trains who has no checks either.
        copies: Runs that another one stands for, too, as one trains who looks for no duplicates.
    """
    return [
        Row(row.id, row.task_id, _chat(row.content, system=row.system_prompt))
        for row in dataset.rows("trajectories")
        if isinstance(row, TrajectoryRow)
        and row.role == role
        and row.split == "train"
        and (row.success or failed)
        and (row.duplicate_of is None or copies)
    ]


def _chat(content: Sequence[ContentItem], *, system: str = "", first_turn: int = 0) -> tuple[Message, ...]:
    made = messages_of(content, system=system, gave_up=True, first_turn=first_turn)
    return tuple(as_chat(message, _ABOUT) for message in made)
