"""Who plays at ``synth mock-endpoint``: the scripted agents for the questions of a dataset, and for anything else
somebody who keeps to the protocol and knows nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synth.dataset.reader import Dataset
from synth.mocks.model.players import Player
from synth.mocks.model.replies import Call, Reply
from synth.mocks.model.scripted import ScriptedPlayer

__all__ = ["Cast", "ImprovisedPlayer"]

_CALLS = 2
"""Tool calls until an improvised agent gives up."""
_LONGEST = 200
"""Characters of a question that go into a call."""


class ImprovisedPlayer:
    """Calls the first tools it is given with the words of the question, then gives up; writes the smallest object that
    a schema allows."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        schema = (request.get("response_format") or {}).get("json_schema", {}).get("schema")
        if schema is not None:
            return Reply(content=json.dumps(_smallest(schema, "unknown"), ensure_ascii=False))
        messages = request["messages"]
        tools = request.get("tools") or []
        made = sum(len(message.get("tool_calls") or ()) for message in messages)
        if not tools or made >= _CALLS:
            return Reply(content="I do not know.")
        function = tools[min(made, len(tools) - 1)]["function"]
        asked = next((str(one.get("content")) for one in messages if one["role"] == "user"), "")
        arguments = _smallest(function.get("parameters") or {"type": "object"}, asked[:_LONGEST])
        return Reply(calls=(Call(function["name"], json.dumps(arguments, ensure_ascii=False)),))


def _smallest(schema: Mapping[str, Any], text: str) -> Any:
    """The smallest value of a JSON Schema, ``text`` where a text is wanted. Of alternatives the last: of an agent's
    actions, the answer."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return _smallest(schema[key][-1], text)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        fields = schema.get("properties") or {}
        return {name: _smallest(fields.get(name, {}), text) for name in schema.get("required", [])}
    if kind == "array":
        return [_smallest(schema.get("items") or {}, text) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(kind, text)


class Cast:
    """Scripted agents by the name of the model, each with the options that the dataset's recipe gives its role; models
    of other names play the policy.

    Args:
        dataset: Whose tasks may be asked; None = every answer is improvised.
    """

    def __init__(self, dataset: Dataset | None) -> None:
        self._improvised = ImprovisedPlayer()
        self._players: dict[str, Player] = {}
        self.tasks = 0
        if dataset is None:
            return
        tasks = list(dataset.rows("tasks"))
        self.tasks = len(tasks)
        recipe = dataset.report.recipe
        questions: Any = recipe.get("questions") or {}
        roles: Any = recipe.get("roles") or {}
        for role in ("teacher", "policy"):
            given = roles.get(role) or {}
            options = given.get("options", {}) if given.get("backend") == "scripted" else {}
            language = str(questions.get("wording", questions.get("kind", "docs")))
            self._players[role] = ScriptedPlayer.scripted(tasks, role, language=language, **options)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of models that have a part of their own."""
        return tuple(self._players)

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        player = self._players.get(request["model"], self._players.get("policy"))
        if player is not None:
            try:
                return player.reply(request, sample)
            except (LookupError, ValueError):
                pass  # no question of the dataset, or no conversation of an agent
        return self._improvised.reply(request, sample)
