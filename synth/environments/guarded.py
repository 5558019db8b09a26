"""An environment of a user's, each of whose mistakes is told as his: which method of which class, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolResult, ToolSchema
from synth.errors import InputError, SynthError, fault_of, is_ours, returned
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["guarded"]

T = TypeVar("T")
_NEVER_RAISES = "it never raises for what an agent did: a wrong call is answered in words (call.answered)"
_RESTORES = "the task's runs can't be continued without it"


def guarded(own: Any) -> Environment:
    """``own`` itself where its class is ours; else the same behind a check of what it raises and returns.

    Raises:
        InputError: it is no environment.
    """
    if not isinstance(own, Environment):
        mend = "derive its class from synth.environments.contract.Environment"
        raise InputError(f"{type(own).__name__} is no Environment", where=type(own).__module__, mend=mend)
    if is_ours(own):
        return own
    kind = type(type(own).__name__, (_Guarded,), {"name": own.name, "version": own.version})
    made: Environment = kind(own)
    return made


def _called(owner: object, method: str, kind: type[T], *given: Any, mend: str | None = None) -> T:
    function: Callable[..., Any] = getattr(owner, method)
    try:
        value = function(*given)
    except SynthError:
        raise
    except Exception as error:
        raise fault_of(owner, method, error, mend) from error
    return returned(owner, method, value, kind)


class _Guarded(Environment):
    def __init__(self, own: Environment) -> None:
        self._own = own

    def tools(self) -> tuple[ToolSchema, ...]:
        tools: tuple[Any, ...] = _called(self._own, "tools", tuple)
        return tuple(returned(self._own, "tools", tool, ToolSchema) for tool in tools)

    def instructions(self) -> str:
        return _called(self._own, "instructions", str)

    def settings(self, task: Task) -> JsonObject:
        return _called(self._own, "settings", dict, task)

    def reset(self, task: Task) -> Episode:
        return _GuardedEpisode(_called(self._own, "reset", Episode, task), task)  # type: ignore[type-abstract]

    def resume(self, task: Task, recorded: JsonObject) -> Episode:
        return _GuardedEpisode(_called(self._own, "resume", Episode, task, recorded), task)  # type: ignore[type-abstract]


class _GuardedEpisode(Episode):
    def __init__(self, own: Episode, task: Task) -> None:
        super().__init__(task)
        self._own = own

    def step(self, call: ToolCall) -> ToolResult:
        return _called(self._own, "step", ToolResult, call, mend=_NEVER_RAISES)

    def snapshot(self) -> Snapshot:
        return _called(self._own, "snapshot", Snapshot, mend=_RESTORES)

    def restore(self, snapshot: Snapshot) -> None:
        _called(self._own, "restore", type(None), snapshot, mend=_RESTORES)

    def check(self, answer: str | None) -> Verdict:
        return _called(self._own, "check", Verdict, answer)

    def begin(self, system: str, generator_for_turn: Any) -> None:
        self._own.begin(system, generator_for_turn)

    def tokens(self) -> int:
        return self._own.tokens()

    def lost(self) -> str | None:
        return self._own.lost()

    def facts(self) -> JsonObject:
        return _called(self._own, "facts", dict)

    def close(self) -> None:
        self._own.close()
