"""Rows for reinforcement learning and long contexts as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from synth.dataset.show.terminal import body, facts, part, styled, title
from synth.schemas.contexts import ContextItem, ContextRow
from synth.schemas.rl import GroundTruth, RlRow

__all__ = ["render_context", "render_rl"]


def render_rl(row: RlRow, *, full: bool = False) -> RenderableType:
    """Question, answer, tools, rubric, and the system prompt."""
    truth = row.reward_model.ground_truth
    lines: list[tuple[str, str | None]] = [
        *_task_lines(row.task_id, truth, row.split),
        ("shape", f"{row.shape}, {row.hops} hops, obfuscation {row.obfuscation}"),
        ("tools", ", ".join(str(tool.get("function", {}).get("name")) for tool in row.tools)),
        ("reward", _weights(row)),
        *([("judged by", "the state that is left behind")] if truth.judged_by == "state" else []),
    ]
    return Group(
        title("rl", row.id), facts(lines), *_rubric(truth), part("prompt", body(row.prompt[0].content, full, 12), "dim")
    )


def render_context(row: ContextRow, *, full: bool = False) -> RenderableType:
    """Question, answer, rubric and the documents in their order; ``full`` shows the message itself."""
    truth = row.reward_model.ground_truth
    lines: list[tuple[str, str | None]] = [
        *_task_lines(row.task_id, truth, row.split),
        ("shape", f"{row.shape}, {row.hops} hops, obfuscation {row.obfuscation}"),
        ("tokens", f"{row.tokens:,} of {row.budget:,} by {row.tokenizer}"),
        ("gold at", ", ".join(f"{depth:.0%}" for depth in row.gold_depths)),
        ("reward", _weights(row)),
    ]
    shown = [_document(place, item) for place, item in enumerate(row.documents)]
    message = [part("prompt", body(row.prompt[-1].content, full, 12), "dim")] if full else []
    return Group(
        title("context", row.id), facts(lines), *_rubric(truth), part("documents", Group(*shown), "blue"), *message
    )


def _task_lines(task_id: str, truth: GroundTruth, split: str) -> Iterator[tuple[str, str]]:
    yield "task", task_id
    yield "question", truth.question
    parts = [part.answer for part in truth.answer_parts]
    yield "answer", "; ".join(parts) if parts else " · ".join([truth.answer, *truth.answer_aliases])
    yield "split", split


def _weights(row: RlRow | ContextRow) -> str:
    verifier = row.verifier
    return f"{verifier.outcome_weight:g} for a right answer + {verifier.rubric_weight:g} for the rubric"


def _rubric(truth: GroundTruth) -> Iterator[RenderableType]:
    if truth.rubric:
        named = [
            f"{' / '.join(item.names)}: {' '.join(fact.statement for fact in item.facts)}" for item in truth.rubric
        ]
        yield part("rubric", Group(*(styled(line, "") for line in named)), "magenta")


def _document(place: int, item: ContextItem) -> Text:
    size = item.token_end - item.token_start
    notes = [item.kind.replace("_", " "), f"{size:,} tokens"]
    if item.cut != "none":
        notes.append(f"cut at the end of a {item.cut}")
    if item.names_answer:
        notes.append("names the answer")
    return styled(f"{place}. {item.title} ({', '.join(notes)})", "bold" if item.kind == "gold" else "")
