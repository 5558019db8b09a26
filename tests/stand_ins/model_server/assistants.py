"""Those who assist a rollout (who write results, summaries, ...), played without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synth.environments.rendering import find_links
from synth.identity import digest
from synth.mocks.model.replies import Reply

__all__ = ["EditorPlayer", "ReflectorPlayer", "SimulatorPlayer", "SummarizerPlayer"]


def _data(request: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """The JSON object behind ``mark``, with which the prompt ends.

    Raises:
        ValueError: the prompt is another one.
    """
    _, found, text = str(request["messages"][0]["content"]).partition(f"\n\n{mark}\n\n")
    if not found:
        raise ValueError(f"the prompt does not hold {mark!r}")
    data: dict[str, Any] = json.loads(text)
    return data


class SimulatorPlayer:
    """Writes the pages that a prompt ``environment/simulate_search`` asks for: the useful ones quote the query, and the
    answer where it is told; the others are about something else. Every ``failing``-th query (by its hash; 0 = none) is
    answered in prose that holds no pages."""

    def __init__(self, failing: int = 0) -> None:
        self._failing = failing

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """Raises ValueError where the prompt is another one."""
        wanted = _data(request, "The request:")
        query = wanted["query"]
        if self._failing and int(digest("failing", query)[:8], 16) % self._failing == 0:
            return Reply(content="I would rather talk about the weather.")
        pages = []
        for place, kind in enumerate(wanted["pages"]):
            number = int(digest("page", query, place, sample or "")[:6], 16) % 9_000
            about = f"{query} {number}" if kind == "useful" else f"Topic {number}"
            text = f"{about} is described here in the year {number + 1000}. It has {number} parts."
            if kind == "useful" and "answer" in wanted:
                text += f" It is known for {wanted['answer']}."
            pages.append({"kind": kind, "title": about[:200], "text": text})
        return Reply(content=json.dumps({"pages": pages}, ensure_ascii=False))


class SummarizerPlayer:
    """Answers a prompt ``agents/summarize`` with the lines of the observation that hold a link or share a long word
    with the question or the goal, up to ``size`` characters. Every ``failing``-th (by hash; 0 = none) it refuses."""

    def __init__(self, size: int = 1_200, failing: int = 0) -> None:
        self._size = size
        self._failing = failing

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """Raises ValueError where the prompt is another one."""
        data = _data(request, "The object:")
        if self._failing and int(digest("failing", data["observation"])[:8], 16) % self._failing == 0:
            return Reply(refusal="I can't help with that.")
        wanted = {word for word in f"{data['question']} {data['goal']}".casefold().split() if len(word) > 3}
        lines = [
            line for line in data["observation"].split("\n")[1:] if "](" in line or wanted & set(line.lower().split())
        ]
        text = ""
        for line in lines:
            if len(text) + len(line) < self._size:
                text += line + "\n"
        return Reply(content=json.dumps({"summary": text.strip() or "Nothing here helps."}, ensure_ascii=False))


class ReflectorPlayer:
    """Answers a prompt ``agents/reflect`` with the same advice whatever happened, but for runs of the questions in
    ``answers``: there it gives away the answer that stands behind the question."""

    def __init__(self, answers: Mapping[str, str] | None = None) -> None:
        self._answers = dict(answers or {})

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """Raises ValueError where the prompt is another one."""
        run = _data(request, "The run:")
        advice = "Compare all that the question says with the page before you use it."
        if run["question"] in self._answers:
            advice = f"It is {self._answers[run['question']]}."
        diagnosis = {"mistake": f"It stopped after {len(run['turns'])} turns with too little.", "advice": advice}
        return Reply(content=json.dumps(diagnosis, ensure_ascii=False))


class EditorPlayer:
    """Answers a prompt ``preferences/minimal_edit``: it opens another document of those in view, or answers the title
    of another. What it can't spoil so it gives back with kind ``none``."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """Raises ValueError where the prompt is another one."""
        data = _data(request, "The step:")
        step = data["step"]
        seen = [link for past in data["before"] for text in past["observations"] for link in find_links(text)]
        edit: dict[str, Any] = {"kind": "none", "change": "nothing", "thought": step["thought"]}
        if "answer" in step:
            others = [link.anchor for link in seen if link.anchor != step["answer"]]
            edit["answer"] = others[-1] if others else step["answer"]
            spoilt = bool(others)
        else:
            edit["arguments"] = dict(step["arguments"])
            others = [link.target for link in seen if link.target != step["arguments"].get("document")]
            spoilt = "document" in step["arguments"] and bool(others)
            if spoilt:
                edit["arguments"]["document"] = others[-1]
        if spoilt:
            thought = f"{step['thought']} I go with this one." if step["thought"] else ""
            edit |= {"kind": "wrong_entity", "change": "another one of those in view", "thought": thought}
        return Reply(content=json.dumps(edit, ensure_ascii=False))
