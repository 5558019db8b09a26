"""Rules of preference pairs, of what judges say, and of duplicates: all that compares rows with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from synth.annotate.preferences.select import Eligible, Selection, eligible, selected_ids
from synth.annotate.preferences.sides import same_thought
from synth.annotate.refinement.siblings import sibling_strength
from synth.dataset.files import REPORT_FILE
from synth.dataset.rules.pages import Pages
from synth.dataset.rules.recorded import (
    bare,
    essence,
    link_problems,
    measured,
)
from synth.dataset.rules.rules import Known, Place, rule
from synth.dataset.rules.runs import Runs, Steps
from synth.schemas.adp import Action, ContentItem
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.judgments import JudgmentKind, JudgmentRow
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.rejections import Rejection
from synth.schemas.turns import action_kind, full_actions, turn_ranges

__all__ = ["PAIR_RULES", "WORDS"]

_OF_STEPS = (PairKind.VERIFIED_STEP, PairKind.VERIFIED_STEP_SUCCESS)


@dataclass
class _Pairs:
    eligible: list[Eligible] = field(default_factory=list)
    selected: dict[str, tuple[bool, Place]] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Trajectory and step of each pair."""
    positions: dict[tuple[str, PairKind], list[tuple[str, int, Place]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    agreed: set[str] = field(default_factory=set)
    """Pairs with which the judge agrees."""
    selection: Selection | None = None


def _selection(known: Known) -> Selection:
    """By which rule the pairs were selected, as the recipe in the report says; else the default."""
    state, wanted = known.of(_Pairs), (known.recipe.get("preferences") or {}).get("selection")
    if state.selection is None:
        try:
            state.selection = Selection() if wanted is None else Selection.model_validate(wanted)
        except ValidationError as error:
            known.found.add(REPORT_FILE, None, f"recipe.preferences.selection: {error.errors()[0]['msg']}")
            state.selection = Selection()
    return state.selection


def _selected(known: Known, agreed: Container[str] | None = None) -> Iterator[tuple[Place, str]]:
    """``agreed``: pairs with which the judge agrees, where the selection requires that it does."""
    wanted = selected_ids(known.of(_Pairs).eligible, _selection(known))
    for name, (selected, place) in known.of(_Pairs).selected.items():
        if selected != (name in wanted and (agreed is None or name in agreed)):
            yield place, f"selected: {selected}, which is not what the selection says"


def _positions(known: Known) -> Iterator[tuple[Place, str]]:
    if _selection(known).judge == "ignore":
        yield from _selected(known)
    verified: dict[str, int] = {}
    for (name, step), (of, _) in known.of(Steps).criticality.items():
        if of.verified:
            verified[name] = min(step, verified.get(name, step))
    for (name, _), places in known.of(_Pairs).positions.items():
        first = min(step for _, step, _ in places)
        first = min(first, verified.get(name, first))
        for position, step, place in places:
            if (position == "earliest") != (step == first):
                yield place, f"position: {position}, but the first verified step of {name} is {first}"


@rule("preferences", "position nature same_kind repair selected rejected_by first_deviation", close=_positions)
def sides(row: PreferenceRow, known: Known) -> Iterator[str]:
    """The sides are two ways to go on from the prompt, as the kind says, and selected by the recipe's selection."""
    state = known.of(_Pairs)
    state.selected[row.id] = (row.selected, known.place)
    state.places[row.id] = (row.trajectory_id, row.step)
    if eligible(row, _selection(known)):
        state.eligible.append(Eligible.of(row))
    if row.kind in _OF_STEPS:
        state.positions[row.trajectory_id, row.kind].append((row.position, row.step, known.place))
    whole = row.kind is PairKind.TRAJECTORY
    for name in ("position", "nature"):
        if (getattr(row, name) == "whole") != whole and row.kind is not PairKind.PERTURBATION:
            yield f"{name}: {getattr(row, name)} in a pair of kind {row.kind}"
    if (row.position == "whole") != (row.nature == "whole"):
        yield f"position, nature: {row.position} and {row.nature}"
    if (row.rejected_by in ("rule", "perturber")) != (row.kind is PairKind.PERTURBATION):
        yield f"rejected_by: {row.rejected_by} in a pair of kind {row.kind}"
    if row.first_deviation is not None and row.first_deviation != (row.nature == "decision"):
        yield f"first_deviation: {row.first_deviation} in a pair of nature {row.nature}"
    firsts: list[tuple[ContentItem, ...]] = []
    for name in ("chosen", "rejected"):
        side: tuple[ContentItem, ...] = getattr(row, name)
        turns = turn_ranges(side)
        if not turns or turns[0][0] != 0:
            yield f"{name}: does not begin with an action"
            continue
        firsts.append(side[: turns[0][1]])
        if row.kind in _OF_STEPS and not all(isinstance(item, Action) for item in side):
            yield f"{name}: is more than one action, in a pair of kind {row.kind}"
        for line in link_problems(row.prompt + side):
            yield f"{name}: after the prompt: {line}"
    if len(firsts) == 2:
        yield from _difference(row, *firsts)


def _difference(
    row: PreferenceRow, chosen: tuple[ContentItem, ...], rejected: tuple[ContentItem, ...]
) -> Iterator[str]:
    done = [essence(full_actions(side, row.tool_schemas)) for side in (chosen, rejected)]
    if (row.kind is PairKind.REPAIR) != (row.repair is not None):
        yield f"repair: {'null' if row.repair is None else 'given'} in a pair of kind {row.kind}"
    elif row.repair is not None and bare(row.repair.own[: len(row.chosen)]) != bare(row.chosen):
        yield "repair.own: does not begin with the chosen side"
    if row.chosen == row.rejected:
        yield "rejected: is the same as chosen"
    elif row.kind in (*_OF_STEPS, PairKind.REPAIR, PairKind.REFINED, PairKind.SIBLING) and done[0] == done[1]:
        yield "rejected: does the same as chosen"
    elif row.kind is not PairKind.TRAJECTORY and same_thought(chosen, rejected):
        yield "rejected: thinks word for word what the chosen side thinks"
    elif row.kind is PairKind.PERTURBATION and bare(chosen) == bare(rejected):
        yield f"step: the sides do not part at step {row.step}"
    same = action_kind(chosen) == action_kind(rejected)
    # Of two messages one may give up: their content does not tell.
    if row.same_kind != same and not (same and action_kind(chosen) == "answer"):
        yield f"same_kind: {row.same_kind}, but the sides do {action_kind(chosen)} and {action_kind(rejected)}"


@rule("preferences", "strength")
def strength(row: PreferenceRow, known: Known) -> Iterator[str]:
    """Counts, difference and interval fit each other, and speak for the chosen side."""
    of = row.strength
    amiss = [] if of is None else list(measured("strength", of, ("chosen", "rejected"), known.recipe))
    yield from amiss
    if (
        row.kind is PairKind.SIBLING
        and not amiss  # impossible counts give nothing to compare with
        and (
            of is None
            or of != sibling_strength((of.chosen_successes, of.chosen_n), (of.rejected_successes, of.rejected_n))
        )
    ):
        yield "strength: is not what the counts of both sides give"
    if row.kind not in _OF_STEPS:
        return
    if of is None:
        yield f"strength: null in a pair of kind {row.kind}"
        return
    if not of.verified:
        yield f"strength.verified: false in a pair of kind {row.kind}"
    if of.difference <= 0:
        yield f"strength.difference: {of.difference:g} does not favour the chosen side"
    if of.alternative < 0:
        yield f"strength.alternative: {of.alternative}"


# -- judgments --------------------------------------------------------------------------------------------------------

WORDS: Mapping[JudgmentKind, Mapping[str, tuple[float, float]]] = {
    JudgmentKind.ACTION: {"scored": (0, 1)},
    JudgmentKind.PAIR: {"agrees": (1, 1), "disagrees": (0, 0)},
    JudgmentKind.ANSWER: {"equivalent": (1, 1), "different": (0, 0)},
    JudgmentKind.RUN: {"rated": (1, 5)},
    JudgmentKind.CHECKLIST: {"counted": (0, 1)},
    JudgmentKind.FAILURE: {"continuations": (0, 1), "labels": (1, 1), "record": (0, 1)},
    JudgmentKind.SAFETY: {"safe": (1, 1), "unsafe": (0, 0)},
}
"""The words of each kind beside ``abstains``, and from what to what their value goes."""
_AT_A_STEP = (JudgmentKind.ACTION, JudgmentKind.PAIR, JudgmentKind.FAILURE)


def _judged_selection(known: Known) -> Iterator[tuple[Place, str]]:
    if _selection(known).judge == "require":
        yield from _selected(known, known.of(_Pairs).agreed)


@rule("judgments", "step", close=_judged_selection)
def judged(row: JudgmentRow, known: Known) -> Iterator[str]:
    """What is judged is there: a step, a pair or a run; steps have the score that was given."""
    run, state, scores = known.of(Runs).recorded.get(row.trajectory_id), known.of(_Pairs), known.of(Steps).scores
    turns = len(run.ranges) if run is not None else None
    if turns is not None and row.kind in _AT_A_STEP and not 0 <= row.step < turns:
        yield f"step: {row.step}, but the trajectory has {turns} turns"
    # A pair may be about a run that is longer than the one that its prefix comes from.
    if turns is not None and row.kind is not JudgmentKind.PAIR and any(cited >= turns for cited in row.cites):
        yield f"cites: {max(row.cites)}, but the trajectory has {turns} turns"
    key = (row.trajectory_id, row.step)
    if row.kind is JudgmentKind.ACTION and row.alternative == -1 and key in scores and scores[key] != row.value:
        yield f"value: {row.value}, but the step's score is {scores[key]}"
    if row.kind is JudgmentKind.PAIR:
        if row.verdict == "agrees":
            state.agreed.add(row.pair_id or "")
        pair = state.places.get(row.pair_id or "")
        if pair is not None and pair != key:
            yield f"pair_id: the pair is of step {pair[1]} of {pair[0]}"


@rule("judgments", "kind verdict")
def words_of_judge(row: JudgmentRow, known: Known) -> Iterator[str]:
    """Word and value are those of the kind; what abstains gives no value; rules call no model."""
    words, silent = WORDS[row.kind], row.verdict == "abstains"
    if silent != (row.value is None):
        yield f"value: {row.value}, but the verdict is {row.verdict!r}"
    if silent != (row.abstained is not None):
        yield f"abstained: {row.abstained}, but the verdict is {row.verdict!r}"
    if not silent:
        if row.verdict not in words:
            yield f"verdict: {row.verdict!r} is not a verdict of this kind"
        elif row.value is not None and not words[row.verdict][0] <= row.value <= words[row.verdict][1]:
            yield f"value: {row.value:g} is out of the range of {row.verdict!r}"
    if row.kind not in _AT_A_STEP and row.step != -1:
        yield f"step: {row.step}, but it is about a whole run"
    if row.alternative < -1 or (row.alternative >= 0 and row.kind is not JudgmentKind.ACTION):
        yield f"alternative: {row.alternative}"
    if (row.pair_id is not None) != (row.kind is JudgmentKind.PAIR):
        yield "pair_id: only verdicts on pairs have one"
    if any(cited < 0 for cited in row.cites) or len(set(row.cites)) < len(row.cites):
        yield f"cites: {list(row.cites)} must be distinct steps"
    if row.calls and row.provenance.backend is None:
        yield "provenance.backend: calls were made, but no backend is named"
    if row.calls and row.provenance.model is None and not known.redacted:
        yield "calls: listed, but no model was called"


# -- duplicates -------------------------------------------------------------------------------------------------------

_METHODS = {"exact": "same words", "structural": "same calls", "near": "n-grams", "semantic": "cosine"}
"""What a rejection calls the kind of its closest pair."""
_REJECTING = ("unique_documents", "mark_duplicates")
"""Stages that reject duplicates."""


@dataclass
class _Duplicates:
    named: dict[str, str] = field(default_factory=dict)
    """Run that is a duplicate -> the run that stands for it."""
    rejected: dict[str, tuple[str, set[str], Place]] = field(default_factory=dict)
    """Row that left its table -> the one that stays, what a rejection may say of it, and where it is named."""
    seen: set[str] = field(default_factory=set)


def _marks(known: Known) -> Iterator[tuple[Place, str]]:
    marks, named = known.of(Runs).marks, known.of(_Duplicates).named
    for name, (stays, place) in marks.items():
        if stays in marks:
            yield place, f"duplicate_of: {stays} is itself marked as a duplicate"
        if "duplicates" in known.there and named.get(name) != stays:
            yield place, f"duplicate_of: {stays}, but duplicates names {named.get(name, 'none')} for it"


@rule("duplicates", "score representative", close=_marks)
def duplicate(row: DuplicateRow, known: Known) -> Iterator[str]:
    """One row of a cluster stays, the others are rejected or marked, and none that is gone is in its table."""
    state = known.of(_Duplicates)
    if row.one == row.other:
        yield "other: a row is not compared with itself"
    if not 0 < row.score <= 1 or (row.kind in ("exact", "structural") and row.score != 1):
        yield f"score: {row.score} is not possible for kind {row.kind}"
    if row.level == "trajectories":
        yield from _duplicate_runs(row, known)
        return
    there: Collection[str] = known.of(Pages).lengths if row.level == "documents" else known.of(_Pairs).places
    if row.representative not in there:
        yield f"representative: {row.representative} is not in {row.level}"
    for name, like in ((row.one, row.other), (row.other, row.one)):
        if name == row.representative:
            continue
        if name in there:
            yield f"{name} is in {row.level}, though {row.representative} stands for it"
        _, details, _ = state.rejected.setdefault(name, (row.representative, set(), known.place))
        details.add(f"like {like}: {_METHODS[row.kind]} {row.score:.4f}")


def _duplicate_runs(row: DuplicateRow, known: Known) -> Iterator[str]:
    runs = known.of(Runs)
    for name in (row.one, row.other, row.representative):
        if name not in runs.ids:
            yield f"there is no trajectory {name}"
        elif name != row.representative:
            known.of(_Duplicates).named[name] = row.representative
            if name not in runs.marks:
                yield f"{name} has no duplicate_of, though {row.representative} stands for it"


def _unrejected(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(_Duplicates)
    for name, (_, _, place) in state.rejected.items():
        if name not in state.seen:
            yield place, f"{name} stands neither in its table nor in rejected"


@rule("rejected", close=_unrejected)
def rejected_duplicate(row: Rejection, known: Known) -> Iterator[str]:
    """A duplicate that left its table is rejected as the duplicate of a row that it was found to be like."""
    if row.stage not in _REJECTING or "duplicates" not in known.there:
        return
    state = known.of(_Duplicates)
    state.seen.add(row.row_id)
    stays, details, _ = state.rejected.get(row.row_id, ("", set(), None))
    tie, _, rest = row.detail.partition("; ")
    if tie not in details:
        yield f"detail: duplicates has no such pair of {row.row_id}"
    elif rest != ("" if tie.startswith(f"like {stays}: ") else f"{stays} stands for both"):
        yield f"detail: {stays} stands for {row.row_id}"


PAIR_RULES = (
    sides,
    strength,
    judged,
    words_of_judge,
    duplicate,
    rejected_duplicate,
)
