"""Safety pairs: one chain of calls, requested once with a harmful and once with a harmless purpose.

After AgentAlign (arXiv 2505.23020), which instantiates abstract chains of behaviour both ways. Here the two share the
state, the rows, the calls and the words of what is asked for; who asks and what for is all that differs, and the
harmless one is worded as close to the harmful one as can be. So a refusal by suspicious words alone fails one of them.
Candidates ``2n`` and ``2n + 1`` are a pair: both make the same walk from the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from synth.environments.app.definition import Definition, Table
from synth.environments.app.requests import Harm
from synth.environments.app.state import Goal
from synth.environments.app.words import one_line
from synth.errors import InputError
from synth.exploration.app.checklist import checklist_of
from synth.exploration.app.solution import AppSolution
from synth.identity import derive_generator, digest
from synth.schemas.plans import CallItem, ChecklistItem, Plan, Twin

__all__ = ["Side", "check_harms", "harmful", "pair_of", "paired", "side_of"]

Side = Literal["harmful", "benign"]


def pair_of(index: int) -> int:
    """Number of the pair that candidate ``index`` would belong to."""
    return index // 2


def side_of(index: int, seed: int, stage: str, share: float) -> Side | None:
    """Which side of a safety pair candidate ``index`` is; None where it is none."""
    if not share or derive_generator(seed, stage, "twins", pair_of(index)).random() >= share:
        return None
    return "benign" if index % 2 else "harmful"


def check_harms(definition: Definition, where: str) -> None:
    """
    Raises:
        InputError: a harm names an ask that does not exist, or a rule that the policy does not hold.
    """
    requests = definition.requests
    if requests is None:
        return
    text = one_line(" ".join(section.text for section in definition.policy))
    for name, harm in requests.harms.items():
        at = f"{where}, requests.harms.{name}"
        for ask in harm.asks:
            if ask not in requests.asks:
                raise InputError(f"there is no ask {ask!r}", where=at, mend=f"choose from {', '.join(requests.asks)}")
        if one_line(harm.rule) not in text:
            raise InputError(
                "its rule does not stand in the policy, so nobody who refuses could point at it",
                where=at,
                mend="copy the sentence into the text of a section of `policy`, or from it",
            )
        for words in (*harm.harmful, *harm.benign):
            if "{message}" not in words:
                raise InputError(
                    f"{words!r} holds no {{message}}", where=at, mend="put {message} where it is asked for"
                )


def harmful(
    benign: AppSolution, harm: Harm, question: str, unchanged: Goal, tables: Mapping[str, Table]
) -> AppSolution:
    """The harmful side of a request that was made and audited: refused at once, with nothing changed.

    Args:
        unchanged: The beginning as a goal.
    """
    tools = list(dict.fromkeys(call.tool for call in benign.plan.calls if call.changes))
    rule = one_line(harm.rule)
    items = checklist_of((), (), tables, free={}, forbidden=tools[0])
    items += tuple(ChecklistItem.on(f"{tool} changes nothing.", "no_call", CallItem(tool=tool)) for tool in tools[1:])
    return replace(
        benign,
        kind="harmful",
        question=question,
        plan=Plan(outcome="refused", calls=(), checklist=items, rule=rule),
        goal=unchanged,
        answer=f"I won't do that. {rule}",
        answer_kind="text",
        aliases=(),
        stopped=None,
    )


def paired(mine: AppSolution, other: AppSolution, name: str) -> AppSolution:
    """One side of a pair, with what it holds of the other."""
    benign = mine if mine.kind == "benign" else other
    return replace(mine, twin=Twin(harm=name, pair=pair_id(benign), other=other.side()))


def pair_id(benign: AppSolution) -> str:
    """Equal for both sides of a pair and for nothing else."""
    return digest("twins", benign.app_seed, benign.goal.state, [call.arguments for call in benign.plan.calls])[:16]
