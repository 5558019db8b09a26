"""Hallucinated citation: claims as read what no page that was read says, and acts on it.

Two ways: the quoted line is there, but says something else; or the page that is quoted was never opened. The quoted
line is the run's own with one name or value exchanged, so that it reads like any true quotation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from synth.agents.contract import Turn
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import documents, folder_of, likely, name_of, wrong_answers
from synth.annotate.preferences.perturb.words import (
    answering,
    leaves,
    names,
    quotes,
    renamed,
    sentences,
    stands_alone,
    unquoted,
)
from synth.environments.observed import observe
from synth.environments.rendering import plain
from synth.text.words import words_of

__all__ = ["HallucinatedCitation"]


class HallucinatedCitation:
    name = "hallucinated_citation"
    family = "verification"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(len(run.history))):
            turn = run.history[step].turn
            if turn.answer is not None:
                yield from self._answer(run, step, turn.answer, generator)
            elif len(turn.calls) == 1:
                yield from self._call(run, step, turn, generator)
                if step == run.last - 1:
                    yield from self._unopened(run, step, generator)

    def _answer(self, run: GoodRun, step: int, given: str, generator: np.random.Generator) -> Iterator[Proposal]:
        turn = run.history[step].turn
        for value in wrong_answers(run, step, generator):
            false = _falsified(run, step, turn.thought, given, value)
            if false is not None:
                other = turn.model_copy(update={"thought": false[0], "answer": value})
                yield Proposal(step, other, ("wrong_answer",), f'claims to have read "{false[1]}"', false[2])

    def _call(self, run: GoodRun, step: int, turn: Turn, generator: np.random.Generator) -> Iterator[Proposal]:
        call = turn.calls[0]
        for key, value in sorted(call.arguments.items()):
            old = name_of(run, step, value) if isinstance(value, str) else None
            if old is None:
                continue
            unread = [item for item in documents(run, step) if item.target.split("#", 1)[0] not in run.views[step].read]
            others = [item for item in unread if item.target != value and folder_of(item.target) == folder_of(value)]
            for item in likely(others, old, value, generator):
                false = _falsified(run, step, turn.thought, old, item.name)
                if false is not None:
                    wrong = call.model_copy(update={"arguments": {**call.arguments, key: item.target}})
                    other = turn.model_copy(update={"thought": false[0], "calls": (wrong,)})
                    words = f'claims to have read "{false[1]}" and goes to {item.name}'
                    yield Proposal(step, other, ("nothing", "error"), words, false[2])

    def _unopened(self, run: GoodRun, step: int, generator: np.random.Generator) -> Iterator[Proposal]:
        """The last page is quoted in place of being opened."""
        given, final = run.row.answer or "", run.history[run.last].turn
        value = next(iter(run.history[step].turn.calls[0].arguments.values()), None)
        page = name_of(run, step, value) if isinstance(value, str) else None
        line = next(
            (part for part in sentences(final.thought) if any(names(text, given) for text in quotes(part))), None
        )
        if page is None or line is None or not run.missing(step):
            return
        for answer in wrong_answers(run, step, generator):
            closing = answering(final.thought, given, answer)
            said = renamed(line, given, answer)
            claimed = quotes(said)[0]
            if closing is None or _was_shown(run, step, claimed):
                return
            if leaves(said, given, answer):
                continue
            turn = Turn(thought=stands_alone([said, closing]), answer=answer)
            if run.grounded(step, turn.model_copy(update={"thought": unquoted(turn.thought)})):
                words = f'claims to have read "{claimed}" on {page}, which was not opened, and answers {answer!r}'
                note = f'When it is opened, it says "{quotes(line)[0]}".'
                yield Proposal(step, turn, ("wrong_answer",), words, note)


def _falsified(run: GoodRun, step: int, thought: str | None, old: str, new: str) -> tuple[str, str, str] | None:
    """(thought with ``old`` exchanged for ``new`` throughout, the false quotation, what was really read); None when no
    quotation holds ``old``, or when something that was read says the same of ``new``."""
    if thought is None:
        return None
    true = [text for text in quotes(thought) if names(text, old) and words_of(text) not in words_of(run.task.question)]
    where = _where(run, step, true[0]) if true else None
    false = [renamed(text, old, new) for text in true]
    if where is None or any(names(text, new) for text in true):
        return None
    if any(leaves(text, old, new) or _was_shown(run, step, text) for text in false):
        return None
    return renamed(thought, old, new), false[0], f'What was read ({where}) says "{true[0]}".'


def _where(run: GoodRun, step: int, text: str) -> str | None:
    """The document, or else the tool, that showed ``text`` last before ``step``; None when nothing did."""
    for past in reversed(run.history[:step]):
        for call, result in zip(past.turn.calls, past.results, strict=False):
            if words_of(text) in words_of(plain(result.content)):
                return observe(result.content).about or call.name
    return None


def _was_shown(run: GoodRun, step: int, text: str) -> bool:
    wanted = words_of(text)
    texts = (plain(result.content) for past in run.history[:step] for result in past.results)
    return wanted in words_of(run.task.question) or any(wanted in words_of(text) for text in texts)
