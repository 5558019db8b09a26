"""The format `starter`: the task and the answer of each run. `synth export DATASET --to starter` writes it."""

from __future__ import annotations

from synth.export.contract import About, Format, Record, Run

__all__ = ["FORMAT"]


def lines(run: Run, about: About, cut: int) -> list[Record]:
    """The lines of one run; none where it is of no use."""
    return [{"task": run.row.task_id, "answer": run.row.answer}] if run.row.answer else []


FORMAT = Format(
    name="starter",
    summary="Answers alone.",
    source="trajectories",
    layout="jsonl",
    convert=lines,
    usage="Lines of JSON: task, answer.",
)
