"""Citations and stages of a search: rewards that look at how an answer was come by, not at the answer alone.

``cited`` (CaRR, arXiv 2601.06021): a hop counts where its finding is named in the final message, its page was read, the
page is cited there in brackets, and a chain of such hops leads from it to the answer. A right answer is worth .7, and
up to .3 for the share of hops that count, against the best of the group, as C-GRPO mixes them.

``stages`` (RubricEM, arXiv 2605.10899): planning, search, evidence and answer, each with a share of its own, which
trainers that assign credit by stage find in ``parts``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synth.annotate.rewards.naming import named
from synth.annotate.rewards.turns import SaidTurn
from synth.schemas.rl import GroundTruth, RubricFact
from synth.text.words import tokens, words_of

__all__ = ["STAGE_WEIGHTS", "Chain", "chain_of", "stages_of"]

STAGE_WEIGHTS = {"plan": 0.1, "search": 0.2, "evidence": 0.3, "answer": 0.4}
"""Ours; the paper's judge rates each stage by itself."""
_CITED = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True)
class Chain:
    """What a response shows of each hop of the rubric."""

    found: frozenset[int]
    """Hops whose page stood among results, or was read."""
    read: frozenset[int]
    """Hops whose page was read, or whose words were shown."""
    named: frozenset[int]
    """Hops whose finding the final message names."""
    cited: frozenset[int]
    """Hops whose page it cites in brackets, by id."""
    connected: frozenset[int]
    """Hops that are read, named and cited, and lead to the answer through others that are."""


def chain_of(turns: Sequence[SaidTurn], truth: GroundTruth) -> Chain:
    """Hop by hop. A citation of a page that was not read is none."""
    facts = {fact.hop: (place, fact) for place, item in enumerate(truth.rubric) for fact in item.facts}
    shown = [one for turn in turns for one in turn.shown]
    listed = {hit.document for one in shown for hit in one.results}
    opened = {one.about for one in shown}
    words = [words_of(text) for turn in turns for text in turn.observations]
    final = turns[-1].text
    names = named(final, [item.names for item in truth.rubric])
    brackets = {text.strip() for text in _CITED.findall(final)}

    def is_read(fact: RubricFact) -> bool:
        return fact.document_id in opened or any(words_of(fact.statement) in text for text in words)

    read = frozenset(hop for hop, (_, fact) in facts.items() if is_read(fact))
    good = frozenset(
        hop for hop, (place, fact) in facts.items() if hop in read and place in names and fact.document_id in brackets
    )
    needed = {need for _, fact in facts.values() for need in fact.needs}
    connected = set(good - needed)
    while more := {need for hop in connected for need in facts[hop][1].needs if need in good} - connected:
        connected |= more
    return Chain(
        found=read | frozenset(hop for hop, (_, fact) in facts.items() if fact.document_id in listed),
        read=read,
        named=frozenset(hop for hop, (place, _) in facts.items() if place in names),
        cited=frozenset(hop for hop, (_, fact) in facts.items() if fact.document_id in brackets) & read,
        connected=frozenset(connected),
    )


def stages_of(turns: Sequence[SaidTurn], truth: GroundTruth, chain: Chain, *, correct: bool) -> dict[str, float]:
    """Each stage from 0 to 1: the share of the question's words that the first turn takes up, the shares of hops whose
    pages were found and read, and a right answer's share of hops that it names."""
    hops = sum(len(item.facts) for item in truth.rubric)
    asked = {word for word in tokens(truth.question) if len(word) > 3}
    taken_up = asked & set(tokens(turns[0].text)) if len(turns) > 1 else set()
    return {
        "plan": len(taken_up) / len(asked) if asked else 0.0,
        "search": len(chain.found) / hops if hops else 0.0,
        "evidence": len(chain.read) / hops if hops else 0.0,
        "answer": (0.5 + 0.5 * len(chain.named) / hops if hops else 1.0) if correct else 0.0,
    }
