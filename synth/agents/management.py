"""Actions that an agent may take beside the tools of its environment: shorten its history, let a helper look, and say
what it makes of where it stands (:mod:`synth.agents.scripted.judging`).

``compress`` (after CAT, arXiv 2512.22087) replaces all that came before by the agent's own notes. The trajectory keeps
the whole history; what the agent saw is a function of it (:func:`view_of`), so it can be told for every turn, and a run
can be branched from anywhere. ``delegate`` (after SearchSwarm, arXiv 2606.09730) gives a sub-question to a helper: the
same policy, begun anew, with limits of its own and samples of its own. The helper's whole run is kept beside the
parent's (``delegated``, among the facts of the environment), and its tokens count as the parent's. Where the
sub-question is a part of the question (:mod:`synth.agents.subquestions`), the helper is judged by that part's answer.

Both are tools of an environment around the real one, which never learns of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pydantic import Field

from synth.agents.actions import ANSWERS, CHECK, COMPRESS, COMPRESS_ANSWER, DELEGATE, JUDGE, NOTED, view_of
from synth.agents.contract import Decision, History, Policy, Prompt, Step
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.subquestions import SubQuestion, sub_task
from synth.agents.trajectory import step_items
from synth.environments.contract import (
    Environment,
    Episode,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    unknown_tool,
    validate_arguments,
)
from synth.environments.observed import observe
from synth.environments.rendering import link
from synth.errors import InputError
from synth.identity import canonical_json, digest, generator_of, key_of
from synth.schemas.delegations import Delegation, delegations_of
from synth.schemas.described import Described
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = [
    "Acting",
    "Managed",
    "Management",
    "Viewing",
    "managed",
]


class Management(Described):
    """Which actions agents have beside the tools of their environment."""

    compress: bool = True
    """Agents may replace their history by notes."""
    delegate: bool = True
    """Agents may give sub-questions to helpers."""
    helpers: int = Field(default=8, ge=1, le=50)
    """Helpers in one run at most."""
    helper_turns: int = Field(default=8, ge=1, le=200)
    """Turns of one helper at most."""
    judge: bool = False
    """Agents may say whether what they were just shown helps (ReSeek); whether that is true is in ``steps``."""
    check: bool = False
    """Agents may say whether they may act, before they change something or decline (MOSAIC)."""


class Viewing:
    """A policy that sees its history as it compressed it, and is otherwise the one that it was given."""

    def __init__(self, policy: Policy) -> None:
        self.privileged = policy.privileged
        self._policy = policy

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return self._policy.act(prompt, view_of(history), generator)


class Acting:
    """A policy and where it acts: with the actions of ``config`` beside the tools of ``environment``, or both as they
    are where it is None."""

    def __init__(
        self,
        environment: Environment,
        policy: Policy,
        config: Management | None,
        helper: Callable[[Task], Policy] | None = None,
    ) -> None:
        """``helper`` makes the agent that works on a sub-question, given as a task; None: the policy itself."""
        self.environment = managed(environment, config, helper or (lambda task: policy))
        self.policy: Policy = policy if config is None else Viewing(policy)


def managed(
    environment: Environment, config: Management | None, helper: Callable[[Task], Policy] | None = None
) -> Environment:
    """``environment`` with the actions of ``config``. Without a helper, what was recorded can be repeated, and a new
    sub-question is a tool that broke. ``config`` None = as it is."""
    return environment if config is None else Managed(environment, helper, config)


class Managed(Environment):
    """The environment ``inner`` with actions beside its tools. It goes by its name: answers are checked and
    pages are read as there."""

    def __init__(self, inner: Environment, helper: Callable[[Task], Policy] | None, config: Management) -> None:
        self.inner = inner
        self.helper = helper
        self.config = config
        # It stands for ``inner`` wherever a record is compared with the environment that it is replayed in.
        self.name = inner.name  # type: ignore[misc]
        self.version = inner.version  # type: ignore[misc]
        offered = (
            (COMPRESS, config.compress),
            (DELEGATE, config.delegate),
            (JUDGE, config.judge),
            (CHECK, config.check),
        )
        self.own = tuple(tool for tool, wanted in offered if wanted)
        taken = {tool.name for tool in inner.tools()} & {tool.name for tool in self.own}
        if taken:
            raise InputError(f"the environment has a tool {min(taken)!r} of its own", where=f"management.{min(taken)}")

    def tools(self) -> tuple[ToolSchema, ...]:
        return (*self.inner.tools(), *self.own)

    def instructions(self) -> str:
        return self.inner.instructions()

    def settings(self, task: Task) -> JsonObject:
        return {**self.inner.settings(task), "management": self.config.model_dump(mode="json")}

    def reset(self, task: Task) -> ManagedEpisode:
        return ManagedEpisode(self, task, self.inner.reset(task), {})

    def resume(self, task: Task, recorded: JsonObject) -> ManagedEpisode:
        return ManagedEpisode(self, task, self.inner.resume(task, recorded), delegations_of(recorded))


class ManagedEpisode(Episode):
    """State: that of the episode inside, the notes that the agent sees in the place of its history, and what helpers
    brought."""

    def __init__(self, environment: Managed, task: Task, inner: Episode, recorded: dict[str, Delegation]) -> None:
        super().__init__(task)
        self.environment = environment
        self._inner = inner
        self._recorded = recorded
        self._notes: str | None = None
        self._helped: list[Delegation] = []
        self._begun: tuple[str, Callable[[int], np.random.Generator]] | None = None

    def begin(self, system: str, generator_for_turn: Callable[[int], np.random.Generator]) -> None:
        self._begun = (system, generator_for_turn)
        self._inner.begin(system, generator_for_turn)

    def step(self, call: ToolCall) -> ToolResult:
        tool = next((tool for tool in self.environment.own if tool.name == call.name), None)
        if tool is None:
            names = [tool.name for tool in self.environment.tools()]
            return self._inner.step(call) if call.name in names else unknown_tool(call, names)
        problem = validate_arguments(tool, call.arguments)
        text = "" if problem is not None else " ".join(str(next(iter(call.arguments.values()))).split())
        if problem is not None or not text:
            words = problem or f"{next(iter(call.arguments))}: it holds no words"
            return call.answered(f"Wrong arguments for {call.name}: {words}.", "bad_arguments")
        if tool in (JUDGE, CHECK):
            return call.answered(NOTED)
        if tool is COMPRESS:
            self._notes = str(call.arguments["notes"])
            return call.answered(COMPRESS_ANSWER)
        return self._delegate(call, text)

    def _delegate(self, call: ToolCall, question: str) -> ToolResult:
        if len(self._helped) >= self.environment.config.helpers:
            return call.answered(f"There is no helper left: {len(self._helped)} were asked already.", "refused")
        known = self._recorded.get(call.id) if self._begun is None else None
        if known is not None and known.question == question:
            self._helped.append(known)
            return _told(call, known)
        if self._begun is None or self.environment.helper is None:
            return call.answered("No helper can be reached.", "failure")
        made = self._help(call, question, *self._begun)
        self._helped.append(made)
        return _told(call, made)

    def _help(
        self, call: ToolCall, question: str, system: str, generator_for_turn: Callable[[int], np.random.Generator]
    ) -> Delegation:
        """A helper's run. It draws from the turn that asked for it: fresh in every continuation."""
        assert self.environment.helper is not None
        turn, place = (int(part) for part in call.id.split("_")[1:3])
        key = key_of(generator_for_turn(turn))
        task, part = sub_task(self.task, question)
        done = rollout(
            self.environment.helper(task),
            self.environment.inner,
            task,
            system=system,
            limits=Limits(max_turns=self.environment.config.helper_turns),
            generator_for_turn=lambda number: generator_of(digest("delegated", key, place, number)[:32]),
        )
        return _delegation(call, done, part)

    def tokens(self) -> int:
        return self._inner.tokens() + sum(one.completion_tokens for one in self._helped)

    def snapshot(self) -> Snapshot:
        inner = self._inner.snapshot()
        helped = [_plain(one) for one in self._helped]
        state = canonical_json({"inner": inner.state, "notes": self._notes, "delegated": helped})
        return inner.model_copy(update={"state": state})

    def restore(self, snapshot: Snapshot) -> None:
        state = self.environment.unpack(self.task, snapshot)
        if not isinstance(state, dict) or set(state) != {"inner", "notes", "delegated"}:
            raise ValueError("the snapshot was taken where agents have no actions of their own")
        self._inner.restore(snapshot.model_copy(update={"state": state["inner"]}))
        self._notes = state["notes"]
        self._helped = [Delegation.model_validate(one) for one in state["delegated"]]

    def lost(self) -> str | None:
        return self._inner.lost()

    def facts(self) -> JsonObject:
        """What the episode inside records, and every helper's run (``synth.schemas.delegations.Delegation``)."""
        found = self._inner.facts()
        if self._helped:
            helped = [_plain(one) for one in self._helped]
            found = {**found, "delegated": helped}
        return found

    def check(self, answer: str | None) -> Verdict:
        return self._inner.check(answer)

    def close(self) -> None:
        self._inner.close()


