"""verl (0.7 to 0.9): the tools of ``tools.yaml`` (written by ``synth export --to verl-env``), and their reward.

verl makes one tool object per worker, and for every single call an instance that it releases at once. What belongs to a
rollout is kept by the environment, and ``agent_data.extra_fields`` of verl's tool agent loop names its session; verl
hands these fields to the reward function, which asks for the score. verl itself is imported when a call is
answered, where it is there.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from synth.annotate.rewards.response import OBSERVATIONS, read_response
from synth.annotate.rewards.reward import reward
from synth.errors import InputError
from synth.training.episodes import RemoteEpisodes
from synth.training.scoring import combined

__all__ = ["EnvironmentTool", "compute_score"]

URL = "http://127.0.0.1:8178"
"""Where ``synth serve-env`` listens unless it is told otherwise."""
SESSION = "synth_session"
"""Key of ``agent_data.extra_fields`` and of ``extra_info``."""


@cache
def _episodes(url: str | None) -> RemoteEpisodes:
    return RemoteEpisodes(url or os.environ.get("SYNTH_ENV_URL") or URL)


class _Schema:
    """A tool's JSON Schema in full: verl's own class keeps the type, the description and the choices of a parameter."""

    def __init__(self, function: dict[str, Any], parsed: Any) -> None:
        self._function = function
        self._parsed = parsed

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """What chat templates are given."""
        return dict(self._function)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._parsed is None:
            raise AttributeError(name)
        return getattr(self._parsed, name)


class EnvironmentTool:
    """One tool of an environment, as verl's ``BaseTool``."""

    def __init__(self, config: Mapping[str, Any], tool_schema: Any = None) -> None:
        """
        Args:
            config: ``function``: the JSON Schema function of the tool as one JSON text; ``url``: where the environment
                is served, else the environment variable ``SYNTH_ENV_URL``, else port 8178 of this machine.
            tool_schema: What verl read of the schema.

        Raises:
            InputError: there is no ``function``, or it is none.
        """
        self.config = config
        try:
            whole = json.loads(config["function"])
            self.name = str(whole["function"]["name"])
        except (KeyError, TypeError, ValueError):
            mend = "take the tools.yaml that synth export --to verl-env writes"
            raise InputError("there is no tool", where="config.function", mend=mend) from None
        self.tool_schema = _Schema(whole, tool_schema)
        self._url = config.get("url")
        self._numbers = count()

    def get_openai_tool_schema(self) -> Any:
        """The schema."""
        return self.tool_schema

    async def create(self, instance_id: str | None = None, **others: Any) -> tuple[str, Any]:
        """Before a call: a name for it."""
        return instance_id or f"{self.name}-{next(self._numbers)}", _response("")

    async def execute(
        self, instance_id: str, parameters: Mapping[str, Any], agent_data: Any = None, **others: Any
    ) -> tuple[Any, float, dict[str, Any]]:
        """One call: (what the environment answers, 0.0, {}). The reward comes at the end, from ``compute_score``.

        Calls of one turn are made in their order, for an application the second may build on the first.

        Raises:
            InputError: the environment can't be reached, or the session is over.
        """
        if agent_data is None:
            raise InputError("verl gave no agent_data", where=self.name, mend="use verl 0.7 or later, agent tool_agent")
        # One lock per rollout, shared by all tools: it lives where the rollout does.
        lock = _LOCKS.setdefault(agent_data, asyncio.Lock())
        episodes = _episodes(self._url)
        async with lock:
            session = agent_data.extra_fields.get(SESSION)
            if session is None:
                session = await asyncio.to_thread(episodes.begin, _task(agent_data))
                agent_data.extra_fields[SESSION] = session
            text = await asyncio.to_thread(episodes.call, session, self.name, dict(parameters))
        return _response(text), 0.0, {}

    async def calc_reward(self, instance_id: str, **others: Any) -> float:
        """Nothing: one call is neither right nor wrong."""
        return 0.0

    async def release(self, instance_id: str, **others: Any) -> None:
        """After a call. The session stays: the rollout goes on."""


def _task(agent_data: Any) -> str:
    """From ``extra_info.tools_kwargs`` of the row."""
    task = (agent_data.tools_kwargs or {}).get("environment", {}).get("task")
    if not isinstance(task, str):
        mend = "train on the rows of synth export --to verl-env"
        raise InputError("the row names no task", where="extra_info.tools_kwargs", mend=mend)
    return task


_LOCKS: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()


class _Response:
    """The part of verl's ``ToolResponse`` that its loop reads, for a loop of somebody's own, without verl.

    No dataclass: verl runs this file as a module that ``sys.modules`` does not hold, where none can be made.
    """

    image = None
    video = None

    def __init__(self, text: str) -> None:
        self.text = text


def _response(text: str) -> Any:
    try:
        made = importlib.import_module("verl.tools.schemas").ToolResponse
    except ModuleNotFoundError:
        made = _Response
    return made(text=text)


def compute_score(
    data_source: str | None = None,
    solution_str: str = "",
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    *,
    url: str | None = None,
    observations: str | None = OBSERVATIONS,
    **others: Any,
) -> dict[str, Any]:
    """The reward function for rows of ``verl-env``: what the environment says of the rollout's session and of its
    answer, and for a right answer the rubric, as in :func:`synth.annotate.rewards.adapters.compute_score`.

    A rollout that called no tool has no session: it is judged by an episode in which nothing was done.

    Returns:
        ``score`` in [0, 1]; ``acc`` 1.0 for a success; ``rubric``; ``abstained`` 1.0 where no rule could tell.

    Raises:
        InputError: the environment can't be reached, or the session is over (``serve-env --idle`` ended it).
    """
    info = extra_info or {}
    episodes = _episodes(url)
    session = info.get(SESSION)
    if session is None:
        if not info.get("task_id"):
            raise InputError("the row names no task", where="extra_info.task_id")
        session = episodes.begin(str(info["task_id"]))
    answer = read_response(solution_str, observations=observations).answer
    verdict = episodes.score(str(session), answer)
    text = reward(solution_str, ground_truth, observations=observations)
    value = combined(verdict, text)
    return {
        "score": 0.0 if value is None else value,
        "acc": float(verdict.correct is True),
        "rubric": text.rubric,
        "abstained": float(value is None),
    }
