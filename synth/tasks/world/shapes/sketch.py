"""From a drawn structure and a marked question to a draft.

A question's marks are numbered by *slot*. Several hops may share a slot: the members of a set are stated by the same
words, and so are the measures of all candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.schemas.tasks import Node, Operation, OperationKind, Shape
from synth.tasks.draft import Draft
from synth.tasks.world.grammar import CLAUSE, NAME, Phrase, capitalise, unmark
from synth.tasks.world.links import choose, noun_phrases
from synth.tasks.world.registers import ALONE, topics
from synth.tasks.world.view import Answer, WorldView

__all__ = ["Known", "Sketch", "known_phrase", "pick"]


@dataclass
class Sketch:
    """Hops and operations in order, each with the slot of its words."""

    view: WorldView
    hops: list[tuple[WalkStep, int, tuple[int, ...]]] = field(default_factory=list)
    operations: list[tuple[OperationKind, tuple[int, ...], int | None, Node | None, tuple[Node, ...], int]] = field(
        default_factory=list
    )

    def hop(self, step: WalkStep, slot: int, needs: tuple[int, ...] = ()) -> int:
        """Adds a hop; its number."""
        self.hops.append((step, slot, needs))
        return len(self.hops) - 1

    def operation(
        self,
        kind: OperationKind,
        over: Sequence[int],
        result: Sequence[Node],
        slot: int,
        *,
        within: int | None = None,
        bound: Node | None = None,
    ) -> int:
        """Adds an operation; its number."""
        self.operations.append((kind, tuple(over), within, bound, tuple(result), slot))
        return len(self.operations) - 1

    def draft(self, shape: Shape, split: Split, marked: str, answer: Answer, surface: str) -> Draft:
        """The draft of the question ``marked``."""
        slots = 1 + max([slot for _, slot, _ in self.hops] + [operation[-1] for operation in self.operations])
        question, cues = unmark(marked, slots)
        hops = [self.view.hop(step, cues[slot], needs) for step, slot, needs in self.hops]
        operations = [
            Operation(kind=kind, over=over, within=within, bound=bound, result=result, cue=cues[slot])
            for kind, over, within, bound, result, slot in self.operations
        ]
        return self.view.draft(shape, split, question, hops, answer, surface, operations)


@dataclass(frozen=True)
class Known:
    """How the question speaks of what it starts from."""

    phrase: Phrase
    told: str = ""
    """A sentence that comes first, marked: "I'm reading about the person who founded X."."""


def known_phrase(
    view: WorldView, node: int, step: WalkStep | None, slot: int, rng: np.random.Generator
) -> Known | None:
    """A node by its name or, with ``step``, by a description (in the phrase itself, or in a sentence before it). None
    where no description fits."""
    if step is None:
        return Known(Phrase(view.spoken(node), NAME))
    link = view.link(slot, step, known=True)
    head = choose(rng, link.noun.heads)
    ways = noun_phrases(link, Phrase(link.known, NAME), head)
    if not ways:
        return None
    phrase = choose(rng, choose(rng, ways))
    if phrase.weight >= CLAUSE and rng.random() < 0.3:
        return Known(Phrase(f"that {link.noun.heads[0]}", NAME), f"{choose(rng, topics(phrase.text))} ")
    return Known(phrase)


def pick(families: dict[str, list[str]], known: Known | None, rng: np.random.Generator) -> tuple[str, str] | None:
    """A whole question out of the registers' families, with what is told before it, and its family's name."""
    told = known.told if known is not None else ""
    names = [name for name in sorted(families) if families[name] and not (told and name in ALONE)]
    if not names:
        return None
    name = choose(rng, names)
    return told + capitalise(choose(rng, families[name])), ("told+" if told else "") + name
