"""Candidates of reverse tasks on one site: walk, cut down, word, replay.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723): walks of five effective steps, a low-level
instruction for each of them, lifted to a request that says what and not how. Beyond it: the steps are cut down until
none can be left out (delta debugging, judged by what the site keeps, or by what the last page states), and the rest is
made twice more from the beginning and must come out the same, so every task is solvable and can be checked without a
judge. Candidate ``i`` depends on the site, the config, the seed and ``i`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from synth.environments.contract import Episode
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.storage import Change, WebBeginning, WebGoal, changes_in_words
from synth.environments.web.tree import Page
from synth.exploration.blank import blank_task
from synth.exploration.exploring.walks import Explorer, ExplorerConfig, pick
from synth.exploration.minimal import minimal
from synth.exploration.web.acting import Action, Run, instruction, resolve, run
from synth.exploration.web.config import WebTasksConfig
from synth.exploration.web.exploring import SiteProposer, Taken
from synth.exploration.web.survey import survey
from synth.exploration.web.wording import NotWorded, Question, question_of, request_of
from synth.identity import canonical_json, derive_generator, split_of
from synth.schemas.details import details_with
from synth.schemas.documents import ValueKind
from synth.schemas.plans import AnswerItem, ChecklistItem, Given, Plan, Planned, PlannedCall, Request, Wanted
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Difficulty, Task, Walk
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import parts_in

__all__ = ["WebProposer", "empty_task"]

_OPEN = Action("open", (("url", "/"),))
_TRIES = 3
"""Calls per effective step that a walk may try."""


class _Nothing(Exception):
    """Nothing comes of this walk."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class _Made:
    question: Question
    answer: str
    kind: ValueKind
    goal: WebGoal
    outcome: Literal["done", "answered"]
    run: Run
    actions: tuple[Action, ...]


def empty_task(start: str | None) -> Task:
    """A task that says nothing but where it begins."""
    return blank_task(f"web-{start}", "web", details_with(WebBeginning(web_start=start)))


class WebProposer:
    """Proposes tasks on one site. A candidate costs some seconds: everything is done in the browser."""

    def __init__(self, environment: WebEnvironment, config: WebTasksConfig, *, stage: str = "web_tasks") -> None:
        self.environment = environment
        self.config = config
        self.stage = stage
        self._surveyed = False

    def propose(self, indices: Sequence[int], seed: int) -> list[Checked | Rejection]:
        """One outcome per candidate index, in order.

        Raises:
            InputError: no page that links lead to has anything to look up or to use.
        """
        if not self._surveyed:
            survey(self.environment, self.config)
            self._surveyed = True
        return [self._propose(index, seed) for index in indices]

    def _propose(self, index: int, seed: int) -> Checked | Rejection:
        starts: list[str | None] = [*sorted(self.environment.definition.starts)] or [None]
        rng = derive_generator(seed, self.stage, "candidate", index)
        start = starts[int(rng.integers(len(starts)))]
        site = self.environment.definition.address
        split = cast(Split, split_of(f"{site}/{start}", self.config.fractions))
        kind, wanted = str(_draw(rng, self.config.kinds)), int(_draw(rng, self.config.changes))
        problem = _Nothing(Reason.NO_WALK, "nothing was tried")
        for attempt in range(self.config.attempts):
            walk = derive_generator(seed, self.stage, "walk", index, attempt)
            maker = _Maker(self.environment, self.config, empty_task(start), walk)
            try:
                made = maker.done(wanted) if kind == "done" else maker.answered()
                return self._checked(made, start, split)
            except _Nothing as found:
                problem = found
            except NotWorded as found:
                problem = _Nothing(Reason.UNNATURAL, str(found))
        return Rejection(
            stage=self.stage,
            row_id=str(index),
            reason=problem.reason,
            detail=f"{kind}: {problem.detail}",
            split=split,
        )

    def _checked(self, made: _Made, start: str | None, split: Split) -> Checked:
        plan = _plan(made)
        checks = (_replayed(self.environment, made, plan, start), _minimal(made))
        details = details_with(
            Wanted(goal=made.goal.model_dump(mode="json")),
            Request(kind=made.outcome),
            Planned(plan=plan),
            WebBeginning(site=self.environment.identity, web_start=start),
        )
        place = f"{self.environment.address}/{start}"
        gold = [f"{place}/{one.at}/{_key(one, self.environment)}" for one in made.goal.changes]
        draft = Draft(
            question=made.question.text,
            answer=made.answer,
            answer_kind=made.kind,
            environment="web",
            shape="reverse",
            walk=Walk(shape="reverse", hops=()),
            gold_entities=tuple(dict.fromkeys(gold or [f"{place}/{made.question.text}"])),
            gold_documents=(),
            difficulty=Difficulty(hops=0, constraints=max(1, len(made.goal.changes)), branching=1.0, documents=0),
            split=split,
            surface=made.question.surface,
            details=details,
        )
        return Checked(draft, checks, parts_in(made.question.text, made.question.told))


