"""Long observations, summarized before an agent reads them (OpenSeeker, arXiv 2603.15594: denoised synthesis).

The teacher reads summaries and acts better; the student trains on what the tools really said. So the canonical row
holds every observation in full, and beside it, among the details, what the agent was shown instead
(:func:`seen_history` puts the two together). Whatever judges a run (groundedness, evidence, labels) reads the full
view: what a summary made up is ungrounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from pydantic import Field

from synth.agents.actions import view_of
from synth.agents.contract import Decision, History, Policy, Prompt, Step, Turn
from synth.agents.grounding.check import plain_words
from synth.agents.trajectory import facts_of, history_of
from synth.environments.contract import ToolResult
from synth.environments.observed import observe
from synth.environments.pages import goes_on
from synth.environments.rendering import find_links
from synth.environments.shown import Page, read_hits
from synth.identity import canonical_json, digest, versioned
from synth.models.asking import AskConfig, Asker
from synth.models.contract import Model, public_name
from synth.prompting import load_prompt
from synth.schemas.described import Described
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.summaries import Shown, ShownSummary
from synth.schemas.trajectories import TrajectoryRow
from synth.text.sentences import sentences
from synth.text.words import words_of

__all__ = [
    "SUMMARIZE_PROMPT",
    "Extractive",
    "ModelSummarizer",
    "Summaries",
    "Summarizer",
    "Summarizing",
    "extractive_summarizer",
    "model_summarizer",
    "seen_history",
]

SUMMARIZE_PROMPT = ("agents/summarize", 1)
"""Id and version of the prompt file."""


class Summaries(Described):
    """Which observations the teacher reads as summaries."""

    over: int = Field(default=1_500, ge=1)
    """Observations of more code points are summarized."""
    size: int = Field(default=600, ge=50)
    """Code points of a summary, about."""


class Summarizer(Protocol):
    def summarize(self, prompt: Prompt, turn: Turn, result: ToolResult, size: int) -> ShownSummary:
        """What is shown in the place of ``result``, which ``turn`` asked for, in about ``size`` code points. Depends on
        these alone. Where there is none, ``text`` is None and the reason says why."""


class Summarizing:
    """A policy that reads summaries of long observations, and is otherwise the one that it was given.

    An observation has one summary in all turns of a run, so what was sent to a model once stays as it was.
    """

    def __init__(self, policy: Policy, summarizer: Summarizer, config: Summaries) -> None:
        self.privileged = policy.privileged
        self._policy = policy
        self._summarizer = summarizer
        self._config = config
        self._known: dict[str, ShownSummary] = {}

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        shown: list[ShownSummary] = []
        view = tuple(self._step(prompt, step, shown) for step in history)
        decision = self._policy.act(prompt, view, generator)
        return replace(decision, shown=(*shown, *decision.shown))

    def _step(self, prompt: Prompt, step: Step, shown: list[ShownSummary]) -> Step:
        results = tuple(self._result(prompt, step.turn, result, shown) for result in step.results)
        return step if results == step.results else step.model_copy(update={"results": results})

    def _result(self, prompt: Prompt, turn: Turn, result: ToolResult, shown: list[ShownSummary]) -> ToolResult:
        if result.error is not None or len(result.content) <= self._config.over:
            return result
        key = digest(turn.model_dump(mode="json"), result.model_dump(mode="json"))
        if key not in self._known:
            self._known[key] = self._summarizer.summarize(prompt, turn, result, self._config.size)
        made = self._known[key]
        shown.append(made)
        return result if made.text is None else result.model_copy(update={"content": made.text})


def seen_history(row: TrajectoryRow, step: int | None = None) -> History:
    """What the agent of ``row`` had before it when it took turn ``step`` (None: at the end, its last turn included):
    summaries in the place of what they stood for, and of a history that it compressed its own notes.

    Raises:
        ValueError: the content is not of the form that rollouts write.
    """
    shown = {made.call_id: made.text for made in Shown.of(row.details).shown if made.text is not None}
    _, history = history_of(row)
    seen = history[:step]
    if "management" in facts_of(row):
        seen = view_of(seen)
    return tuple(_with(one, shown) for one in seen)


def _with(step: Step, shown: Mapping[str, str]) -> Step:
    results = tuple(
        result.model_copy(update={"content": shown.get(result.call_id, result.content)}) for result in step.results
    )
    return step.model_copy(update={"results": results})


def _goal(turn: Turn) -> str:
    """What the agent had in mind when it asked for an observation."""
    calls = "; ".join(f"{call.name} {canonical_json(call.arguments)}" for call in turn.calls)
    return "\n".join(filter(None, (turn.thought, turn.said, calls)))


def _framed(content: str, summary: str) -> str:
    """A summary between the first line of the observation, which says what it is, and the line that says whether there
    is more."""
    first, _, _ = content.partition("\n")
    return ("" if first in summary else f"{first}\n\n") + summary + _more(content)


def _more(content: str) -> str:
    """What an observation says of further pages, at its end; empty where it says nothing."""
    shown = observe(content)
    return goes_on(shown.page, shown.pages) if isinstance(shown, Page) else ""


class Extractive:
    """The stand-in that needs no model: sentences of the observation, word for word. Titles of a list of results, the
    first two sentences, then those that share most words with the question and with what the agent was after, all in
    their order on the page."""

    def summarize(self, prompt: Prompt, turn: Turn, result: ToolResult, size: int) -> ShownSummary:
        first, _, body = result.content.partition("\n")
        parts = sentences(body.removesuffix(_more(result.content)), capital=True)
        wanted = set(words_of(f"{prompt.question} {_goal(turn)}").split()) - plain_words()
        shared = [len(wanted & set(words_of(sentence).split())) for sentence in parts]
        always = [place < 2 or bool(read_hits([sentence])) for place, sentence in enumerate(parts)]
        ranked = sorted(range(len(parts)), key=lambda place: (not always[place], -shared[place], place))
        taken: list[int] = []
        left = size
        for place in ranked:
            if len(parts[place]) <= left and (always[place] or shared[place]):
                taken.append(place)
                left -= len(parts[place]) + 1
        text = _framed(result.content, "\n".join(parts[place] for place in sorted(taken)) or first)
        if len(text) >= len(result.content):
            return ShownSummary(call_id=result.call_id, text=None, by="extractive", detail="it would be no shorter")
        return ShownSummary(call_id=result.call_id, text=text, by="extractive")


class _Summary(Row):
    summary: str = Field(min_length=1)


class ModelSummarizer:
    """Summaries by a model. One that links to what the observation does not show, or is no shorter, is none."""

    def __init__(self, model: Model, asking: AskConfig | None = None) -> None:
        prompt = load_prompt(*SUMMARIZE_PROMPT)
        self._asker = Asker(model, prompt, _Summary, asking)
        self._by, self._prompt = public_name(model.name), str(prompt.ref)

    def summarize(self, prompt: Prompt, turn: Turn, result: ToolResult, size: int) -> ShownSummary:
        request: dict[str, Any] = {
            "characters": size,
            "question": prompt.question,
            "goal": _goal(turn),
            "observation": result.content,
        }
        asked = self._asker.ask(digest("summary", request)[:32], request=canonical_json(request))
        made = ShownSummary(
            call_id=result.call_id,
            text=None,
            by=self._by,
            prompt=self._prompt,
            calls=asked.calls,
            reason=asked.reason,
            detail=asked.detail[:300],
        )
        if asked.answer is None:
            return made
        text = _framed(result.content, asked.answer.summary.strip())
        loose = {item.target for item in find_links(text)} - {item.target for item in find_links(result.content)}
        if loose:
            detail = f"it links to {min(loose)}, which the observation does not show"
            return made.model_copy(update={"reason": Reason.UNGROUNDED, "detail": detail[:300]})
        if len(text) >= len(result.content):
            detail = f"{len(text)} characters for {len(result.content)}"
            return made.model_copy(update={"reason": Reason.MALFORMED, "detail": detail})
        return made.model_copy(update={"text": text})


@versioned(35)
def extractive_summarizer() -> Summarizer:
    """What a build without the role ``summarizer`` uses."""
    return Extractive()


@versioned(35)
def model_summarizer(*, model: Model, **options: Any) -> Summarizer:
    """The role ``summarizer``, played by ``model``; ``options`` are those of :class:`AskConfig`."""
    return ModelSummarizer(model, AskConfig(**options))
