"""What the model calls of a row used: counted by call, so that a row that was interrupted counts each of them once.

These numbers are the same for equal data: a call counts whether the endpoint answered it now or the store had it. What
was really paid in which run is the account's business (the store of calls).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from synth.models.contract import ChatReply, ChatRequest, Model, Models, Price, Runtime, Sampling, Usage
from synth.models.prices import PriceTable
from synth.schemas.reports import ModelUse
from synth.stages.context import RowContext
from synth.stages.contract import Implementation, StageConfig, implementations
from synth.store.calls_format import from_nano

__all__ = [
    "CallUse",
    "MeteredModels",
    "is_model_bound",
    "model_uses",
    "plain_numbers",
    "use_numbers",
]

_PREFIX = "model call"
_COUNTS = ("calls", "uncounted_calls", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True)
class CallUse:
    """One call."""

    role: str
    model: str
    tokens: tuple[int, int, int] | None
    """Of the prompt, of those from the server's prefix cache, of the completion; None when the server did not say."""

    def plain(self) -> list[Any]:
        return [self.role, self.model, None if self.tokens is None else list(self.tokens)]

    @classmethod
    def of_plain(cls, plain: Sequence[Any]) -> CallUse:
        role, model, tokens = plain
        return cls(role, model, None if tokens is None else (tokens[0], tokens[1], tokens[2]))


def is_model_bound(config: StageConfig) -> bool:
    """Whether a stage with this config calls a model."""
    return any(one.model is not None for _, one in implementations(config))


def _role_of(field: str, one: Implementation) -> str:
    return one.runtime.role or str(one.options.get("role") or field)


class MeteredModels:
    """Hands out models whose calls are counted for the row at hand, under the role that the config gives them."""

    def __init__(self, models: Models, config: StageConfig) -> None:
        self._models = models
        self._roles = [(_role_of(field, one), one) for field, one in implementations(config) if one.model is not None]

    def bind(self, name: str, sampling: Sampling, runtime: Runtime) -> Model:
        role = next(
            (role for role, one in self._roles if (one.model, one.sampling, one.runtime) == (name, sampling, runtime)),
            name,
        )
        return _Metered(self._models.bind(name, sampling, runtime), role)


class _Metered(Model):
    def __init__(self, model: Model, role: str) -> None:
        self.name, self.sampling = model.name, model.sampling
        self._model = model
        self._role = role

    def ask(self, request: ChatRequest) -> ChatReply:
        reply = self._model.ask(request)
        row = RowContext.current()
        if row is not None:
            use = reply.usage
            tokens = None if use is None else (use.prompt_tokens, use.cached_tokens, use.completion_tokens)
            row.calls[reply.call] = CallUse(self._role, self._model.name, tokens)
        return reply


def use_numbers(uses: Iterable[CallUse]) -> dict[str, float]:
    """The sums as numbers of a unit, beside those that the stage noted."""
    found: dict[str, float] = {}
    for use in uses:
        tokens = (0, 0, 0) if use.tokens is None else use.tokens
        for count, value in zip(_COUNTS, (1, use.tokens is None, *tokens), strict=True):
            name = "\t".join((_PREFIX, use.role, use.model, count))
            found[name] = found.get(name, 0.0) + value
    return found


def plain_numbers(numbers: Mapping[str, Fraction]) -> dict[str, float]:
    """What the stage itself noted."""
    return {name: float(number) for name, number in numbers.items() if not name.startswith(_PREFIX + "\t")}


def model_uses(numbers: Mapping[str, Fraction], config: StageConfig) -> tuple[ModelUse, ...]:
    """The sums by role and model, sorted; cost by the prices that ``config`` gives."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for name, number in numbers.items():
        if name.startswith(_PREFIX + "\t"):
            _, role, model, count = name.split("\t")
            found.setdefault((role, model), {})[count] = int(number)
    prices = {
        (_role_of(field, one), str(one.model)): PriceTable(one.runtime.price, one.runtime.price_share)
        for field, one in implementations(config)
    }
    return tuple(
        ModelUse(role=role, model=model, **counts, cost=_cost(counts, prices.get((role, model), PriceTable(Price()))))
        for (role, model), counts in sorted(found.items())
    )


def _cost(counts: Mapping[str, int], price: PriceTable) -> float:
    usage = Usage(**{name: counts[name] for name in ("prompt_tokens", "cached_tokens", "completion_tokens")})
    return float(from_nano(price.cost(usage)))
