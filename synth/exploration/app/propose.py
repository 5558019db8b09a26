"""Candidates of reverse tasks over one application: walk, cut down, word, solve, audit.

Candidate ``i`` depends on the application, the config, the seed and ``i`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from synth.environments.app.environment import AppEnvironment, Goal
from synth.environments.app.requests import Left
from synth.errors import InputError
from synth.exploration.app.answers import declining, forms_of
from synth.exploration.app.asking import Asking
from synth.exploration.app.auditing import Auditor
from synth.exploration.app.checklist import checklist_of
from synth.exploration.app.config import AppTasksConfig
from synth.exploration.app.drafts import Made, check_data, draft_of, empty_task
from synth.exploration.app.framing import body, conditional, message
from synth.exploration.app.hidden import asks_under, note_of, quiet_variants, variant_of
from synth.exploration.app.minimal import removable, replay
from synth.exploration.app.phrases import Said, draw, pick, plain, put
from synth.exploration.app.solving import Solver
from synth.exploration.app.telling import Clause, NotTold, Teller
from synth.exploration.app.twins import check_harms, harmful, pair_of, paired, side_of
from synth.exploration.app.walking import Tried, Walker
from synth.exploration.minimal import minimal
from synth.identity import derive_generator, digest, split_of
from synth.schemas.plans import HiddenRule, Plan, UserFact
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.tasks.contract import Checked
from synth.tasks.graded import chance_of
from synth.tasks.writing.requests import parts_in

__all__ = ["AppProposer", "Candidate"]


_RULES = 3
"""Rules that a walk meets before it takes one of them."""
_HIDDEN_KINDS = {"offered": 0.7, "refused": 0.3}
"""Weights of the kinds among the candidates that meet a hidden rule."""


@dataclass(frozen=True)
class Candidate:
    """What a candidate is to be, before it walks."""

    index: int
    app_seed: int
    split: Split
    kind: str
    writes: int
    walk: tuple[str, int]
    """What its draws go by: twins share one."""
    variant: str | None = None
    """The variant whose hidden rules it is to meet."""


@dataclass(frozen=True)
class _Place:
    """Where a candidate walks: the application as it is written, or with the rules of a variant."""

    asking: Asking
    auditor: Auditor

    @classmethod
    def of(cls, environment: AppEnvironment) -> _Place:
        asking = Asking(environment)
        return cls(asking, Auditor(asking))


class AppProposer:
    """Proposes tasks over one application. A candidate costs some tens of milliseconds, a state a tenth of a second."""

    def __init__(self, environment: AppEnvironment, config: AppTasksConfig, *, stage: str = "app_tasks") -> None:
        """
        Raises:
            InputError: the application says nothing about what people ask of it.
        """
        self.environment = environment
        self.config = config
        self.stage = stage
        self.asking = Asking(environment)
        self._places: dict[str | None, _Place] = {None: _Place(self.asking, Auditor(self.asking))}
        self._variants = quiet_variants(environment)
        check_harms(environment.definition, environment.where)
        check_data(environment)

    def propose(self, indices: Sequence[int], seed: int) -> list[Checked | Rejection]:
        """One outcome per candidate index, in order."""
        return [self._propose(self.candidate(index, seed), seed) for index in indices]

    def candidate(self, index: int, seed: int) -> Candidate:
        """The state in which candidate ``index`` is set, and what it is to be."""
        environment, config = self.environment, self.config
        side = side_of(index, seed, self.stage, config.twins if self.asking.requests.harms else 0.0)
        walk = ("walk", index) if side is None else ("twins", pair_of(index))
        number = (index if side is None else 2 * pair_of(index)) // config.group
        app_seed = int(digest("app seed", environment.definition.name, seed, number)[:8], 16)
        split = cast(Split, split_of(f"{environment.definition.name}/{app_seed}", config.fractions))
        rng = derive_generator(seed, self.stage, "candidate", *walk)
        kind, writes = draw(rng, config.kinds), draw(rng, config.writes)
        variant = None if side else variant_of(index, seed, self.stage, config.hidden, self._variants)
        if variant is not None:
            kind = draw(rng, _HIDDEN_KINDS)
        return Candidate(index, app_seed, split, side or kind, writes, walk, variant)

    def place(self, variant: str | None) -> _Place:
        """Where candidates of a variant walk, made once."""
        if variant not in self._places:
            assert variant is not None
            self._places[variant] = _Place.of(self.environment.of_variant(variant))
        return self._places[variant]

    def _propose(self, candidate: Candidate, seed: int) -> Checked | Rejection:
        problem = NotTold(Reason.NO_WALK, "nothing was tried")
        for attempt in range(self.config.attempts):
            rng = derive_generator(seed, self.stage, *candidate.walk, attempt)
            lot = derive_generator(seed, self.stage, *candidate.walk, attempt, "graded").random()
            try:
                return self._made(_Attempt(self, candidate, rng, lot))
            except InputError as error:
                # The data of another seed may do: a boundary found too few rows in these.
                problem = NotTold(Reason.NO_WALK, str(error))
                break
            except NotTold as found:
                # What was tried and could not be worded is a better reason than a walk that found nothing.
                if problem.reason == Reason.NO_WALK or found.reason != Reason.NO_WALK:
                    problem = found
        return Rejection(
            stage=self.stage,
            row_id=str(candidate.index),
            reason=problem.reason,
            detail=f"{candidate.kind}: {problem.detail}",
            split=candidate.split,
        )

    def _made(self, attempt: _Attempt) -> Checked:
        try:
            made = attempt.make()
        finally:
            attempt.close()
        checks = attempt.auditor.audit(made)
        draft = draft_of(attempt.asking, made, attempt.candidate.split)
        return Checked(draft, checks, parts_in(made.question, attempt.told) if attempt.told else ())


class _Attempt:
    """One walk of a candidate and what becomes of it."""

    def __init__(self, proposer: AppProposer, candidate: Candidate, rng: np.random.Generator, lot: float) -> None:
        self.lot = lot
        self.reward: float | None = None
        place = proposer.place(candidate.variant)
        self.asking, self.auditor = place.asking, place.auditor
        self.environment = self.asking.environment
        self.config = proposer.config
        self.candidate = candidate
        self.rng = rng
        self.task = empty_task(self.environment, candidate.app_seed)
        self.start = self.environment.reset(self.task)
        self.episode = self.environment.reset(self.task)
        speakers = self.asking.speakers(self.start)
        if not speakers:
            raise NotTold(Reason.NO_WALK, "there is nobody who could write")
        self.speaker = speakers[int(rng.integers(len(speakers)))]
        self.walker = Walker(self.asking, self.episode, self.speaker["speaker"], rng)
        self.teller = Teller(self.asking, self.start, self.speaker, rng)
        self.told: list[tuple[str, Sequence[str]]] = []
        """Stretches of the request, each with the words in it that say a value; none of a twin, whose words are not to
        be changed."""

    def close(self) -> None:
        self.start.close()
        self.episode.close()

    def make(self) -> Made:
        """
        Raises:
            NotTold: nothing comes of this walk.
        """
        if self.candidate.kind == "answered":
            return self._answered()
        if self.candidate.kind == "refused":
            return self._forbidden(None)
        if self.candidate.kind == "offered":
            return self._offered()
        if self.candidate.kind in ("harmful", "benign"):
            return self._twin()
        if self.candidate.kind == "asked":
            return self._done(min(2, self.candidate.writes), left=True)
        return self._done(self.candidate.writes, left=False)

    # -- kinds -------------------------------------------------------------------------------------------------------

    def _done(self, wanted: int, *, left: bool) -> Made:
        changing = self._walk(wanted)
        if left and not any(self.asking.requests.asks[step.ask].left for step in changing):
            raise NotTold(Reason.NO_WALK, "no value of what was done could be left open")
        clauses, facts, told = self._tell(changing, left=left)
        question, said = self._message(clauses)
        solver = Solver(self.asking, self.task, self.speaker["speaker"], said, told)
        try:
            solver.answer = facts[0].says if facts else ""
            words = [
                solver.write(step.ask, step.row, clause.text).content
                for step, clause in zip(changing, clauses, strict=True)
            ]
            goal = solver.episode.goal()
            return self._finished("done", question, said, solver, goal, " ".join(words), facts=facts, steps=changing)
        finally:
            solver.close()

    def _answered(self) -> Made:
        questions = self.asking.requests.questions
        if not questions:
            raise NotTold(Reason.NO_WALK, "the application names no questions")
        name = draw(self.rng, {name: one.weight for name, one in questions.items()})
        question = questions[name]
        rows = self.asking.rows(self.start, question, self.speaker["speaker"])
        if not rows:
            raise NotTold(Reason.NO_WALK, f"{name}: there is nothing to ask about")
        row = rows[int(self.rng.integers(len(rows)))]
        clause = self.teller.question(name, row, self.start)
        text, said = self._message([clause])
        today = self.start.now[:10]
        answer = plain(question.answer, row, today)
        solver = Solver(self.asking, self.task, self.speaker["speaker"], said)
        try:
            solver.look(question, row, question.look)
            for column in question.shown:
                if not solver.shows(row[column]):
                    raise NotTold(Reason.EVIDENCE_DOES_NOT_STATE, f"{name}: {column} is not shown")
            aliases = tuple(
                dict.fromkeys(forms_of([answer, *(plain(alias, row, today) for alias in question.aliases)]))
            )[1:]
            goal = solver.episode.goal(answer="required")
            return self._finished(
                "answered", text, said, solver, goal, answer, kind=question.kind, aliases=aliases, name=name
            )
        finally:
            solver.close()

    def _forbidden(self, instead: Tried | None) -> Made:
        return self._declined(self._stopped(), instead)

    def _offered(self) -> Made:
        stopped = self._stopped()
        ask = self.asking.requests.asks[stopped.ask]
        names = sorted(ask.instead)
        for at in self.rng.permutation(len(names)):
            same = {column: stopped.row[column] for column in ask.instead[names[int(at)]]}
            done = self.walker.step(names[int(at)], same=same)
            if done is not None and done.changed:
                return self._declined(stopped, done)
        raise NotTold(Reason.NO_WALK, f"{stopped.ask}: nothing that is allowed could be done instead")

    def _declined(self, stopped: Tried, instead: Tried | None) -> Made:
        ask = self.asking.requests.asks[stopped.ask]
        rule = self.environment.rules.named(str(stopped.rule))
        if rule is None:
            raise NotTold(Reason.NO_WALK, "the rule is not known")
        first = self.teller.clause(stopped.ask, stopped.row, self.start)
        second = None if instead is None else self.teller.clause(instead.ask, instead.row, self.start)
        ending = "" if second is None else conditional(second, self.rng)
        question, said = self._message([first], ending, second)
        solver = Solver(self.asking, self.task, self.speaker["speaker"], said)
        try:
            given = solver.reach(stopped.ask, stopped.row, first.text)
            solver.look(ask, stopped.row, ask.refused_by.get(rule.name, ()))
            hidden = note_of(self.environment, rule, stopped)
            if hidden is not None:
                solver.attempt(stopped.ask, stopped.row, given)
            answer = declining(stopped, rule.text)
            steps: list[Tried] = []
            if instead is not None and second is not None:
                result = solver.write(instead.ask, instead.row, second.text)
                answer, steps = f"{answer} {result.content}", [instead]
            if not solver.calls and not solver.attempts:
                raise NotTold(Reason.UNGROUNDED, f"{stopped.ask}: there is nothing to look up")
            return self._finished(
                "refused" if instead is None else "offered",
                question,
                said,
                solver,
                solver.episode.goal(),
                answer,
                rule=" ".join(rule.text.split()) if hidden is None else None,
                stopped=stopped,
                hidden=hidden,
                steps=steps,
            )
        finally:
            solver.close()

    def _twin(self) -> Made:
        """One of two twins. Both make the harmless one and audit it, so that there are both or none."""
        harms = self.asking.requests.harms
        name = draw(self.rng, {name: harm.weight for name, harm in harms.items()})
        harm = harms[name]
        changing = self._walk(min(2, self.candidate.writes), harm.asks)
        clauses, _, _ = self._tell(changing, left=False)
        values = {**self.speaker, "message": body(clauses, self.rng)}
        question, said = put(pick(self.rng, harm.benign), values, self.rng, self.start.now[:10])
        meant, _ = put(pick(self.rng, harm.harmful), values, self.rng, self.start.now[:10])
        solver = Solver(self.asking, self.task, self.speaker["speaker"], (*said, *(s for c in clauses for s in c.said)))
        try:
            words = [
                solver.write(step.ask, step.row, clause.text).content
                for step, clause in zip(changing, clauses, strict=True)
            ]
            goal = solver.episode.goal()
            made = self._finished("done", question, solver.said, solver, goal, " ".join(words), steps=changing)
        finally:
            solver.close()
        made = replace(made, kind="benign")
        other = harmful(made, harm, meant, self.start.goal(), self.environment.tables)
        if self.candidate.kind == "benign":
            return paired(made, other, name)
        self.auditor.audit(made)
        return paired(other, made, name)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _walk(self, wanted: int, among: Sequence[str] = ()) -> list[Tried]:
        """So many calls that change something, none of which can be left out; of the asks ``among``, if there are."""
        changing: list[Tried] = []
        for _ in range(self.config.tries):
            weights = {ask: self.asking.requests.asks[ask].weight for ask in among}
            done = self.walker.step(draw(self.rng, weights) if among else None)
            if done is not None and done.changed:
                changing.append(done)
                if len(changing) == wanted:
                    break
        if not changing:
            raise NotTold(Reason.NO_WALK, "no call had an effect")
        end = self.episode.state_hash()

        def reaches(part: Sequence[Tried]) -> bool:
            again = replay(self.environment, self.task, [step.call for step in part])
            # Calls that do not go through count for nothing: what comes to the same end without them is enough.
            return not again.violated and again.end == end

        if not reaches(changing):
            raise NotTold(Reason.NO_WALK, "the walk does not replay")
        kept = list(minimal(changing, reaches))
        ended = self.walker.ended(kept)
        if ended is not None:
            raise NotTold(Reason.UNNATURAL, f"{ended}: nobody asks for that in one message")
        if reaches([]) or removable(kept, reaches) is not None:
            raise NotTold(Reason.NO_WALK, "the walk comes to nothing")
        self.reward = self.walker.reward(kept, wanted)
        if self.config.graded and self.lot >= chance_of(self.reward):
            raise NotTold(Reason.NOT_DRAWN, f"a walk of reward {self.reward:g}")
        return kept

    def _stopped(self) -> Tried:
        """A call that a rule forbids, for good: of several, so that no rule that is met at every turn crowds out the
        others."""
        found: dict[str, Tried] = {}
        asks, hidden = self.asking.requests.asks, self.environment.rules.hidden
        if self.candidate.variant is not None:
            names, most = asks_under(self.asking), len(hidden)
        else:
            names = {n: a.weight for n, a in asks.items() if a.refused_by and not a.alone}
            most = _RULES
        if not names:
            raise NotTold(Reason.NO_WALK, "no ask names a rule that may forbid it")
        for _ in range(self.config.tries):
            done = self.walker.step(draw(self.rng, names))
            if done is None:
                continue
            among = hidden if self.candidate.variant is not None else asks[done.ask].refused_by
            if done.rule is not None and done.rule in among:
                found.setdefault(done.rule, done)
                if len(found) == min(_RULES, most):
                    break
            if done.changed:
                self.episode.restore(self.start.snapshot())
        if not found:
            raise NotTold(Reason.NO_WALK, "no rule stopped anything")
        return found[str(pick(self.rng, sorted(found)))]

    def _tell(self, changing: Sequence[Tried], *, left: bool) -> tuple[list[Clause], list[UserFact], tuple[Said, ...]]:
        episode = self.environment.reset(self.task)
        able = [at for at, step in enumerate(changing) if self._leaves(step)]
        if left and not able:
            raise NotTold(Reason.NO_WALK, "no value could be left open")
        chosen = able[int(self.rng.integers(len(able)))] if left else None
        clauses: list[Clause] = []
        facts: list[UserFact] = []
        told: tuple[Said, ...] = ()
        try:
            for at, step in enumerate(changing):
                if at == chosen:
                    options = self._leaves(step)
                    open_ = options[int(self.rng.integers(len(options)))]
                    clause, says, told = self.teller.leaving(step.ask, step.row, episode, open_)
                    facts.append(UserFact(topic=open_.topic, keywords=open_.keywords, says=says))
                else:
                    clause = self.teller.clause(step.ask, step.row, episode, reason=at == 0)
                clauses.append(clause)
                episode.step(step.call)
        finally:
            episode.close()
        return clauses, facts, told

    def _leaves(self, step: Tried) -> list[Left]:
        """Ways to leave a value of a call open. A reference can only be left open where there is a choice."""
        ask = self.asking.requests.asks[step.ask]
        specs = self.asking.definition.tools[step.call.name].arguments
        found = []
        for left in ask.left:
            if step.row.get(left.argument) is None:
                continue
            forms = self.asking.forms(ask, left.argument, specs.get(left.argument))
            if forms:
                rows = {row[left.argument] for row in self.asking.rows(self.start, ask, self.speaker["speaker"])}
                if len(rows) < 2:
                    continue
            found.append(left)
        return found

    def _message(
        self, clauses: Sequence[Clause], ending: str = "", further: Clause | None = None
    ) -> tuple[str, tuple[Said, ...]]:
        said = tuple(one for clause in clauses for one in clause.said) + (further.said if further is not None else ())
        speaker = self.asking.requests.speaker
        introduction = None
        if speaker is not None:
            mine = any(one.value == str(self.speaker["speaker"]) for one in said)
            if speaker.always or mine:
                introduction, more = self.teller.introduction()
                said = (*more, *said)
        whole = [introduction] if introduction is not None else []
        for clause in (*clauses, *([further] if further is not None else [])):
            whole += [clause.text, *([clause.because] if clause.because is not None else [])]
        self.told = [(text, [one.words for one in said]) for text in whole]
        return message(clauses, introduction, self.rng, ending), said

    def _finished(
        self,
        outcome: Literal["done", "answered", "refused", "offered"],
        question: str,
        said: Sequence[Said],
        solver: Solver,
        goal: Goal,
        answer: str,
        *,
        kind: str = "text",
        aliases: tuple[str, ...] = (),
        rule: str | None = None,
        stopped: Tried | None = None,
        hidden: HiddenRule | None = None,
        facts: Sequence[UserFact] = (),
        steps: Sequence[Tried] = (),
        name: str | None = None,
    ) -> Made:
        free = {self.asking.tool(one): ask.free for one, ask in self.asking.requests.asks.items() if ask.free}
        items = checklist_of(
            solver.calls,
            goal.changes,
            self.environment.tables,
            free=free,
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
            user=tuple(facts),
            attempts=tuple(solver.attempts),
        )
        return Made(
            task=self.task,
            app_seed=self.candidate.app_seed,
            kind=self.candidate.kind,
            question=question,
            said=tuple(said),
            plan=plan,
            goal=goal,
            answer=answer,
            answer_kind=kind,
            aliases=aliases,
            stopped=stopped,
            hidden=hidden,
            reward=self.reward,
            asks=tuple(step.ask for step in steps) or ((stopped.ask,) if stopped is not None else (str(name),)),
        )
