"""Tasks from a server that nobody knows from inside: explored, made minimal, replayed, put into words.

Explore first, derive the task afterwards (OS-Genesis, arXiv 2412.19723). The state is what the server's own reading
tools show. A task is rejected unless its solution, made again on a fresh server, is answered without an error and comes
to the same end; unless that end is another one whenever a call is left out (ddmin); and unless every value in it was
said in the request, shown by an earlier call, or stands in the tool's description.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from synth.environments.mcp.environment import McpEnvironment
from synth.environments.mcp.goals import McpGoal, Probe
from synth.errors import InputError
from synth.exploration.exploring.walks import Explorer, ExplorerConfig, pick
from synth.exploration.mcp.book import Book, Move, shipped_books
from synth.exploration.mcp.config import McpTasksConfig
from synth.exploration.mcp.filling import things
from synth.exploration.mcp.moving import BookProposer, Filled
from synth.exploration.mcp.planning import Untold, plan_of, untold_answer
from synth.exploration.mcp.watching import State, Watch, all_fit, blank, probes_of
from synth.exploration.mcp.wording import request
from synth.exploration.minimal import minimal
from synth.identity import canonical_json, derive_generator, digest, split_of
from synth.schemas.details import details_with
from synth.schemas.plans import Plan, Planned, Request, Wanted
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, Difficulty, Walk
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import parts_in

__all__ = ["STAGE", "McpProposer", "book_for"]

STAGE = "mcp_tasks"


class _Dropped(Exception):
    def __init__(self, reason: Reason, detail: str, question: str = "") -> None:
        super().__init__(detail)
        self.reason, self.detail, self.question = reason, detail, question


class McpProposer:
    """Proposes reverse tasks on the servers of an environment. What comes of a candidate depends on the environment,
    the book, the seed and its index alone, as far as the servers do."""

    def __init__(
        self, environment: McpEnvironment, book: Book, config: McpTasksConfig | None = None, *, parallel: int = 4
    ) -> None:
        """
        Args:
            parallel: Candidates that are worked on at once: most of their time is waiting for servers to start and end.

        Raises:
            InputError: calls may not be made again, a tool of the book is not there, or the state can't be looked at.
        """
        self.environment = environment
        self.book = book
        self.config = config or McpTasksConfig()
        if not environment.config.replay_safe:
            raise InputError(
                "tasks on a server are proved by making their calls again on fresh servers",
                where="environment.replay_safe",
                mend="say replay_safe: true if the same calls may be made many times and do no harm",
            )
        names = {tool.name for tool in environment.tools()}
        for tool in (
            *(probe.tool for probe in book.probes),
            *(record.tool for record in book.records.values()),
            *(move.tool for move in book.moves if move.tool is not None),
        ):
            if tool not in names:
                raise InputError(f"the servers have no tool {tool!r}", where="questions.book", mend="name their tools")
        self.parallel = parallel
        watch = Watch(environment, book)
        self._fresh, again = watch.trial(())[1], watch.trial(())[1]
        self._begin = probes_of(self._fresh, again, said=()) or ()
        """What the state shows at the beginning."""
        if not self._begin:
            raise InputError("two fresh servers have nothing in common that could be looked at", where="source.servers")

    def values(self) -> Iterator[str]:
        """Texts of what fresh servers show, and of what the book has to say: values that requests speak of."""
        for listed in (*self.book.words.values(), *self.book.new.values()):
            for value in listed:
                yield from value.values() if isinstance(value, dict) else (str(value),)
        for record in self.book.records.values():
            for _, _, result in self._fresh.shown:
                for parts in things(record, result.content):
                    yield from parts.values()

    def propose(self, indices: Sequence[int], seed: int) -> Sequence[Checked | Rejection]:
        """One outcome per candidate index, in order."""
        if len(indices) < 2 or self.parallel < 2:
            return [_Candidate(self, index, seed).outcome() for index in indices]
        with ThreadPoolExecutor(self.parallel) as pool:
            return list(pool.map(lambda index: _Candidate(self, index, seed).outcome(), indices))


class _Candidate:
    """One candidate on its way to a task."""

    def __init__(self, proposer: McpProposer, index: int, seed: int) -> None:
        self.environment, self.book, self.config = proposer.environment, proposer.book, proposer.config
        self.begin, self.fresh = proposer._begin, proposer._fresh
        self.index = index
        self.seed = seed
        self.generator = derive_generator(seed, STAGE, index)
        self.watch = Watch(self.environment, self.book)

    def outcome(self) -> Checked | Rejection:
        asking = [move for move in self.book.moves if move.answer is not None]
        doing = len(asking) < len(self.book.moves)
        try:
            if asking and (not doing or float(self.generator.random()) < self.config.answered):
                return self._answered(asking)
            return self._done()
        except _Dropped as dropped:
            return Rejection(
                stage=STAGE,
                row_id=f"candidate-{self.index}",
                reason=dropped.reason,
                detail=f"reverse: {dropped.detail}"[:500],
                split="train",
                preview=dropped.question[:500],
            )

    # --- what is to be found out ------------------------------------------------------------------------------------

    def _answered(self, asking: Sequence[Move]) -> Checked:
        generator = self.generator
        move = asking[pick([one.weight for one in asking], generator)]
        episode = self.environment.reset(blank(f"candidate-{self.index}"))
        try:
            self.watch.state(episode)
            filled = BookProposer(self.environment, self.book, self.watch).fill(move, episode, generator)
        finally:
            episode.close()
        if filled is None or not filled.answer.strip():
            raise _Dropped(Reason.NO_WALK, "nothing that the server shows fits the question")
        ask = filled.asks[int(generator.integers(len(filled.asks)))]
        question = request([ask], generator, ordered=False) if ask[-1] not in ".?!" else ask
        if filled.answer.casefold() in question.casefold():
            raise _Dropped(Reason.ANSWER_IN_QUESTION, f"the question says {filled.answer!r}", question)
        try:
            plan = plan_of(self.environment, question, [], [filled], [ask])
        except Untold as error:
            raise _Dropped(Reason.UNGROUNDED, str(error), question) from None
        problem = untold_answer(plan, filled)
        if problem is not None:
            raise _Dropped(Reason.NOT_ANSWERABLE, problem, question)
        state = self._replayed(plan, question)
        if not all_fit(state, self.begin):
            raise _Dropped(Reason.NOT_CONFIRMED, "looking something up changed the state", question)
        goal = McpGoal(probes=tuple(map(_short, self.begin)), answer="required")
        checks = [
            CheckResult(check="replayed", outcome="passed", detail="the state is as it was"),
            CheckResult(check="told", outcome="passed", detail="every value was said or shown"),
            CheckResult(check="answer_shown", outcome="passed", detail=filled.answer[:200]),
        ]
        return self._checked(question, filled.answer, plan, goal, [filled], [ask], checks)

    # --- what is to be done -----------------------------------------------------------------------------------------

    def _done(self) -> Checked:
        generator = self.generator
        counts = sorted(self.config.writes)
        wanted = counts[pick([self.config.writes[count] for count in counts], generator)]
        proposer = BookProposer(self.environment, self.book, self.watch)
        config = ExplorerConfig(effective=wanted, calls=self.config.calls, writes=1.0, idle=0.1)
        explorer = Explorer(self.environment, lambda: proposer, seed=self.seed, config=config, state=self.watch.key)
        steps = explorer.walk(blank(f"candidate-{self.index}")).changing
        if not steps:
            raise _Dropped(Reason.NO_WALK, f"{self.config.calls} calls changed nothing that can be seen")
        moves = [proposer.of(step) for step in steps]
        probes = self._goal(moves)
        if all_fit(self.fresh, probes):
            raise _Dropped(Reason.NO_WALK, "the calls take back what they do")
        moves = list(minimal(moves, lambda part: self._reaches(part, probes)))
        ordered = self._order_matters(moves, probes)
        asks = _asks(moves, generator)
        question = request(asks, generator, ordered=ordered, openings=self.book.openings)
        try:
            plan = plan_of(self.environment, question, moves, [], asks)
        except Untold as error:
            raise _Dropped(Reason.UNGROUNDED, str(error), question) from None
        state = self._replayed(plan, question)
        if not all_fit(state, probes):
            raise _Dropped(Reason.NOT_CONFIRMED, "the solution, made again, comes to another end", question)
        kept, begin = [], {digest(probe.tool, probe.arguments): probe for probe in self.begin}
        for probe in probes:
            kept.append(_short(probe) if begin.get(digest(probe.tool, probe.arguments)) == probe else probe)
        goal = McpGoal(probes=tuple(kept), changes=tuple(asks))
        checks = [
            CheckResult(check="replayed", outcome="passed", detail=f"{len(plan.calls)} calls, the same end"),
            CheckResult(check="minimal", outcome="passed", detail=f"{len(moves)} of {len(steps)} calls that change"),
            CheckResult(check="order", outcome="passed", detail="said" if ordered else "of no account"),
            CheckResult(check="told", outcome="passed", detail="every value was said or shown"),
        ]
        return self._checked(question, "Done.", plan, goal, moves, asks, checks)

    def _goal(self, moves: Sequence[Filled]) -> tuple[Probe, ...]:
        """What the state shows after ``moves``, as far as two runs agree."""
        calls = [move.call for move in moves]
        (first, one), (second, other) = self.watch.trial(calls), self.watch.trial(calls)
        wrong = next((result for result in (*first, *second) if result.error is not None), None)
        if wrong is not None:
            raise _Dropped(Reason.NOT_CONFIRMED, f"made again, {wrong.name} is answered: {wrong.content[:120]}")
        probes = probes_of(one, other, [canonical_json(move.arguments) for move in moves])
        if not probes:
            raise _Dropped(Reason.NOT_CONFIRMED, "two runs of the same calls show nothing that is the same")
        return probes

    def _reaches(self, moves: Sequence[Filled], probes: Sequence[Probe]) -> bool:
        results, state = self.watch.trial([move.call for move in moves])
        return all(result.error is None for result in results) and all_fit(state, probes)

    def _order_matters(self, moves: Sequence[Filled], probes: Sequence[Probe]) -> bool:
        """Whether another order does not do: one is tried, the reverse."""
        return len(moves) > 1 and not self._reaches(list(reversed(moves)), probes)

    # --- both -------------------------------------------------------------------------------------------------------

    def _replayed(self, plan: Plan, question: str) -> State:
        results, state = self.watch.trial([(call.tool, call.arguments) for call in plan.calls])
        for call, result in zip(plan.calls, results, strict=True):
            if result.error is not None:
                detail = f"made again, {call.tool} is answered: {result.content[:120]}"
                raise _Dropped(Reason.NOT_CONFIRMED, detail, question)
        for call in plan.calls:
            for path, given in call.given.items():
                if given.call is not None and given.words not in results[given.call].content:
                    detail = f"made again, {plan.calls[given.call].tool} does not show what {call.tool} takes as {path}"
                    raise _Dropped(Reason.NOT_CONFIRMED, detail, question)
        return state

    def _checked(
        self,
        question: str,
        answer: str,
        plan: Plan,
        goal: McpGoal,
        moves: Sequence[Filled],
        asks: Sequence[str],
        checks: Sequence[CheckResult],
    ) -> Checked:
        shares: dict[str, float] = {str(name): share for name, share in self.config.fractions.items()}
        gold = tuple(dict.fromkeys(name for move in moves for name in move.gold))
        splits = {split_of(name.casefold(), shares) for name in gold} or {"train"}
        if len(splits) > 1:
            raise _Dropped(Reason.SPLIT_CONFLICT, f"it is about things of {' and '.join(sorted(splits))}", question)
        changing = sorted({move.tool for move in self.book.moves if move.tool is not None})
        details = details_with(
            Wanted(goal=goal.model_dump(mode="json")),
            Request(kind=plan.outcome, asks=tuple(asks), changing=tuple(changing)),
            Planned(plan=plan),
        )
        split: Split = splits.pop()  # type: ignore[assignment]
        draft = Draft(
            question=question,
            answer=answer,
            answer_kind="text",
            environment="mcp",
            shape="reverse",
            walk=Walk(shape="reverse", hops=()),
            gold_entities=gold,
            gold_documents=(),
            difficulty=Difficulty(hops=0, constraints=len(asks), branching=1.0, documents=0),
            split=split,
            surface=_surface(question, moves),
            details=details,
        )
        said = {value for move in moves for value in move.said}
        return Checked(draft, tuple(checks), parts_in(question, [(ask, said) for ask in asks]))


def book_for(environment: McpEnvironment) -> Book | None:
    """The shipped book that goes with the server, by the name that it gives itself; None where there is none."""
    if len(environment.servers) != 1:
        return None
    (info,) = environment.servers.values()
    return next((book for book in shipped_books() if info["name"] in book.servers), None)


def _short(probe: Probe) -> Probe:
    """The same probe in few bytes, where it must show exactly one thing."""
    return (
        probe
        if len(probe.shows) > 1
        else probe.model_copy(update={"shows": (), "hash": digest("shows", probe.shows[0])})
    )


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
        found.append(forms[int(generator.integers(len(forms)))])
    return found


def _surface(question: str, moves: Sequence[Filled]) -> str:
    """The request without the names in it: what two requests in the same words share."""
    values: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)
        else:
            values.add(str(value))

    for move in moves:
        collect(move.arguments)
        values.update(move.gold)
    for value in sorted(values, key=len, reverse=True):
        if len(value) > 1:
            question = question.replace(value, "_")
    return question
