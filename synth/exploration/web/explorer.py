"""Web sites as the exploration pipeline sees them: walks in a real browser, cut down, worded, made twice more.

Walks of five effective steps, a low-level instruction for each of them, lifted to a request that says what and not how
(OS-Genesis, arXiv 2412.19723). What the steps come to is judged by what the site keeps, or by what the last page
states; what is left of them is made twice more from the beginning and must come out the same, so every task is solvable
and can be checked without a judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np

from synth.environments.contract import Episode
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.storage import Change, WebBeginning, WebGoal, changes_in_words
from synth.environments.web.tree import Page
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.pipeline import Candidate, Dropped, Hopeless, Solved, line_with, word_in
from synth.exploration.walks import Explorer, ExplorerConfig, choose, draw
from synth.exploration.web.shortening import straight
from synth.exploration.web.survey import Place, places_of, survey
from synth.exploration.web.walking import (
    Action,
    Run,
    SiteProposer,
    Taken,
    beginning_of,
    instruction,
    is_sayable,
    resolve,
    run,
)
from synth.exploration.web.wording import Question, question_of, request_of
from synth.identity import canonical_json, derive_generator, split_of, versioned
from synth.schemas.details import details_with
from synth.schemas.documents import ValueKind
from synth.schemas.plans import AnswerItem, ChecklistItem, Given, Plan, Planned, PlannedCall, Request, Wanted
from synth.schemas.rejections import Reason
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult
from synth.tasks.draft import Draft, same_question
from synth.tasks.writing.requests import Values, values_of

__all__ = ["WebExplorable", "same_task", "web_explorer"]

_OPEN = Action("open", (("url", "/"),))
_STEPS = 5
"""Effective steps after which a walk is over that looks something up (OS-Genesis: 5 on the web)."""
_STEPS_TO_CHANGE = 8
"""The same per wanted change: a list, an entry, its form, two fields and a button are six already."""
_TRIES = 3
"""Calls per effective step that a walk may try."""


@dataclass(frozen=True)
class WebCandidate(Candidate):
    start: str | None
    wanted: int
    """Changes that it is to make."""


class WebExplorable:
    """One site. A candidate costs some seconds: everything is done in the browser."""

    draws: ClassVar[str] = "web_tasks"
    parallel: ClassVar[int] = 1

    def __init__(self, environment: WebEnvironment, config: ExplorationConfig) -> None:
        """
        Raises:
            InputError: the kinds can't be used.
        """
        self.environment = environment
        kinds = {kind: config.kinds.get(kind, 0.0) for kind in ("done", "answered")}
        if sum(kinds.values()) <= 0:
            raise InputError("on web sites there are the kinds done and answered", where="questions.kinds")
        self.config = config.model_copy(update={"kinds": kinds})
        self._others = values_of(environment.definition.texts())
        self._surveyed = False
        self._places: dict[str | None, tuple[Place, ...]] = {}

    @property
    def changing(self) -> tuple[str, ...]:
        """Every step but a look changes the page."""
        return tuple(tool.name for tool in self.environment.tools() if tool.name != "read")

    def candidate(self, index: int, seed: int) -> WebCandidate:
        starts: list[str | None] = [*sorted(self.environment.definition.starts)] or [None]
        rng = derive_generator(seed, self.draws, "candidate", index)
        start = choose(rng, starts)
        site = self.environment.definition.address
        split = cast(Split, split_of(f"{site}/{start}", self.config.fractions))
        return WebCandidate(index, str(draw(rng, self.config.kinds)), split, start, int(draw(rng, self.config.writes)))

    def attempt(self, candidate: WebCandidate, seed: int, number: int) -> WebAttempt:
        """
        Raises:
            InputError: no page that links lead to has anything to look up or to use.
        """
        if not self._surveyed:
            survey(self.environment, self.config)
            self._surveyed = True
        rng = derive_generator(seed, self.draws, "walk", candidate.index, number)
        places: tuple[Place, ...] = ()
        if candidate.kind == "answered":
            if candidate.start not in self._places:
                self._places[candidate.start] = places_of(self.environment, candidate.start)
            places = self._places[candidate.start]
        return WebAttempt(self.environment, candidate, rng, places, led=number > 0)

    def others(self, draft: Draft) -> Values:
        return self._others

    def duplicate_key(self, row: Any) -> str:
        return same_task(row)


class WebAttempt:
    """One walk and what becomes of it."""

    def __init__(
        self,
        environment: WebEnvironment,
        candidate: WebCandidate,
        rng: np.random.Generator,
        places: Sequence[Place],
        *,
        led: bool,
    ) -> None:
        """
        Args:
            places: Pages that links lead to, where something is to be looked up.
            led: Whether such a page is gone to, rather than what a walk comes across.
        """
        self._places, self._led = places, led
        self.environment, self.candidate, self.rng = environment, candidate, rng
        self.definition = environment.definition
        self.task = beginning_of(candidate.start)
        self.first = self.end = ""
        """Hashes of what the site keeps, at the beginning of the walk and where it must come to."""
        self.fact: tuple[str, str, str] | None = None
        """Of what is looked up: what the last page must state."""
        self.question: Question
        self.kind: ValueKind = "text"
        self.run: Run
        self._known: dict[tuple[Action, ...], tuple[Page, str] | None] = {}
        """Steps that were carried out -> the page and the hash of what is kept behind them; None where one of them
        could not be made. Every beginning of steps that were carried out stands here too."""

    def close(self) -> None:
        """Every run closes its own episode."""

    # -- explore and reduce ------------------------------------------------------------------------------------------

    def explore(self) -> Sequence[Action]:
        """Steps behind ``open``: those that lead straight to what the walk was good for, else all."""
        if self.candidate.kind == "done":
            taken = self._walk(self.candidate.wanted)
            changed = [at for at in range(1, len(taken)) if taken[at].kept != taken[at - 1].kept]
            if not changed or taken[changed[-1]].kept == self.first:
                raise Dropped(Reason.NO_WALK, "nothing was changed")
            if not self.definition.requests and any(taken[at].action.role == "link" for at in changed):
                # A request without words of the site's says what is filled in and pressed.
                raise Dropped(Reason.UNNATURAL, "following a link changes what the site keeps")
            taken, goals = taken[: changed[-1] + 1], changed
            self.end = taken[-1].kept
        elif self._led:
            return self._lead()
        else:
            taken = self._walk(None)
            if taken[-1].kept != self.first:
                raise Dropped(Reason.NO_WALK, "the walk changes something")
            goals = [len(taken) - 1]
            self._ask(taken[0].page, taken[-1].page)
        whole = list(range(1, len(taken)))
        needed = straight(taken, goals)
        steps, short = ([taken[at].action for at in numbers] for numbers in (whole, needed))
        return short if needed != whole and self.reaches(short) else steps

    def _lead(self) -> Sequence[Action]:
        """The links to a page that states something."""
        first = self._places[0] if self._places else None
        found = [one for one in self._places if one.page.heading and self._facts(self._places[0].page, one.page)]
        if first is None or not found:
            raise Hopeless(Reason.NO_WALK, "no page that links lead to states anything that can be asked for")
        place = choose(self.rng, found)
        self.first = place.kept
        self._ask(first.page, place.page)
        return place.steps

    def reaches(self, steps: Sequence[Action]) -> bool:
        found = self._behind((_OPEN, *steps))
        return found is not None and self._is_end(*found)

    def _is_end(self, page: Page, kept: str) -> bool:
        return kept == self.end if self.fact is None else self.fact in page.facts and kept == self.first

    def _facts(self, first: Page, page: Page) -> list[tuple[str, str, str]]:
        """What ``page`` states, and may be asked for."""
        asked = {rule.term for rule in self.definition.facts}
        facts = [one for one in dict.fromkeys(page.facts) if (one[1] in asked if asked else is_sayable(one))]
        return [one for one in facts if one[2] and one not in first.facts]

    def _ask(self, first: Page, page: Page) -> None:
        """Choose what is to be found out, and word it."""
        asked = {rule.term for rule in self.definition.facts}
        facts = self._facts(first, page)
        if not facts:
            raise Dropped(Reason.NO_WALK, "the last page states nothing that is asked for")
        fact = choose(self.rng, facts)
        for place in self._places:
            others = {one[2] for one in place.page.facts if one[:2] == fact[:2]} - {fact[2]}
            if others and place.page.heading == page.heading:
                raise Dropped(Reason.AMBIGUOUS, f"another page by that name states another {fact[1]}")
        if asked and sum(one[1] == fact[1] for one in page.facts) > 1:
            raise Dropped(Reason.AMBIGUOUS, f"the page states {fact[1]} more than once")
        self.question, kind = question_of(self.definition, page, fact, self.rng)
        if fact[2].casefold() in self.question.text.casefold():
            raise Dropped(Reason.ANSWER_IN_QUESTION, "the question says the answer")
        self.fact, self.kind = fact, cast(ValueKind, kind)

    def _walk(self, wanted: int | None) -> list[Taken]:
        proposer = SiteProposer(self.definition, wanted=wanted)

        def state(episode: Episode) -> str:
            assert isinstance(episode, WebEpisode)
            return proposer.note(episode)

        steps = _STEPS if wanted is None else _STEPS_TO_CHANGE * wanted
        config = ExplorerConfig(effective=steps + 1, calls=1 + _TRIES * steps)
        seed = int(self.rng.integers(2**31))
        explorer = Explorer(self.environment, lambda: proposer, seed=seed, config=config, state=state)
        explorer.walk(self.task)
        taken = proposer.taken
        if len(taken) < 2 or taken[0].action != _OPEN:
            raise Dropped(Reason.NO_WALK, "no step had an effect")
        self.first = taken[0].kept
        return taken

    def _behind(self, steps: tuple[Action, ...]) -> tuple[Page, str] | None:
        """The page and the hash of what is kept behind ``steps`` in a fresh episode; None where one can't be made.

        Only steps of which that is not known are carried out: equal steps lead to equal pages, so what was carried out
        tells of every beginning of it, and of a step whose element is not on the page that it would come to.
        """
        known = next(at for at in range(len(steps), -1, -1) if steps[:at] in self._known or at == 0)
        before = self._known.get(steps[:known])
        if known == len(steps) or (known and (before is None or resolve(before[0], steps[known]) is None)):
            return before if known == len(steps) else None
        made = run(self.environment, self.task, steps)
        for number, found in enumerate(zip(made.pages, made.states, strict=True), start=1):
            self._known[steps[:number]] = found
        if not made.clean:
            self._known[steps[: len(made.pages) + 1]] = None
        return self._known.get(steps)

    # -- word and audit ----------------------------------------------------------------------------------------------

    def word(self, steps: Sequence[Action]) -> Solved:
        actions = (_OPEN, *steps)
        self.run = run(self.environment, self.task, actions, keep=True)
        try:
            if not self.run.clean or not self._is_end(self.run.pages[-1], self.run.states[-1]):
                raise Dropped(Reason.NOT_REPLAYED, "what was cut down does not come out again")
            goal = self.run.end.goal(answer="required") if self.fact is not None else self.run.end.goal()
        finally:
            self.run.end.close()
        if self.fact is not None:
            answer = self.fact[2]
        else:
            self.question = request_of(self.definition, goal.changes, actions, self.run.pages, self.rng, self.run.moves)
            answer = next((page.status for page in reversed(self.run.pages) if page.status), "Done.")
        plan = self._plan(actions, goal, answer)
        start, place = self.candidate.start, f"{self.environment.address}/{self.candidate.start}"
        gold = [f"{place}/{one.at}/{_key(one, self.environment)}" for one in goal.changes]
        assert self.candidate.split is not None
        return Solved(
            question=self.question.text,
            surface=self.question.surface,
            stretches=self.question.told,
            plan=plan,
            split=self.candidate.split,
            gold=tuple(dict.fromkeys(gold or [self._looked_up(place)])),
            constraints=max(1, len(goal.changes)),
            facts=(
                Wanted(goal=goal.model_dump(mode="json")),
                Request(kind=plan.outcome),
                Planned(plan=plan),
                WebBeginning(site=self.environment.identity, web_start=start),
            ),
            answer=answer,
            answer_kind=self.kind,
        )

    def _looked_up(self, place: str) -> str:
        """What is asked for, however it is asked: the page, and on it what the fact is about and its term."""
        about, term, _ = self.fact or ("", self.question.text, "")
        return "/".join((place, self.run.pages[-1].heading, about, term))

    def audit(self, solved: Solved) -> tuple[CheckResult, ...]:
        """The plan's own calls once more, on the goal's own task: each observation as it was, and the verdict right."""
        beginning = WebBeginning(web_start=self.candidate.start)
        update = {"answer": solved.answer, "answer_kind": solved.answer_kind, "question": solved.question}
        details = details_with(*(one for one in solved.facts if isinstance(one, Wanted)), beginning)
        episode = self.environment.reset_fresh(self.task.model_copy(update={**update, "details": details}))
        try:
            if self.fact is None and episode.check(solved.answer).correct is True:
                raise Dropped(Reason.NO_WALK, "it is so from the beginning")
            for number, (call, before) in enumerate(zip(self.run.calls, self.run.results, strict=True)):
                if episode.step(call) != before:
                    raise Dropped(Reason.NOT_REPLAYED, f"call {number} comes out otherwise")
            verdict = episode.check(solved.answer)
            if verdict.correct is not True:
                raise Dropped(Reason.NOT_REPLAYED, f"the end is not right: {verdict.evidence}")
        finally:
            episode.close()
        calls = len(solved.plan.calls)
        return (
            CheckResult(check="replayed", outcome="passed", detail=f"{calls} calls, {verdict.rule}"),
            CheckResult(check="one_minimal", outcome="passed", detail=f"none of {calls} steps can go"),
        )

    def _plan(self, actions: Sequence[Action], goal: WebGoal, answer: str) -> Plan:
        calls: list[PlannedCall] = []
        for at, (action, call) in enumerate(zip(actions, self.run.calls, strict=True)):
            page = self.run.pages[at - 1] if at else None
            element = page.element(str(call.arguments["ref"])) if page is not None and "ref" in call.arguments else None
            given: dict[str, Given] = {}
            for name, value in call.arguments.items():
                if name == "ref" and element is not None:
                    given[name] = Given(source="observation", words=element.line, call=at - 1)
                elif name in ("option", "text"):
                    line = element.line if name == "option" and element is not None else None
                    given[name] = self._given(str(value), at, page, line)
                else:
                    given[name] = Given(source="schema", words=str(value))
            calls.append(
                PlannedCall(
                    tool=call.name,
                    arguments=call.arguments,
                    changes=True,  # each of them leads to another page, or changes this one
                    instruction=instruction(action, element),
                    given=given,
                )
            )
        if self.fact is not None:
            items = [ChecklistItem.on(f"The answer is {answer}.", "answer", AnswerItem(answer=answer))]
        else:
            items = [
                ChecklistItem(text=f"The site keeps this: {words}.", kind="state", details=one.model_dump(mode="json"))
                for words, one in zip(changes_in_words(goal.changes), goal.changes, strict=True)
            ]
        outcome: Literal["done", "answered"] = "done" if self.fact is None else "answered"
        return Plan(outcome=outcome, calls=tuple(calls), checklist=tuple(items))

    def _given(self, value: str, at: int, page: Page | None, line: str | None) -> Given:
        """Where a text comes from: the request says it, or the page on which it is put in."""
        question = self.question.text
        if not value:
            return Given(source="question", words=value)
        if word_in(question, value, any_case=True) is not None:
            place = question.casefold().find(value.casefold())
            return Given(source="question", words=question[place : place + len(value)] or value)
        seen = line or (line_with(page.lines, value, any_case=True) if page is not None and value.strip() else None)
        if not seen:
            raise Dropped(Reason.UNGROUNDED, f"the request does not say {value!r}", question)
        return Given(source="observation", words=seen, call=at - 1)


def same_task(row: Any) -> str:
    """The same for tasks with the same goal or the same fact asked for, however they are worded; for other tasks, the
    question."""
    goal = Wanted.of(row.details).goal
    if goal is None:
        return same_question(row)
    looked_up = row.gold_entities if goal["answer"] == "required" else ()
    return canonical_json([WebBeginning.of(row.details).web_start, goal["state"], *looked_up])


@versioned(66)
def web_explorer(*, environment: WebEnvironment, **options: Any) -> WebExplorable:
    """``options`` are those of :class:`ExplorationConfig`.

    Raises:
        InputError: the kinds can't be used.
    """
    return WebExplorable(environment, ExplorationConfig.model_validate(options))


def _key(change: Change, environment: WebEnvironment) -> str:
    entry = change.entry or change.before or change.after
    name = environment.definition.keys.get(change.at)
    return str(entry[name]) if isinstance(entry, dict) and name in entry else canonical_json(entry)[:80]
