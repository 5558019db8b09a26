"""The actions that agents may have beside the tools of an environment, and what an agent sees after one of them."""

from __future__ import annotations

from synth.agents.contract import History, Step
from synth.environments.contract import ToolResult, ToolSchema, text_argument

__all__ = [
    "ANSWERS",
    "CHECK",
    "COMPRESS",
    "COMPRESS_ANSWER",
    "DELEGATE",
    "JUDGE",
    "MANAGING",
    "NOTED",
    "SAID",
    "answer_told",
    "said_of",
    "view_of",
]

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
JUDGE = ToolSchema.of(
    "judge",
    "Say whether what you were just shown helps with the question, beside your next call.",
    {"useful": {"type": "boolean", "description": "Whether something in it is needed for the answer, or leads there."}},
)
CHECK = ToolSchema.of(
    "check",
    "Say whether you may do what you are about to do, before your first change or before you decline. Then act, or "
    "decline.",
    {"allowed": {"type": "boolean", "description": "Whether the policy and the request allow it."}},
)
NOTED = "Noted."
MANAGING = (COMPRESS.name, DELEGATE.name, JUDGE.name, CHECK.name)
"""Names of the tools beside those of an environment. Helpers have none of them."""
SAID = {JUDGE.name: "useful", CHECK.name: "allowed"}
"""What each of the two is told."""


def view_of(history: History) -> History:
    """What an agent sees of ``history``: from the last turn on in which it compressed what came before."""
    for number in range(len(history) - 1, -1, -1):
        if any(result.name == COMPRESS.name and result.error is None for result in history[number].results):
            return history[number:]
    return history


def said_of(step: Step, tool: ToolSchema) -> bool | None:
    """What a turn says by ``tool``; None where it says nothing."""
    made = [call.arguments.get(SAID[tool.name]) for call in step.turn.calls if call.name == tool.name]
    return bool(made[0]) if made else None


def answer_told(result: ToolResult) -> str | None:
    """The answer that a helper gave, as its parent reads it; None if the result is not a helper's."""
    said, _, _ = result.content.removeprefix(ANSWERS).rpartition("\nIt read ")
    return said if result.error is None and result.content.startswith(ANSWERS) else None
