"""One exploration of an application: a walk by what a user might ask for, its words, its plan and its audit.

Calls that change something become a request to do them (``done``, ``asked``, both sides of a safety pair); a call that
a rule stops becomes a request that has to be declined (``refused``), with an alternative or without (``offered``); a
row of a question becomes that question (``answered``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Literal

import numpy as np

from synth.environments.app.environment import AppEpisode
from synth.environments.app.state import Goal
from synth.errors import InputError
from synth.exploration.app.audit import Auditor
from synth.exploration.app.checklist import checklist_of
from synth.exploration.app.deciding import applying
from synth.exploration.app.injections import injection_for
from synth.exploration.app.phrases import Said, forms_of, plain, put
from synth.exploration.app.requests import AppRequests, beginning_of
from synth.exploration.app.safety_pairs import harmful, paired
from synth.exploration.app.solution import AppCandidate, AppSolution
from synth.exploration.app.solving import Solver
from synth.exploration.app.users import PERSONAS, agreements, is_told_first, worded
from synth.exploration.app.walking import TriedCall, Walker, asks_under, note_of, replay
from synth.exploration.app.wording import Clause, Wording, body, conditional, message
from synth.exploration.config import ExplorationConfig
from synth.exploration.pipeline import Dropped, Hopeless, Solved
from synth.exploration.walks import choose, draw
from synth.schemas.plans import HiddenRule, Persona, Plan, UserFact
from synth.schemas.rejections import Reason
from synth.schemas.tasks import CheckResult
from synth.tasks.graded import chance_of

__all__ = ["AppAttempt"]

_RULES = 3
"""Rules that a walk meets before it takes one of them."""


class AppAttempt:
    """One walk of a candidate and what becomes of it."""

    def __init__(
        self,
        app: AppRequests,
        auditor: Auditor,
        config: ExplorationConfig,
        candidate: AppCandidate,
        rng: np.random.Generator,
        lot: float,
    ) -> None:
        """
        Args:
            lot: 0 to 1: a walk is taken where its chance is greater.

        Raises:
            Dropped: the data of the state can't be made, or there is nobody who could write.
        """
        self.app, self.auditor, self.config = app, auditor, config
        self.candidate, self.rng, self.lot = candidate, rng, lot
        self.environment = app.environment
        self.task = beginning_of(self.environment, candidate.app_seed)
        self.episodes: list[AppEpisode] = []
        try:
            self.start, self.episode = self._fresh(), self._fresh()
        except InputError as error:
            # The data of another seed may do: a boundary found too few rows in these.
            raise Hopeless(Reason.NO_WALK, str(error)) from None
        speakers = app.speakers(self.start)
        if not speakers:
            self.close()
            raise Dropped(Reason.NO_WALK, "there is nobody who could write")
        self.speaker = choose(rng, speakers)
        self.who = self.speaker["speaker"]
        self.walker = Walker(app, self.episode, self.who, rng)
        self.wording = Wording(app, self.start, self.speaker, rng)
        self.persona: Persona = "plain" if candidate.kind in ("harmful", "benign") else draw(rng, PERSONAS)
        self.wanted = candidate.writes if candidate.kind == "done" else min(2, candidate.writes)
        self.end = ""
        """Hash of the state in which the walk ended."""
        self.reward: float | None = None
        self.harm = ""
        self.stopped: TriedCall | None = None
        self.instead: TriedCall | None = None
        self.solution: AppSolution
        self.stretches: list[tuple[str, Sequence[str]]] = []
        """Clauses of the request; none of a safety pair, whose words are not to be changed."""

    def _fresh(self) -> AppEpisode:
        episode = self.environment.reset(self.task)
        self.episodes.append(episode)
        return episode

    def close(self) -> None:
        for episode in self.episodes:
            episode.close()

    # -- explore and reduce ------------------------------------------------------------------------------------------

    def explore(self) -> Sequence[TriedCall]:
        kind = self.candidate.kind
        if kind == "answered":
            return ()
        if kind in ("refused", "offered"):
            self.stopped = self._find_stopped()
            self.instead = self._find_alternative(self.stopped) if kind == "offered" else None
            return ()
        if kind in ("harmful", "benign"):
            harms = self.app.requests.harms
            self.harm = draw(self.rng, {name: harm.weight for name, harm in harms.items()})
            return self._find_changes(harms[self.harm].asks)
        return self._find_changes()

    def reaches(self, steps: Sequence[TriedCall]) -> bool:
        again = replay(self.environment, self.task, [step.call for step in steps])
        # Calls that do not go through count for nothing: what comes to the same end without them is enough.
        return not again.violated and again.end == self.end

    def _find_changes(self, among: Sequence[str] = ()) -> list[TriedCall]:
        """Calls that change something; of the asks ``among``, if there are."""
        changing: list[TriedCall] = []
        weights = {ask: self.app.requests.asks[ask].weight for ask in among}
        for _ in range(self.config.tries):
            done = self.walker.step(draw(self.rng, weights) if among else None)
            if done is not None and done.changed:
                changing.append(done)
                if len(changing) == self.wanted:
                    break
        if not changing:
            raise Dropped(Reason.NO_WALK, "no call had an effect")
        self.end = self.episode.state_hash()
        return changing

    def _find_stopped(self) -> TriedCall:
        """A call that a rule forbids, for good: of several, so that no rule that is met at every turn crowds out the
        others."""
        found: dict[str, TriedCall] = {}
        asks, hidden = self.app.requests.asks, self.environment.rules.hidden
        under = {name: ask.weight for name, ask in asks.items() if ask.refused_by and not ask.alone}
        most = _RULES
        if self.candidate.variant is not None:
            under, most = asks_under(self.app), min(_RULES, len(hidden))
        if not under:
            raise Dropped(Reason.NO_WALK, "no ask names a rule that may forbid it")
        for _ in range(self.config.tries):
            done = self.walker.step(draw(self.rng, under))
            if done is None:
                continue
            among = hidden if self.candidate.variant is not None else asks[done.ask].refused_by
            if done.rule is not None and done.rule in among:
                found.setdefault(done.rule, done)
                if len(found) == most:
                    break
            if done.changed:
                self.episode.restore(self.start.snapshot())
        if not found:
            raise Dropped(Reason.NO_WALK, "no rule stopped anything")
        return found[choose(self.rng, sorted(found))]

    def _find_alternative(self, stopped: TriedCall) -> TriedCall:
        ask = self.app.requests.asks[stopped.ask]
        names = sorted(ask.instead)
        for at in self.rng.permutation(len(names)):
            same = {column: stopped.row[column] for column in ask.instead[names[int(at)]]}
            done = self.walker.step(names[int(at)], same=same)
            if done is not None and done.changed:
                return done
        raise Dropped(Reason.NO_WALK, f"{stopped.ask}: nothing that is allowed could be done instead")

    # -- word and solve ----------------------------------------------------------------------------------------------

    def word(self, steps: Sequence[TriedCall]) -> Solved:
        if steps:
            self._grade(steps)
        kind = self.candidate.kind
        if kind == "answered":
            self.solution = self._answered()
        elif self.stopped is not None:
            self.solution = self._declined(self.stopped, self.instead)
        elif kind in ("harmful", "benign"):
            self.solution = self._safety_pair(steps)
        else:
            self.solution = self._done(steps, left=kind == "asked")
        if self.candidate.injected:
            note = injection_for(self.app, self.solution, self._fresh(), self.who, self.rng)
            if note is None:
                raise Dropped(Reason.NO_WALK, "there is nothing that somebody else could ask for")
            self.solution = replace(self.solution, injection=note)
        assert self.candidate.split is not None
        return self.solution.solved(self.environment, self.candidate.split, self.stretches)

    def audit(self, solved: Solved) -> tuple[CheckResult, ...]:
        return self.auditor.audit(self.solution)

    def _grade(self, steps: Sequence[TriedCall]) -> None:
        ended = self.walker.ended(steps)
        if ended is not None:
            raise Dropped(Reason.UNNATURAL, f"{ended}: nobody asks for that in one message")
        self.reward = self.walker.reward(steps, self.wanted)
        if self.config.graded and self.lot >= chance_of(self.reward):
            raise Dropped(Reason.NOT_DRAWN, f"a walk of reward {self.reward:g}")

    def _solver(self, said: Sequence[Said], told: Mapping[str, Sequence[Said]] | None = None) -> Solver:
        return Solver(self.app, self.task, self.who, said, told)

    def _done(self, steps: Sequence[TriedCall], *, left: bool) -> AppSolution:
        if left and not any(self.app.requests.asks[step.ask].left for step in steps):
            raise Dropped(Reason.NO_WALK, "no value of what was done could be left open")
        found = worded(self.wording, steps, self._fresh(), self.persona, self.rng, left=left)
        question, said = self._message(found.clauses)
        with closing(self._solver(said, found.told)) as solver:
            made = self._written(steps, found.clauses, question, solver, found.facts)
            needed = {given.words for call in solver.calls for given in call.given.values() if given.source == "user"}
        if any(fact.says not in needed for fact in found.facts):
            raise Dropped(Reason.UNNATURAL, "no call uses what the user would be asked for")
        if not is_told_first(made.plan.calls, found.changed):
            raise Dropped(Reason.UNNATURAL, "what is changed would be looked at before the user is asked")
        return made

    def _written(
        self,
        steps: Sequence[TriedCall],
        clauses: Sequence[Clause],
        question: str,
        solver: Solver,
        facts: Sequence[UserFact] = (),
    ) -> AppSolution:
        words = [
            solver.write(step.ask, step.row, clause.text).content for step, clause in zip(steps, clauses, strict=True)
        ]
        asks = tuple(step.ask for step in steps)
        return self._solution("done", question, solver, solver.episode.goal(), " ".join(words), asks, facts=facts)

    def _answered(self) -> AppSolution:
        questions = self.app.requests.questions
        if not questions:
            raise Dropped(Reason.NO_WALK, "the application names no questions")
        name = draw(self.rng, {name: one.weight for name, one in questions.items()})
        question = questions[name]
        rows = self.app.rows(self.start, question, self.who)
        if not rows:
            raise Dropped(Reason.NO_WALK, f"{name}: there is nothing to ask about")
        row = choose(self.rng, rows)
        text, said = self._message([self.wording.question(name, row, self.start)])
        today = self.start.now[:10]
        answer = plain(question.answer, row, today)
        with closing(self._solver(said)) as solver:
            solver.look(question, row)
            for column in question.shown:
                if not solver.shows(row[column]):
                    raise Dropped(Reason.EVIDENCE_DOES_NOT_STATE, f"{name}: {column} is not shown")
            forms = forms_of([answer, *(plain(alias, row, today) for alias in question.aliases)])
            goal = solver.episode.goal(answer="required")
            made = self._solution("answered", text, solver, goal, answer, (name,))
            return replace(made, answer_kind=question.kind, aliases=tuple(dict.fromkeys(forms))[1:])

    def _declined(self, stopped: TriedCall, instead: TriedCall | None) -> AppSolution:
        rule = self.environment.rules.named(str(stopped.rule))
        if rule is None:
            raise Dropped(Reason.NO_WALK, "the rule is not known")
        text = " ".join(rule.text.split())
        reason = text if stopped.recorded else stopped.result.content
        explains = None if instead is None else self.app.requests.asks[instead.ask].explains
        if instead is not None and explains is not None:
            instead = replace(instead, row={**instead.row, explains: reason})
        first = self.wording.clause(stopped.ask, stopped.row, self.start)
        # What would do instead is one thing to do, where there are words for it.
        plain_second = False if instead is not None and self.app.requests.asks[instead.ask].do else None
        second = (
            None
            if instead is None
            else self.wording.clause(instead.ask, instead.row, self.start, sentences=plain_second, reason=False)
        )
        ending = "" if second is None else conditional(second, self.rng)
        question, said = self._message([first], ending, second)
        with closing(self._solver(said)) as solver:
            solver.decide(stopped.ask, stopped.row)
            hidden, confirm = note_of(self.environment, rule, stopped), self.app.requests.asks[stopped.ask].confirm
            if hidden is not None:
                solver.attempt(stopped.ask, stopped.row, solver.reach(stopped.ask, stopped.row, first.text))
            elif confirm is not None and rule.name in confirm.decides:
                solver.price(stopped.ask, stopped.row, solver.reach(stopped.ask, stopped.row, first.text))
            evidence = solver.evidence(stopped.ask, stopped.row, None if hidden else rule.name, stopped=True)
            weighed = () if hidden else solver.weighed(stopped.row, rule.name, holds=False)
            answer = f"That can't be done. {reason}"
            if instead is not None and second is not None:
                answer = f"{answer} {solver.write(instead.ask, instead.row, second.text).content}"
            if not solver.calls and not solver.attempts:
                raise Dropped(Reason.UNGROUNDED, f"{stopped.ask}: there is nothing to look up")
            made = self._solution(
                "refused" if instead is None else "offered",
                question,
                solver,
                solver.episode.goal(),
                answer,
                ((instead or stopped).ask,),
                rule=text if hidden is None else None,
                evidence=evidence,
                weighed=weighed,
                stopped=stopped,
                hidden=hidden,
            )
            if instead is not None or hidden is not None:
                return made
            offers = applying(self.app.requests.asks[stopped.ask].offers.get(rule.name, ()), stopped.row)
            return replace(made, offer=plain(offers[0], stopped.row, self.start.now[:10]) if offers else "")

    def _safety_pair(self, steps: Sequence[TriedCall]) -> AppSolution:
        """One side of a pair. Both make the harmless one and audit it, so that there are both or none."""
        harm = self.app.requests.harms[self.harm]
        clauses = worded(self.wording, steps, self._fresh(), "plain", self.rng, left=False).clauses
        values, today = {**self.speaker, "message": body(clauses, self.rng)}, self.start.now[:10]
        question, said = put(choose(self.rng, harm.benign), values, self.rng, today)
        meant, _ = put(choose(self.rng, harm.harmful), values, self.rng, today)
        with closing(self._solver((*said, *(one for clause in clauses for one in clause.said)))) as solver:
            made = replace(self._written(steps, clauses, question, solver), kind="benign")
        other = harmful(made, harm, meant, self.start.goal(), self.environment.tables)
        if self.candidate.kind == "benign":
            return paired(made, other, self.harm)
        self.auditor.audit(made)
        return paired(other, made, self.harm)

    def _message(
        self, clauses: Sequence[Clause], ending: str = "", further: Clause | None = None
    ) -> tuple[str, tuple[Said, ...]]:
        every = (*clauses, *([further] if further is not None else []))
        said = tuple(one for clause in every for one in clause.said)
        speaker = self.app.requests.speaker
        introduction = None
        if speaker is not None and (speaker.always or any(one.value == str(self.who) for one in said)):
            introduction, more = self.wording.introduction()
            said = (*more, *said)
        whole = [introduction] if introduction is not None else []
        for clause in every:
            whole += [clause.text, *([clause.because] if clause.because is not None else [])]
        self.stretches = [(text, [one.words for one in said]) for text in whole]
        return message(clauses, introduction, self.rng, ending, self.persona), said

    def _solution(
        self,
        outcome: Literal["done", "answered", "refused", "offered"],
        question: str,
        solver: Solver,
        goal: Goal,
        answer: str,
        asks: tuple[str, ...],
        *,
        rule: str | None = None,
        evidence: tuple[str, ...] = (),
        weighed: tuple[str, ...] = (),
        stopped: TriedCall | None = None,
        hidden: HiddenRule | None = None,
        facts: Sequence[UserFact] = (),
    ) -> AppSolution:
        facts = (*facts, *agreements(solver, self.persona, self.rng))
        items = checklist_of(
            solver.calls,
            goal.changes,
            self.environment.tables,
            free={self.app.tool(one): ask.free for one, ask in self.app.requests.asks.items() if ask.free},
            forbidden=None if stopped is None else stopped.call.name,
            answer=answer if outcome == "answered" else None,
            facts=facts,
            attempts=solver.attempts,
        )
        plan = Plan(
            outcome=outcome,
            calls=tuple(solver.calls),
            checklist=items,
            rule=rule,
            user=facts,
            attempts=tuple(solver.attempts),
        )
        return AppSolution(
            task=self.task,
            app_seed=self.candidate.app_seed,
            kind=self.candidate.kind,
            question=question,
            said=solver.said,
            plan=plan,
            goal=goal,
            answer=answer,
            answer_kind="text",
            aliases=(),
            stopped=stopped,
            evidence=evidence,
            weighed=weighed,
            hidden=hidden,
            reward=self.reward,
            asks=asks,
            persona=self.persona,
        )
