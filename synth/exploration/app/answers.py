"""What is told to the person: in the words of a refusal, and in every form in which an answer may be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synth.exploration.app.walking import Tried

__all__ = ["declining", "forms_of"]


def declining(stopped: Tried, rule: str) -> str:
    """What is told to somebody whose request the policy forbids."""
    why = " ".join(rule.split()) if stopped.recorded else stopped.result.content
    return f"That can't be done. {why}"


def forms_of(answers: Sequence[str]) -> Iterator[str]:
    """Answers, and each sum of money in the other ways in which it is written."""
    for answer in answers:
        yield answer
        if answer.lstrip("-").startswith("$"):
            bare = answer.replace("$", "").replace(",", "")
            yield from (answer.removesuffix(".00"), answer.replace(",", ""), bare, f"{bare} dollars")
            yield f"{bare.removesuffix('.00')} dollars"
