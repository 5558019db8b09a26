"""Tasks as reinforcement learning takes them: a prompt, and all that a verifier needs to reward a response."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.details import Facts
from synth.schemas.documents import ValueKind
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, JsonObject, Key, NonEmpty, Ref, Row, Split
from synth.schemas.steps import StepRow
from synth.schemas.tasks import AnswerPart, Shape
from synth.schemas.trajectories import Role

__all__ = [
    "Criterion",
    "ExtraInfo",
    "GroundTruth",
    "HopItem",
    "Message",
    "RewardModel",
    "RlRow",
    "RubricFact",
    "RubricItem",
    "RunValues",
    "TurnValue",
    "Verifier",
]


class Message(Row):
    """One message of a prompt."""

    role: Literal["system", "user"]
    """Who says it."""
    content: NonEmpty
    """The text."""


class RubricFact(Row):
    """The single hop that finds an entity: what a step of the reasoning has to establish (CaRR, arXiv 2601.06021)."""

    hop: int
    """Place of the hop in the walk of the task, from 0."""
    statement: str
    """The words of a document that state it."""
    document_id: NonEmpty
    """The document that they stand in."""
    needs: tuple[int, ...] = ()
    """Hops of the rubric that have to be known first: what links the chain of evidence to the answer."""


class RubricItem(Row):
    """Something that the way to the answer leads through: a response that shows its way names it."""

    entity: NonEmpty
    """Id of the entity; for a value, the value itself."""
    kind: NonEmpty
    """Entity type, ``page``, or a kind of value."""
    names: tuple[str, ...]
    """What a response may call it: its name first, then aliases and other ways to write a value."""
    facts: tuple[RubricFact, ...]
    """The hops that end at it, one rubric each."""


class Criterion(Row):
    """One item of a task's checklist: something to be seen in a good run (CM2, arXiv 2602.12268)."""

    text: NonEmpty
    """The item in words."""
    kind: Literal["state", "call", "no_call", "answer", "evidence", "named"]
    """``evidence``: a page that was read. ``named``: a finding that the response names. The others as in the plan's
    :class:`synth.schemas.plans.ChecklistItem`: only the environment can tell of states and calls."""
    weight: float
    """Its part of the whole, from 0 to 1; all items together weigh 1."""
    details: JsonObject = {}
    """What a rule looks at."""


class HopItem(Facts):
    """What ``evidence`` and ``named`` look at."""

    hop: int | None = None
    document_id: str | None = None
    """The page of ``evidence``."""
    entity: str | None = None
    """The finding of ``named``."""


class GroundTruth(Row):
    """What a response is judged by. A trainer hands it to the reward function as it is, or as JSON."""

    question: NonEmpty
    """The question, so that "three rivers" is read as a number where rivers were asked for."""
    answer: NonEmpty
    """The gold answer."""
    answer_aliases: tuple[str, ...] = ()
    """Other answers that are as right."""
    answer_kind: ValueKind
    """What kind of thing the answer is."""
    answer_parts: tuple[AnswerPart, ...] = ()
    """Where the answer is a list: its parts."""
    answer_ordered: bool = False
    """Whether the parts must come in this order."""
    judged_by: Literal["answer", "state"] = "answer"
    """``state``: success is what the environment holds at the end, whatever the agent says, so no reward can be read
    from a text; the environment must be stepped and asked (``POST /score`` of ``synth serve-env``)."""
    rubric: tuple[RubricItem, ...] = ()
    """All that the walk finds: the answer, the bridges, the members and the values. Things that the question itself
    names are not in it. Empty for given questions, which have no walk."""
    checklist: tuple[Criterion, ...] = ()
    """The items of the plan, or of the walk, with weights. Empty for given questions."""


class RewardModel(Row):
    """How the response is rewarded, in the shape that verl reads."""

    style: Literal["rule"] = "rule"
    """A rule decides, no model."""
    ground_truth: GroundTruth
    """What the rule compares with."""


class Verifier(Row):
    """Which reward function belongs to the row."""

    function: NonEmpty = "synth.annotate.rewards:group_rewards"
    """``module:name`` of the function that ships with the project."""
    version: int = 1
    """Bumped when a reward can change."""
    outcome_weight: float = 0.7
    """Reward of a right answer that names nothing of the rubric."""
    rubric_weight: float = 0.3
    """What is added for the rubric, relative to the best response of the group (LongTraceRL, arXiv 2605.31584)."""


