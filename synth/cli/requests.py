"""Options of a build, given once to every command that takes them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from synth.api import BuildRequest
from synth.cli.options import (
    CallsOption,
    Dataset,
    ExecutorName,
    ExecutorOption,
    InFlightOption,
    MaxCostOption,
    MaxTokensOption,
    OutOption,
    PromptsOption,
    RecipeOption,
    SeedOption,
    SetOption,
    SlurmOption,
    SourceOption,
    StoreOption,
    TasksFileOption,
    TasksOption,
    WorkersOption,
)
from synth.errors import InputError
from synth.inputs import parse_setting
from synth.late import late

if TYPE_CHECKING:
    from synth.store import failpoints
else:
    failpoints = late("synth.store.failpoints")

__all__ = ["builds"]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "dataset": (Dataset, None),
    "recipe": (RecipeOption, None),
    "source": (SourceOption, None),
    "tasks": (TasksOption, None),
    "tasks_file": (TasksFileOption, None),
    "seed": (SeedOption, None),
    "prompts": (PromptsOption, None),
    "out": (OutOption, None),
    "store": (StoreOption, None),
    "workers": (WorkersOption, 1),
    "executor": (ExecutorOption, ExecutorName.LOCAL),
    "slurm": (SlurmOption, None),
    "in_flight": (InFlightOption, 512),
    "calls": (CallsOption, None),
    "max_cost": (MaxCostOption, None),
    "max_tokens": (MaxTokensOption, None),
    "settings": (SetOption, None),
}
"""Fields of :class:`BuildRequest` -> the option and its default."""


def builds(but: Sequence[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For a command whose first parameter is a :class:`BuildRequest`: its user gives the options of a build in its
    place, all of them ``but`` some, and then those of its own."""

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        shared = {name: option for name, option in _OPTIONS.items() if name not in but}
        _, *own = inspect.signature(command, eval_str=True).parameters.values()

        @wraps(command)
        def run(**given: Any) -> None:
            command(_request(**{name: given.pop(name) for name in shared}), **given)

        taken = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=at, annotation=of) for name, (of, at) in shared.items()
        ]
        taken += [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own]
        run.__dict__["__signature__"] = inspect.Signature(taken)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
        del run.__dict__["__wrapped__"]
        return run

    return wrap


def _request(
    *,
    executor: ExecutorName = ExecutorName.LOCAL,
    slurm: list[str] | None = None,
    settings: list[str] | None = None,
    **given: Any,
) -> BuildRequest:
    for one in slurm or []:
        if "=" not in one:
            raise InputError(f"{one!r} is no KEY=VALUE", where="--slurm", mend="for example --slurm partition=cpu")
    failpoints.activate(os.environ.get("SYNTH_FAILPOINT"))
    return BuildRequest(
        executor=str(executor),
        slurm={key: value for key, _, value in (one.partition("=") for one in slurm or [])},
        ledger=os.environ.get("SYNTH_LEDGER"),
        settings=dict(parse_setting(one) for one in settings or []),
        **given,
    )
