"""Candidates over the fictional world: walk, wording, checks.

Candidate ``i`` depends on the world, the config, the seed and ``i`` alone: never on which other candidates share its
batch. A batch walks together (vectorized) and searches together; that is all it shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from synth.graph.graph import Graph
from synth.graph.walks import Walker, Walks, WalkStep
from synth.identity import derive_generator, digest
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import Shape
from synth.tasks.checks import run_checks
from synth.tasks.contract import Checked, Failed, Search, Surroundings, rejection
from synth.tasks.draft import Draft
from synth.tasks.text import generic_words
from synth.tasks.world.compose import Worded, word_chain
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.conjoin import word_conjunction
from synth.tasks.world.lookups import SAME_EVENT
from synth.tasks.world.obfuscate import obfuscated
from synth.tasks.world.shapes import SHAPES, ShapeMaker
from synth.tasks.world.view import WorldView, draw
from synth.tasks.world.words import Words, world_words

__all__ = ["WorldProposer"]

_GENERIC_SAMPLE = 20_000
"""Names that are looked at to learn which words are generic."""
_TESTED = 12
"""So many candidates at most are tested one by one; a turn's budget has room for few more."""
_WORDINGS = 24
"""Ways of wording a walk that are tried until one is in a wanted register."""


@dataclass(frozen=True)
class _Plan:
    """What a candidate is to be, before it walks."""

    index: int
    split: Split
    shape: Shape
    size: int
    value_end: bool
    tail: bool
    level: int = 0
    """Of obfuscation."""


