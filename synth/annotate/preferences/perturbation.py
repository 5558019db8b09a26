"""Pairs of a good run and the same run with one thing done wrong, carried out in the environment.

Plan-RewardBench (arXiv 2604.08178) perturbs trajectories by rule as text. Here every rejected turn is executed from the
exact state that the good run was in, and becomes a pair only when what came of it is worse: a wrong answer, an answer
that nothing read supports, a call that is refused, one that shows nothing of what is needed where the recorded turn
did, or one that repeats what was known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from synth.annotate.preferences.perturb.citation import HallucinatedCitation
from synth.annotate.preferences.perturb.early_answers import DroppedCheck, PrematureAnswer
from synth.annotate.preferences.perturb.minimal_edit import MinimalEdit
from synth.annotate.preferences.perturb.recoveries import IgnoredError, RepeatedCall
from synth.annotate.preferences.perturb.run import GoodRun, Perturbation
from synth.annotate.preferences.perturb.swapped_argument import SwappedArgument
from synth.annotate.preferences.perturb.wrong_order import WrongOrder
from synth.annotate.preferences.perturb.wrong_tools import NeedlessCall, UnavailableTool, UnfitTool
from synth.annotate.preferences.sides import (
    PairPosition,
    Pairs,
    describe,
    make_pair,
    not_grounded,
    refusal,
    same_thought,
    side_of_turn,
)
from synth.environments.contract import Environment
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import bare_actions, full_actions

__all__ = ["OF_FORM", "PERTURBATIONS", "perturbation_of", "perturbation_pairs"]

PERTURBATIONS: dict[str, Perturbation] = {
    item.name: item
    for item in (
        DroppedCheck(),
        SwappedArgument(),
        WrongOrder(),
        PrematureAnswer(),
        IgnoredError(),
        HallucinatedCitation(),
        RepeatedCall(),
        UnavailableTool(),
        UnfitTool(),
        NeedlessCall(),
    )
}
"""By name."""

OF_FORM = frozenset((UnavailableTool.name, UnfitTool.name))
"""Those about the form of a call: a tool that there is not, or that takes no such thing."""
_TRIES = 24
"""Proposals of one kind that are carried out for one run."""


def perturbation_pairs(
    row: TrajectoryRow,
    task: Task,
    environment: Environment,
    *,
    generator_for: Callable[..., np.random.Generator],
    provenance: Provenance,
    names: Sequence[str] = tuple(PERTURBATIONS),
    wanted: int | None = None,
    stage: str = "preferences",
    further: Sequence[Perturbation] = (),
) -> Pairs:
    """Pairs from one successful run.

    Args:
        generator_for: ``generator_for(*names)``; each perturbation draws from (row id, "perturbation", its name), so
            that which others are wanted changes nothing.
        names: Which perturbations (keys of ``PERTURBATIONS``), in the order in which they are tried.
        wanted: Pairs of ``names`` at most, one of each; None = as many as can be made.
        further: Perturbations that stand in no table (a model's), tried after those of ``names``.

    A run that can't be replayed exactly is rejected.

    Raises:
        ValueError: the run did not succeed.
    """
    if row.verdict.correct is not True:
        raise ValueError(f"{row.id} did not succeed")
    try:
        run = GoodRun(row, task, environment)
    except ValueError as error:
        return Pairs(rejected=(refusal(row, stage, Reason.ENVIRONMENT_ERROR, str(error)),))
    rows: list[PreferenceRow] = []
    rejected: list[Rejection] = []
    made_before: set[tuple[int, str]] = set()
    try:
        for kind in (*(PERTURBATIONS[name] for name in names), *further):
            if wanted is not None and len(rows) >= wanted and kind not in further:
                continue
            generator = generator_for(row.id, "perturbation", kind.name)
            for made in _of(run, kind, generator, provenance, stage):
                if isinstance(made, Rejection):
                    rejected.append(made)
                elif (key := (made.step, describe(made.rejected))) not in made_before:
                    # What two perturbations both lead to is one pair, under the name that comes first.
                    made_before.add(key)
                    rows.append(made)
    finally:
        run.close()
    return Pairs(tuple(rows), tuple(rejected))


def perturbation_of(row: PreferenceRow) -> str:
    """The name of the perturbation that made a pair.

    Raises:
        ValueError: the pair is of another kind.
    """
    name = row.difference.split(":", 1)[0].replace(" ", "_").casefold()
    if row.kind is not PairKind.PERTURBATION or name not in (*PERTURBATIONS, MinimalEdit.name):
        raise ValueError(f"{row.id} is not a perturbation")
    return name


def _of(
    run: GoodRun,
    kind: Perturbation,
    generator: np.random.Generator,
    provenance: Provenance,
    stage: str,
) -> Iterator[PreferenceRow | Rejection]:
    for proposal in islice(kind.propose(run, generator), _TRIES):
        attempt = run.attempt(proposal.step, proposal.turn)
        why = run.worse(proposal, attempt)
        position = PairPosition.at(run.row, proposal.step, recovery=kind.family == "robust_recovery")
        chosen = bare_actions(position.recorded)
        silent = getattr(chosen[0], "reasoning_content", None) is None
        other = side_of_turn(proposal.turn.model_copy(update={"thought": None}) if silent else proposal.turn)
        if not silent and proposal.turn.thought is None:
            continue  # to think or not would tell the sides apart
        same = full_actions(chosen, run.row.tool_schemas) == full_actions(other, run.row.tool_schemas)
        if why is None or same or same_thought(chosen, other):
            continue
        bad = not_grounded(position, chosen, stage=stage)
        if bad is not None:
            yield bad
            return
        yield make_pair(
            position,
            kind=PairKind.PERTURBATION,
            family=kind.family,
            chosen=chosen,
            rejected=other,
            difference=f"{_title(kind)}: {proposal.difference}. The good run: {describe(chosen)}.",
            why=" ".join(filter(None, (why, proposal.note))),
            provenance=provenance,
            rejected_by="perturber" if kind.name == MinimalEdit.name else "rule",
            first_deviation=position.nature != "recovery",
        )
        return


def _title(kind: Perturbation) -> str:
    return kind.name.replace("_", " ").capitalize()
