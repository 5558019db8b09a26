"""Settings of the critical-step search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from synth.schemas.row import Row

__all__ = ["CriticalConfig"]


class CriticalConfig(Row):
    """Thresholds and the length of continuations are CSO's (arXiv 2602.03412); the rest is ours."""

    strategy: Literal["first_deviation", "audit"] = "first_deviation"
    """``first_deviation`` produces pairs: step by step from the first one that scores low, each alternative is
    continued ``samples`` times per side, and the search ends when ``steps`` are verified. ``audit`` measures: every
    candidate of the run, up to ``max_pairs`` continuations per side, one error for the whole trajectory."""
    steps: int = Field(default=1, ge=1, le=100)
    """From the first deviation: verified steps of a run at most. Those behind the first are recoveries. A second step
    brings a fifth more pairs for a twelfth more turns of the policy, but what is right there is mostly the same action,
    against another mistake."""
    samples: int = Field(default=2, ge=1, le=16)
    """From the first deviation: continuations per side. The better side must succeed in all of them and the worse in
    none, which at equal rates happens with a chance of at most ``4 ** -samples`` for each alternative tried."""
    second_look: int = Field(default=8, ge=0, le=32)
    """From the first deviation: in a run without a verified step, alternatives beside which the recorded action never
    succeeded get up to so many continuations per side, until one is verified; 0 = no second look."""
    candidate_error: float = Field(default=0.1, gt=0, lt=0.5)
    """From the first deviation: chance, at equal rates, that an alternative is verified at either look."""
    draws: int = Field(default=4, ge=0, le=64)
    """Turns that the policy is asked for where a step is verified, to record how often it takes either action itself;
    0 = none."""
    alternatives: int = Field(default=3, ge=1, le=20)
    """Alternatives that are asked for at each step."""
    above: float = Field(default=0.6, ge=0, le=1)
    """The better action of a candidate scores more than this."""
    below: float = Field(default=0.5, ge=0, le=1)
    """The worse action of a candidate scores less than this."""
    max_more: int = Field(default=10, ge=0)
    """Turns of the policy after the turn that was put there."""
    max_turns: int = Field(default=24, ge=1)
    """Turns of the whole history, prefix included: what the recorded run was allowed."""
    max_invalid: int = Field(default=3, ge=1)
    """Turns in a row in which no call was accepted by a tool, before a continuation is stopped."""
    tokens: int | None = Field(default=None, ge=1)
    """Completion tokens that a model may use in one continuation; empty = what one of the policy's runs may use."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall time of one continuation; empty = that of one of the policy's runs."""
    error: float = Field(default=0.03, gt=0, lt=0.5)
    """In an audit: chance, under pure luck, that a *trajectory* gets any verified step, however many candidates."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Of the two-sided interval that is reported beside each difference (not adjusted for stopping)."""
    max_pairs: int = Field(default=32, ge=2, le=100)
    """In an audit: continuations per side and candidate at most."""
    first_look: int = Field(default=2, ge=1)
    """Continuations per side before the first look."""
    minimal_difference: float = Field(default=0.3, ge=0, le=1)
    """A candidate is given up when the upper bound of its difference is below this."""
    futility_confidence: float = Field(default=0.9, gt=0.5, lt=1)
    """One-sided confidence of that upper bound."""
    futility_first: int = Field(default=5, ge=1)
    """Continuations per side before a candidate may be given up for it."""
    futility_barren: int = Field(default=3, ge=2)
    """A candidate is also given up when its better side failed in all of this many continuations."""
    step_budget: int = Field(default=160, ge=2)
    """Continuations per step at most, both sides and all alternatives together."""
    trajectory_budget: int = Field(default=400, ge=2)
    """Continuations per trajectory at most."""
    all_alternatives: bool = False
    """Go on with a step's other alternatives when one of them is verified; in an audit, also with the same action at
    other steps."""
    first_error: bool = False
    """Also look for the longest prefix from which the policy still succeeds (costs continuations of its own)."""
    first_error_error: float = Field(default=0.1, gt=0, lt=0.5)
    """Chance that any prefix that was looked at is judged wrongly."""
    still_succeeds: float = Field(default=0.6, gt=0, lt=1)
    """Success rate of the policy from a prefix that is fine."""
    no_more: float = Field(default=0.15, gt=0, lt=1)
    """Success rate from a prefix that is not. Prefixes between the two may be judged either way, or stay undecided."""
    first_error_samples: int = Field(default=16, ge=1)
    """Continuations per prefix at most."""
    first_error_budget: int = Field(default=120, ge=0)
    """Continuations per trajectory for it at most, beside those of the search."""
    pivot_samples: int = Field(default=4, ge=2)
    """A turn with fewer continuations is not judged as a pivot."""
    pivot_variance: float = Field(default=0.15, ge=0, le=0.5)
    """Least variance of the outcomes (0 or 1) at a pivot."""
    advantages: int = Field(default=0, ge=0, le=32)
    """Continuations drawn before and behind every turn, so that each has an advantage (PAV, arXiv 2410.08146); 0 = only
    the turns around which others were drawn have one."""