def _delegation(call: ToolCall, done: Rollout, part: SubQuestion | None) -> Delegation:
    """``part``: of the question, that the helper was asked; None where it is none."""
    unknown = Verdict(correct=None, rule="abstained", evidence="it is no part of the question that the walk answers")
    return Delegation(
        call_id=call.id,
        question=done.task.question,
        answer=done.answer,
        gold=part.answer.name if part else None,
        hops=part.hops if part else (),
        verdict=done.verdict if part else unknown,
        stop_reason=done.stop_reason,
        content=tuple(item for step in done.history for item in step_items(step)),
        tool_errors={
            result.call_id: result.error for step in done.history for result in step.results if result.error is not None
        },
        pages=tuple(_pages(done.history)),
        turns=len(done.history),
        completion_tokens=sum(source.completion_tokens or 0 for source in done.sources),
        model_turns=done.sources,
        shown=done.shown,
        environment=done.facts,
        rejected=None if done.rejected is None else done.rejected.reason,
        detail="" if done.rejected is None else done.rejected.detail,
    )


def _pages(history: tuple[Step, ...]) -> list[str]:
    """Pages that were opened, each once, as links."""
    found: dict[str, str] = {}
    for step in history:
        for result in step.results:
            seen = observe(result.content) if result.error is None else None
            if seen is not None and seen.about and seen.about not in found:
                title = next((passage.title for passage in seen.passages if passage.document == seen.about), seen.about)
                found[seen.about] = link(title, seen.about)
    return list(found.values())


def _told(call: ToolCall, made: Delegation) -> ToolResult:
    """What the parent reads of a helper's run."""
    if made.rejected is not None:
        return call.answered("The helper broke off and gave no answer.", "failure")
    said = f"{ANSWERS}{made.answer}" if made.answer is not None else "The helper found no answer."
    read = f"It read {', '.join(made.pages)}." if made.pages else "It read no page."
    return call.answered(f"{said}\n{read}").model_copy(update={"proves": made.proves})


def _plain(one: Delegation) -> dict[str, Any]:
    """As JSON; the items of the content as JSON text, as tables hold them, told apart by ``class_``: the protocol wants
    numbers wherever ``details`` says ``rate`` or ``count``, and what tools are told may be words."""
    items = [item.model_dump(mode="json", exclude_none=True) for item in one.content]
    return {**one.model_dump(mode="json", exclude_defaults=True, exclude={"content"}), "content": canonical_json(items)}
