"""After an error or a dead end: acting on as if nothing had happened, or doing the same again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from synth.agents.contract import Turn
from synth.agents.grounding.said import says
from synth.annotate.preferences.perturb.early_answers import answer_turn
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import wrong_answers
from synth.annotate.preferences.perturb.words import deed, lead, quotes, sentences, stands_alone
from synth.environments.contract import ToolResult
from synth.environments.rendering import plain
from synth.text.words import words_of

__all__ = ["IgnoredError", "RepeatedCall"]

_NOT_AGAIN = ("p_start", "p_first", "p_start_plain", "p_fits", "p_tell")
"""What is said to begin with, or of a line that was read, and not by who makes a call once more."""


class IgnoredError:
    """A call was refused; the next turn acts as if it had given what was wanted."""

    name = "ignored_error"
    family = "robust_recovery"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in range(1, run.last):
            failed = run.recorded(step - 1)
            if not failed.results or len(failed.errors) < len(failed.results):
                continue
            what = failed.turn.calls[0]
            words = f"acts on as if {what.name} {what.arguments!r} had not been refused"
            after = run.history[step + 1].turn
            if after.calls:
                # Its words may speak of what only the mended call would have shown: that is the mistake.
                yield Proposal(step, after, ("error", "nothing"), f"{words}: {after.calls[0].name} is called next")
            for value in wrong_answers(run, step, generator):
                turn = answer_turn(run, step, value)
                if turn is not None and run.grounded(step, turn):
                    yield Proposal(step, turn, ("wrong_answer",), f"{words}: answers {value!r}")


class RepeatedCall:
    """The last turn was refused or led nowhere; it is made once more."""

    name = "repeated_call"
    family = "robust_recovery"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(run.last)):
            before = run.recorded(step - 1) if step else None
            if before is None or not before.results or before.gains or _uses(run.history[step].turn, before.results):
                continue
            turn = again(run, step, before.turn)
            if turn is not None:
                ended = "was refused" if before.errors else "had shown nothing new of what the question needs"
                yield Proposal(step, turn, ("repeat",), f"makes the same call again, which {ended}")


def _uses(turn: Turn, results: Sequence[ToolResult]) -> bool:
    """Whether the turn quotes what the last observation showed: then it was not a dead end for it."""
    texts = [words_of(plain(result.content)) for result in results]
    return any(words_of(quote) in text for quote in quotes(turn.thought) for text in texts)


def again(run: GoodRun, step: int, past: Turn) -> Turn | None:
    """An earlier turn at ``step``: what the recorded turn made of the last observation, then the words that went with
    the earlier deed."""
    recorded = run.history[step].turn
    if past.thought is None and recorded.thought is None:
        return past.model_copy(update={"said": None})
    done = deed(past.thought)
    if not done:
        return None
    done = [part for part in done if says(_NOT_AGAIN, part) is None]
    read = lead(recorded.thought, run.task.question)
    if not recorded.calls:
        # Who goes on does not announce the answer first.
        read = [part for part in read if quotes(part) or part != sentences(recorded.thought)[-1]]
    turn = past.model_copy(update={"thought": stands_alone([*read, *done])})
    if turn.thought is None:
        return None
    return turn if run.grounded(step, turn) else None
