"""Rules of trajectories, and of the steps and continuations that are tied to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from synth.dataset.rules.recorded import Recorded, bare, essence, link_problems, measured, owner_problems, record
from synth.dataset.rules.rules import Known, Place, rule
from synth.environments.answers import final_answer
from synth.models.parse import MOST_LOGPROB
from synth.schemas.adp import (
    AdpError,
    ApiAction,
    CodeAction,
    MessageAction,
    TextObservation,
    error_lines,
    parse,
    to_json,
)
from synth.schemas.arrow import trajectory_of
from synth.schemas.model_turns import ModelTurn, ModelTurns
from synth.schemas.refined import Refined
from synth.schemas.reflections import Reflected
from synth.schemas.reworked import Reworked
from synth.schemas.steps import ContinuationRow, Criticality, LabelReason, Side, StepRow
from synth.schemas.summaries import Shown
from synth.schemas.trajectories import RECORDED, StopReason, TrajectoryRow
from synth.schemas.trees import Grown
from synth.schemas.turns import action_kind, turn_ranges, turns_within

__all__ = ["RUN_RULES", "Continuations", "Runs", "Steps"]

_DERIVED = {"steps", "continuations", "preferences", "judgments"}
"""Tables that are compared with the content of trajectories."""


@dataclass
class Runs:
    """What trajectories say, for the rules of later tables."""

    recorded: dict[str, Recorded] = field(default_factory=dict)
    """Digests of all of them, where a table is compared with them."""
    ids: set[str] = field(default_factory=set)
    marks: dict[str, tuple[str, Place]] = field(default_factory=dict)
    """Run that says that another one stands for it -> that one, and where it says so."""


@rule("trajectories", "schema_version available_custom_tools available_code_languages tool_calls retry_of content[]")
def run(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """It is a trajectory of the Agent Data Protocol that begins with the question of its task; the typed columns are
    those of the content."""
    runs = known.of(Runs)
    runs.ids.add(row.id)
    if row.duplicate_of is not None:
        runs.marks[row.id] = row.duplicate_of, known.place
    if _DERIVED & set(known.there):
        runs.recorded[row.id] = record(row)
    yield from _protocol(row)
    ways = (Reflected, Refined, Grown, Reworked)
    if row.retry_of is not None and not any(said.stand_in(row.details) for said in ways):
        yield "retry_of: no detail says what was told of the first run, or how this one came out of it"
    if row.retry_of is not None and row.retry_of == row.id:
        yield "retry_of: a run cannot retry itself"
    task = known.tasks.get(row.task_id)
    if task is not None and row.environment != RECORDED:  # else it was asked in any words
        first = row.content[0] if row.content else None
        if not isinstance(first, TextObservation) or first.source != "user":
            yield "content[0]: is not the user's question"
        elif task.question not in first.content and not known.unread(first.content):
            yield "content[0]: does not hold the question of its task"
    calls = sum(item.class_ in ("api_action", "code_action") for item in row.content)
    if calls != row.tool_calls:
        yield f"tool_calls: {row.tool_calls}, but the content holds {calls}"
    names = tuple(tool.get("function", {}).get("name") for tool in row.tool_schemas)
    if row.available_custom_tools is not None and row.available_custom_tools != names:
        yield "available_custom_tools: are not those of tool_schemas"


def _protocol(row: TrajectoryRow) -> Sequence[str]:
    """The ADP object that the row's ADP columns give, as the JSON that a reader would write, parsed anew."""
    try:
        trajectory = trajectory_of(row)
        if parse(to_json(trajectory)) != trajectory:
            return ["content: changes in a round trip through JSON"]
    except ValidationError as error:
        return error_lines(error)
    except AdpError as error:
        return error.problems
    return ()


