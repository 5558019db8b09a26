"""What must hold of verdicts: they judge what there is, in the words and the range of their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.pair_checks import PairCheck
from synth.dataset.rules.recorded import Recorded
from synth.schemas.judgments import JudgmentKind, JudgmentRow

__all__ = ["JudgmentCheck", "verdict_problems"]

WORDS: Mapping[JudgmentKind, Mapping[str, tuple[float, float]]] = {
    JudgmentKind.ACTION: {"scored": (0, 1)},
    JudgmentKind.PAIR: {"agrees": (1, 1), "disagrees": (0, 0)},
    JudgmentKind.ANSWER: {"equivalent": (1, 1), "different": (0, 0)},
    JudgmentKind.RUN: {"rated": (1, 5)},
}
"""The words of each kind beside ``abstains``, and from what to what their value goes."""
_AT_A_STEP = (JudgmentKind.ACTION, JudgmentKind.PAIR)


class JudgmentCheck:
    """Verdicts against the trajectories, the scores of steps and the pairs, all of which come before."""

    def __init__(
        self,
        found: Problems,
        recorded: Mapping[str, Recorded],
        scores: Mapping[tuple[str, int], float | None],
        pairs: PairCheck,
    ) -> None:
        self.found = found
        self._recorded = recorded
        self._scores = scores
        self._pairs = pairs
        self._agreed: set[str] = set()

    def see(self, file: DataFile, row: int, verdict: JudgmentRow) -> None:
        for what in self._problems(verdict):
            self.found.add(file.label, row, what)

    def finish(self) -> None:
        if self._pairs.selection.judge == "require":
            self._pairs.selection_holds(self._agreed)

    def _problems(self, row: JudgmentRow) -> Iterator[str]:
        yield from self._owner(row)
        yield from verdict_problems(row)
        known = self._scores.get((row.trajectory_id, row.step))
        own = row.kind is JudgmentKind.ACTION and row.alternative == -1
        if own and (row.trajectory_id, row.step) in self._scores and known != row.value:
            yield f"value: {row.value}, but the step's score is {known}"
        if row.kind is JudgmentKind.PAIR:
            if row.verdict == "agrees":
                self._agreed.add(row.pair_id or "")
            pair = self._pairs.places.get(row.pair_id or "")
            if pair is not None and pair != (row.trajectory_id, row.step):
                yield f"pair_id: the pair is of step {pair[1]} of {pair[0]}"

    def _owner(self, row: JudgmentRow) -> Iterator[str]:
        run = self._recorded.get(row.trajectory_id)
        if run is None:
            return
        turns = len(run.ranges)
        if row.kind in _AT_A_STEP and not 0 <= row.step < turns:
            yield f"step: {row.step}, but the trajectory has {turns} turns"
        # A pair may be about a run that is longer than the one that its prefix comes from.
        if row.kind is not JudgmentKind.PAIR and any(cited >= turns for cited in row.cites):
            yield f"cites: {max(row.cites)}, but the trajectory has {turns} turns"


def verdict_problems(row: JudgmentRow) -> Iterator[str]:
    """What is wrong with a verdict by itself."""
    words = WORDS[row.kind]
    silent = row.verdict == "abstains"
    if silent != (row.value is None):
        yield f"value: {row.value}, but the verdict is {row.verdict!r}"
    if silent != (row.abstained is not None):
        yield f"abstained: {row.abstained}, but the verdict is {row.verdict!r}"
    if not silent:
        if row.verdict not in words:
            yield f"verdict: {row.verdict!r} is not said of this kind"
        elif row.value is not None and not words[row.verdict][0] <= row.value <= words[row.verdict][1]:
            yield f"value: {row.value:g} is out of the range of {row.verdict!r}"
    if row.kind not in _AT_A_STEP and row.step != -1:
        yield f"step: {row.step}, but it is about a whole run"
    if row.alternative < -1 or (row.alternative >= 0 and row.kind is not JudgmentKind.ACTION):
        yield f"alternative: {row.alternative}"
    if (row.pair_id is not None) != (row.kind is JudgmentKind.PAIR):
        yield "pair_id: only verdicts on pairs have one"
    if any(cited < 0 for cited in row.cites) or len(set(row.cites)) < len(row.cites):
        yield f"cites: {list(row.cites)} are no steps, each once"
    if row.calls and row.provenance.backend is None:
        yield "provenance.backend: calls were made, and nobody is named"
