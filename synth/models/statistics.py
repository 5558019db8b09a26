"""What a run's calls amount to so far, for the progress line and the report."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.models.contract import FailureKind, Usage

__all__ = ["BatchStatistics", "EndpointStatistics", "HubStatistics", "RoleStatistics", "Tally"]

_KEPT = 4096
"""Latencies that the quantiles look back on."""


@dataclass(frozen=True)
class RoleStatistics:
    """One role's (or, where none was named, one model's) calls since the hub was made."""

    role: str
    model: str
    calls: int
    """That were asked for and answered, from wherever."""
    from_store: int
    """Of ``calls``: made in an earlier run, or earlier in this one."""
    shared: int
    """Of ``calls``: waited for an equal call that was under way."""
    failed: int
    """Ended without a reply."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    """Of ``prompt_tokens``."""
    cost: int
    """Nano-units, of delivered attempts exactly, of unknown ones at most."""
    retries: Mapping[FailureKind, int]
    """Attempts that failed, by kind."""
    p50: float | None
    """Seconds of a delivered attempt, over the last few thousand. None = none yet."""
    p95: float | None


@dataclass(frozen=True)
class EndpointStatistics:
    address: str
    in_flight: int
    window: int
    """Calls at once that it is given now."""
    broken: bool


@dataclass(frozen=True)
class BatchStatistics:
    """A batch that calls wait for."""

    role: str
    name: str
    """The provider's id."""
    calls: int
    done: int
    """As the provider last said."""


@dataclass(frozen=True)
class HubStatistics:
    roles: tuple[RoleStatistics, ...]
    endpoints: tuple[EndpointStatistics, ...]
    batches: tuple[BatchStatistics, ...] = ()


@dataclass
class Tally:
    """The running counts behind one :class:`RoleStatistics`."""

    role: str
    model: str
    calls: int = 0
    from_store: int = 0
    shared: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: int = 0
    retries: Counter[FailureKind] = field(default_factory=Counter)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def book(self, usage: Usage | None, cost: int) -> None:
        self.cost += cost
        if usage is not None:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
            self.cached_tokens += usage.cached_tokens

    def read(self) -> RoleStatistics:
        ordered = sorted(self.seconds)
        return RoleStatistics(
            role=self.role,
            model=self.model,
            calls=self.calls,
            from_store=self.from_store,
            shared=self.shared,
            failed=self.failed,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cached_tokens=self.cached_tokens,
            cost=self.cost,
            retries=dict(self.retries),
            p50=ordered[len(ordered) // 2] if ordered else None,
            p95=ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)] if ordered else None,
        )