@rule("trajectories", "privileged environment_version system_prompt tool_schemas model", text=True)
def actor_of_run(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """Who acted is as the report says of the role, and all runs of a role have the same prompt and tools."""
    if row.environment == RECORDED:  # an import: ids, tools and models are those of its files, run by run
        return
    dataset = row.provenance.dataset
    about = known.origins.get(dataset)
    how = Reworked.of(row.details).reworked.how if Reworked.stand_in(row.details) else ""
    whose = "policy" if how == "reworded" else row.role  # whose words they are
    of = next((role for role in about.roles if role.role == whose), None) if about else None
    if of is not None:
        if whose == row.role and row.privileged != of.privileged:
            yield f"privileged: {row.privileged}, but the report says of the {whose}: {of.privileged}"
        if row.provenance.backend != of.backend:
            yield f"backend: {row.provenance.backend}, but the report says of the {whose}: {of.backend}"
        if (row.model is None) != (of.model is None):
            yield f"model: {row.model}, but the report says of the {whose}: {of.model}"
    if not known.same(("version", dataset, row.environment), row.environment_version):
        yield f"environment_version: {row.environment_version}, but other rows are of another"
    if not known.same(("tools", dataset, row.role, row.environment, how == "distilled"), row.tool_schemas):
        yield f"tool_schemas: are not those of the other runs of the {row.role}"
    own = row.retry_of is not None or Shown.stand_in(row.details)
    if not own and not known.same(("system", dataset, row.role, row.environment), row.system_prompt):
        yield f"system_prompt: is not that of the other runs of the {row.role}"


@rule("trajectories continuations", "success verdict.correct answer stop_reason turns")
def ending(row: TrajectoryRow | ContinuationRow, known: Known) -> Iterator[str]:
    """How it ended and how long it is follow from its content."""
    if row.success != (row.verdict.correct is True):
        yield f"success: {row.success}, but the verdict says {row.verdict.correct}"
    turns, most = turns_within(row.content, recorded=row.provenance.backend == RECORDED)
    if not turns <= row.turns <= most:
        yield f"turns: {row.turns}, but the content holds {turns}"
    last = row.content[-1] if row.content else None
    if row.stop_reason is StopReason.ANSWERED:
        given = row.provenance.backend == RECORDED and row.answer is not None  # its file may say the bare answer
        if not isinstance(last, MessageAction):
            yield "answer: there is no last message"
        elif not given and row.answer not in (last.content, final_answer(last.content)):
            yield "answer: is not that of the last message"
    elif row.answer is not None:
        yield f"answer: set, though the rollout ended with {row.stop_reason}"


@rule("trajectories continuations", "proposal model_turns[]")
def model_turns(row: TrajectoryRow | ContinuationRow, known: Known) -> Iterator[str]:
    """A model's turns are recorded once each, with one probability per token."""
    if isinstance(row, TrajectoryRow):
        path, most, whose = "details.model_turns", row.turns, ""
        try:
            turns = ModelTurns.of(row.details).model_turns
        except ValueError as error:
            yield str(error)
            return
    else:
        path, most, turns = "model_turns", row.turns - (row.step >= 0), row.model_turns
        whose = " of the policy's own"
        if row.proposal is not None:
            yield from _turn("proposal", row.proposal)
            if row.side == "original":
                yield "proposal: the recorded action has no proposal"
    if len(turns) > most:
        yield f"{path}: there are {len(turns)}, of {most} turns{whose}"
    for number, one in enumerate(turns):
        yield from _turn(f"{path}[{number}]", one)


def _turn(where: str, one: ModelTurn) -> Iterator[str]:
    if one.token_ids is not None and one.logprobs is not None and len(one.token_ids) != len(one.logprobs):
        yield f"{where}.logprobs: {len(one.logprobs)}, of {len(one.token_ids)} tokens"
    if any(token < 0 for token in one.token_ids or ()):
        yield f"{where}.token_ids: a number below 0"
    if any(not value <= MOST_LOGPROB for value in one.logprobs or ()):
        yield f"{where}.logprobs: one above 0"


# -- steps ------------------------------------------------------------------------------------------------------------

_LABELS: Mapping[LabelReason, int | None] = {
    LabelReason.SUPPORTED_ANSWER: 1,
    LabelReason.UNMEASURED: None,
    LabelReason.NEUTRAL: 0,
    LabelReason.TOOL_FAILURE: 0,
    LabelReason.INVALID_CALL: -1,
    LabelReason.REPEATED_FAILURE: -1,
    LabelReason.WRONG_TURN: -1,
    LabelReason.UNSUPPORTED_ANSWER: -1,
    LabelReason.PREMATURE: -1,
    LabelReason.PROPAGATED: -1,
}
"""Reasons that leave no choice of the label."""


@dataclass
class Steps:
    """What steps say, for the rules of later tables."""

    places: dict[str, dict[int, Place]] = field(default_factory=lambda: defaultdict(dict))
    first_errors: set[str] = field(default_factory=set)
    unmeasured: dict[str, int] = field(default_factory=dict)
    """Trajectory -> its first step without a label."""
    open_errors: dict[tuple[str, int], Place] = field(default_factory=dict)
    matched: set[tuple[str, int]] = field(default_factory=set)
    criticality: dict[tuple[str, int], tuple[Criticality, Place]] = field(default_factory=dict)
    scores: dict[tuple[str, int], float | None] = field(default_factory=dict)


def _missing_steps(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(Steps)
    for (name, step), place in state.open_errors.items():
        if state.unmeasured.get(name, step) >= step:
            yield place, "first_error: null, though every step before it was measured"
    for name, places in state.places.items():
        run = known.of(Runs).recorded.get(name)
        missing = sorted(set(range(len(run.ranges))) - set(places)) if run else []
        if missing:
            yield min(places.values()), f"step: {name} has no row of step {missing[0]}"


@rule("steps", "id label first_error train", close=_missing_steps)
def step_label(row: StepRow, known: Known) -> Iterator[str]:
    """Every turn has a step; the label is that of its reason, and of a run's harmful steps one is the first error."""
    state, place = known.of(Steps), known.place
    state.scores[row.trajectory_id, row.step] = row.score
    if row.id != f"{row.trajectory_id}/{row.step}":
        yield f"id: {row.id} is not that of step {row.step} of {row.trajectory_id}"
    state.places[row.trajectory_id][row.step] = place
    if row.first_error:
        if row.trajectory_id in state.first_errors:
            yield f"first_error: {row.trajectory_id} has another one"
        state.first_errors.add(row.trajectory_id)
        if row.label != -1:
            yield f"first_error: the label is {row.label}"
    if row.label is None:
        state.unmeasured[row.trajectory_id] = min(row.step, state.unmeasured.get(row.trajectory_id, row.step))
    elif row.first_error is None and row.label != -1:
        yield f"first_error: null, though the label is {row.label}"
    elif row.first_error is None:
        state.open_errors[row.trajectory_id, row.step] = place
    if row.failure is not None and (row.first_error is False or row.label != -1):
        yield f"failure: {row.failure} on a step that is not the first error"
    unknown = row.label is None and row.label_reason is not LabelReason.UNMEASURED
    if unknown or row.label != _LABELS.get(row.label_reason, row.label):
        yield f"label: {row.label}, though the reason is {row.label_reason}"
    for name in ("information_gain", "progress", "score"):
        value = getattr(row, name)
        if value is not None and not 0 <= value <= 1:
            yield f"{name}: {value:g} is not from 0 to 1"


@rule("steps", "content_start content_end role action_kind gold_match")
def step_of_run(row: StepRow, known: Known) -> Iterator[str]:
    """A step is a turn of its run, matched to a hop of its task or to none."""
    run, state, task = known.of(Runs).recorded.get(row.trajectory_id), known.of(Steps), known.tasks.get(row.task_id)
    yield from owner_problems(row, run)
    if row.gold_match is not None and row.gold_match >= 0:
        if (row.trajectory_id, row.gold_match) in state.matched:
            yield f"gold_match: another step of {row.trajectory_id} is matched to hop {row.gold_match} too"
        state.matched.add((row.trajectory_id, row.gold_match))
    if run is None or not 0 <= row.step < len(run.ranges):
        return
    start, end = run.ranges[row.step]
    if (row.content_start, row.content_end) != (start, end):
        yield f"content_start, content_end: {row.content_start}, {row.content_end}, but the turn is {start}, {end}"
    if row.action_kind != run.kinds[row.step]:
        yield f"action_kind: {row.action_kind}, but the turn is {run.kinds[row.step]}"
    if row.role != run.role:
        yield f"role: {row.role}, but the trajectory is of {run.role}"
    if row.failure is not None and run.success:
        yield f"failure: {row.failure}, but the run succeeded"
    if task is None:
        return
    if (row.gold_match is None) != (task.hops == 0) or not -1 <= (row.gold_match or 0) < max(task.hops, 1):
        yield f"gold_match: {row.gold_match}, but the walk has {task.hops} hops"
    for name in ("information_gain", "progress"):
        if task.hops and getattr(row, name) is None:
            yield f"{name}: null, but the walk has {task.hops} hops"


@rule(
    "steps",
    "criticality.alternative criticality.difference criticality.alternative_successes criticality.alternative_n "
    "criticality.original_successes criticality.original_n criticality.verified criticality.policy_draws "
    "criticality.alternative_draws",
)
def criticality(row: StepRow, known: Known) -> Iterator[str]:
    """Counts, difference and interval fit each other, and a verified step speaks against what was recorded."""
    of, run = row.criticality, known.of(Runs).recorded.get(row.trajectory_id)
    if of is None:
        return
    known.of(Steps).criticality[row.trajectory_id, row.step] = (of, known.place)
    yield from measured("criticality", of, ("alternative", "original"), known.recipe)
    if of.alternative < 0:
        yield f"criticality.alternative: {of.alternative}"
    if of.verified and run is not None and (of.difference >= 0 if run.success else of.difference <= 0):
        outcome = "succeeded" if run.success else "did not succeed"
        yield f"criticality.verified: with a difference of {of.difference:g} in a run that {outcome}"


# -- continuations ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tally:
    """The continuations of one action."""

    essence: bytes
    bare: bytes
    place: Place
    verdicts: dict[int, bool | None] = field(default_factory=dict)
    """By sample."""

    def judged(self, n: int) -> tuple[int, int]:
        """Successes and number of the first ``n`` continuations that were judged; of fewer when there are no more."""
        told = [verdict for _, verdict in sorted(self.verdicts.items()) if verdict is not None][:n]
        return sum(told), len(told)


@dataclass
class Continuations:
    """What was tried from each step, by side and number of the alternative."""

    tallies: dict[tuple[str, int], dict[tuple[Side, int], _Tally]] = field(default_factory=lambda: defaultdict(dict))

    def against(
        self, path: str, name: str, step: int, alternative: int, counts: Mapping[Side, tuple[int, int]]
    ) -> Iterator[str]:
        """Whether ``counts`` (successes, continuations by side) are those of the continuations."""
        tallies = self.tallies.get((name, step), {})
        for side, (good, n) in counts.items():
            tally = tallies.get((side, alternative if side == "alternative" else -1))
            held = tally.judged(n) if tally else (0, 0)
            if held != (good, n):
                yield f"{path}: {good} of {n} on the {side} side, but the continuations hold {held[0]} of {held[1]}"


def _counted(known: Known) -> Iterator[tuple[Place, str]]:
    state, steps = known.of(Continuations), known.of(Steps)
    for (name, step), tallies in state.tallies.items():
        for (side, number), tally in tallies.items():
            if (min(tally.verdicts), max(tally.verdicts)) != (0, len(tally.verdicts) - 1):
                what = f"{side} {number}" if side == "alternative" else side
                yield tally.place, f"sample: the {what} side of {name}/{step} lacks one"
    for (name, step), (of, place) in steps.criticality.items() if state.tallies else ():
        counts: dict[Side, tuple[int, int]] = {
            "alternative": (of.alternative_successes, of.alternative_n),
            "original": (of.original_successes, of.original_n),
        }
        for what in state.against("criticality", name, step, of.alternative, counts):
            yield place, what
    for (name, step), tallies in state.tallies.items():
        held = steps.places.get(name, {}).get(step)
        judged = {side for (side, _), tally in tallies.items() if tally.judged(1)[1]}
        if held and len(judged) == 2 and (name, step) not in steps.criticality:
            yield held, "criticality: null, though both sides were tried"


@rule("continuations", "alternative side action_kind step sample", close=_counted)
def continuation(row: ContinuationRow, known: Known) -> Iterator[str]:
    """It continues from its step by the recorded action or an alternative; no sample is missing, steps count them."""
    run = known.of(Runs).recorded.get(row.trajectory_id)
    yield from owner_problems(row, run)
    if (row.alternative == -1) != (row.side == "original") or row.alternative < -1:
        yield f"alternative: {row.alternative} on the {row.side} side"
    turns = turn_ranges(row.content)
    nothing = not row.content and row.step == -1 and row.stop_reason is StopReason.REJECTED
    if not nothing and (not turns or turns[0][0] != 0):
        yield "content: does not begin with an action"
        return
    first = row.content[: turns[0][1]] if turns else ()
    kind = "none" if nothing else action_kind(first, gave_up=row.stop_reason is StopReason.GAVE_UP and len(turns) == 1)
    if row.action_kind != kind:
        yield f"action_kind: {row.action_kind}, but the first turn is {kind}"
    yield from link_problems(row.content)
    shown, plain = essence(first), bare(first)
    if run is not None and -1 <= row.step < len(run.ranges):
        yield from _after_prefix(row, shown, run)
    tallies = known.of(Continuations).tallies[row.trajectory_id, row.step]
    if row.side == "alternative":
        for (side, number), other in tallies.items():
            if side == "alternative" and number != row.alternative and other.essence == shown:
                yield f"content: repeats the action of alternative {number}"
    tally = tallies.setdefault((row.side, row.alternative), _Tally(shown, plain, known.place))
    if row.step >= 0 and tally.bare != plain:
        yield f"content: does not begin like sample 0 of alternative {row.alternative} ({tally.place[0]})"
    tally.verdicts[row.sample] = row.verdict.correct


def _after_prefix(row: ContinuationRow, shown: bytes, run: Recorded) -> Iterator[str]:
    # Without thoughts: those of all calls but the first of a turn get lost in the history that is continued.
    if row.side == "original" and row.step >= 0 and shown != run.essences[row.step]:
        yield f"content: does not begin with what the trajectory did at step {row.step}"
    if row.side == "alternative" and shown == run.essences[row.step]:
        yield f"content: begins with what the trajectory did at step {row.step}, so it is not an alternative"
    before = set(run.ids[: run.ranges[max(row.step, 0)][0]]) - {None}
    own = (item.tool_call_id for item in row.content if isinstance(item, ApiAction | CodeAction))
    if again := next((name for name in own if name in before), None):
        yield f"content: {again!r} is already the id of an earlier call"


RUN_RULES = (run, actor_of_run, ending, model_turns, step_label, step_of_run, criticality, continuation)