class ExtraInfo(Row):
    """What verl hands to the reward function beside the ground truth."""

    index: int
    """Number of the task among the candidates."""
    split: Split
    """The split of the task."""
    id: NonEmpty
    """Id of this row: responses to the same prompt are one group."""
    task_id: NonEmpty
    """Id of the task in ``tasks``."""


class TurnValue(Row):
    """What one turn of a recorded run was worth, by each measure that there is: columns of ``steps``."""

    step: int
    """Place among the run's turns, from 0."""
    label: Literal[-1, 0, 1] | None
    """+1 helps, 0 neutral, -1 harms; None: not measured."""
    matched: bool | None
    """Whether its call is matched to a hop of the gold walk, one to one (MatchTIR, arXiv 2601.10712). None: the task
    has no walk."""
    information_gain: float | None
    """Share of the task's evidence that came into view with it. None: no evidence is known."""
    advantage: float | None
    """By how much it changed the policy's rate of success (PAV, arXiv 2410.08146). None: not measured."""
    group_advantage: float | None = None
    """By how much better its run ended than the others that were in the same state (GiGPO, arXiv 2505.10978). None: no
    other run was."""
    answer_probability: float | None = None
    """How probable the policy holds the right answer after it (IGPO, arXiv 2510.14967). None: not measured."""
    answer_gain: float | None = None
    """What it adds to that. None: not measured."""
    outcome_potential: float | None = None
    """By how much the policy leans to what its runs reliably end with, after it (SIOP, arXiv 2605.04984). None: not
    measured."""
    outcome_gain: float | None = None
    """What it adds to that. None: not measured."""
    judged_right: bool | None = None
    """Whether it is true what it said by ``judge`` or ``check``. None: it said nothing, or nothing tells."""
    score: float | None
    """Score by the ``prm``. None: it abstained or did not look."""

    @classmethod
    def of(cls, step: StepRow) -> TurnValue:
        """Those of a labelled step."""
        return cls(
            step=step.step,
            label=step.label,
            matched=None if step.gold_match is None else step.gold_match >= 0,
            information_gain=step.information_gain,
            advantage=step.advantage,
            group_advantage=step.group_advantage,
            answer_probability=step.answer_probability,
            answer_gain=step.answer_gain,
            outcome_potential=step.outcome_potential,
            outcome_gain=step.outcome_gain,
            judged_right=step.judged_right,
            score=step.score,
        )


class RunValues(Row):
    """A recorded run on the task, turn by turn."""

    trajectory_id: Annotated[NonEmpty, Ref("trajectories")]
    """The run."""
    role: Role
    """Who acted."""
    turns: tuple[TurnValue, ...]
    """In order."""


class RlRow(Row):
    """A task to be solved with tools. ``prompt`` to ``extra_info`` are the columns that TRL and verl take."""

    table: ClassVar[str | None] = "rl"

    id: Annotated[NonEmpty, Key()]
    """``rl-<16 hex>``, the hash of what the row is."""
    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    data_source: NonEmpty
    """Name of the dataset: verl chooses the reward function by it."""
    prompt: tuple[Message, ...]
    """System prompt and question."""
    tools: JsonList
    """Tools as JSON Schema functions, in the order that an agent sees."""
    ability: NonEmpty = "search"
    """What is trained."""
    agent_name: NonEmpty = "tool_agent"
    """The agent loop of verl that calls tools."""
    reward_model: RewardModel
    """The ground truth and the rubric."""
    extra_info: ExtraInfo
    """Ids and split, for the reward function."""
    verifier: Verifier = Verifier()
    """The reward function that ships with the project."""
    runs: tuple[RunValues, ...] = ()
    """What the turns of recorded runs on the task were worth, for baselines and turn-level credit; empty where no steps
    were labelled."""
    environment: NonEmpty
    """Name of the environment in which the tools work."""
    environment_version: NonEmpty
    """Bumped when an observation or a verdict can change."""
    shape: Shape
    """Shape of the walk."""
    hops: int
    """Hops of the walk; 0 for given questions."""
    obfuscation: int
    """Level of obfuscation of the question."""
    split: Split
    """The split of the task."""
    licence: str | None
    """SPDX id of the documents' licence, None when unknown or mixed."""
    provenance: Provenance
    """What made the row."""
