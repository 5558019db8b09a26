"""Runs made of finished runs, turn by turn: the agents of one run distilled into one agent, and notes in the place of
what was read. No agent acts again: every observation is the recorded one, and the stage repeats all calls to prove it.

* ``distilled`` (Chain-of-Agents, arXiv 2508.13167): the planner and its helpers become one run, in whose thoughts
  each speaks between tags of its own.
* ``compressed`` (CAT, SWE-Compressor, arXiv 2512.22087): where the view has grown beyond a budget, the agent writes
  down what it thought, and of each observation the sentences nearest to its question and to what it was after. They are
  chosen by that alone, never by what comes later; where a later turn names what they lack, the cut is tried a turn on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from synth.agents.actions import COMPRESS, COMPRESS_ANSWER, DELEGATE
from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.helpers import helper_runs
from synth.agents.summaries import Extractive
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.refinement.refiner import Unrefined
from synth.environments.contract import ToolCall
from synth.environments.observed import observe
from synth.environments.shown import Hits
from synth.schemas.delegations import delegations_of
from synth.schemas.rejections import Reason
from synth.schemas.reworked import Rework
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["compressed", "distilled", "notes_of", "numbered"]


def numbered(history: Sequence[Step]) -> History:
    """``history`` with its calls named by their place, as rollouts name them."""
    made: list[Step] = []
    for number, step in enumerate(history):
        names = [f"call_{number}_{place}" for place in range(len(step.turn.calls))]
        calls = tuple(call.model_copy(update={"id": name}) for call, name in zip(step.turn.calls, names, strict=True))
        results = tuple(
            result.model_copy(update={"call_id": name}) for result, name in zip(step.results, names, strict=False)
        )
        made.append(Step(turn=step.turn.model_copy(update={"calls": calls}), results=results))
    return tuple(made)


# --- several agents as one --------------------------------------------------------------------------------------------


def distilled(row: TrajectoryRow, *, least: int) -> tuple[History, Rework]:
    """The run of one agent that planned, searched, read and verified, out of a run whose parts went to helpers.

    Args:
        least: Calls of tools that it must have: runs with fewer teach no teamwork.

    Raises:
        Unrefined: it is no such run, a helper was wrong, or it is too short.
    """
    _, history = history_of(row)
    helped = dict(zip(delegations_of(facts_of(row)), helper_runs(row), strict=True))
    asked = [call for step in history for call in step.turn.calls]
    if not asked or any(call.name != DELEGATE.name or call.id not in helped for call in asked):
        raise Unrefined(Reason.NOT_DISTILLED, "not all of its calls went to helpers")
    runs = delegations_of(facts_of(row)).values()
    wrong = next((one for one in runs if one.verdict is None or one.verdict.correct is not True), None)
    if wrong is not None or row.verdict.correct is not True:
        raise Unrefined(Reason.NOT_DISTILLED, "an answer is wrong" if wrong is None else f"a helper: {wrong.question}")
    made: list[Step] = []
    roles: list[tuple[str, ...]] = []
    said: list[tuple[str, str]] = []

    def take(step: Step) -> None:
        spoken = [(role, words) for role, words in said if words]  # an agent that only acts has no words to learn
        text = "\n".join(f"<{role}>\n{words}\n</{role}>" for role, words in spoken)
        made.append(step.model_copy(update={"turn": step.turn.model_copy(update={"thought": text or None})}))
        roles.append(tuple(dict.fromkeys(role for role, _ in spoken)))
        said.clear()

    for step in history:
        parts = " ".join(str(call.arguments["question"]) for call in step.turn.calls)
        said.append(("planner", f"{step.turn.thought or ''} {parts}".strip()))
        for call in step.turn.calls:
            _, run = helped[call.id]
            for number, one in enumerate(run):
                said.append((_role(run, number), one.turn.thought or one.turn.answer or ""))
                if one.turn.calls:
                    take(one)
        if not step.turn.calls:
            take(step)
    calls = sum(len(step.turn.calls) for step in made)
    if calls < least:
        raise Unrefined(Reason.NOT_DISTILLED, f"{calls} calls of tools, and {least} are wanted")
    return numbered(made), Rework(how="distilled", roles=tuple(roles))


def _role(run: History, number: int) -> str:
    """Who of a team would take a helper's turn: the verifier looks again at what was read and said, the searcher
    searches, the reader reads, and says what it read."""
    step = run[number]
    if step.turn.calls and _settled(run[: number + 1], run[-1].turn.answer):
        return "verifier"
    return "searcher" if any("query" in call.arguments for call in step.turn.calls) else "reader"


def _settled(run: History, answer: str | None) -> bool:
    """Whether the answer was said, at the last by the thought of the last turn, after something showed it that is more
    than a result of a search: a name among hits, or in a list of several, is a candidate."""
    if not answer:
        return False
    name = re.escape(answer)
    listed = re.compile(rf"(?:,| and| or) {name}\b|\b{name}(?:,| and| or) ")
    shown = False
    for step in run:
        thought = re.sub(r'"[^"]*"', "", step.turn.thought or "")
        if shown and re.search(rf"\b{name}\b(?! [A-Z])", thought) and not listed.search(thought):
            return True
        shown |= any(answer in one.content and not isinstance(observe(one.content), Hits) for one in step.results)
    return False


# --- notes in the place of what was read ------------------------------------------------------------------------------


def compressed(
    row: TrajectoryRow, *, budget: int, size: int, thought: Callable[[int], str], count: Callable[[str], int]
) -> tuple[History, Rework]:
    """``row`` with notes wherever its view would grow beyond ``budget`` tokens and what follows is grounded in them.

    Args:
        size: Code points of what the notes keep of one observation, about.
        thought: What the agent thinks as it writes notes, by the number of the turn.
        count: Tokens of a text.

    Raises:
        Unrefined: it fits, or no notes keep what is used later.
    """
    prompt, history = history_of(row)
    if any(call.name in (COMPRESS.name, DELEGATE.name) for step in history for call in step.turn.calls):
        raise Unrefined(Reason.NOT_COMPRESSED, "it shortens its history, or asks helpers, by itself")
    own = row.model is not None
    loose = {(bad.place, bad.text) for bad in ungrounded(prompt, history, own_words=own)}
    made: list[Step] = []
    steps: list[int] = []
    view: list[Step] = []
    lines: list[str] = []
    longest = whole = 0
    why = "it fits"
    for number, step in enumerate(history):
        whole = max(whole, _tokens(history[:number], count))
        if _tokens(view, count) > budget and step.turn.calls:
            notes = "\n".join(("Known so far:", *lines))
            told = prompt.model_copy(update={"question": f"{prompt.question}\n\n{notes}"})
            lost = [
                bad for bad in ungrounded(told, history[number:], own_words=own) if (bad.place, bad.text) not in loose
            ]
            if lost:
                why = f"what is used later would be lost: {lost[0]}"
            elif 2 * count(notes) > _tokens(view, count):
                why = "the notes are as long as half of what they stand for"
            else:
                written = _write(len(made), notes, thought(number))
                steps.append(len(made))
                longest = max(longest, _tokens(view, count))
                made.append(written)
                view = [written]
        made.append(step)
        view.append(step)
        lines += notes_of(prompt, step, size)
    if not steps:
        raise Unrefined(Reason.NOT_COMPRESSED, why)
    longest = max(longest, _tokens(view[:-1], count))
    return numbered(made), Rework(how="compressed", steps=tuple(steps), tokens=(whole, longest))


def notes_of(prompt: Prompt, step: Step, size: int) -> Iterator[str]:
    """What notes keep of one turn: the thought, and of each observation what is nearest to it and to the question."""
    if step.turn.thought:
        yield f"- {step.turn.thought}"
    for result in step.results:
        if result.error is None:
            kept = Extractive().summarize(prompt, step.turn, result, size).text or result.content
            yield " ".join(kept.split())


def _write(number: int, notes: str, thought: str) -> Step:
    call = ToolCall(id=f"call_{number}_0", name=COMPRESS.name, arguments={"notes": notes})
    return Step(turn=Turn(thought=thought, calls=(call,)), results=(call.answered(COMPRESS_ANSWER),))


def _tokens(view: Sequence[Step], count: Callable[[str], int]) -> int:
    """Tokens of what an agent has before it, calls and question aside."""
    texts = [text for step in view for text in (step.turn.thought, *(one.content for one in step.results)) if text]
    written = [str(call.arguments["notes"]) for step in view for call in step.turn.calls if call.name == COMPRESS.name]
    return sum(map(count, (*texts, *written)))
