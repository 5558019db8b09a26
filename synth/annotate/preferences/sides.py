"""What all pairs are made of: where in a run they stand, prompt and sides, their description, the check of the chosen
side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.consistency import poor_reason
from synth.agents.grounding.said import says
from synth.agents.trajectory import history_of, step_items
from synth.identity import digest
from synth.schemas.adp import ApiAction, CodeAction, ContentItem
from synth.schemas.preferences import PairKind, PreferenceRow, Strength, selected_by_default
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.searched import Unpaired
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.schemas.turns import action_kind, bare_actions, full_actions, turn_ranges

__all__ = [
    "PairPosition",
    "Pairs",
    "alike",
    "describe",
    "make_pair",
    "not_grounded",
    "not_reasoned",
    "refusal",
    "same_thought",
    "side_of_turn",
]


@dataclass(frozen=True)
class PairPosition:
    """Where a pair stands: the run that its prefix comes from, and the turn at which the sides part."""

    run: TrajectoryRow
    step: int
    """Number of that turn; 0 where whole runs part after the question."""
    start: int
    """The prefix is ``run.content[:start]``."""
    end: int
    """What the run did there is ``run.content[start:end]``."""
    order: Literal["earliest", "later", "whole"] = "later"
    """``earliest`` and ``later`` tell verified steps of one run apart; pairs of other steps are ``later``."""
    nature: Literal["decision", "recovery", "whole"] = "decision"
    """``recovery``: the run was off the path before the step."""

    @classmethod
    def at(cls, run: TrajectoryRow, step: int, *, earliest: bool = False, recovery: bool = False) -> PairPosition:
        """At one turn."""
        start, end = turn_ranges(run.content)[step]
        return cls(run, step, start, end, "earliest" if earliest else "later", "recovery" if recovery else "decision")

    @classmethod
    def whole(cls, run: TrajectoryRow) -> PairPosition:
        """After the question."""
        return cls(run, 0, 1, len(run.content), "whole", "whole")

    @property
    def prompt(self) -> tuple[ContentItem, ...]:
        """Question and turns before."""
        return self.run.content[: self.start]

    @property
    def recorded(self) -> tuple[ContentItem, ...]:
        """The turn that the run took, or the rest of the run."""
        return self.run.content[self.start : self.end]


@dataclass(frozen=True)
class Pairs:
    """Pairs that hold, and what did not become one."""

    rows: tuple[PreferenceRow, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    unpaired: tuple[Unpaired, ...] = ()
    """Failed runs that gave no pair here."""

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(self.rows + other.rows, self.rejected + other.rejected, self.unpaired + other.unpaired)


def make_pair(
    position: PairPosition,
    *,
    kind: PairKind,
    family: str,
    chosen: Sequence[ContentItem],
    rejected: Sequence[ContentItem],
    difference: str,
    why: str,
    provenance: Provenance,
    strength: Strength | None = None,
    other: TrajectoryRow | None = None,
    gave_up: tuple[bool, bool] = (False, False),
    rejected_by: Literal["policy", "teacher", "expert", "rule", "perturber"] = "policy",
    first_deviation: bool | None = None,
) -> PreferenceRow:
    """The row of a pair. ``gave_up``: whether the one action of the chosen (rejected) side gives up; content alone does
    not tell. The id is a hash of kind, family, prefix and sides."""
    row, step, prompt = position.run, position.step, position.prompt
    sides = (tuple(chosen), tuple(rejected))
    kinds = [action_kind(_first_turn(side), gave_up=ends) for side, ends in zip(sides, gave_up, strict=True)]
    same_kind = kinds[0] == kinds[1]
    body = [[item.model_dump(mode="json") for item in part] for part in (prompt, *sides)]
    return PreferenceRow(
        id=f"preference-{digest('preference', kind, family, row.id, step, body)[:16]}",
        kind=kind,
        family=family,
        task_id=row.task_id,
        trajectory_id=row.id,
        other_trajectory_id=other.id if other is not None else None,
        step=step,
        system_prompt=row.system_prompt,
        tool_schemas=row.tool_schemas,
        prompt=prompt,
        chosen=sides[0],
        rejected=sides[1],
        same_kind=same_kind,
        position=position.order,
        nature=position.nature,
        from_success=row.success,
        difference=difference,
        why=why,
        strength=strength,
        rejected_by=rejected_by,
        first_deviation=first_deviation,
        selected=selected_by_default(kind, strength),
        split=row.split,
        licence=row.licence,
        provenance=provenance,
    )


def _first_turn(side: Sequence[ContentItem]) -> Sequence[ContentItem]:
    end = next((at for at, item in enumerate(side) if not _acts(item)), len(side))
    return side[:end]


def _acts(item: ContentItem) -> bool:
    return item.class_ in ("api_action", "code_action", "message_action")


def side_of_turn(turn: Turn) -> tuple[ContentItem, ...]:
    """A turn as one side of a step pair: its actions, with nothing that answers them."""
    return bare_actions(step_items(Step(turn=turn)))


def alike(run: TrajectoryRow, chosen: Sequence[ContentItem], rejected: Sequence[ContentItem]) -> bool:
    """Whether both sides do the same, defaults of the tools filled in, or think the same."""
    done = [describe(full_actions(side, run.tool_schemas)) for side in (chosen, rejected)]
    return done[0] == done[1] or same_thought(chosen, rejected)


def same_thought(chosen: Sequence[ContentItem], rejected: Sequence[ContentItem]) -> bool:
    """Whether both sides think the same, word for word: a student would learn that thoughts do not matter."""
    one, other = (" ".join(_thoughts(_first_turn(side))) for side in (chosen, rejected))
    return one != "" and one == other


def _thoughts(actions: Sequence[ContentItem]) -> Iterator[str]:
    for item in actions:
        for name in ("reasoning_content", "description"):
            text = getattr(item, name, None)
            if text:
                yield text


def describe(actions: Sequence[ContentItem], *, gave_up: bool = False) -> str:
    """What a turn does, in one line: ``open document='city/velden'``; ``answer 'Velden'``."""
    parts: list[str] = []
    for item in actions:
        if isinstance(item, ApiAction):
            parts.append(" ".join([item.function, *(f"{key}={value!r}" for key, value in sorted(item.kwargs.items()))]))
        elif isinstance(item, CodeAction):
            parts.append(f"code {item.content!r}")
        elif item.class_ == "message_action":
            parts.append("give up" if gave_up else f"answer {item.content!r}")
    return "; ".join(parts)


_CARELESS = ("p_suspect", "p_obey", "p_around")
"""What scripted agents think when they err: right by luck, it is no example. Nor is who says at a desk
that all is done, and not what: there it may be that nothing had to be done."""


def not_grounded(
    position: PairPosition, chosen: Sequence[ContentItem], *, stage: str, own_words: bool | None = None
) -> Rejection | None:
    """A rejection when a turn of ``chosen`` names what was not seen; None when all is grounded.

    It is judged in its place, behind the prefix as recorded. Content that can't be read as turns of calls and
    observations (code actions) is refused: what can't be checked is not grounded. ``own_words``: a model wrote
    ``chosen``, in its own words; None = as for the run itself.
    """
    row, start = position.run, position.step
    try:
        prompt, history = parsed(row, (*position.prompt, *chosen))
    except ValueError as error:
        return refusal(row, stage, Reason.INVALID_TRAJECTORY, str(error), step=start)
    own = row.model is not None if own_words is None else own_words
    found = ungrounded(prompt, history, start=start, own_words=own)
    careless = None if own else next((one for one in _thoughts(chosen) if says(_CARELESS, one) is not None), None)
    if not own and careless is None and row.environment == "app":
        told = (str(getattr(item, "content", None) or "") for item in chosen)
        ended = ((text, says(("m_done_plain",), text)) for text in told)
        careless = next((text for text, found in ended if found is not None and found.group() == text), None)
    repeated = None if own else _repeated(history, start)
    if found:
        why = str(found[0])
    elif careless is not None:
        why = f"says what is said by who errs: {careless!r}"
    elif repeated is not None:
        why = f"calls {repeated} again, which has just gone through"
    else:
        return None
    return refusal(row, stage, Reason.UNGROUNDED, f"the chosen side, {why}", step=start)


def _repeated(history: History, start: int) -> str | None:
    """The tool of a call that is the last turn's as well, where that turn's was no error."""
    for before, now in zip(history[max(0, start - 1) :], history[max(1, start) :], strict=False):
        made = [
            (call.name, call.arguments)
            for call, result in zip(before.turn.calls, before.results, strict=False)
            if result.error is None
        ]
        for call in now.turn.calls:
            if (call.name, call.arguments) in made:
                return call.name
    return None


def not_reasoned(position: PairPosition, chosen: Sequence[ContentItem], *, stage: str) -> Rejection | None:
    """A rejection when the thoughts of ``chosen``, judged in its place, are no example to follow."""
    why = poor_reason(*parsed(position.run, (*position.prompt, *chosen)), start=position.step)
    if why is None:
        return None
    return refusal(position.run, stage, Reason.UNGROUNDED, f"the chosen side, {why}", step=position.step)


def parsed(row: TrajectoryRow, content: Sequence[ContentItem]) -> tuple[Prompt, History]:
    """Prompt and turns of ``content``, which stands in the place of what ``row`` recorded."""
    # A message that gives up is judged as strictly as an answer is.
    return history_of(row.model_copy(update={"content": tuple(content), "stop_reason": StopReason.ANSWERED}))


def refusal(row: TrajectoryRow, stage: str, reason: Reason, detail: str, *, step: int | None = None) -> Rejection:
    """Why no pair was made of (a step of) ``row``."""
    place = row.id if step is None else f"{row.id}/{step}"
    return Rejection(stage=stage, row_id=place, reason=reason, detail=detail, split=row.split)
