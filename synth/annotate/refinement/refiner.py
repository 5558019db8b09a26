"""Failed runs made into good ones: cut where they went wrong, and continued by the policy.

Search-R2 (arXiv 2602.03647) and Trajectory-Refined Distillation (2606.08432) cut at the first error and regenerate;
R3L (2601.03715) also tells the policy what went wrong; KEPO (2602.00400) gives hints where the policy alone finds
nothing; EEF (2504.13145) keeps stretches of failed runs from whose ends the policy succeeds more often. A hint
is for the policy of that moment and no part of the row, so what it does must be grounded in what it saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from synth.agents.contract import Policy
from synth.agents.grounding.check import ungrounded
from synth.agents.hinted import HintedTurns
from synth.agents.loop import Limits, Rollout, replay, rollout
from synth.agents.reflection import NoReflection, Reflector, gives_away
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.critical.branching import Continuation, Generators
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import Record
from synth.annotate.critical.segments import Segment, segment_trajectory
from synth.annotate.labels.label import StepLabel
from synth.environments.contract import Environment
from synth.identity import digest
from synth.prompting import load_prompt
from synth.schemas.model_turns import ModelTurns
from synth.schemas.refined import How, Refinement
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow

__all__ = ["Refiner", "Unrefined", "label_hint"]

_HINT = ("agents/retry", 1)


class Unrefined(Exception):
    """Why a run was not refined."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


def label_hint(wrong: StepLabel, task: Task) -> str:
    """What the label of the first wrong step says of it.

    Raises:
        Unrefined: that would give the answer away.
    """
    said = f"Turn {wrong.step + 1} ({wrong.action_kind}): {wrong.label_detail}"
    leak = gives_away(said, task)
    if leak is not None:
        raise Unrefined(Reason.ANSWER_IN_REFLECTION, f"the label of step {wrong.step} holds {leak!r}")
    return load_prompt(*_HINT).render(mistake=said, advice="Do something else there.")


@dataclass(frozen=True)
class Refiner:
    """Refines the runs of one task."""

    task: Task
    environment: Environment
    policy: Policy
    hinted: Policy | None
    """Who takes hinted turns, where the policy can't read hints; None = the policy, with the hint at the end of its
    system prompt."""
    reflector: Reflector | None
    """Who writes hints; None = the label of the wrong step does."""
    limits: Limits
    tries: int
    generator: Generators

    def refine(self, run: TrajectoryRow, how: How, wrong: StepLabel) -> tuple[Rollout, Refinement]:
        """``run`` from its first wrong step on, or anew.

        Raises:
            Unrefined: no try came to the right answer by what it had seen.
        """
        nothing: tuple[str | None, str | None, tuple[str, ...]] = (None, None, ())
        hint, by, calls = nothing if how == "regenerate" else self._hint(run, wrong)
        at = 0 if how == "hint_from_start" else wrong.step
        done, tries = self._first_right(run, how, at, hint, all_hinted=how == "hint_from_start")
        return done, Refinement(how=how, step=at, tries=tries, hint=hint, hint_by=by, calls=calls)

    def refine_segments(
        self,
        run: TrajectoryRow,
        *,
        every: int,
        config: CriticalConfig,
        done: Mapping[str, Continuation],
        record: Record,
    ) -> tuple[Rollout, Refinement]:
        """``run`` up to the end of the first stretch of ``every`` steps that was worth it, and on from there.

        Raises:
            Unrefined: no stretch was, or no try came to the right answer.
        """
        found = segment_trajectory(
            run,
            self.task,
            self.environment,
            self.policy,
            every=every,
            config=config,
            generator=self.generator,
            done=done,
            record=record,
        )
        if not found.useful:
            why = "" if found.refused is None else f": {found.refused.detail}"
            raise Unrefined(Reason.NO_USEFUL_SEGMENT, f"none of {len(found.segments)} stretches{why}")
        best: Segment = found.useful[0]
        rollout_, tries = self._first_right(run, "segment", best.stop, None)
        return rollout_, Refinement(
            how="segment",
            step=best.stop,
            tries=tries,
            segment=(best.start, best.stop),
            before=(best.before_successes, best.before_n),
            after=(best.after_successes, best.after_n),
        )

    def _hint(self, run: TrajectoryRow, wrong: StepLabel) -> tuple[str, str | None, tuple[str, ...]]:
        if self.reflector is None:
            return label_hint(wrong, self.task), None, ()
        prompt, history = history_of(run)
        failed = Rollout(self.task, prompt, history, run.stop_reason, run.verdict)
        try:
            told = self.reflector.reflect(failed, digest("refine", run.id)[:32])
        except NoReflection as error:
            raise Unrefined(error.reason, error.detail) from error
        return told.notes, told.by, told.calls

    def _first_right(
        self, run: TrajectoryRow, how: How, at: int, hint: str | None, *, all_hinted: bool = False
    ) -> tuple[Rollout, int]:
        policy = self.policy
        if hint is not None and self.hinted is not None:
            policy = HintedTurns(policy, self.hinted, at, self.limits.max_turns if all_hinted else at + 1)
        system = run.system_prompt if hint is None or self.hinted is not None else f"{run.system_prompt}\n\n{hint}"
        last = Unrefined(Reason.NOT_REFINED, f"none of {self.tries} tries from turn {at} came to the right answer")
        for number in range(self.tries):
            try:
                done = self._go_on(run, policy, system, at, self._turns(run, how, number))
            except ValueError as error:
                raise Unrefined(Reason.ENVIRONMENT_ERROR, str(error)) from error
            if done.rejected is not None:
                last = Unrefined(done.rejected.reason, done.rejected.detail)
            elif done.verdict.correct is True:
                bare = done.prompt.model_copy(update={"system": run.system_prompt})
                loose = ungrounded(bare, done.history, start=at, own_words=run.model is not None)
                if not loose:
                    return replace(done, prompt=bare), number + 1
                last = Unrefined(Reason.UNGROUNDED, str(loose[0]))
        raise last

    def _turns(self, run: TrajectoryRow, how: How, number: int) -> Callable[[int], np.random.Generator]:
        return lambda turn: self.generator("refine", run.id, how, number, turn)

    def _go_on(
        self,
        run: TrajectoryRow,
        policy: Policy,
        system: str,
        at: int,
        generator_for_turn: Callable[[int], np.random.Generator],
    ) -> Rollout:
        """
        Raises:
            ValueError: replaying the prefix gave different results.
        """
        _, history = history_of(run)
        episode = replay(self.environment, self.task, history[:at], facts_of(run))
        try:
            done = rollout(
                policy,
                self.environment,
                self.task,
                system=system,
                limits=self.limits,
                generator_for_turn=generator_for_turn,
                history=history[:at],
                episode=episode,
            )
        finally:
            episode.close()
        if done.stop_reason is StopReason.REJECTED:
            return done
        return replace(done, sources=ModelTurns.of(run.details).model_turns[:at] + done.sources)
