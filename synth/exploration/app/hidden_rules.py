"""Rules that are enforced and written nowhere: which candidates meet one, and what a task says of it.

Implicit rules (TTExplore, arXiv 2605.24828) can't be read, only inferred from what comes of a call. A person asks for
something that nothing written forbids; the application refuses it; who has tried does what else the person would take,
or tells them. Here such tasks stand among the others, in the same application under the same words of its policy, so
that an agent can't know beforehand which rules there are.
"""

from __future__ import annotations

from synth.environments.app.definition import Rule
from synth.environments.app.environment import AppEnvironment
from synth.exploration.app.requests import AppRequests
from synth.exploration.app.walking import TriedCall
from synth.identity import derive_generator
from synth.schemas.plans import HiddenRule

__all__ = ["asks_under", "note_of", "quiet_variants", "variant_of"]


def quiet_variants(environment: AppEnvironment) -> tuple[str, ...]:
    """Variants that add rules and leave what is written as it is; none where the environment is a variant itself."""
    if environment.variant is not None:
        return ()
    variants = environment.definition.variants
    return tuple(sorted(name for name, one in variants.items() if one.rules and not one.hide))


def variant_of(index: int, seed: int, stage: str, share: float, variants: tuple[str, ...]) -> str | None:
    """The variant in which candidate ``index`` is set; None where it is the application as it is written."""
    if not share or not variants:
        return None
    generator = derive_generator(seed, stage, "hidden", index)
    if generator.random() >= share:
        return None
    return variants[int(generator.integers(len(variants)))]


def asks_under(app: AppRequests) -> dict[str, float]:
    """Asks, with their weights, whose tool a hidden rule may stop."""
    rules = app.environment.rules
    hidden = [rule for rule in rules.all if rule.name in rules.hidden]
    return {
        name: ask.weight
        for name, ask in app.requests.asks.items()
        if not ask.alone and any(_may_stop(app, rule, app.tool(name)) for rule in hidden)
    }


def _may_stop(app: AppRequests, rule: Rule, tool: str) -> bool:
    if rule.record is not None:
        return False  # it goes through, and nobody sees that it is a violation
    if rule.require is not None:
        return tool in rule.before
    runs = (step.run.split() for step in app.definition.tools[tool].steps if step.run is not None)
    return any(rule.table in words for words in runs)


def note_of(environment: AppEnvironment, rule: Rule, stopped: TriedCall) -> HiddenRule | None:
    """What a task says of the hidden rule that it meets; None where the rule is written, or stops nothing."""
    if rule.name not in environment.rules.hidden or stopped.recorded:
        return None
    return HiddenRule(rule=rule.name, text=" ".join(rule.text.split()), refusal=stopped.result.content)
