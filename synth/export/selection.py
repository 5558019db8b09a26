"""Which rows are exported: ``--select KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from synth.errors import InputError
from synth.schemas.described import Described
from synth.schemas.preferences import PairKind
from synth.schemas.row import Split
from synth.schemas.steps import Behaviour
from synth.schemas.trajectories import Role

__all__ = ["KEYS", "Selection", "parse_selection"]


class Selection(Described):
    """Rows that pass every condition are exported. None = the condition is not set."""

    split: tuple[Split, ...] | None = None
    """Splits."""
    role: tuple[Role, ...] | None = None
    """Who acted: ``teacher``, ``policy``, ``expert``. Of steps and trajectories only."""
    success: bool | None = None
    """Whether the run succeeded. Of steps and trajectories only; of pairs, whether the prefix comes from such a run."""
    label: tuple[int, ...] | None = None
    """Labels of steps: -1, 0, 1. Of steps only."""
    behaviour: tuple[Behaviour, ...] | None = None
    """What a turn does well: runs in which a turn shows one of these, steps that show one. Of steps and trajectories
    only."""
    pivot: bool | None = None
    """Whether outcomes of the policy's continuations vary most at the step. Of steps only; steps of which too few were
    tried to tell are left out."""
    repeat: tuple[tuple[int, int], ...] | None = None
    """Of trajectories only: (turns, times): a run of so many turns or more stands so often in the export, as long runs
    are rare (DR-Venus, arXiv 2604.19859). The greatest number of turns that a run has decides."""
    rating: float | None = None
    """Least rating of the whole run, 1 to 5, in ``judgments``; unrated runs are left out."""
    drawn: bool | None = None
    """Whether the run was drawn by its rating, in ``judgments``: graded sampling in place of a least rating, and of the
    success that a format asks for by itself."""
    difficulty: tuple[float, float] | None = None
    """Least and greatest rate of success of the policy on the task, both inclusive: measured, or predicted where it has
    no rollout. Tasks without a row in ``difficulty`` are left out."""
    chosen: bool | None = None
    """Whether the task is part of the curriculum (``difficulty``)."""
    duplicates: bool | None = None
    """Whether runs represented by another run (``duplicate_of``) are exported too. Of steps and trajectories only; not
    unless it is set."""
    selected: bool | Literal["any"] | None = None
    """Of pairs only: whether they are in the dataset's selection (by default verified steps of failed runs, same kind
    of action); ``any``: whether or not."""
    kind: tuple[PairKind, ...] | None = None
    """Of pairs only: where they come from. Then all pairs of these kinds, in place of the ``selected`` ones that a
    format takes by itself."""
    lengths: Literal["even", "any"] | None = None
    """Of pairs of whole runs only: whether their lengths are evened out in each split (the default), so that the chosen
    side is as often longer as shorter, by as many turns; ``any``: no pair is left out for that."""

    def times(self, turns: int) -> int:
        """How often a run of ``turns`` turns is exported."""
        return max(((least, times) for least, times in self.repeat or () if turns >= least), default=(0, 1))[1]

    def over(self, base: Selection) -> Selection:
        """These conditions, and those of ``base`` that are not set here.

        Runs drawn by their rating are taken whether they succeeded or not, unless it is said: the draw is in place of
        that filter. So are kinds of pairs that are named, whether they are selected or not.
        """
        freed: dict[str, None] = {"success": None} if self.drawn else {}
        freed |= {"selected": None} if self.kind is not None else {}
        return base.model_copy(update={**freed, **self.set()})

    def set(self) -> dict[str, Any]:
        """The conditions that are set."""
        return {name: value for name in KEYS if (value := getattr(self, name)) is not None}

    @property
    def by_task(self) -> bool:
        """Whether the table ``difficulty`` is needed."""
        return self.difficulty is not None or self.chosen is not None


KEYS = tuple(Selection.model_fields)
_WORDS: dict[str, tuple[str, ...]] = {
    "split": get_args(Split),
    "role": get_args(Role),
    "label": ("-1", "0", "1"),
    "kind": tuple(PairKind),
    "behaviour": tuple(Behaviour),
}
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


def parse_selection(given: Iterable[str]) -> Selection:
    """``["split=train,validation", "rating=4", "difficulty=0.2..0.8"]`` as a selection.

    Raises:
        InputError: a condition that does not exist, or a value that it can't have.
    """
    found: dict[str, Any] = {}
    for text in given:
        key, sign, value = (part.strip() for part in text.partition("="))
        where = f"--select {text}"
        if not sign or key not in KEYS:
            raise InputError(
                "this is not a condition", where=where, mend=f"write KEY=VALUE with a KEY of {', '.join(KEYS)}"
            )
        if key in found:
            raise InputError("the condition is set twice", where=where, mend="give several values with commas")
        found[key] = _value(key, value, where)
    return Selection(**found)


def _value(key: str, value: str, where: str) -> Any:
    if key == "selected" and value == "any":
        return value
    if key == "lengths":
        return _words(value, ("even", "any"), where)[0]
    if key == "repeat":
        found = [part.partition(":") for part in value.split(",")]
        if not all(turns.isdecimal() and times.isdecimal() and int(times) > 1 for turns, _, times in found):
            mend = "write repeat=TURNS:TIMES, as in repeat=10:2,20:5"
            raise InputError(f"{value!r} does not say from how many turns on, and how often", where=where, mend=mend)
        return tuple((int(turns), int(times)) for turns, _, times in found)
    if key in _WORDS:
        return _words(value, _WORDS[key], where)
    if key in ("success", "pivot", "chosen", "drawn", "selected", "duplicates"):
        if value not in _YES_NO:
            raise InputError(f"{value!r} is neither true nor false", where=where, mend=f"write {key}=true")
        return _YES_NO[value]
    low, dots, high = value.partition("..")
    try:
        if key == "rating":
            return float(value)
        return (float(low or 0), float((high if dots else low) or 1))
    except ValueError:
        example = "rating=4" if key == "rating" else "difficulty=0.2..0.8"
        raise InputError(f"{value!r} is not a number", where=where, mend=f"write {example}") from None


def _words(value: str, known: Sequence[str], where: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in value.split(",")))
    for word in words:
        if word not in known:
            raise InputError(f"{word!r} is none of {', '.join(known)}", where=where, mend="choose among these")
    return words
