"""Files of recorded runs, cut into pieces that are read one at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from synth.errors import InputError
from synth.inputs import LINE_BYTES, open_input, parse_json, read_input

__all__ = ["PIECE_BYTES", "NoJson", "Part", "hash_of", "objects_in", "pieces_of", "run_files"]

PIECE_BYTES = 1 << 20
"""A piece holds about so many bytes of files, whatever the memory of the machine: what is made depends on no other
piece."""
_LINES = frozenset((".jsonl", ".ndjson", ".txt", ""))
_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".traj"))
_CONTAINERS = ("samples", "simulations", "trajectories", "runs", "episodes", "rollouts", "results", "data")
_OF_RUNS = frozenset(
    ("messages", "conversations", "conversation", "content", "steps", "trajectory", "history", "events")
)
"""Keys under which a run has its turns."""
_OF_A_RUN = (_OF_RUNS - {"content"}) | {"schema_version", "details"}
_FIRST = 100
"""Of so many events that a harness writes of itself one must be the agent's."""
_TRIAL = "agent"
"""The folder in which Harbor's trials have the run."""
_MEND = "give a file of JSON Lines, or of one JSON list"


@dataclass(frozen=True)
class NoJson:
    why: str


@dataclass(frozen=True)
class Part:
    """A file, or whole lines of a file of JSON Lines."""

    file: Path
    lead: str
    """What places in it begin with: the file's place in the folder, where there are several files."""
    start: int = 0
    stop: int | None = None
    """In bytes; None = a file that is read as a whole."""
    line: int = 1
    """Number of the first line."""


def run_files(place: Path) -> list[Path]:
    """The files to read, in their order.

    Raises:
        InputError: a folder holds none.
    """
    if not place.is_dir():
        return [place]
    found = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix.lower() in _SUFFIXES)
    if not found:
        raise InputError(f"no file of the folder ends in {', '.join(sorted(_SUFFIXES))}", where=str(place), mend=_MEND)
    return found


def hash_of(files: Sequence[Path]) -> str:
    """Of one file its own; of several that of theirs."""
    hashes: list[str] = []
    for file in files:
        with open_input(file, mend=_MEND, most=None) as opened:
            hashes.append(hashlib.file_digest(opened, "sha256").hexdigest())
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def pieces_of(files: Sequence[Path], size: int = PIECE_BYTES) -> list[list[Part]]:
    """The files in pieces of about ``size`` bytes: part of a large file of JSON Lines, or several small files.

    Raises:
        InputError: one can't be read, or holds a line of more than ``LINE_BYTES``.
    """
    pieces: list[list[Part]] = []
    room = 0
    root = Path(os.path.commonpath([file.parent for file in files])) if files else Path()
    for file in files:
        if _of_trial(file):
            continue
        lead = f"{file.relative_to(root).as_posix()}: " if len(files) > 1 else ""
        if file.suffix.lower() in _LINES and not _is_session(file):
            parts = list(_line_parts(file, lead, size))
        else:
            parts = [Part(file, lead)]
        for part in parts:
            held = file.stat().st_size if part.stop is None else part.stop - part.start
            if not pieces or room < held:
                pieces.append([])
                room = size
            pieces[-1].append(part)
            room -= held
    return pieces


def _line_parts(file: Path, lead: str, size: int) -> Iterator[Part]:
    start, line = 0, 1
    with open_input(file, mend=_MEND, most=None) as opened:
        while block := opened.read(size):
            rest = b"" if block.endswith(b"\n") else opened.readline(LINE_BYTES + 1)
            if len(rest) > LINE_BYTES:
                what = f"a line after line {line:,} has more than {LINE_BYTES:,} bytes"
                raise InputError(what, where=str(file), mend=_MEND)
            stop = start + len(block) + len(rest)
            yield Part(file, lead, start, stop, line)
            start, line = stop, line + block.count(b"\n") + rest.count(b"\n")


def objects_in(piece: Sequence[Part], *, events: bool) -> Iterator[tuple[str, Any]]:
    """(place, object) of a piece, in order; what is no JSON comes as :class:`NoJson`.

    Args:
        events: Whether a list of events is one run.

    Raises:
        InputError: a file can't be read.
    """
    for part in piece:
        for place, value in _whole(part.file, events) if part.stop is None else _lines(part):
            yield f"{part.lead}{place}", value


def _lines(part: Part) -> Iterator[tuple[str, Any]]:
    with open_input(part.file, mend=_MEND, most=None) as opened:
        opened.seek(part.start)
        data = opened.read((part.stop or 0) - part.start)
    for number, line in enumerate(data.split(b"\n"), start=part.line):
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")
        if text.strip():
            yield f"line {number}", _decoded(text)


