"""The actions that agents may have beside the tools of an environment, and what an agent sees after one of them."""

from __future__ import annotations

from synth.agents.contract import History
from synth.environments.contract import ToolResult, ToolSchema, text_argument

__all__ = ["ANSWERS", "COMPRESS", "COMPRESS_ANSWER", "DELEGATE", "MANAGING", "answer_told", "view_of"]

COMPRESS = ToolSchema.of(
    "compress",
    "Replace everything you have done and read so far by your own notes. You keep the question, the notes "
    "and what comes after; write down all that you still need, with links as they stand.",
    {"notes": text_argument("What is known and what is open.")},
)
COMPRESS_ANSWER = "From here on you see your notes in the place of what came before."
DELEGATE = ToolSchema.of(
    "delegate",
    "Let a helper look up one thing. It has the same tools and knows nothing but your question; it gives "
    "its answer and the pages that it read.",
    {"question": text_argument("A question that can be understood alone.")},
)
ANSWERS = "The helper answers: "
"""Stands before a helper's answer in the observation of the agent that asked."""
MANAGING = (COMPRESS.name, DELEGATE.name)
"""Names of the tools beside those of an environment. Helpers have none of them."""


def view_of(history: History) -> History:
    """What an agent sees of ``history``: from the last turn on in which it compressed what came before."""
    for number in range(len(history) - 1, -1, -1):
        if any(result.name == COMPRESS.name and result.error is None for result in history[number].results):
            return history[number:]
    return history


def answer_told(result: ToolResult) -> str | None:
    """The answer of a helper that the parent reads of; None where there is none."""
    said, _, _ = result.content.removeprefix(ANSWERS).rpartition("\nIt read ")
    return said if result.error is None and result.content.startswith(ANSWERS) else None
