"""Who failed a run, and at which step: by continuations where there are any, by labels, else by what the record shows.

After Who&When (arXiv 2505.00212) and VerifyMAS: every step is a hypothesis, and what was measured from the same state
comes before what was seen, and that before what speaks for it. By the record alone the agent comes first: whose steps
weigh most together, and of those the one that weighs most.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from synth.agents.trajectory import history_of
from synth.annotate.failures.clues import CLUES, Clue, Seen, seen_of
from synth.schemas.steps import FailureClass, StepRow
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import speakers

__all__ = ["Attribution", "Basis", "agents_of", "attribute"]

Basis = Literal["continuations", "labels", "record"]
"""What an attribution rests on."""
_SENDS = re.compile(r"\(->")
_ASIDE = re.compile(r"\s*\(.*\)\s*$")
"""To whom an agent speaks, or in which mood: "Orchestrator (-> WebSurfer)"."""


@dataclass(frozen=True)
class Attribution:
    """The step at which a run failed, and whose it is."""

    step: int
    agent: str | None
    """None in a run of one agent."""
    failure: FailureClass | None
    """None: nothing tells."""
    basis: Basis
    share: float
    """How much speaks for this step rather than another one, 0 to 1."""
    why: str
    others: tuple[int, ...]
    """The two steps for which most speaks beside it."""


def agents_of(row: TrajectoryRow) -> tuple[str | None, ...]:
    """Whose each turn is, in a log of several agents."""
    return tuple(None if name is None else _ASIDE.sub("", name) or name for name in speakers(row.content))


def _orchestrator(row: TrajectoryRow) -> str | None:
    """Who tells others what to do, in a log that says to whom a message goes."""
    sends = Counter(_ASIDE.sub("", name) for name in speakers(row.content) if name and _SENDS.search(name))
    return sends.most_common(1)[0][0] if sends else None


def attribute(row: TrajectoryRow, steps: Sequence[StepRow] = (), clues: Sequence[Clue] = CLUES) -> Attribution:
    """Where ``row``, a run that failed, went wrong.

    Args:
        steps: Its labelled steps, where there are any.

    Raises:
        ValueError: the content is not of the form that a trajectory has.
    """
    agents = agents_of(row)
    steps = sorted(steps, key=lambda step: step.step)
    failure = next((step.failure for step in steps if step.failure is not None), None)
    if (measured := _measured(steps)) is not None:
        step, share, why = measured
        return Attribution(step, agents[step], failure, "continuations", share, why, ())
    if (labelled := next((step for step in steps if step.first_error), None)) is not None:
        why = f"{labelled.label_reason.value}: {labelled.label_detail}"
        return Attribution(labelled.step, agents[labelled.step], failure, "labels", 1.0, why, ())
    prompt, history = history_of(row)
    seen = seen_of(prompt.question, history, agents, _orchestrator(row))
    points = [sum(clue.points * clue.holds(step) for clue in clues) for step in seen]
    weights = [math.exp(one) for one in points]
    owned = {name: sum(w for w, one in zip(weights, agents, strict=True) if one == name) for name in agents}
    agent = max(owned, key=owned.__getitem__)
    ranked = sorted(range(len(seen)), key=lambda number: (-points[number], number))
    first = next(number for number in ranked if agents[number] == agent)
    spoken = _spoken(seen[first], clues)
    why = "; ".join(clue.says for clue in spoken) or "nothing speaks for any other step"
    guessed = next((clue.failure for clue in spoken if clue.failure is not None), None)
    others = tuple(number for number in ranked if number != first)[:2]
    return Attribution(first, agent, failure or guessed, "record", weights[first] / sum(weights), why, others)


def _measured(steps: Sequence[StepRow]) -> tuple[int, float, str] | None:
    """The earliest step that continuations show to be one that the run hung on, with the confidence, and why."""
    for step in steps:
        found = step.criticality
        if found is not None and found.verified and found.difference > 0:
            rates = f"{found.alternative_successes} of {found.alternative_n}"
            recorded = f"{found.original_successes} of {found.original_n}"
            told = f"continuations succeed in {rates} with another action, and in {recorded} with this one"
            return step.step, found.confidence, told
    return None


def _spoken(step: Seen, clues: Sequence[Clue]) -> list[Clue]:
    """What speaks for a step, the weightiest first."""
    found = [clue for clue in clues if clue.points > 0 and clue.holds(step) > 0]
    return sorted(found, key=lambda clue: -clue.points * min(clue.holds(step), 1))
