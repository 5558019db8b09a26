"""Steps, continuations and pairs as text for a terminal: labels beside turns, a branch beside its original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.text import Text

from synth.dataset.show.terminal import Beside, clean, facts, items, part, styled, title
from synth.schemas.adp import ContentItem
from synth.schemas.preferences import PreferenceRow, Strength
from synth.schemas.steps import ContinuationRow, Criticality, StepRow
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges

__all__ = ["label_lines", "render_branch", "render_pair", "render_step"]

_SIGNS = {1: ("+1", "green"), 0: ("0", "yellow"), -1: ("-1", "red"), None: ("no label", "dim")}
_VERDICTS = {True: "correct", False: "wrong", None: "not judged"}


def label_lines(step: StepRow) -> Iterator[RenderableType]:
    """What the table of steps says of a turn."""
    sign, style = _SIGNS[step.label]
    words = [sign, step.label_reason.value, "first error" * bool(step.first_error), "pivot" * bool(step.pivot)]
    words += [behaviour.value for behaviour in step.behaviours]
    line = Text(" · ".join(filter(None, words)), style=style)
    if step.label_detail:
        line.append(f"\n{clean(step.label_detail)}", style="dim")
    yield part("label", line, style)
    if step.failure is not None:
        yield part("failure", Text(step.failure.value, style="red"), "red")
    measures = ["not measured"]
    if step.information_gain is not None and step.progress is not None:
        measures = [f"+{step.information_gain:.0%} of the evidence, {step.progress:.0%} in view"]
    if step.gold_match is not None and step.gold_match >= 0:
        measures.append(f"gold hop {step.gold_match + 1}")
    measures += [] if step.score is None else [f"score {step.score:.2f}"]
    if step.answer_probability is not None:
        added = "" if step.answer_gain is None else f" ({step.answer_gain:+.1%})"
        measures.append(f"right answer held at {step.answer_probability:.1%}{added}")
    if step.group_advantage is not None:
        measures.append(f"{step.group_advantage:+.2f} against the runs in the same state")
    if step.outcome_potential is not None:
        measures.append(f"leans {step.outcome_potential:.0%} to what its runs reliably end with")
    yield part("gain", styled(" · ".join(measures), "dim"), "dim")
    if step.criticality is not None:
        yield part("critical", Text(_critical(step.criticality)), "bold")
    if step.first_error_branching is not None:
        told = "the policy still succeeds before it, no more after it" if step.first_error_branching else "no"
        yield part("lost here", styled(told, "dim"), "dim")
    why = step.train_reason.removeprefix("no target: ").removeprefix("target: ")
    yield part("target", styled(f"{'yes' if step.train else 'no'}: {why}", "dim"), "dim")


def _critical(of: Criticality) -> str:
    return (
        f"{'verified' if of.verified else 'not verified'}: alternative {of.alternative} succeeds "
        f"{of.alternative_successes} of {of.alternative_n} times, the recorded action "
        f"{of.original_successes} of {of.original_n}, " + _interval(of)
    )


def _interval(of: Criticality | Strength) -> str:
    return f"difference {of.difference:+.2f} ({of.confidence:.0%} interval {of.low:+.2f} to {of.high:+.2f})"


def render_step(step: StepRow, trajectory: TrajectoryRow | None = None, *, full: bool = False) -> RenderableType:
    """A step with its labels; with its trajectory, also what was done and what answered it.

    Raises:
        ValueError: the step is of another trajectory.
    """
    _same(step.trajectory_id, trajectory)
    lines = [
        ("trajectory", step.trajectory_id),
        ("task", step.task_id),
        ("step", f"{step.step} (turn {step.step + 1}), {step.action_kind}, by the {step.role}"),
        ("split", step.split),
    ]
    drawn: list[RenderableType] = [title("step", step.id), facts(lines), *label_lines(step)]
    if trajectory is not None:
        drawn += [Text("\nwhat was done", style="bold"), *_turn(trajectory.content, step.step, full)]
    return Group(*drawn)


def render_branch(row: ContinuationRow, original: TrajectoryRow | None = None, *, full: bool = False) -> RenderableType:
    """A continuation; with the trajectory that it branches from, drawn beside what was recorded, turn by turn.

    Raises:
        ValueError: the branch is of another trajectory.
    """
    _same(row.trajectory_id, original)
    name = "as recorded" if row.side == "original" else f"alternative {row.alternative}"
    put = "nothing put there, from the question" if row.step < 0 else f"{name}: {row.action_kind}"
    lines = [
        ("trajectory", row.trajectory_id),
        ("task", row.task_id),
        ("from", f"step {row.step} (turn {row.step + 1}), {put}, sample {row.sample}"),
        ("ended", f"{row.stop_reason} after {row.turns} turns"),
        ("answer", row.answer),
        ("verdict", f"{_VERDICTS[row.verdict.correct]} ({row.verdict.rule}) {row.verdict.evidence}"),
    ]
    drawn: list[RenderableType] = [title("branch", row.id), facts(lines, mark=row.verdict.correct)]
    if original is None:
        return Group(*drawn, *items(row.content, full))
    turns = turn_ranges(original.content)
    at = min(max(row.step, 0), len(turns))
    start = turns[at][0] if at < len(turns) else len(original.content)
    drawn += _before(original.content[:start], full)
    left = f"recorded: {_VERDICTS[original.verdict.correct]}, {original.answer or original.stop_reason}"
    right = f"{name}: {_VERDICTS[row.verdict.correct]}, {row.answer or row.stop_reason}"
    drawn.append(_side_by_side(left, original.content[start:], right, row.content, at, full))
    return Group(*drawn)


def render_pair(row: PreferenceRow, *, full: bool = False) -> RenderableType:
    """A pair: what came before, then the chosen side beside the rejected one."""
    strength = row.strength
    kinds = f"{'same kind' if row.same_kind else 'another kind'} of action, {row.position}, {row.nature}"
    lines = [
        ("kind", f"{row.kind}, {row.family}{', selected' * row.selected}"),
        ("trajectory", f"{row.trajectory_id} ({'succeeded' if row.from_success else 'did not succeed'})"),
        ("other run", row.other_trajectory_id),
        ("task", row.task_id),
        ("step", f"{row.step} (turn {row.step + 1}), {kinds}"),
        ("differ in", row.difference),
        ("why", row.why),
        ("strength", _strength(strength) if strength else None),
        ("split", row.split),
    ]
    drawn: list[RenderableType] = [title("pair", row.id), facts(lines), *_before(row.prompt, full)]
    drawn.append(_side_by_side("chosen", row.chosen, "rejected", row.rejected, row.step, full))
    return Group(*drawn)


def _strength(of: Strength) -> str:
    return (
        f"{'verified' if of.verified else 'not verified'}: chosen {of.chosen_successes} of {of.chosen_n}, "
        f"rejected {of.rejected_successes} of {of.rejected_n}, {_interval(of)}"
    )


def _before(content: Sequence[ContentItem], full: bool) -> Iterator[RenderableType]:
    """The question and the last turn before the sides part; ``full`` shows all of them."""
    turns = turn_ranges(content)
    if full or len(turns) < 2:
        yield from items(content, full)
    else:
        yield from items(content[: turns[0][0]], full)
        many = len(turns) - 1
        yield styled(f"  … {many} turn{'s' * (many > 1)} (--full shows all)", "dim")
        yield from items(content[turns[-1][0] :], full)
    yield Text("")


def _side_by_side(
    left: str, first: Sequence[ContentItem], right: str, second: Sequence[ContentItem], number: int, full: bool
) -> Beside:
    """Both sides turn by turn; turns are counted from ``number``."""
    rows: list[tuple[RenderableType, RenderableType]] = []
    for place, (mine, theirs) in enumerate(zip_longest(_turns(first), _turns(second))):
        head = Text(f"turn {number + place + 1}", style="bold")
        rows.append(
            (
                Group(head, *items(mine, full)) if mine else Text(""),
                Group(head, *items(theirs, full)) if theirs else Text(""),
            )
        )
    return Beside(left, right, rows)


def _turns(content: Sequence[ContentItem]) -> list[Sequence[ContentItem]]:
    """Each turn with what answered it; what stands before the first turn goes with it."""
    starts = [start for start, _ in turn_ranges(content)]
    ends = [*starts[1:], len(content)]
    return [content[start:end] for start, end in zip([0, *starts[1:]], ends, strict=True)] if starts else []


def _turn(content: Sequence[ContentItem], step: int, full: bool) -> Iterator[RenderableType]:
    turns = turn_ranges(content)
    if 0 <= step < len(turns):
        end = turns[step + 1][0] if step + 1 < len(turns) else len(content)
        yield from items(content[turns[step][0] : end], full)


def _same(name: str, trajectory: TrajectoryRow | None) -> None:
    if trajectory is not None and trajectory.id != name:
        raise ValueError(f"the row is of {name}, not of {trajectory.id}")
