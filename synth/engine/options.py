"""What a build runs on, by the names that commands have for it: executors, and models with their account and caps."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from synth.engine.executors.contract import Executor
from synth.engine.executors.local import LocalExecutor
from synth.engine.executors.processes import ProcessesExecutor
from synth.engine.executors.ray import RayExecutor
from synth.engine.executors.slurm import SlurmExecutor, SlurmOptions
from synth.engine.model_executor import ModelExecutor
from synth.engine.plan import Plan
from synth.errors import InputError
from synth.models.client import ModelHub
from synth.models.contract import Price
from synth.stages.contract import implementations
from synth.store import Store
from synth.store.calls import CallStore
from synth.store.calls_format import CALLS_FILE, nano_units

__all__ = ["StoreHub", "executor_named", "models_for"]


_EXECUTORS = {"local": LocalExecutor, "processes": ProcessesExecutor, "ray": RayExecutor}


def executor_named(name: str, workers: int, slurm: Mapping[str, str]) -> Executor:
    """
    Args:
        slurm: What jobs ask for, as :meth:`~synth.engine.executors.slurm.SlurmOptions.of` reads it.

    Raises:
        InputError: there is no such executor, or fewer than one worker, or Slurm's options can't be used.
    """
    if workers < 1:
        raise InputError(f"{workers} workers can do no work", where="--workers", mend="give 1 or more")
    if name == "slurm":
        return SlurmExecutor(workers, SlurmOptions.of(slurm))
    if slurm:
        raise InputError("these are options of Slurm's jobs", where="--slurm", mend="add --executor slurm")
    if name not in _EXECUTORS:
        mend = f"choose one of {', '.join((*_EXECUTORS, 'slurm'))}"
        raise InputError(f"there is no executor {name!r}", where="--executor", mend=mend)
    executor: Executor = _EXECUTORS[name](workers)
    return executor


def models_for(
    plan: Plan,
    store: Store,
    *,
    in_flight: int,
    max_cost: float | None,
    max_tokens: int | None,
    calls: Path | str | None = None,
) -> ModelExecutor:
    """What runs the stages that call models. Their calls go to the store; or to ``calls``, and their rows are shared
    with all builds whose calls go there.

    Raises:
        InputError: a cap is not a number to keep to, no model has a price, or no row may be under way.
    """
    for option, value in (("--max-cost", max_cost), ("--max-tokens", max_tokens)):
        if value is not None and not 0 <= value < float("inf"):
            raise InputError(f"{value} is not a cap", where=option, mend="give 0 or more")
    if in_flight < 1:
        raise InputError(f"{in_flight} rows at once can't get anywhere", where="--in-flight", mend="give 1 or more")
    called = [one for node in plan.nodes for _, one in implementations(node.config) if one.model is not None]
    if max_cost is not None and called and all(one.runtime.price == Price() for one in called):
        raise InputError(
            "no model of the recipe has a price, so nothing would ever reach the cap",
            where="--max-cost",
            mend="give the roles a price (per million tokens), or use --max-tokens",
        )
    return ModelExecutor(
        lambda: StoreHub(store, plan.dataset, max_cost=max_cost, max_tokens=max_tokens, calls=calls),
        in_flight=in_flight,
        shared=calls is not None,
        max_cost=max_cost,
        max_tokens=max_tokens,
    )


class StoreHub(ModelHub):
    """A hub over the calls of ``store``, which it closes with itself.

    Args:
        account: What the calls are booked under: the dataset's name.
        max_cost: What the account may have cost at most, over all runs; None = no cap.
        max_tokens: Prompt and completion tokens that it may have used at most.
        calls: Where its calls go in place of the store: a file, or ``postgresql://...``.

    Raises:
        InputError: ``calls`` is an address of something else, or the driver of PostgreSQL is not installed.
        StoreError: the store of calls can't be opened.
    """

    def __init__(
        self,
        store: Store,
        account: str,
        *,
        max_cost: Decimal | float | None = None,
        max_tokens: int | None = None,
        calls: Path | str | None = None,
    ) -> None:
        opened = CallStore(store.root / CALLS_FILE if calls is None else calls)
        cap = None if max_cost is None else nano_units(max_cost)
        super().__init__(opened, account=account, max_cost=cap, max_tokens=max_tokens)
        self._own_calls: CallStore | None = opened
        self.claims = opened.claims

    def close(self) -> None:
        """Close connections and the store of calls. May be called twice."""
        super().close()
        calls, self._own_calls = self._own_calls, None
        if calls is not None:
            calls.close()