class _Maker:
    """One walk and what becomes of it."""

    def __init__(
        self, environment: WebEnvironment, config: WebTasksConfig, task: Task, rng: np.random.Generator
    ) -> None:
        self.environment, self.config, self.task, self.rng = environment, config, task, rng
        self._known: dict[tuple[Action, ...], tuple[Page, str] | None] = {}
        """Steps that were carried out -> the page and the hash of what is kept behind them; None where one of them
        could not be made. Every beginning of steps that were carried out stands here too."""

    def done(self, wanted: int) -> _Made:
        taken = self._walk(wanted, self.config.steps * wanted)
        last = max((at for at in range(1, len(taken)) if taken[at].kept != taken[at - 1].kept), default=0)
        if last == 0 or taken[last].kept == taken[0].kept:
            raise _Nothing(Reason.NO_WALK, "nothing was changed")
        end = taken[last].kept
        changing = [at for at in range(1, last + 1) if taken[at].kept != taken[at - 1].kept]
        kept = self._least(taken[: last + 1], changing, lambda page, kept: kept == end)
        made = run(self.environment, self.task, kept, keep=True)
        try:
            if not made.clean or made.states[-1] != end:
                raise _Nothing(Reason.NOT_REPLAYED, "what was cut down does not come out again")
            goal = made.end.goal()
        finally:
            made.end.close()
        question = request_of(self.environment.definition, goal.changes, kept, made.pages, self.rng)
        said = [line.strip() for page in made.pages for line in page.lines if line.strip().startswith('status "')]
        answer = said[-1].removeprefix('status "').removesuffix('"') if said else "Done."
        return _Made(question, answer, "text", goal, "done", made, kept)

    def answered(self) -> _Made:
        taken = self._walk(None, self.config.steps)
        page = taken[-1].page
        if taken[-1].kept != taken[0].kept:
            raise _Nothing(Reason.NO_WALK, "the walk changes something")
        asked = {rule.term for rule in self.environment.definition.facts}
        known = taken[0].page.facts
        facts = [one for one in dict.fromkeys(page.facts) if one[1] and one[2] and (not asked or one[1] in asked)]
        facts = [one for one in facts if one not in known]
        if not facts:
            raise _Nothing(Reason.NO_WALK, "the last page states nothing that is asked for")
        fact = facts[int(self.rng.integers(len(facts)))]
        if asked and sum(one[1] == fact[1] for one in page.facts) > 1:
            raise _Nothing(Reason.AMBIGUOUS, f"the page states {fact[1]} more than once")
        question, kind = question_of(self.environment.definition, page, fact, self.rng)
        if fact[2].casefold() in question.text.casefold():
            raise _Nothing(Reason.ANSWER_IN_QUESTION, "the question says the answer")

        def good(page: Page, kept: str) -> bool:
            return fact in page.facts and kept == taken[0].kept

        kept = self._least(taken, [len(taken) - 1], good)
        made = run(self.environment, self.task, kept, keep=True)
        try:
            if not made.clean or fact not in made.pages[-1].facts:
                raise _Nothing(Reason.NOT_REPLAYED, "what was cut down does not come out again")
            goal = made.end.goal(answer="required")
        finally:
            made.end.close()
        return _Made(question, fact[2], cast(ValueKind, kind), goal, "answered", made, kept)

    def _walk(self, wanted: int | None, steps: int) -> list[Taken]:
        proposer = SiteProposer(self.environment.definition, wanted=wanted)

        def state(episode: Episode) -> str:
            assert isinstance(episode, WebEpisode)
            return proposer.note(episode)

        config = ExplorerConfig(effective=steps + 1, calls=1 + _TRIES * steps)
        seed = int(self.rng.integers(2**31))
        explorer = Explorer(self.environment, lambda: proposer, seed=seed, config=config, state=state)
        explorer.walk(self.task)
        taken = proposer.taken
        if len(taken) < 2 or taken[0].action != _OPEN:
            raise _Nothing(Reason.NO_WALK, "no step had an effect")
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

    def _least(
        self, taken: Sequence[Taken], goals: Sequence[int], good: Callable[[Page, str], bool]
    ) -> tuple[Action, ...]:
        """The steps behind ``open`` cut down until none can be left out.

        Args:
            goals: Numbers of the steps that the walk was good for: what leads straight to them is tried first.
        """

        def reaches(part: Sequence[int]) -> bool:
            found = self._behind((_OPEN, *(taken[at].action for at in part)))
            return found is not None and good(*found)

        whole = list(range(1, len(taken)))
        straight = _straight(taken, goals)
        kept = list(minimal(straight if straight != whole and reaches(straight) else whole, reaches))
        if reaches([]):
            raise _Nothing(Reason.NO_WALK, "it is so from the beginning")
        if any(reaches([*kept[:at], *kept[at + 1 :]]) for at in range(len(kept))):
            raise _Nothing(Reason.NOT_MINIMAL, "a step can be left out")
        return (_OPEN, *(taken[at].action for at in kept))


