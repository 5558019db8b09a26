"""Questions that a model proposes after exploring the documents.

A candidate begins with a page of its own. The explorer works in the environment that agents will work in, with the same
tools, for a budget of turns; what it opened is what a question may rest on. Then a question is asked for, judged by
rules, and asked for again where it broke one; a question that holds is made harder; and what is left must pass every
check by a reader. All of it is one candidate of the acceptance loop: it is drawn from its number alone, resumed at
every call, and replaced by the next where it comes to nothing (DocDancer, arXiv 2601.05163; SSP, arXiv 2510.18821;
ASearcher, arXiv 2508.07976; TaskCraft, arXiv 2506.10055).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.trajectory import to_row
from synth.environments.contract import Environment
from synth.identity import digest, key_of
from synth.models.asking import quoted
from synth.models.bridge import together
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections
from synth.schemas.proposals import ProposalRow
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import CheckResult, Node, Task, Walk
from synth.schemas.writing import TaskReviewRow
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.stages.held import Holdings
from synth.stages.task_reviews import Checks, Reviews
from synth.tasks.draft import Draft, draft_of, finish, same_question
from synth.tasks.graph_facts import TablePages
from synth.tasks.index_search import IndexSearch
from synth.tasks.writing.asked import schema_of
from synth.tasks.writing.proposing import EXPLORE, HARDEN, PROPOSE, Proposal, ProposalKeys, Read, Refused, judged

__all__ = ["ProposedTasks", "ProposedTasksConfig"]

_LEAST = 200
"""Characters of a page that an exploration can begin with."""


class ProposedTasksConfig(ProposalKeys, StageConfig):
    environment: Implementation
    """Where the explorer looks around: where agents act afterwards."""
    explorer: Implementation
    """Who explores: makes a policy, whose factory takes the ``task`` beside its options."""
    proposer: Implementation
    """Who writes a question from what was read."""
    hardener: Implementation
    """Who makes a question harder."""
    prompts: tuple[str, ...]
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt files: of the exploration, of proposing, of hardening."""
    checks: Checks
    """Which checks a reader makes; each must be passed."""
    solver: Implementation | None = None
    """Whose success on a question must lie in the band ``solved``."""
    limits: Limits = Limits()
    """When a run of the solver is stopped."""
    prompt: str
    """The solver's system prompt file, without its version."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file."""
    collections: Collections | None = None
    """How the pages are divided where the tasks are to be solved."""


@dataclass
class _Made:
    """What became of an exploration so far."""

    run: Rollout
    read: dict[str, Read]
    refused: list[str] = field(default_factory=list)
    hardened: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    solved: str = ""
    """How often the policy solved it."""


