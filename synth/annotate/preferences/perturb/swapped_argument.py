"""Swapped argument: the call (or the answer) names another document, name or value that was in view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from synth.agents.contract import Turn
from synth.agents.grounding.said import says
from synth.annotate.preferences.perturb.run import GoodRun, Proposal
from synth.annotate.preferences.perturb.values import (
    Seen,
    asked_for,
    documents,
    folder_of,
    likely,
    name_of,
    passage_with,
    wrong_answers,
)
from synth.annotate.preferences.perturb.words import leaves, names, quotes, renamed, sentences
from synth.environments.contract import ToolCall
from synth.environments.rendering import find_links
from synth.text.words import same_words

__all__ = ["SwappedArgument"]


class SwappedArgument:
    name = "swapped_argument"
    family = "decision"

    def propose(self, run: GoodRun, generator: np.random.Generator) -> Iterator[Proposal]:
        for step in (int(at) for at in generator.permutation(len(run.history))):
            turn = run.history[step].turn
            if len(turn.calls) == 1 and run.history[step].results:
                yield from self._call(run, step, turn, turn.calls[0], generator)
            elif turn.answer is not None:
                yield from self._answer(run, step, turn, turn.answer, generator)

    def _call(
        self, run: GoodRun, step: int, turn: Turn, call: ToolCall, generator: np.random.Generator
    ) -> Iterator[Proposal]:
        seen = documents(run, step)
        for key, value in sorted(call.arguments.items()):
            if not isinstance(value, str):
                continue
            for old, new, written in _swaps(run, step, value, seen, generator):
                thought = _rethought(run, step, turn.thought, old, new)
                if turn.thought is not None and thought is None:
                    continue
                swapped = call.model_copy(update={"arguments": {**call.arguments, key: written}})
                other = turn.model_copy(update={"thought": thought, "calls": (swapped,)})
                if swapped.arguments != call.arguments and run.grounded(step, other):
                    words = f"{call.name} with {key}={written!r} ({new}) in place of {value!r} ({old})"
                    yield Proposal(step, other, ("nothing", "error"), words)

    def _answer(
        self, run: GoodRun, step: int, turn: Turn, given: str, generator: np.random.Generator
    ) -> Iterator[Proposal]:
        for value in wrong_answers(run, step, generator):
            thought = None if turn.thought is None else _claim(run, step, turn.thought, given, value)
            if turn.thought is not None and thought is None:
                continue
            other = turn.model_copy(update={"thought": thought, "answer": value})
            if run.grounded(step, other):
                words = f"answers {value!r}, which was in view too, in place of {given!r}"
                yield Proposal(step, other, ("wrong_answer",), words)


def _swaps(
    run: GoodRun, step: int, value: str, seen: list[Seen], generator: np.random.Generator
) -> Iterator[tuple[str, str, str]]:
    """(old name, new name, new value of the argument)."""
    old = name_of(run, step, value)
    if old is not None:
        # What the question names itself is another way to begin, and no worse.
        fine = {value.split("#", 1)[0], *asked_for(run)}
        # And who has to choose between several may begin with any of them.
        thought = run.history[step].turn.thought or ""
        rivals = thought if says(("candidates",), thought) else ""
        others = [item for item in seen if item.target.split("#", 1)[0] not in fine and not names(rivals, item.name)]
        others = [item for item in others if not same_words(item.name, old) and _unread(run, step, item)]
        # A mountain is taken for a river only where a line was misread, and then that line is quoted.
        quoted = bool(quotes(thought))
        others = [item for item in others if quoted or folder_of(item.target) == folder_of(value)]
        for item in likely(others, old, value, generator):
            yield old, item.name, item.target
        return
    held = [item for item in seen if names(value, item.name)]
    for item in held[:1]:
        others = [other for other in seen if not names(value, other.name) and _fresh(run, other)]
        for other in likely(others, item.name, item.target, generator):
            yield item.name, other.name, renamed(value, item.name, other.name)


def _unread(run: GoodRun, step: int, item: Seen) -> bool:
    """A page that was read already is not a tempting alternative."""
    return item.target.split("#", 1)[0] not in run.views[step].read


def _fresh(run: GoodRun, item: Seen) -> bool:
    return not names(run.task.question, item.name)


def _rethought(run: GoodRun, step: int, thought: str | None, old: str, new: str) -> str | None:
    """The thought with ``old`` exchanged in what it says of the deed. What it quotes or lists stays; None where a
    quotation would then be put in the wrong mouth, or where the exchange leaves no trace."""
    if thought is None:
        return None
    among = says(("hit_among",), thought)
    if among is not None and not names(among.group(), new):
        return None  # it chooses from a list that does not have it
    parts = sentences(thought)
    last = max((at for at, part in enumerate(parts) if names(part, old)), default=None)
    if last is None or quotes(parts[last]):
        return None
    if any(_of(run, step, text, old) for part in parts[last:] for text in quotes(part)):
        return None
    for at, part in enumerate(parts):
        for text in quotes(part):
            if names(text, old) and text not in run.task.question:
                # The line that named the right one is misread, so it is another line that is quoted, as true as it.
                line = passage_with(run, step, new, beside=text)
                if line is None or line == text:
                    return None
                parts[at] = part.replace(text, line)
    # What was read is told as it was, and so is what there was to choose from.
    held = documents(run, step)
    others = [item.name for item in held if not same_words(item.name, old)]
    read = {item.name for item in held if not _unread(run, step, item)}
    opened = any(same_words(name, old) for name in read)
    if any(names(parts[last], name) for name in read if not same_words(name, old)):
        return None  # the sentence says what another page holds or lacks
    done = []
    for at, part in enumerate(parts):
        if at == last:
            chosen = _chosen_anew(part, old, new, others, opened=opened)
            if chosen == part:
                return None
            part = chosen
        elif at > _read(parts) and not opened and not quotes(part) and not any(names(part, one) for one in others):
            part = renamed(part, old, new)
        done.append(part)
    misread = next((at for at, part in enumerate(done) if quotes(part) != quotes(sentences(thought)[at])), None)
    if misread is not None and any(names(part, old) for part in done[misread:] if not quotes(part)):
        return None  # it draws two conclusions from one line
    return " ".join(done)


def _chosen_anew(part: str, old: str, new: str, others: Sequence[str], *, opened: bool) -> str:
    """The sentence with ``old`` exchanged, except in a list beside ``others``. Where the page of ``old`` was read
    (``opened``), only its last mention is."""
    other = "|".join(re.escape(name) for name in sorted({*others, new}, key=len, reverse=True))
    between = r"(?:, and |, or |, | and | or )"
    spans = []
    for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", part):
        after, before = part[match.end() :], part[: match.start()]
        if not re.match(rf"{between}(?:{other})(?!\w)", after) and not re.search(
            rf"(?<!\w)(?:{other}){between}$", before
        ):
            spans.append(match.span())
    for start, end in reversed(spans[-1:] if opened else spans):
        part = part[:start] + new + part[end:]
    return part


def _read(parts: list[str]) -> int:
    """The last sentence that quotes."""
    return max((at for at, part in enumerate(parts) if quotes(part)), default=-1)


def _of(run: GoodRun, step: int, quote: str, name: str) -> bool:
    """Whether the quotation stands in the list of results under ``name``."""
    for result in run.history[step - 1].results if step else ():
        at = result.content.find(quote[:40])
        before = [item for item in find_links(result.content) if item.end <= at]
        if at >= 0 and before and same_words(before[-1].anchor, name):
            return True
    return False


def _claim(run: GoodRun, step: int, thought: str, given: str, value: str) -> str | None:
    """The thought with another answer. Where it quotes the line that gives the right one, it quotes a line that was
    read and holds the other: the page is misread, not misquoted."""
    done: list[str] = []
    for part in sentences(thought):
        held = [text for text in quotes(part) if names(text, given)]
        if held:
            line = passage_with(run, step, value, beside=held[0])
            if line is None or len(held) > 1 or line == held[0]:
                return None
            done.append(part.replace(held[0], line))
        elif quotes(part) and names(part, given):
            return None  # another's page is quoted
        else:
            done.append(part if quotes(part) else renamed(part, given, value))
            if not quotes(part) and leaves(done[-1], given, value):
                return None
    claimed = any(names(part, value) for part in done if not quotes(part))
    return " ".join(done) if claimed else None