def _straight(taken: Sequence[Taken], goals: Sequence[int]) -> list[int]:
    """Steps that lead to the goals without the walk's detours, as far as addresses tell: numbers, in order."""
    found: list[int] = []
    here = taken[0].after
    for goal in goals:
        arrived = max((at for at in range(goal) if taken[at].before != taken[at].after), default=0)
        found += _path(taken, here, taken[goal].before, arrived)
        found += [at for at in range(arrived + 1, goal + 1) if at not in found]
        here = taken[goal].after
    return found


def _path(taken: Sequence[Taken], here: str, there: str, last: int) -> list[int]:
    """The fewest steps of the walk, up to step ``last``, that lead from one address to another."""
    ways: dict[str, list[int]] = {here: []}
    front = [here]
    while front and there not in ways:
        at = front.pop(0)
        for number in range(1, last + 1):
            step = taken[number]
            if step.before == at and step.after not in ways:
                ways[step.after] = [*ways[at], number]
                front.append(step.after)
    return ways.get(there, list(range(1, last + 1)))


def _plan(made: _Made) -> Plan:
    """
    Raises:
        _Nothing: a text that is typed stands neither in the request nor on a page.
    """
    calls: list[PlannedCall] = []
    for at, (action, call) in enumerate(zip(made.actions, made.run.calls, strict=True)):
        page = made.run.pages[at - 1] if at else None
        element = page.element(str(call.arguments["ref"])) if page is not None and "ref" in call.arguments else None
        given: dict[str, Given] = {}
        for name, value in call.arguments.items():
            if name == "ref" and element is not None:
                given[name] = Given(source="observation", words=element.line, call=at - 1)
            elif name in ("option", "text"):
                if not _says(made.question.text, str(value)):
                    seen = element.line if name == "option" and element is not None else _line_with(page, str(value))
                    if seen:
                        given[name] = Given(source="observation", words=seen, call=at - 1)
                        continue
                    raise _Nothing(Reason.UNGROUNDED, f"the request does not say {str(value)!r}")
                given[name] = Given(source="question", words=_as_said(made.question.text, str(value)))
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
    if made.outcome == "answered":
        items = [ChecklistItem.on(f"The answer is {made.answer}.", "answer", AnswerItem(answer=made.answer))]
    else:
        said = changes_in_words(made.goal.changes)
        items = [
            ChecklistItem(text=f"The site keeps this: {words}.", kind="state", details=one.model_dump(mode="json"))
            for words, one in zip(said, made.goal.changes, strict=True)
        ]
    return Plan(outcome=made.outcome, calls=tuple(calls), checklist=tuple(items))


def _line_with(page: Page | None, value: str) -> str:
    """A line of the page that holds ``value``; empty where none does."""
    lines = page.lines if page is not None and value.strip() else ()
    return next((line.strip() for line in lines if _says(line, value)), "")


def _says(text: str, value: str) -> bool:
    """Whether ``value`` stands in ``text`` as words of their own: nobody has read "ferry" who has read "Ferryman"."""
    return not value or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _as_said(question: str, value: str) -> str:
    at = question.casefold().find(value.casefold())
    return question[at : at + len(value)] or value


def _replayed(environment: WebEnvironment, made: _Made, plan: Plan, start: str | None) -> CheckResult:
    """The plan's own calls once more, on the goal's own task: every observation as it was, and the verdict right.

    Raises:
        _Nothing: something comes out otherwise.
    """
    details = details_with(Wanted(goal=made.goal.model_dump(mode="json")), WebBeginning(web_start=start))
    task = empty_task(start).model_copy(
        update={"answer": made.answer, "answer_kind": made.kind, "details": details, "question": made.question.text}
    )
    episode = environment.reset(task)
    try:
        if episode.check(made.answer).correct is True and made.outcome == "done":
            raise _Nothing(Reason.NO_WALK, "it is so from the beginning")
        for number, (call, before) in enumerate(zip(made.run.calls, made.run.results, strict=True)):
            if episode.step(call) != before:
                raise _Nothing(Reason.NOT_REPLAYED, f"call {number} comes out otherwise")
        verdict = episode.check(made.answer)
        if verdict.correct is not True:
            raise _Nothing(Reason.NOT_REPLAYED, f"the end is not right: {verdict.evidence}")
    finally:
        episode.close()
    return CheckResult(check="replayed", outcome="passed", detail=f"{len(plan.calls)} calls, {verdict.rule}")


def _minimal(made: _Made) -> CheckResult:
    return CheckResult(check="one_minimal", outcome="passed", detail=f"none of {len(made.actions)} steps can go")


def _key(change: Change, environment: WebEnvironment) -> str:
    entry = change.entry or change.before or change.after
    name = environment.definition.keys.get(change.at)
    return str(entry[name]) if isinstance(entry, dict) and name in entry else canonical_json(entry)[:80]


def _draw(rng: np.random.Generator, weights: Mapping[Any, float]) -> Any:
    names = sorted(weights)
    return names[pick([weights[name] for name in names], rng)]