class ProposedTasks(CandidateStage[ProposedTasksConfig]):
    name = "proposed_tasks"
    version = 47
    config_type = ProposedTasksConfig
    reads = ("documents", "entities", "index")
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "tasks": Task,
        "proposals": ProposalRow,
        "task_reviews": TaskReviewRow,
    }
    libraries = ("numpy", "bm25s")
    candidates_per_shard = 8
    """Candidates beyond the last accepted one are paid for: so few that these are not many."""

    def __init__(self, config: ProposedTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._documents = inputs.table("documents")
        table = self._documents.arrow
        self._environment: Environment = context.make(config.environment, inputs=inputs)
        self._proposer, self._hardener = context.make(config.proposer), context.make(config.hardener)
        self._holdings = Holdings(config.collections, table, self.name)
        self._pages = TablePages(table)
        search = IndexSearch(Bm25Index(inputs.arrays("index")), table.column("id"))
        self._reviews = Reviews(
            config.checks,
            context,
            self.name,
            self._pages,
            lambda query, k: search.ranked([query], k)[0],
            complete=False,
        )
        self._rows = {name: row for row, name in enumerate(table.column("id").to_pylist())}
        self._seeds = _seeds(table)
        self._named = _Names(inputs.table("entities").arrow, table.column("id").to_pylist())
        self._solving = load_prompt(config.prompt, config.prompt_version).render(
            instructions=self._environment.instructions()
        )
        self._system = load_prompt(EXPLORE).render(instructions=self._environment.instructions())

    def ceiling(self, wanted: int) -> int:
        """Each candidate is paid for."""
        return 50 + 20 * wanted

    def exhausted(self) -> int | None:
        """One exploration from each page."""
        return len(self._seeds)

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return together([partial(self._candidate, index) for index in range(start, stop)])

    def _candidate(self, index: int) -> Outcome:
        seed = self._documents.row(int(self._order(index)))
        run = self._explored(seed.id, seed.title, index)
        if run.rejected is not None:
            return self._refuse(index, run.rejected.reason, f"exploration from {seed.id}: {run.rejected.detail}")
        made = _Made(run, self._read(run))
        if len(made.read) < self.config.pages:
            return self._refuse(index, Reason.NO_WALK, f"from {seed.id} it opened {len(made.read)} pages")
        draft = self._asked(made, index, None)
        if isinstance(draft, Refused):
            return self._refuse(index, draft.reason, f"from {seed.id}: {draft.detail}")
        draft = self._hard(made, draft, index)
        if isinstance(draft, Refused):
            return self._refuse(index, draft.reason, f"from {seed.id}: {draft.detail}")
        return self._judged(made, draft, seed.id, index)

    def _hard(self, made: _Made, draft: Draft, index: int) -> Draft | Refused:
        """``draft``, or what it becomes when it is made harder as often as the config says."""
        band, refused = self.config.solved, False
        while True:
            if band is not None:
                share = self._solved(made, draft, index, band.runs)
                if share < band.least or (share > band.most and (refused or len(made.hardened) == self.config.harden)):
                    wanted = f"{band.least:g} to {band.most:g}"
                    return Refused(Reason.OUTSIDE_BAND, f"the policy solves {share:.2f} of its runs; wanted {wanted}")
                if share <= band.most:
                    return draft
            if len(made.hardened) == self.config.harden:
                return draft
            harder = self._asked(made, index, draft)
            if isinstance(harder, Refused):
                if band is None:
                    return draft
                refused = True
                continue
            made.hardened.append(draft.question)
            draft = harder

    def _solved(self, made: _Made, draft: Draft, index: int, runs: int) -> float:
        """Share of the policy's runs that solve it."""
        solver = self.config.solver
        assert solver is not None
        passed = (CheckResult(check="chain", outcome="passed"),)
        task = finish(draft, passed, self.context.provenance, index)

        def run(number: int) -> bool:
            done = rollout(
                self.context.make(solver, task=task),
                self._environment,
                task,
                system=self._solving,
                limits=self.config.limits,
                generator_for_turn=lambda turn: self.context.generator(task.id, "solver", number, turn),
            )
            return done.verdict.correct is True

        right = sum(together([partial(run, number) for number in range(runs)]))
        made.solved = f"{right} of {runs} runs of the policy solve it"
        return right / runs

    def _order(self, index: int) -> int:
        """The page that candidate ``index`` begins with: every page once, in an order of the seed's."""
        return int(self._seeds[self.context.generator("pages").permutation(len(self._seeds))[index]])

    def _explored(self, seed: str, title: str, index: int) -> Rollout:
        told = f"Begin with the page “{title}” ({seed}), and find a chain of facts over several pages."
        # An exploration answers no question: the loop is given a task that asks for nothing but to look around.
        walk = Walk(shape="given", hops=())
        asked = draft_of(walk, question=told, answer="a chain of facts", answer_kind="text", split="train")
        passed = (CheckResult(check="exploration", outcome="passed"),)
        task = finish(asked, passed, self.context.provenance, index, prefix="exploration")
        return rollout(
            self.context.make(self.config.explorer, task=task),
            self._environment,
            task,
            system=self._system,
            limits=Limits(max_turns=self.config.steps),
            generator_for_turn=lambda turn: self.context.generator(index, "turn", turn),
        )

    def _read(self, run: Rollout) -> dict[str, Read]:
        """The pages that were opened, with what was shown of them."""
        found: dict[str, Read] = {}
        for step in run.history:
            for call, result in zip(step.turn.calls, step.results, strict=False):
                name = str(call.arguments.get("document", "")).partition("#")[0]
                row = self._rows.get(name)
                if result.error is not None or row is None or call.name != "open":
                    continue
                page = self._documents.row(row)
                before = found[name].shown + "\n" if name in found else ""
                found[name] = Read(
                    page.id, page.title, page.text, page.partition, page.licence, before + result.content
                )
        return found

    def _asked(self, made: _Made, index: int, before: Draft | None) -> Draft | Refused:
        """A question from what was read; a harder one than ``before``, where there is one."""
        config, kind = self.config, "proposal" if before is None else "harder"
        asks = self._proposer if before is None else self._hardener
        last, told = Refused(Reason.NO_WALK, "nothing was proposed"), list[dict[str, Any]]()
        for attempt in range(config.attempts):
            sample = key_of(self.context.generator(index, kind, len(made.hardened), attempt))
            material = quoted(**self._material(made, before), refused=told)
            asked = asks.ask(sample, schema=schema_of(PROPOSE if before is None else HARDEN), material=material)
            made.calls += asked.calls
            if asked.answer is None:
                last = Refused(asked.reason or Reason.MALFORMED, asked.detail)
                break
            proposal: Proposal = asked.answer
            draft = judged(proposal, made.read, config, self._named)
            if isinstance(draft, Draft):
                draft = _as_hard(draft, before)
            if isinstance(draft, Draft):
                against = self._holdings.too_few(draft.gold_documents)
                if against is None:
                    return draft
                draft = Refused(Reason.ONE_COLLECTION, against)
            last = draft
            if proposal.question is None:
                break
            told.append({"question": proposal.question, "wrong": draft.detail})
            made.refused.append(f"{draft.reason.value}: {draft.detail}: {proposal.question}"[:1000])
        return last

    def _material(self, made: _Made, before: Draft | None) -> dict[str, Any]:
        each = self.config.shown // max(1, len(made.read))
        pages = [{"document": page.id, "title": page.title, "text": page.shown[:each]} for page in made.read.values()]
        config = self.config
        wanted: dict[str, Any] = {"facts": [config.facts, config.most_facts], "pages": config.pages}
        if self._holdings.spanned > 1:
            held = self._holdings.of(tuple(made.read))
            wanted["collections"] = self._holdings.spanned
            pages = [{**page, "collection": held.get(page["document"], "")} for page in pages]
        if before is None:
            return {"wanted": wanted, "notes": made.run.answer or "", "pages": pages}
        facts = [
            {
                "document": hop.evidence.document_id,
                "quote": hop.evidence.quote,
                "known": hop.source.name,
                "found": hop.target.name,
                "cue": hop.cue,
            }
            for hop in before.walk.hops
        ]
        return {"question": before.question, "answer": before.answer, "facts": facts, "wanted": wanted, "pages": pages}

    def _judged(self, made: _Made, draft: Draft, seed: str, index: int) -> Outcome:
        provenance = self.context.provenance.model_copy(
            update={**self.config.proposer.origin(), "prompt": self.config.prompts[1]}
        )
        hops, pages = len(draft.walk.hops), len(draft.gold_documents)
        checks = [
            CheckResult(check="quotes", outcome="passed", detail=f"{hops} quotes on {pages} pages that were read"),
            CheckResult(check="chain", outcome="passed", detail="each fact begins where the question or a fact ends"),
        ]
        if made.solved:
            checks.append(CheckResult(check="solved", outcome="passed", detail=made.solved))
        task = self._holdings.with_collections(finish(draft, checks, provenance, index))
        task, found, against = self._reviews.review(task, index)
        if against is not None:
            return Outcome(rejected=(against,))
        side = {"proposals": (self._row(made, task, seed),), "task_reviews": self._reviews.rows(task, found)}
        self.context.metrics.add("proposals_refused", len(made.refused))
        self.context.metrics.add("hardened", len(made.hardened))
        return Outcome(kept=(task,), side=side)

    def _row(self, made: _Made, task: Task, seed: str) -> ProposalRow:
        run = made.run
        row = to_row(
            run,
            self._environment,
            role="policy",
            number=0,
            privileged=False,
            provenance=task.provenance,
            model=self.config.explorer.model_name,
        )
        licences = {page.licence for page in made.read.values()}
        told: dict[str, Any] = {
            "task_id": task.id,
            "model": self.config.explorer.model_name,
            "read": tuple(made.read),
            "hardened": tuple(made.hardened),
            "refused": tuple(made.refused),
        }
        content = [item.model_dump(mode="json") for item in row.content]
        return ProposalRow(
            id=f"proposal-{digest('proposal', *told.values(), content)[:16]}",
            **told,
            seed_document=seed,
            instruction=run.prompt.question,
            system_prompt=run.prompt.system,
            tool_schemas=row.tool_schemas,
            content=row.content,
            turns=row.turns,
            prompts=self.config.prompts,
            turn_calls=run.sources,
            calls=tuple(made.calls),
            licence=licences.pop() if len(licences) == 1 else None,
            split=task.split,
            provenance=self.context.provenance.model_copy(
                update={**self.config.explorer.origin(), "prompt": self.config.prompts[0]}
            ),
        )

    def _refuse(self, index: int, reason: Reason, detail: str) -> Outcome:
        refused = Rejection(stage=self.name, row_id=str(index), reason=reason, detail=detail[:1000])
        return Outcome(rejected=(refused,))


class _Names:
    """Things that have a page of their own, by name: only the only one of a name can be meant by it."""

    def __init__(self, entities: pa.Table, documents: Sequence[str]) -> None:
        self._nodes: dict[str, Node | None] = {}
        columns = (entities.column(name).to_pylist() for name in ("id", "name", "kind", "aliases", "document"))
        for name, called, kind, aliases, page in zip(*columns, strict=True):
            if page < 0:
                continue
            node = Node(id=name, name=called, aliases=tuple(aliases), kind=kind, document_id=documents[page])
            for form in {" ".join(text.split()).casefold() for text in (called, *aliases)}:
                self._nodes[form] = None if form in self._nodes else node

    def __call__(self, name: str) -> Node | None:
        return self._nodes.get(" ".join(name.split()).casefold())


def _seeds(documents: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows of the pages that an exploration can begin with: those with some text that are not lists of pages."""
    long = pc.greater_equal(pc.utf8_length(documents.column("text")), _LEAST)
    told = pc.and_(long, pc.not_equal(documents.column("kind"), "index"))
    return np.flatnonzero(told.to_numpy(zero_copy_only=False))


def _as_hard(draft: Draft, before: Draft | None) -> Draft | Refused:
    """``draft`` where it is a harder question than ``before``: the same answer, by its facts and more."""
    if before is None:
        return draft
    if draft.answer != before.answer:
        return Refused(Reason.MEANING_CHANGED, f"the answer is {draft.answer!r}, and was {before.answer!r}")
    quotes = [(hop.evidence.document_id, hop.evidence.start) for hop in draft.walk.hops]
    lost = [hop for hop in before.walk.hops if (hop.evidence.document_id, hop.evidence.start) not in quotes]
    if lost:
        return Refused(Reason.MEANING_CHANGED, f"it lost the fact that finds {lost[0].target.name!r}")
    if len(quotes) <= len(before.walk.hops):
        return Refused(Reason.MEANING_CHANGED, "it has no further fact")
    if sum(not hop.needs for hop in draft.walk.hops) > sum(not hop.needs for hop in before.walk.hops):
        return Refused(Reason.SHORTCUT, "it says more than before, and leaves no more to be found")
    return draft.model_copy(update={"obfuscation": before.obfuscation + 1})
