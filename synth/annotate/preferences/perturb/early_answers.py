"""Answers given too early.

Dropped check: something that could be the answer is answered untested. Premature: the question is not followed to its
end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from synth.agents.contract import Turn
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import asked_for, is_gold, name_of, of_kind, wrong_answers
from synth.annotate.preferences.perturb.words import answering, lead, names, quotes, stands_alone, up_to_quote
from synth.text.words import words_of

__all__ = ["DroppedCheck", "PrematureAnswer", "answer_turn"]


class DroppedCheck:
    """The turn that would test a candidate is skipped: the candidate is answered."""

    name = "dropped_check"
    family = "verification"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(run.last)):
            if not run.history[step].turn.calls or not step:
                continue
            for candidate in _candidates(run, step):
                turn = answer_turn(run, step, candidate)
                if turn is not None and run.grounded(step, turn):
                    words = f"answers {candidate!r} without the check that the run went on to make"
                    yield Proposal(step, turn, ("wrong_answer", "unsupported_answer"), words)


class PrematureAnswer:
    """Stops at something on the way, with a part of the question still open."""

    name = "premature_answer"
    family = "planning"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(run.last)):
            missing = run.missing(step)
            if not run.history[step].turn.calls or not step or not missing:
                continue
            values = [*wrong_answers(run, step, generator)[:2]]
            if run.task.answer_kind in ("entity", "text"):
                # Stopping at a thing on the way, or at another thing of the kind that is asked for.
                values = sorted([*_bridges(run, step)[:1], *values], key=lambda _: float(generator.random()))
            for value in values:
                turn = answer_turn(run, step, value)
                if turn is not None and run.grounded(step, turn):
                    open_part = run.task.walk.hops[missing[-1]].cue
                    words = f"answers {value!r} at once, with {open_part!r} still open"
                    yield Proposal(step, turn, ("wrong_answer",), words)


def answer_turn(run: GoodRun, step: int, answer: str) -> Turn | None:
    """A turn that answers ``answer`` at ``step``: what the recorded turn made of the last observation, then the
    sentence with which the run announces its answer. None where the run's words can't say it."""
    recorded, final = run.history[step].turn, run.history[run.last].turn
    if recorded.thought is None and final.thought is None:
        return Turn(answer=answer)
    closing = answering(final.thought, run.row.answer or "", answer)
    if closing is None:
        return None
    # What was concluded is told again only where it is what is answered; what was quoted, always.
    read = lead(recorded.thought, run.task.question)
    said = read if any(names(part, answer) for part in read[-2:]) else [part for part in read if quotes(part)]
    return Turn(thought=stands_alone([*map(up_to_quote, said), closing]), answer=answer)


def _candidates(run: GoodRun, step: int) -> Iterator[str]:
    """What the recorded turn is about to check: the page that it opens, where that could be the answer as far as ids
    tell; or the answer itself where it was in view."""
    asked = asked_for(run)
    for call in run.history[step].turn.calls:
        for value in call.arguments.values():
            name = name_of(run, step, value) if isinstance(value, str) else None
            if isinstance(value, str) and (is_gold(run, value) or value.split("#", 1)[0] in asked):
                continue  # by another name perhaps: no wrong answer then, or what the question itself names
            if name is not None and words_of(name) not in words_of(run.task.question) and of_kind(run, str(value)):
                yield name
    # The right one untested: only where a condition of it was read already, else it would be no more than a guess.
    hops = run.task.walk.hops
    half = any(hops[number].target.id == hops[-1].target.id for number in run.views[step].hops)
    if run.row.answer is not None and half:
        yield run.row.answer


def _bridges(run: GoodRun, step: int) -> list[str]:
    """What the walk has found so far, the last first."""
    found = [run.task.walk.hops[number].target.name for number in sorted(run.views[step].hops, reverse=True)]
    return [name for name in found if words_of(name) not in words_of(run.task.question)]
