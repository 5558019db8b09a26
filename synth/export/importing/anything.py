"""Which of the formats an object is of, told by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.export.importing.adp import ADP
from synth.export.importing.atif import ATIF
from synth.export.importing.chat import OPENAI, SHAREGPT
from synth.export.importing.contract import Importer
from synth.export.importing.groups import GROUP_CHAT, is_group
from synth.export.importing.logs import OPENHANDS, SWE_AGENT
from synth.export.importing.rows import ROWS
from synth.schemas.adp import Trajectory
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["AUTO"]


def _importer(value: Mapping[str, Any]) -> Importer:
    content, steps = value.get("content"), value.get("steps")
    if isinstance(content, list) and "verdict" in value and "task_id" in value:
        return ROWS
    if isinstance(content, list):
        return ADP
    if isinstance(steps, list):
        return ATIF
    if value.get("trajectory_format") or isinstance(value.get("trajectory"), list):
        events = value.get("trajectory")
        first = events[0] if events else None
        return OPENHANDS if isinstance(first, Mapping) and "source" in first else SWE_AGENT
    if is_group(value):
        return GROUP_CHAT
    history = value.get("events") or value.get("history")
    first = history[0] if isinstance(history, list) and history else None
    if isinstance(first, list | Mapping) and (isinstance(first, list) or "source" in first) and "output" not in value:
        return OPENHANDS
    if isinstance(first, Mapping) and "role" in first:
        return OPENAI
    turns = next((value[key] for key in ("messages", "conversations", "conversation") if value.get(key)), None)
    if isinstance(turns, list) and turns and isinstance(turns[0], Mapping):
        return SHAREGPT if "from" in turns[0] else OPENAI
    if turns is not None or "prompt" in value:
        return OPENAI
    if "instruction" in value:
        return SHAREGPT
    keys = ", ".join(sorted(map(str, value))[:12])
    raise ValueError(f"no run of a format that we know: its keys are {keys}")


def _read(value: Mapping[str, Any]) -> Trajectory | TrajectoryRow:
    return _importer(value).read(value)


AUTO = Importer("auto", "Whichever of the others it is, object by object.", _read, version=7)
