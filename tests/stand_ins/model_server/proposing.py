"""A proposer: explores pages link by link, and asks for what a page says about the thing that another page names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from stand_ins.model_server.conversation import read_conversation
from stand_ins.model_server.jobs import answered, read_job
from stand_ins.model_server.replies import Call, Reply
from synth.tasks.text import mentions

__all__ = ["ProposerPlayer"]

Fault = Literal["misquotes", "repeats", "leaks", "ambiguous", "known", "needless", "unread"]
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]*)\)")
_JOBS = ("tasks/propose", "tasks/harden", "tasks/closed_book", "tasks/alternatives", "tasks/answerable")
Facts = list[dict[str, str]]


class ProposerPlayer:
    """Plays the roles ``proposer`` and ``checker``; and as ``policy``, who knows the answers to questions of two facts.

    Args:
        fault: What is wrong with whatever it proposes or checks; None = nothing.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.asked: dict[str, int] = {}
        self._known: dict[str, tuple[str, list[str]]] = {}
        """Question -> answer and quotes, of what was proposed."""

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        if request.get("tools") and (known := self._known.get(read_conversation(request).prompt.question)):
            answer, quotes = known
            return Reply(content=answer if len(quotes) == 2 else "It can't be found.")
        if request.get("tools"):
            self.asked["explore"] = self.asked.get("explore", 0) + 1
            return self._explore(request)
        name, data = read_job(request["messages"][0]["content"], dict.fromkeys(_JOBS))
        self.asked[name] = self.asked.get(name, 0) + 1
        jobs: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "tasks/propose": self._propose,
            "tasks/harden": self._harden,
            "tasks/closed_book": self._memory,
            "tasks/alternatives": self._alternatives,
            "tasks/answerable": self._answer,
        }
        return answered(jobs[name](data))

    def _explore(self, request: Mapping[str, Any]) -> Reply:
        asked = read_conversation(request)
        opened = [call.arguments["document"] for step in asked.history for call in step.turn.calls]
        if not opened:
            seed = re.findall(r"\(([^()\s]+)\), and find", asked.prompt.question)[0]
            return Reply(reasoning="I begin here.", calls=(Call.of("open", document=seed),))
        shown = asked.history[-1].results[-1].content
        further = [name for _, name in _LINK.findall(shown) if name.partition("#")[0] not in opened]
        if not further or len(opened) > 3:
            return Reply(content=f"I read {', '.join(opened)}.")
        return Reply(reasoning="This leads on.", calls=(Call.of("open", document=further[0].partition("#")[0]),))

    def _propose(self, data: Mapping[str, Any]) -> dict[str, Any]:
        pages = data["pages"]
        for page in reversed(pages):  # what leads there is left for a harder question
            for other in pages:
                step = _names(page, other)
                value = _value(other, page)
                if page is other or step is None or value is None:
                    continue
                question = f"Which number stands beside what “{page['title']}” names in the words {_masked(step)}?"
                cue = question.split(" beside ", 1)[1].rstrip("?")
                facts = [{**step, "cue": cue}, {**value, "cue": "Which number stands"}]
                return self._said(facts, question, value["found"])
        return {"facts": [], "question": None, "answer": "", "aliases": []}

    def _said(self, facts: Facts, question: str, answer: str) -> dict[str, Any]:
        if self.fault == "misquotes":
            facts = [{**fact, "quote": f"{fact['quote']} indeed"} for fact in facts]
        if self.fault == "unread":
            facts = [facts[0], {**facts[1], "document": "nowhere.html"}]
        if self.fault == "leaks":
            question = f"{question.rstrip('?')}, and is it {answer}?"
        if self.fault == "repeats":
            facts, question, answer = self._first(facts, question, answer)
        self._known[question] = answer, [fact["quote"] for fact in facts]
        return {"facts": facts, "question": question, "answer": answer, "aliases": []}

    def _first(self, facts: Facts, question: str, answer: str) -> tuple[Facts, str, str]:
        self._kept = getattr(self, "_kept", (facts, question, answer))
        return self._kept

    def _harden(self, data: Mapping[str, Any]) -> dict[str, Any]:
        facts, question = [dict(fact) for fact in data["facts"]], str(data["question"])
        first = facts[0]
        for page in data["pages"]:
            start = next((one for one in data["pages"] if one["title"] == first["known"]), None)
            step = None if start is None or page is start else _names(page, start)
            if step is None or mentions(question, [step["known"]]):
                continue
            told = f"the thing that “{page['title']}” names in the words {_masked(step)}"
            harder = question.replace(f"“{first['known']}”", told)
            if harder == question:
                continue
            first["cue"] = first["cue"].replace(f"“{first['known']}”", told)
            return self._said([{**step, "cue": told}, *facts], harder, str(data["answer"]))
        return {"facts": [], "question": None, "answer": "", "aliases": []}

    def _memory(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"answer": self._known[data["question"]][0] if self.fault == "known" else None}

    def _alternatives(self, data: Mapping[str, Any]) -> dict[str, Any]:
        text = data["excerpts"][0]["text"]
        quote = " ".join(text.split(" ")[:6])
        other = {"why": "it stands there, too", "quote": quote, "answer": "something else"}
        return {"alternatives": [other] if self.fault == "ambiguous" else []}

    def _answer(self, data: Mapping[str, Any]) -> dict[str, Any]:
        answer, quotes = self._known[data["question"]]
        texts = [excerpt["text"] for excerpt in data["excerpts"]]
        needed = quotes[-1:] if self.fault == "needless" else quotes
        settled = all(any(quote in text for text in texts) for quote in needed)
        return {"quote": quotes[-1] if settled else "", "answer": answer if settled else None}


def _lines(page: Mapping[str, Any]) -> list[str]:
    lines = [_LINK.sub(r"\1", line).strip() for line in page["text"].splitlines()[1:]]
    return [part for line in lines for part in re.split(r"(?<=[.!?]) (?=[A-Z])", line) if len(part.split()) > 3]


def _names(page: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str] | None:
    """The fact of ``page`` that names ``other``."""
    if mentions(page["title"], [other["title"]]) or mentions(other["title"], [page["title"]]):
        return None
    for line in _lines(page):
        if mentions(line, [other["title"]]):
            return {"document": page["document"], "quote": line, "known": page["title"], "found": other["title"]}
    return None


def _value(page: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str] | None:
    """A fact of ``page`` that tells a number or else a long word, which ``other`` does not hold."""
    lines = [line for line in _lines(page) if not mentions(line, [other["title"]])]
    for pattern in (r"(?<![\w.,-])\d{3,6}(?![\w.,-])", r"(?<![\w.-])[A-Za-z]{9,}(?![\w.-])"):
        for line in lines:
            for found in re.findall(pattern, line):
                if found.lower() not in (other["text"] + page["title"]).lower():
                    return {"document": page["document"], "quote": line, "known": page["title"], "found": found}
    return None


def _masked(step: Mapping[str, str]) -> str:
    shown = re.sub(re.escape(step["found"]), "...", step["quote"], flags=re.IGNORECASE)
    shown = re.sub(re.escape(step["known"]), "it", shown, flags=re.IGNORECASE)
    return json.dumps(re.sub(r"\d+", "#", shown)[:120], ensure_ascii=False)
