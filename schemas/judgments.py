"""What was said about a row beside the rules: scores of actions, verdicts on pairs and answers, ratings of runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from synth.schemas.details import Facts
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Key, NonEmpty, Ref, Row, Split

__all__ = ["FailureMode", "Harm", "JudgmentKind", "JudgmentRow", "RiskSource", "SafetyParts"]

RiskSource = Literal[
    "malicious_request",
    "indirect_injection",
    "request_against_policy",
    "tool_failure",
    "underspecified_request",
    "agent",
]
FailureMode = Literal[
    "instruction_priority",
    "harmful_compliance",
    "policy_violation",
    "improper_tool_use",
    "unrequested_action",
    "inaccurate_information",
]
Harm = Literal["financial", "functional"]


class SafetyParts(Facts):
    """``parts`` of a verdict on safety: three axes (ATBench, arXiv 2604.02022)."""

    risk_source: RiskSource | None
    """Where the risk came from: a user who means harm, instructions planted in a tool's output, a request against the
    policy, a broken tool, a request that left something open, or the agent alone. None: there was no risk."""
    failure_mode: FailureMode | None
    """How the run was unsafe: it obeyed instructions that were not the user's, complied with a harmful request, broke
    the policy, carried out a request wrongly, made a change that was not requested, or stated a falsehood. None: it
    was safe."""
    harm: Harm | None
    """What is wrong in the final state: amounts of money, or something else. None: nothing, or not measured."""


class JudgmentKind(StrEnum):
    """What is judged."""

    ACTION = "action"
    """An action at a step, by the ``prm``."""
    PAIR = "pair"
    """Which side of a preference pair is better, in both orders, by the ``judge``."""
    ANSWER = "answer"
    """Whether an answer that no rule took for right means the same as the right one, by the ``judge``."""
    RUN = "run"
    """How good a whole run is, 1 to 5 (OS-Genesis, arXiv 2412.19723)."""
    CHECKLIST = "checklist"
    """How much of its task's checklist a run meets (CM2, arXiv 2602.12268)."""
    FAILURE = "failure"
    """Who failed a run, and at which step (Who&When, arXiv 2505.00212)."""
    SAFETY = "safety"
    """Whether a run was safe, and if not, how (ATBench, arXiv 2604.02022): :class:`SafetyParts`."""


class JudgmentRow(Row):
    """One verdict, or why there is none. It stands beside what the rules found and changes nothing of it."""

    table: ClassVar[str | None] = "judgments"
    unique_together = (("trajectory_id", "pair_id", "step", "alternative", "kind"),)

    id: Annotated[NonEmpty, Key()]
    """Hash of what is judged, and as what."""
    kind: JudgmentKind
    """What is judged."""
    task_id: NonEmpty
    """The task of it."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The trajectory that it is, or is part of; of a pair, the one that the prefix comes from."""
    step: int
    """The step of an action, a pair or a failure; -1 for a whole run and for an answer."""
    alternative: int
    """Of an action, its number among the alternatives of the step, as in ``continuations``; -1 = the recorded one, and
    for all else."""
    pair_id: Annotated[str | None, Ref("preferences")]
    """Of a pair, its id."""
    verdict: NonEmpty
    """``scored``; ``agrees`` or ``disagrees`` with the pair; ``equivalent`` or ``different``; ``rated``; of a checklist
    ``counted``; of safety ``safe`` or ``unsafe``; of a failure what it rests on, ``continuations``, ``labels`` or the
    ``record``; or ``abstains``."""
    value: float | None
    """Of an action 0 to 1; of a run 1 to 5; of a pair 1 where it agrees and 0 where it does not; of an answer 1 where
    it is equivalent and 0 where not; of a checklist the weight of what is met, 0 to 1; of safety 1 or 0; of a failure
    how much speaks for this step, 0 to 1. None = abstained: never taken for a 0."""
    parts: JsonObject
    """What the value is made of: ``coherence`` and ``completion`` of a run, the ``orders`` of a pair. Of a run also,
    where the recipe samples by reward (OS-Genesis), its ``chance`` and whether it was ``drawn``. Of a checklist its
    ``items``, each ``met`` (true, false or null). Of a failure the ``agent`` (null in a run of
    one), the class of ``failure`` as in ``steps``, and the ``next`` steps that come into question. Of safety the
    ``risk_source``, the ``failure_mode`` and the ``harm``, each null where there is none or nothing measures it."""
    cites: tuple[int, ...]
    """Steps that the verdict rests on, as the judge says; all of them exist."""
    reason: str
    """Why, in the words of who judged; for an abstention, what was wrong."""
    abstained: Reason | None
    """Why there is no verdict."""
    calls: tuple[str, ...]
    """Keys of the model calls that it rests on; none where a rule judged."""
    split: Split
    """That of the task."""
    provenance: Provenance
    """Who judged: backend, model, prompt and sampling."""
