"""What a request and a line of an observation both say: by which details a line is the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from synth.agents.grounding.written import written_forms
from synth.environments.contract import ToolResult

__all__ = ["details_of", "marks_of"]

_QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")
_DETAIL = re.compile(
    r"[\w.+-]+@[\w.]+\w|\d{4}-\d\d-\d\d|\$[\d,]+(?:\.\d\d)?|[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)*|\d[\d,.:]*\d"
)


def details_of(question: str, line: str) -> list[str]:
    """What of ``line`` the question says too, as the question writes it: names, dates, amounts."""
    quoted = _QUOTED.findall(question)
    found: dict[str, None] = {f"“{title}”": None for title in quoted if title in line}
    for match in _DETAIL.finditer(line):
        token = match.group().strip(".,:;")
        if any(token in title for title in quoted) or re.fullmatch(r"\d{1,2}", token):
            continue  # "22" of "22 free" is no "22 May"
        name = "cents" if token.startswith("$") else ""
        value: Any = token
        if name:
            value = round(float(token[1:].replace(",", "")) * 100)
        for form in written_forms(name, value):
            hit = re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", question)
            if hit and len(form) > 1:
                found.setdefault(f"${form}" if name and f"${form}" in question else form)
                break
    return list(found)[:3]


def marks_of(question: str, line: str, shown: Sequence[ToolResult]) -> list[str]:
    """Those details of a line by which it is the one that is meant: none where another line of what it stands in has
    all of them, too."""
    found = details_of(question, line)
    listed = next((result.content for result in shown if line in result.content), "")
    others = [other for other in listed.split("\n") if line not in other]
    return [] if any(set(found) <= set(details_of(question, other)) for other in others) else found