class WorldProposer:
    """Proposes tasks over one world. Making one costs O(edges); a candidate costs what it touches."""

    def __init__(
        self,
        graph: Graph,
        entities: pa.Table,
        documents: pa.Table,
        edges: pa.Table,
        search: Search | None,
        config: WorldTasksConfig,
        words: Words | None = None,
        *,
        stage: str = "world_tasks",
        further: Mapping[str, ShapeMaker] = MappingProxyType({}),
        view: WorldView | None = None,
        check: Callable[[Sequence[Draft]], list[Checked | Failed]] | None = None,
    ) -> None:
        """``graph`` is ``Graph.build(entities, edges, words.inverses)``; ``words`` None: the generated world's;
        ``further``: makers of shapes that are none of ours, by name; ``view`` None: things go by their names; ``check``
        None: every check of :mod:`synth.tasks.checks`.

        Raises:
            ValueError: ``config`` names a shape that has no maker.
        """
        words = words or world_words()
        self._makers = {**SHAPES, **further}
        strange = set(config.shapes) - {"composition", "conjunction", *self._makers}
        if strange:
            raise ValueError(f"shapes: no shape is called {min(strange)!r}")
        self._graph, self._config, self._stage = graph, config, stage
        self.view = view or WorldView(graph, entities, documents, edges, config, words)
        """The world as shapes see it."""
        names = entities.column("name")
        step = max(1, len(names) // _GENERIC_SAMPLE)
        generic = generic_words(names[i].as_py() for i in range(0, len(names), step))
        nouns = {word for noun in words.nouns.values() for word in (noun.heads[0], noun.plurals[0])}
        self.surroundings = Surroundings(self.view.facts, self.view.pages, search, generic | nouns)
        """What the checks look at; an audit can use the same."""
        self._check = check or (lambda drafts: run_checks(drafts, self.surroundings, config.checks))
        self._walkers: dict[tuple[str, str], Walker] = {}

    def propose(self, indices: Sequence[int], seed: int) -> list[Checked | Rejection]:
        """One outcome per candidate index, in order."""
        plans = [self._plan(index, seed) for index in indices]
        done: dict[int, Draft | Rejection] = {}
        walked: dict[tuple[str, str, bool], list[_Plan]] = {}
        for plan in plans:
            if plan.shape in self._makers:
                done[plan.index] = self._shaped(plan, seed)
            else:
                walked.setdefault((plan.split, plan.shape, plan.value_end), []).append(plan)
        for key in sorted(walked):
            done |= self._walked(walked[key], seed)
        drafts = [(i, item) for i in indices if isinstance(item := done[i], Draft)]
        checked = self._check([draft for _, draft in drafts])
        verdicts: dict[int, Checked | Rejection] = {}
        for (index, _), verdict in zip(drafts, checked, strict=True):
            if isinstance(verdict, Failed):
                verdicts[index] = rejection(verdict, stage=self._stage, row_id=str(index))
            else:
                verdicts[index] = verdict
        return [verdicts[i] if i in verdicts else _rejected(done[i]) for i in indices]

    # -- what to ask -------------------------------------------------------------------------------------------------

    def _plan(self, index: int, seed: int) -> _Plan:
        rng = derive_generator(seed, "world_tasks", "plan", index)
        config = self._config
        split: Split = draw(rng, config.fractions)
        shape: Shape = draw(rng, config.shapes)
        level: int = draw(rng, config.obfuscation) if shape in ("composition", "conjunction") else 0
        if level == 1:
            shape = "conjunction"  # a chain starts from an entity: there is no value to blur
        if shape == "composition":
            return _Plan(index, split, shape, draw(rng, config.hops), rng.random() < config.value_answers, False, level)
        if shape == "conjunction":
            tail = rng.random() < config.tail_share and level == 0
            return _Plan(index, split, shape, draw(rng, config.constraints), False, tail, level)
        return _Plan(index, split, shape, 0, False, False)

    def _shaped(self, plan: _Plan, seed: int) -> Draft | Rejection:
        """A candidate of a shape that has its own module: drawn again until the shape can make something of it."""
        rng = derive_generator(seed, "world_tasks", plan.shape, plan.index)
        make = self._makers[plan.shape]
        for _ in range(self._config.attempts):
            draft = make(self.view, plan.split, rng)
            if draft is not None and self._suits(draft.surface):
                return draft
        return self._reject(plan, Reason.NO_WALK, f"no {plan.shape} in {self._config.attempts} draws")

    def _walked(self, left: list[_Plan], seed: int) -> dict[int, Draft | Rejection]:
        """Chains and conjunctions, which walk together: vectorized."""
        done: dict[int, Draft | Rejection] = {}
        for attempt in range(self._config.attempts):
            walks = self._walk(left, seed, attempt)
            last = attempt == self._config.attempts - 1
            again: list[_Plan] = []
            for row, plan in enumerate(left):
                steps = self._steps(plan, walks, row)
                made = None if steps is None else self._draft(plan, steps, seed, attempt)
                if made is not None:
                    done[plan.index] = made
                elif last:
                    level = f" at level {plan.level}" if plan.level else ""
                    detail = f"no {plan.shape} of {plan.size}{level} in {attempt + 1} walks"
                    done[plan.index] = self._reject(plan, Reason.NO_WALK, detail)
                else:
                    again.append(plan)
            left = again
            if not left:
                break
        return done

    def _walk(self, batch: Sequence[_Plan], seed: int, attempt: int) -> Walks:
        first = batch[0]
        if attempt:
            seed = int(digest("world_tasks", "walk", seed, attempt)[:15], 16)
        indices = np.array([plan.index for plan in batch], dtype=np.int64)
        sizes = np.array([plan.size for plan in batch], dtype=np.int64)
        if first.shape == "composition":
            walker = self._walker(first.split, "value" if first.value_end else "entity")
            return walker.compositions(indices, sizes, seed)
        walker = self._walker(first.split, "conjunction")
        return walker.conjunctions(indices, sizes, seed, largest=self._config.largest_set)

    def _walker(self, split: Split, use: str) -> Walker:
        key = (split, use)
        if key in self._walkers:
            return self._walkers[key]
        graph = self._graph
        gold = self.view.gold(split)
        is_value = np.arange(graph.n_nodes) >= graph.n_entities
        if use == "conjunction":
            starts = self.view.constraints()
            walker = Walker(graph, allowed=gold, answers=~is_value, starts=starts, blocked=self.view.blocked)
        else:
            walker = Walker(
                graph,
                allowed=gold,
                answers=is_value if use == "value" else ~is_value,
                starts=self.view.sources(split),
                blocked=self.view.blocked,
                functional_only=True,
            )
        self._walkers[key] = walker
        return walker

    # -- from a walk to a draft --------------------------------------------------------------------------------------

    def _steps(self, plan: _Plan, walks: Walks, row: int) -> list[WalkStep] | None:
        """The walk of a row, or None when it has none that a person would ask about."""
        if not walks.valid[row]:
            return None
        steps = list(walks.steps(row, self._graph))
        if plan.shape == "composition":
            crowded = any(step.relation in self.view.words.crowds and not step.forward for step in steps)
            return None if crowded else steps
        # Nothing but numbers ("founded in 1334, 3 metres above the sea") is not a question about anything.
        if all(step.source >= self._graph.n_entities and self._graph.kind(step.source) != "text" for step in steps):
            return None
        told = {step.relation for step in steps}
        if any(SAME_EVENT.get(name) in told for name in told):
            return None
        # A graph is searched by names alone: what fits the only one is tested one by one.
        named = [step.fanout for step in steps if not self._graph.is_value(step.source)]
        if self._config.environment == "graph" and len(named) == 1 and named[0] > _TESTED:
            return None
        return sorted(steps, key=lambda step: step.fanout)  # the narrowest constraint is where a solver starts

    def _draft(self, plan: _Plan, steps: list[WalkStep], seed: int, attempt: int) -> Draft | Rejection | None:
        """None when the walk can't be put at the plan's level of obfuscation: another may."""
        if plan.level:
            rng = derive_generator(seed, "world_tasks", "obfuscation", plan.index, attempt)
            most = _TESTED if self._config.environment == "graph" else None
            return obfuscated(self.view, steps, plan.shape, plan.split, plan.level, rng, most)
        rng = derive_generator(seed, "world_tasks", "words", plan.index)
        if plan.tail:
            step = self._tail(plan, steps, rng)
            if step is None:
                return self._reject(plan, Reason.NO_WALK, "no hop leads on from the conjunction's answer")
            steps.append(step)
        chain = plan.shape == "composition"
        known = [not chain if i < plan.size else False for i in range(len(steps))]
        known[0] = True
        links = [self.view.link(number, step, known=known[number]) for number, step in enumerate(steps)]
        for _ in range(_WORDINGS):
            if chain:
                worded = word_chain(links, rng)
            else:
                worded = word_conjunction(links[: plan.size], links[plan.size] if plan.tail else None, rng)
            if worded is None or self._suits(worded.surface):
                break
        if worded is None or not self._suits(worded.surface):
            relations = ", ".join(step.relation for step in steps)
            return self._reject(plan, Reason.UNNATURAL, f"no wording fits {relations}")
        return self._finish(plan, steps, worded)

    def _suits(self, surface: str) -> bool:
        """Whether a question is put in one of the registers that are wanted."""
        return not self._config.registers or surface.rpartition("+")[2] in self._config.registers

    def _tail(self, plan: _Plan, steps: Sequence[WalkStep], rng: np.random.Generator) -> WalkStep | None:
        """One more step from the conjunction's answer, to a node of the split by a functional relation not yet used."""
        graph, at = self._graph, steps[-1].target
        visited = {at, *(step.source for step in steps)}
        used = {step.relation for step in steps}
        options: list[WalkStep] = []
        for group in range(int(graph.group_start[at]), int(graph.group_start[at + 1])):
            start, stop = int(graph.group_step[group]), int(graph.group_step[group + 1])
            port = int(graph.group_port[group])
            relation, target = graph.relations[port >> 1], int(graph.step_target[start])
            if stop - start != 1 or relation in used or relation not in self.view.words.wordings or target in visited:
                continue
            if relation in self._config.blocked_relations or not self.view.may_be_gold(target, plan.split):
                continue
            fact = int(graph.step_fact[start])
            forward = bool(graph.symmetric[port >> 1]) or port & 1 == 0
            if relation in self.view.words.crowds and not forward:
                continue
            options.append(WalkStep(at, target, relation, forward, fact, 1))
        return options[int(rng.integers(len(options)))] if options else None

    def _finish(self, plan: _Plan, steps: Sequence[WalkStep], worded: Worded) -> Draft:
        hops = []
        for number, (step, cue) in enumerate(zip(steps, worded.cues, strict=True)):
            needs: tuple[int, ...] = ()
            if plan.shape == "composition" and number:
                needs = (number - 1,)
            elif number == plan.size:
                needs = tuple(range(plan.size))
            hops.append(self.view.hop(step, cue, needs))
        answer = self.view.answer(hops[-1].target)
        return self.view.draft(plan.shape, plan.split, worded.question, hops, answer, worded.surface)

    def _reject(self, plan: _Plan, reason: Reason, detail: str) -> Rejection:
        detail = f"{plan.shape}: {detail}"
        return Rejection(stage=self._stage, row_id=str(plan.index), reason=reason, detail=detail, split=plan.split)


def _rejected(item: Draft | Rejection) -> Rejection:
    if not isinstance(item, Rejection):
        raise TypeError("a draft without a verdict")
    return item
