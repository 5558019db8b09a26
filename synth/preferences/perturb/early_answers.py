"""Answers given too early: a condition unchecked (dropped check), or the question not followed to its end (premature)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from synth.agents.contract import Turn
from synth.agents.evidence import words_of
from synth.preferences.perturb.run import GoodRun, Proposal
from synth.preferences.perturb.values import name_of, wrong_answers
from synth.preferences.perturb.words import answering, grounded, lead, stands_alone

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
                if turn is not None and grounded(run.prompt, run.history[:step], turn):
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
            for value in (*_bridges(run, step), *wrong_answers(run, step, generator)[:2]):
                turn = answer_turn(run, step, value)
                if turn is not None and grounded(run.prompt, run.history[:step], turn):
                    open_part = run.task.walk.hops[missing[-1]].cue
                    words = f"answers {value!r} at once, with {open_part!r} still open"
                    yield Proposal(step, turn, ("wrong_answer",), words)


def answer_turn(run: GoodRun, step: int, answer: str) -> Turn | None:
    """A turn that answers ``answer`` at ``step``: what the recorded turn made of the last observation, then the sentence
    with which the run announces its answer. None where the run's words can't say it."""
    recorded, final = run.history[step].turn, run.history[run.last].turn
    if recorded.thought is None and final.thought is None:
        return Turn(answer=answer)
    closing = answering(final.thought, run.row.answer or "", answer)
    if closing is None:
        return None
    return Turn(thought=stands_alone([*lead(recorded.thought), closing]), answer=answer)


def _candidates(run: GoodRun, step: int) -> Iterator[str]:
    """What the recorded turn is about to check: the page that it opens, or the answer itself where it was in view."""
    for call in run.history[step].turn.calls:
        for value in call.arguments.values():
            name = name_of(run, step, value) if isinstance(value, str) else None
            if name is not None and words_of(name) not in words_of(run.task.question):
                yield name
    answer = run.row.answer
    shown = [words_of(result.content) for past in run.history[:step] for result in past.results]
    if answer is not None and any(words_of(answer) in text for text in shown):
        yield answer


def _bridges(run: GoodRun, step: int) -> Iterator[str]:
    """What the walk has found so far, the last first."""
    for number in sorted(run.views[step].hops, reverse=True):
        target = run.task.walk.hops[number].target
        if words_of(target.name) not in words_of(run.task.question):
            yield target.name
