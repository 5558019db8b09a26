"""TRL (1.x): ``GRPOTrainer(environment_factory=TrlEnvironments(...), reward_funcs=environment_reward)``.

For each rollout TRL takes an environment, calls ``reset`` with the columns of the row, offers the environment's public
methods as tools and calls them; at the end it hands the environments to the reward functions. The names, parameters and
descriptions of the methods are read from their signatures and docstrings, so both are made from our JSON Schemas.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Union

from synth.annotate.rewards.adapters import batch_rewards
from synth.annotate.rewards.response import read_response
from synth.errors import InputError
from synth.identity import canonical_json
from synth.schemas.trajectories import Verdict
from synth.training.episodes import Episodes, open_episodes
from synth.training.scoring import combined

__all__ = ["TrlEnvironment", "TrlEnvironments", "environment_reward"]

_TAKEN = ("reset", "get_reward")
_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}


class TrlEnvironments:
    """Makes environments for TRL: the ``environment_factory``. It may be pickled; what it opened stays behind."""

    def __init__(self, where: str | Path | Episodes, *, trust: bool = False) -> None:
        """
        Args:
            where: The folder of a dataset, whose environment is stepped in this process, or the URL of a
                ``synth serve-env``; or episodes that are open.
            trust: Of a folder: run the programs, read the files and reach the servers that the dataset names. Without
                it, it may name only what ships with this package.
        """
        self._where = where
        self._trust = trust
        self._made: type[TrlEnvironment] | None = None

    def __call__(self) -> TrlEnvironment:
        """
        Raises:
            InputError: the environment can't be opened or reached, or has a tool that TRL can't offer.
        """
        if self._made is None:
            where = self._where
            episodes = open_episodes(where, trust=self._trust) if isinstance(where, str | Path) else where
            methods = {tool["function"]["name"]: _method(tool["function"]) for tool in episodes.tools()}
            # A class of its own: newer releases (1.16) look for methods there, and older ones at the object.
            self._made = type("TrlEnvironment", (TrlEnvironment,), {**methods, "_episodes": episodes})
        return self._made()

    def __reduce__(self) -> tuple[partial[TrlEnvironments], tuple[Any]]:
        return partial(TrlEnvironments, trust=self._trust), (self._where,)


class TrlEnvironment:
    """One rollout after the other. Its public methods are ``reset`` and, in the subclass that :class:`TrlEnvironments`
    makes, the tools: TRL takes all that it finds."""

    _episodes: Episodes

    def __init__(self) -> None:
        self._session: str | None = None
        self._verdict: Verdict | None = None

    def reset(self, task_id: str | None = None, **columns: Any) -> None:
        """Begin with a row of ``trl-grpo-env``. Its prompt says all, so nothing is added to it.

        Raises:
            InputError: the row names no task of this environment.
        """
        self._end()
        if not isinstance(task_id, str):
            mend = "keep the columns of the rows: GRPOConfig(remove_unused_columns=False) does"
            raise InputError("the environment got no task", where="task_id", mend=mend)
        self._verdict = None
        self._session = self._episodes.begin(task_id)

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        if self._session is None:
            raise InputError("no episode has begun", where=name, mend="call reset first")
        return self._episodes.call(self._session, name, arguments)

    def _score(self, answer: str | None) -> Verdict:
        """The verdict; asked twice, it is the first one, for the episode is over with it."""
        if self._verdict is None:
            if self._session is None:
                raise InputError("no episode has begun", where="score", mend="call reset first")
            session, self._session = self._session, None
            self._verdict = self._episodes.score(session, answer)
        return self._verdict

    def _end(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            self._episodes.close(session)


def environment_reward(
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    environments: Sequence[Any] | None = None,
    reward_model: Sequence[Any] | None = None,
    **columns: Any,
) -> list[float | None]:
    """The reward function for TRL's ``GRPOTrainer`` with :class:`TrlEnvironments`: what the environments say of what
    the rollouts did and answered, and for right answers the rubric, within the rollouts of the same row
    (``extra_info.id``).

    Returns:
        One float in [0, 1] per completion; None where no rule could tell, which TRL leaves out.

    Raises:
        InputError: there are no environments, or something is of another form.
    """
    if environments is None or len(environments) != len(completions):
        mend = "give GRPOTrainer environment_factory=TrlEnvironments(...)"
        raise InputError("there is no environment for each completion", where="environments", mend=mend)
    answers = [read_response(one, where=f"completions[{place}]").answer for place, one in enumerate(completions)]
    verdicts = [one._score(answer) for one, answer in zip(environments, answers, strict=True)]
    if reward_model is None:
        return [combined(verdict) for verdict in verdicts]
    infos = columns.get("extra_info")
    groups: list[Hashable] | None = None
    if infos is not None and all(isinstance(info, Mapping) and info.get("id") for info in infos):
        groups = [str(info["id"]) for info in infos]
    texts = batch_rewards(completions, reward_model, groups)
    return [combined(verdict, text) for verdict, text in zip(verdicts, texts, strict=True)]


# --- tools as methods -------------------------------------------------------------------------------------------------


def _method(function: Mapping[str, Any]) -> Any:
    """A function (self, **arguments) whose signature and docstring say what ``function``, a JSON Schema function, does.

    What a type hint can't say of a parameter (bounds, patterns) is left to the environment, which checks every call and
    answers a wrong one in words; what stands in an object, and nobody could guess, is told in the description.

    Raises:
        InputError: TRL can't offer it.
    """
    name = str(function["name"])
    if name in _TAKEN or name.startswith("_") or not name.isidentifier():
        raise InputError("TRL can't offer a tool of this name", where=name, mend="train over HTTP with your own loop")
    schema = function.get("parameters") or {}
    required = set(schema.get("required", ()))
    hints: dict[str, Any] = {}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    told = []
    for key, value in (schema.get("properties") or {}).items():
        if not key.isidentifier():
            raise InputError("TRL can't offer a parameter of this name", where=f"{name}.{key}")
        hints[key] = _hint(value)
        default = inspect.Parameter.empty if key in required else None
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(key, kind, default=default, annotation=hints[key]))
        told.append(f"    {key}: {_about(key, value)}")

    def method(self: TrlEnvironment, **arguments: Any) -> str:
        return self._call(name, arguments)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = _one_line(function.get("description")) or name
    if told:
        method.__doc__ += "\n\nArgs:\n" + "\n".join(told)
    method.__annotations__ = hints  # none of what it returns: that would be shown to the model, and says nothing
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method


def _about(key: str, schema: Any) -> str:
    said = _one_line(schema.get("description") if isinstance(schema, Mapping) else None) or key.replace("_", " ")
    text = canonical_json(schema)
    return f"{said} JSON Schema: {text}" if '"properties":' in text else said


def _one_line(text: Any) -> str:
    """Sections of a docstring begin on lines of their own; words that came from elsewhere must not begin one."""
    return " ".join(str(text or "").split())


def _hint(schema: Any) -> Any:
    """The type hint of a JSON Schema; Any where there is none."""
    if not isinstance(schema, Mapping):
        return Any
    choices = schema.get("enum")
    if choices and all(isinstance(choice, str | int | bool | None) for choice in choices):
        return Literal[tuple(choices)]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return Union[tuple(_hint(option) for option in options)]  # noqa: UP007
    kind = schema.get("type")
    if isinstance(kind, list):
        return Union[tuple(_hint({**schema, "type": one}) for one in kind)]  # noqa: UP007
    if kind == "null":
        return type(None)
    if kind == "array":
        inner = _hint(schema.get("items"))
        return list if inner is Any else list[inner]  # type: ignore[valid-type]
    return _TYPES.get(str(kind), Any)
