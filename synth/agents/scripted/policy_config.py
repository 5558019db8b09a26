"""How weak the scripted policy is: the rates of its mistakes.

All rates are for ``skill`` 0.5 and scale with ``2 * (1 - skill)``: at 1 none is made on purpose, though reading by
likeness of words still misleads it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["PolicyConfig", "Systematic"]

Systematic = Literal["first_date", "first_number", "one_page"]
"""An error that it always makes: takes the first date (or number) on a page whatever it dates; never turns a page."""


class PolicyConfig(BaseModel):
    """How weak the policy is."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    skill: float = Field(default=0.5, ge=0, le=1)
    """Scales every rate below by ``2 * (1 - skill)``."""
    lookalike: float = Field(default=0.3, ge=0, le=1)
    """Opens a result whose title is only like the name, although the right one is in the list."""
    skipped_check: float = Field(default=0.35, ge=0, le=1)
    """Takes a page for the right one though its title differs; answers before the last condition was tested."""
    early_stop: float = Field(default=0.03, ge=0, le=1)
    """Per turn: answers with what is on the page although the question goes further."""
    misreading: float = Field(default=0.1, ge=0)
    """Standard deviation of the noise on how well a sentence seems to fit a clue (``wrong_relation``)."""
    short_list: float = Field(default=0.15, ge=0, le=1)
    """Per search that is left: closes a list of members without it."""
    wrong_extreme: float = Field(default=0.1, ge=0, le=1)
    """Takes the last for the first, the smallest for the greatest."""
    wrong_measure: float = Field(default=0.15, ge=0, le=1)
    """Per member: reads another date or number of the page than the one that is to be compared."""
    misjudged_range: float = Field(default=0.12, ge=0, le=1)
    """Per page: takes a value for one within a range of the question that it is not within, or the other way round."""
    arithmetic_slip: float = Field(default=0.12, ge=0, le=1)
    """Is off by one in counting or reckoning."""
    bad_argument: float = Field(default=0.03, ge=0, le=1)
    """Per turn: a call with a malformed argument or an unknown id."""
    systematic: tuple[Systematic, ...] = ("first_date",)
    """Errors made whenever there is an occasion, whatever the skill."""
    threshold: float = Field(default=0.12, ge=0)
    """How well a sentence must fit a clue to be taken, 0 to about 1."""
    patience: int = Field(default=20, ge=1)
    """Turns after which it answers as well as it can."""
