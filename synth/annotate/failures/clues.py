"""What the record of a failed run shows against a step: clues, each with the points that it weighs.

A clue is tested on the record alone: what tools answered, what no text had stated before, who speaks. The points are
weights of a conditional logit over the steps of a run, fitted on the 63 even numbers of Who&When's Algorithm-Generated
(arXiv 2505.00212) and rounded to quarters. "First report", chosen on the even numbers of Hand-Crafted, weighs no more
than any other: where it is right in one run of seven, it must not say that it is sure.
``tests/benchmarks/bench_public_labels.py`` measures them on the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from synth.agents.contract import History, Step
from synth.identity import canonical_json
from synth.schemas.steps import FailureClass

__all__ = ["CLUES", "Clue", "Seen", "seen_of"]

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MARKED = re.compile(r"\*\*(.+?)\*\*|\"([^\"\n]{2,60})\"|`([^`\n]{2,40})`")
_PRETENDS = re.compile(
    r"\b(?:simulat\w*|assum\w*|hypothetical\w*|placeholder|for example purposes|(?:example|sample|mock|dummy) data|mock"
    r"|dummy|fictional|let's say|for demonstration|as an example|replace with|presum\w*|guess\w*)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(r"exitcode: [1-9]|Traceback|Error\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"exitcode: 0 \(execution succeeded\)\s*Code output:\s*(?:None|\[\]|\s*$)|not subscribed|\bno results?\b", re.I
)
_UNABLE = re.compile(
    r"unable|not able|cannot|can't|could not|couldn't|did not (?:find|yield)|didn't|no (?:results|direct)|issue with"
    r"|limitation",
    re.IGNORECASE,
)
_CHECKER = re.compile(r"verif|valid|review|critic|check", re.IGNORECASE)
_SHORT = 60
_MANY = 3.0


@dataclass(frozen=True)
class Seen:
    """A step as a reader of the record sees it."""

    number: int
    agent: str | None
    text: str
    """What it says and thinks, and the arguments of its calls."""
    acts: bool
    """It calls a tool, or writes code that another agent runs."""
    answered: str
    """What came back."""
    error: bool
    """A tool called it an error."""
    new: int
    """Numbers, names in quotes and the like that no text before it had."""
    ends: int
    """How many of those the end of the run speaks of."""
    report: int
    """In the log of an orchestrator, which message of the agents that it sends it is, from 1; 0 = none of them."""


@dataclass(frozen=True)
class Clue:
    """One thing that speaks for or against a step being where the run failed."""

    name: str
    says: str
    """In words."""
    points: float
    holds: Callable[[Seen], float]
    """How far it holds, 0 to 1, or more where it is counted."""
    failure: FailureClass | None = None
    """Why a run fails that fails there."""


def _fails(step: Seen) -> float:
    return float(step.error or bool(step.answered and _FAILED.search(step.answered)))


CLUES: tuple[Clue, ...] = (
    Clue("fails", "what it runs or calls fails", 1.0, _fails, FailureClass.ACTING_INVALID_CALL),
    Clue(
        "claims",
        "states figures or names that nothing shown to it had",
        1.0,
        lambda step: float(not step.acts and step.new >= 2),
        FailureClass.REASONING_UNSUPPORTED,
    ),
    Clue(
        "pretends",
        "takes made-up data or an assumption for what was to be found out",
        1.0,
        lambda step: float(bool(_PRETENDS.search(step.text))),
        FailureClass.REASONING_UNSUPPORTED,
    ),
    Clue("acts", "runs or calls something", 0.75, lambda step: float(step.acts)),
    Clue(
        "first to say so",
        "is the first to state what the run ends with",
        0.5,
        lambda step: float(step.ends > 0),
        FailureClass.REASONING_UNSUPPORTED,
    ),
    Clue(
        "opens with action",
        "acts before anything is known",
        0.5,
        lambda step: float(step.acts and step.number == 0 and step.agent is not None),
    ),
    Clue(
        "empty",
        "what it asks for brings nothing",
        0.5,
        lambda step: float(bool(_EMPTY.search(step.answered))),
        FailureClass.FINDING_BAD_QUERY,
    ),
    Clue("new", "brings in what was not said before", 0.25, lambda step: min(math.log1p(step.new), _MANY)),
    Clue("says it is stuck", "says that it found nothing", -0.25, lambda step: float(bool(_UNABLE.search(step.text)))),
    Clue(
        "first report",
        "is the first that an agent brings back to the orchestrator, who builds on it",
        1.0,
        lambda step: float(step.report == 1),
        FailureClass.FINDING_BAD_QUERY,
    ),
    Clue("only a word", "says next to nothing", -0.75, lambda step: float(len(step.text) < _SHORT and not step.acts)),
    Clue("checks", "checks what others did", -0.75, lambda step: float(bool(_CHECKER.match(step.agent or "")))),
)


def seen_of(
    question: str, history: History, agents: Sequence[str | None], orchestrator: str | None = None
) -> tuple[Seen, ...]:
    """The steps of a run, each beside what had been shown before it.

    Args:
        agents: Who takes each step, in a log of several agents.
        orchestrator: The agent that directs the others, if there is one.
    """
    sent = [orchestrator is not None and agent not in (None, orchestrator) for agent in agents]
    texts = [_text(step) for step in history]
    answers = ["\n".join(result.content for result in step.results) for step in history]
    ends = [number for number, text in enumerate(texts) if len(text) > _SHORT // 4][-2:]
    final = frozenset[str]().union(*(_specifics(texts[number]) for number in ends)) - _specifics(question)
    shown = _specifics(question)
    found: list[Seen] = []
    for number, (step, text, answered) in enumerate(zip(history, texts, answers, strict=True)):
        new = _specifics(text) - shown if number else frozenset[str]()
        found.append(
            Seen(
                number=number,
                agent=agents[number],
                text=text,
                acts=bool(step.turn.calls) or "```" in text,
                answered=answered,
                error=any(result.error is not None for result in step.results),
                new=len(new),
                ends=len(new & final),
                report=sum(sent[: number + 1]) if sent[number] else 0,
            )
        )
        shown |= _specifics(text) | _specifics(answered)
    return tuple(found)


def _text(step: Step) -> str:
    turn = step.turn
    said = (turn.thought, turn.said, turn.answer, *(canonical_json(call.arguments) for call in turn.calls))
    return "\n".join(part for part in said if part)


def _specifics(text: str) -> frozenset[str]:
    """Numbers of two signs and more, and what is set off by quotes, ticks or bold type."""
    numbers = (one.replace(",", "").rstrip(".") for one in _NUMBER.findall(text))
    marked = (re.sub(r"\W+", " ", part.lower()).strip() for parts in _MARKED.findall(text) for part in parts if part)
    return frozenset(one for one in (*(number for number in numbers if len(number) > 1), *marked) if one)
