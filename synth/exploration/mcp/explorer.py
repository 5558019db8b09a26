"""Servers as the exploration pipeline sees them: moves of a book, proved on fresh servers.

The state is what the server's own reading tools show. A task is rejected unless its solution, made again on a fresh
server, is answered without an error and comes to the same end; unless that end is another one whenever a call is left
out; and unless every value in it is said in the request, shown by an earlier call, or stands in the tool's description.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from synth.environments.contract import ToolCall
from synth.environments.mcp.environment import McpEnvironment
from synth.environments.mcp.goals import McpGoal, Probe
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.mcp.book import Book, load_book, shipped_books, things
from synth.exploration.mcp.described import described_book
from synth.exploration.mcp.planning import plan_of, request, unanswerable
from synth.exploration.mcp.survey import survey
from synth.exploration.mcp.trials import BookProposer, Filled, State, Watch, all_fit, probes_of
from synth.exploration.pipeline import Candidate, Dropped, Solved, blank_task, leaves, word_in
from synth.exploration.walks import Explorer, ExplorerConfig, choose, draw, pick
from synth.identity import canonical_json, derive_generator, digest, split_of, versioned
from synth.schemas.plans import Plan, Planned, Request, Wanted
from synth.schemas.rejections import Reason
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult
from synth.tasks.draft import Draft, same_question
from synth.tasks.writing.requests import Values, values_of

__all__ = ["McpExplorable", "book_for", "mcp_explorer"]


@dataclass(frozen=True)
class McpCandidate(Candidate):
    generator: np.random.Generator
    """What all of it is drawn from, for there is one attempt."""


class McpExplorable:
    """The servers of an environment, and a book. What comes of a candidate depends on the environment, the book, the
    seed and its index alone, as far as the servers do."""

    draws: ClassVar[str] = "mcp_tasks"
    parallel: ClassVar[int] = 4
    """Most of the time is waiting for servers to start and end."""

    def __init__(self, environment: McpEnvironment, book: Book, config: ExplorationConfig) -> None:
        """
        Raises:
            InputError: calls may not be made again, a tool of the book is not there, the state can't be looked at, or
                the kinds can't be used.
        """
        self.environment = environment
        self.book = book
        self.config = config.model_copy(update={"attempts": 1})
        self._kinds = {kind: config.kinds.get(kind, 0.0) for kind in ("done", "answered")}
        if sum(self._kinds.values()) <= 0:
            raise InputError("of servers there are the kinds done and answered", where="questions.kinds")
        if not environment.config.replay_safe:
            raise InputError(
                "tasks on a server are proved by making their calls again on fresh servers",
                where="environment.replay_safe",
                mend="say replay_safe: true if the same calls may be made many times and do no harm",
            )
        names = {tool.name for tool in environment.tools()}
        used = [look.tool for look in (*book.probes, *book.records.values())]
        for tool in (*used, *self.changing):
            if tool not in names:
                raise InputError(f"the servers have no tool {tool!r}", where="questions.book", mend="name their tools")
        watch = Watch(environment, book)
        self.fresh, again = watch.trial(())[1], watch.trial(())[1]
        self.begin = probes_of(self.fresh, again, said=()) or ()
        """What the state shows at the beginning."""
        if not self.begin:
            raise InputError("two fresh servers have nothing in common that could be looked at", where="source.servers")
        self._others = values_of(self._texts())

    @property
    def changing(self) -> tuple[str, ...]:
        return tuple(sorted({move.tool for move in self.book.moves if move.tool is not None}))

    def candidate(self, index: int, seed: int) -> McpCandidate:
        generator = derive_generator(seed, self.draws, index)
        asking = sum(move.answer is not None for move in self.book.moves)
        share = self._kinds["answered"] / sum(self._kinds.values())
        answered = asking and (asking == len(self.book.moves) or float(generator.random()) < share)
        return McpCandidate(index, "answered" if answered else "done", None, generator)

    def attempt(self, candidate: McpCandidate, seed: int, number: int) -> McpAttempt:
        return McpAttempt(self, candidate, seed)

    def others(self, draft: Draft) -> Values:
        return self._others

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)

    def _texts(self) -> Iterator[str]:
        """Texts of what fresh servers show, and of what the book has to say: values that requests speak of."""
        for listed in (*self.book.words.values(), *self.book.new.values()):
            for value in listed:
                yield from value.values() if isinstance(value, dict) else (str(value),)
        for record in self.book.records.values():
            for _, _, result in self.fresh.shown:
                for parts in things(record, result.content):
                    yield from parts.values()


class McpAttempt:
    """One candidate on its way to a task."""

    def __init__(self, hooks: McpExplorable, candidate: McpCandidate, seed: int) -> None:
        self.hooks, self.environment, self.book, self.config = hooks, hooks.environment, hooks.book, hooks.config
        self.candidate = candidate
        self.seed = seed
        self.generator = candidate.generator
        self.watch = Watch(self.environment, self.book)
        self.task = blank_task(f"candidate-{candidate.index}", "mcp", {})
        self.explored: tuple[Filled, ...] = ()
        self.probes: tuple[Probe, ...] = hooks.begin
        """What the state must show at the end."""
        self.answer: Filled | None = None
        """Of what is to be found out: the move that does."""
        self.ordered = False

    def close(self) -> None:
        """Every trial ends its own server."""

    def explore(self) -> Sequence[Filled]:
        proposer = BookProposer(self.environment, self.book, self.watch)
        if self.candidate.kind == "answered":
            self.answer = self._asked(proposer)
            return ()
        proposer.begin = self.hooks.fresh
        wanted = draw(self.generator, self.config.writes)
        config = ExplorerConfig(effective=wanted, calls=self.config.tries, writes=1.0, idle=0.1)
        explorer = Explorer(self.environment, lambda: proposer, seed=self.seed, config=config, state=self.watch.key)
        self.explored = tuple(proposer.of(step) for step in explorer.walk(self.task).changing)
        if not self.explored:
            raise Dropped(Reason.NO_WALK, f"{self.config.tries} calls changed nothing that can be seen")
        self.probes = self._goal(self.explored)
        return self.explored

    def reaches(self, steps: Sequence[Filled]) -> bool:
        if not steps:
            return all_fit(self.hooks.fresh, self.probes)
        if tuple(steps) == self.explored:
            return True  # two runs of them agreed on what is looked for
        results, state = self.watch.trial([move.call for move in steps])
        return all(result.error is None for result in results) and all_fit(state, self.probes)

    def word(self, steps: Sequence[Filled]) -> Solved:
        if self.answer is not None:
            return self._question(self.answer)
        if len(steps) < len(self.explored):
            self._nothing_is_so(steps)
        self.ordered = len(steps) > 1 and not self.reaches(list(reversed(steps)))
        asks = _asks(steps, self.generator)
        question = request(asks, self.generator, ordered=self.ordered, openings=self.book.openings)
        plan = plan_of(self.environment, question, steps, [], asks)
        begin = {digest(probe.tool, probe.arguments): probe for probe in self.hooks.begin}
        same = [begin.get(digest(probe.tool, probe.arguments)) == probe for probe in self.probes]
        kept = tuple(_short(probe) if unchanged else probe for probe, unchanged in zip(self.probes, same, strict=True))
        return self._solved(question, plan, McpGoal(probes=kept, changes=tuple(asks)), steps, asks)

    def audit(self, solved: Solved) -> tuple[CheckResult, ...]:
        state, calls = self._replayed(solved), solved.plan.calls
        if not all_fit(state, self.probes):
            problem = "the solution, made again, comes to another end"
            if self.answer is not None:
                problem = "looking something up changed the state"
            raise Dropped(Reason.NOT_CONFIRMED, problem, solved.question)
        passed = {"replayed": f"{len(calls)} calls, the same end"}
        if self.answer is None:
            changes = sum(call.changes for call in calls)
            passed["minimal"] = f"{changes} of {len(self.explored)} calls that change"
            passed["order"] = "said" if self.ordered else "of no account"
        else:
            passed["replayed"] = "the state is as it was"
        passed["told"] = "every value was said or shown"
        if self.answer is not None:
            passed["answer_shown"] = self.answer.answer[:200]
        return tuple(CheckResult(check=name, outcome="passed", detail=detail) for name, detail in passed.items())

    def _nothing_is_so(self, steps: Sequence[Filled]) -> None:
        """Of what was drawn in a state that calls now left out had made, that it is not so without them."""
        episode = self.environment.reset(self.task)
        try:
            for number, move in enumerate(steps):
                if move.is_so(self.book, self.watch.state(episode)):
                    raise Dropped(Reason.NO_WALK, f"asked for is what is so before: {move.asks[0]}")
                tool, arguments = move.call
                episode.step(ToolCall(id=f"so_{number}", name=tool, arguments=arguments))
        finally:
            episode.close()

    def _asked(self, proposer: BookProposer) -> Filled:
        asking = [move for move in self.book.moves if move.answer is not None]
        move = asking[pick([one.weight for one in asking], self.generator)]
        episode = self.environment.reset(self.task)
        try:
            self.watch.state(episode)
            filled = proposer.fill(move, episode, self.generator)
        finally:
            episode.close()
        if filled is None or not filled.answer.strip():
            raise Dropped(Reason.NO_WALK, "nothing that the server shows fits the question")
        return filled

    def _question(self, filled: Filled) -> Solved:
        ask = choose(self.generator, filled.asks)
        question = request([ask], self.generator, ordered=False) if ask[-1] not in ".?!" else ask
        if word_in(question, filled.answer, any_case=True) is not None:
            raise Dropped(Reason.ANSWER_IN_QUESTION, f"the question says {filled.answer!r}", question)
        plan = plan_of(self.environment, question, [], [filled], [ask])
        problem = unanswerable(plan, filled)
        if problem is not None:
            raise Dropped(Reason.NOT_ANSWERABLE, problem, question)
        goal = McpGoal(probes=tuple(map(_short, self.probes)), answer="required")
        return self._solved(question, plan, goal, [filled], [ask], filled.answer)

    def _goal(self, moves: Sequence[Filled]) -> tuple[Probe, ...]:
        """What the state shows after ``moves``, as far as two runs agree."""
        calls = [move.call for move in moves]
        (first, one), (second, other) = self.watch.trial(calls), self.watch.trial(calls)
        wrong = next((result for result in (*first, *second) if result.error is not None), None)
        if wrong is not None:
            raise Dropped(Reason.NOT_CONFIRMED, f"made again, {wrong.name} is answered: {wrong.content[:120]}")
        probes = probes_of(one, other, [canonical_json(move.arguments) for move in moves])
        if not probes:
            raise Dropped(Reason.NOT_CONFIRMED, "two runs of the same calls show nothing that is the same")
        return probes

    def _replayed(self, solved: Solved) -> State:
        calls = solved.plan.calls
        results, state = self.watch.trial([(call.tool, call.arguments) for call in calls])
        for call, result in zip(calls, results, strict=True):
            if result.error is not None:
                problem = f"made again, {call.tool} is answered: {result.content[:120]}"
                raise Dropped(Reason.NOT_CONFIRMED, problem, solved.question)
        for call in calls:
            for path, given in call.given.items():
                if given.call is not None and given.words not in results[given.call].content:
                    problem = f"made again, {calls[given.call].tool} does not show what {call.tool} takes as {path}"
                    raise Dropped(Reason.NOT_CONFIRMED, problem, solved.question)
        return state

    def _solved(
        self,
        question: str,
        plan: Plan,
        goal: McpGoal,
        moves: Sequence[Filled],
        asks: Sequence[str],
        answer: str = "Done.",
    ) -> Solved:
        gold = tuple(dict.fromkeys(name for move in moves for name in move.gold))
        splits = {split_of(name.casefold(), self.config.fractions) for name in gold} or {"train"}
        if len(splits) > 1:
            raise Dropped(Reason.SPLIT_CONFLICT, f"it is about things of {' and '.join(sorted(splits))}", question)
        said = tuple({value for move in moves for value in move.said})
        wanted = Wanted(goal=goal.model_dump(mode="json"))
        return Solved(
            question=question,
            surface=_surface(question, moves),
            stretches=[(ask, said) for ask in asks],
            plan=plan,
            split=cast(Split, splits.pop()),
            gold=gold,
            constraints=len(asks),
            facts=(wanted, Request(kind=plan.outcome, asks=tuple(asks)), Planned(plan=plan)),
            answer=answer,
        )


@versioned(70)
def mcp_explorer(*, environment: McpEnvironment, **options: Any) -> McpExplorable:
    """``options`` are those of :class:`ExplorationConfig`; ``book`` is the text of a book.

    Raises:
        InputError: the servers, the book or the kinds can't be used.
    """
    config = ExplorationConfig.model_validate(options)
    book = load_book(config.book, "questions.book") if config.book is not None else book_for(environment)
    if book is None:
        words = [word for values in config.hints.values() for word in values]
        book = described_book(environment, survey(environment, hints=words), config.hints)
    return McpExplorable(environment, book, config)


def book_for(environment: McpEnvironment) -> Book | None:
    """The shipped book that goes with the server, by the name that it gives itself; None where there is none."""
    if len(environment.servers) != 1:
        return None
    (info,) = environment.servers.values()
    return next((book for book in shipped_books() if info["name"] in book.servers), None)


def _short(probe: Probe) -> Probe:
    """The same probe in few bytes, where it must show exactly one thing."""
    if len(probe.shows) > 1:
        return probe
    return probe.model_copy(update={"shows": (), "hash": digest("shows", probe.shows[0])})


def _asks(moves: Sequence[Filled], generator: np.random.Generator) -> list[str]:
    """A way to ask for each, other ones for equal moves; a pronoun for what was named just before."""
    found: list[str] = []
    for number, move in enumerate(moves):
        forms = move.asks
        before = moves[number - 1] if number else None
        if before is not None and move.again and len(move.gold) > 0 and before.gold[:1] == move.gold[:1]:
            forms = move.again
        elif before is not None and before.move is move.move:
            used = before.asks.index(found[-1]) if found[-1] in before.asks else -1
            forms = tuple(form for at, form in enumerate(move.asks) if at != used) or move.asks
        found.append(choose(generator, forms))
    return found


def _surface(question: str, moves: Sequence[Filled]) -> str:
    """The request without the names in it: what two requests in the same words share."""
    values = {str(value) for move in moves for _, value in leaves(move.arguments)}
    values |= {name for move in moves for name in move.gold}
    for value in sorted(values, key=len, reverse=True):
        if len(value) > 1:
            question = question.replace(value, "_")
    return question