def _whole(file: Path, events: bool) -> Iterator[tuple[str, Any]]:
    text = read_input(file, mend=_MEND).decode("utf-8-sig", errors="replace")
    lines = [_decoded(line) for line in text.split("\n") if line.strip()] if file.suffix.lower() in _LINES else None
    if lines is not None and events:
        yield "session", {"events": [one for one in lines if isinstance(one, Mapping)], "id": file.stem}
        return
    value = _decoded(text) if lines is None else lines
    if file.parent.name == _TRIAL and isinstance(value, dict):
        value |= _verdict_of_trial(file, value)
    values = value if isinstance(value, list) else [value] if isinstance(value, NoJson) else _contained(value)
    if events and values and all(_is_event(one) for one in values):
        values = [{"events": values, "id": file.stem}]
    elif isinstance(value, list) and len(values) > 1 and all(_is_message(one) for one in values):
        values = [{"messages": values, "id": file.stem}]
    elif isinstance(value, list) and _are_steps(values):
        values = [{"steps": values, "id": file.stem}]
    for number, one in enumerate(values, start=1):
        yield f"object {number}", one


def _is_session(file: Path) -> bool:
    """Whether the lines of a file are events of one run: Claude Code's, Codex's or OpenHands'."""
    with open_input(file, mend=_MEND, most=None) as opened:
        for line in islice(iter(partial(opened.readline, LINE_BYTES), b""), _FIRST):
            value = _decoded(line.decode("utf-8-sig", errors="replace"))
            if _is_event(value) or _is_session_event(value):
                return True
            if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
                return False
    return False


def _is_session_event(value: Any) -> bool:
    typed = isinstance(value, Mapping) and isinstance(value.get("type"), str)
    return typed and any(isinstance(value.get(key), Mapping) for key in ("payload", "message"))


def _of_trial(file: Path) -> bool:
    """Whether it is no run, but says how Harbor made and judged one. A trial's result stands for it where it has no
    run."""
    if file.parent.name == "verifier" or file.name == "config.json":
        return (file.parent.parent if file.parent.name == "verifier" else file.parent).joinpath("result.json").exists()
    return file.name == "result.json" and (file.parent / _TRIAL / "trajectory.json").exists()


def _verdict_of_trial(file: Path, value: Mapping[str, Any]) -> dict[str, Any]:
    """What ``result.json`` says of the run in ``agent/trajectory.json``: its task, and whether it was right. A reward
    between 0 and 1 is neither."""
    place = file.parent.parent / "result.json"
    result = _decoded(read_input(place, mend=_MEND).decode("utf-8-sig", errors="replace")) if place.exists() else None
    if not isinstance(result, Mapping) or not isinstance(value.get("steps"), list):
        return {}
    judged = result.get("verifier_result")
    rewards = judged.get("rewards") if isinstance(judged, Mapping) else None
    reward = rewards.get("reward") if isinstance(rewards, Mapping) else None
    extra = value.get("extra")
    facts = {
        "task_id": result.get("task_name"),
        "correct": reward == 1 if reward in (0, 1) else None,
        "rewards": rewards,
    }
    return {"extra": {**{key: held for key, held in facts.items() if held is not None}, **(extra or {})}}


def _contained(value: Any) -> list[Any]:
    """The runs that one object holds beside what it says of them all, as logs of evaluations do (Inspect, tau2-bench);
    else the object."""
    of_many = isinstance(value, Mapping) and not value.keys() & _OF_RUNS
    held = [value.get(key) for key in _CONTAINERS] if of_many else []
    return next((runs for runs in held if isinstance(runs, list) and runs and all(map(_holds_a_list, runs))), [value])


def _holds_a_list(value: Any) -> bool:
    """Whether it is an object with a list of objects in it: a run, and no message."""
    lists = [one for one in value.values() if isinstance(one, list)] if isinstance(value, Mapping) else []
    return any(one and isinstance(one[0], Mapping) for one in lists)


def _is_event(value: Any) -> bool:
    """Whether it is one event of a log that is a single run."""
    return isinstance(value, Mapping) and "source" in value and ("action" in value or "observation" in value)


def _is_message(value: Any) -> bool:
    """Whether it is one message of a chat, and no run: then the whole list is one."""
    if not isinstance(value, Mapping) or value.keys() & _OF_A_RUN:
        return False
    return {"role", "content"} <= value.keys() or (
        isinstance(value.get("type"), str) and any(key in value for key in ("content", "kwargs", "data"))
    )


def _are_steps(values: Sequence[Any]) -> bool:
    """Whether they are the steps of one run, as smolagents keeps them."""
    plain = all(isinstance(one, Mapping) and not one.keys() & _OF_A_RUN for one in values)
    return plain and any("step_number" in one for one in values)


def _decoded(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        return NoJson(f"no JSON: {error}")
