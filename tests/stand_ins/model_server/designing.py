"""An architect that knows the desk by grammar whose policy it was given: it proposes that desk, or one that lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import yaml

from stand_ins.model_server.jobs import Answer, JobPlayer
from synth.environments.app.grammar import desk_text

__all__ = ["ARCHITECT", "FLAWS", "ArchitectPlayer", "Flaw", "ToolsPlayer", "flawed"]

ARCHITECT = "environment/architect"
Flaw = Literal["no_object", "no_tables", "wrong_sql", "rule_left_out", "rule_invented", "contradicts", "stops_nothing"]
FLAWS: tuple[Flaw, ...] = get_args(Flaw)


def flawed(desk: dict[str, Any], flaw: Flaw) -> Answer:
    """The application with one thing wrong; the desk is changed."""
    rules = [rule for section in desk["policy"] for rule in section.get("rules", ())]
    required = next(rule for rule in rules if "require" in rule)
    if flaw == "no_object":
        return "Here is your application: enjoy!"
    if flaw == "no_tables":
        del desk["tables"]
    elif flaw == "wrong_sql":
        required["require"] = ":no_such_thing > 1"
    elif flaw == "rule_left_out":
        desk["policy"] = [{**section, "rules": section["rules"][1:]} for section in desk["policy"][:1]]
        desk["requests"]["asks"] = {
            name: {**ask, "refused_by": {}, "instead": {}} for name, ask in desk["requests"]["asks"].items()
        }
        desk["boundaries"] = []
    elif flaw == "rule_invented":
        rules[0]["text"] += " Staff may make exceptions."
    else:
        required["require"] = "1 = 0" if flaw == "contradicts" else "1 = 1"
    return {"application": desk}


class ArchitectPlayer(JobPlayer):
    """Lies as often as there are ``flaws``, each time in the next way; then it proposes the desk of ``seed``."""

    def __init__(self, seed: int, flaws: Sequence[Flaw]) -> None:
        super().__init__({ARCHITECT: self._propose})
        self._seed, self._flaws = seed, flaws

    def _propose(self, data: Mapping[str, Any], _: str | None) -> Answer:
        desk = yaml.safe_load(desk_text(self._seed))
        told = len(data["refused"])
        return flawed(desk, self._flaws[told]) if told < len(self._flaws) else {"application": desk}


class ToolsPlayer(JobPlayer):
    """An architect that was given a list of tools: it invents one, then an argument, then drops a tool; at last it
    keeps the draft and words what it is about."""

    def __init__(self, draft: str) -> None:
        super().__init__({"environment/tools": self._propose})
        self._draft = draft

    def _propose(self, data: Mapping[str, Any], _: str | None) -> Answer:
        desk = yaml.safe_load(self._draft)
        name, spec = next(iter(desk["tools"].items()))
        told = len(data["refused"])
        if told == 0:
            desk["tools"]["invented_tool"] = spec
        elif told == 1:
            spec["arguments"] = {**spec.get("arguments", {}), "invented": {"about": "Anything.", "optional": True}}
        elif told == 2:
            del desk["tools"][name]
        else:
            desk["about"] = "You look after what these tools hold."
        return {"application": desk}
