"""A proposer: explores pages link by link, and asks for what a page says about the thing that another page names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal
from zlib import crc32

from stand_ins.model_server.jobs import answered, read_job
from synth.mocks.model.conversation import read_conversation
from synth.mocks.model.replies import Call, Reply
from synth.tasks.text import mentions

__all__ = ["ProposerPlayer"]

Fault = Literal["misquotes", "repeats", "leaks", "ambiguous", "known", "needless", "unread"]
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]*)\)")
_JOBS = ("tasks/propose", "tasks/harden", "tasks/closed_book", "tasks/alternatives", "tasks/answerable")
_UNFIT = re.compile(
    r"\b(?:the|these|this|\w+ing|other) (?:page|document|text|passage|article|excerpt|section|collection)s?\b"
    r"|according to|(?:mentioned|listed) in|linked from",
    re.IGNORECASE,
)
"""What no question may speak of; the rules are finer than the player."""
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
        shown = [step.results[-1].content for step in reversed(asked.history)]
        told = [name for text in shown for line in _sentences(text) for name in _targets(line)]
        further = [name for name in (*told, *_targets(shown[0])) if name not in opened]
        if not further or len(opened) > 5:
            return Reply(content=f"I read {', '.join(opened)}.")
        return Reply(reasoning="This leads on.", calls=(Call.of("open", document=further[0]),))

    def _propose(self, data: Mapping[str, Any]) -> dict[str, Any]:
        pages = data["pages"]
        refused = {each["question"] for each in data["refused"]} if self.fault is None else set()
        apart = data["wanted"].get("collections", 1) > 1
        for page in (*pages[1:], *pages[:1]):  # what leads there is left for a harder question
            others = [one for one in pages if not apart or one["collection"] != page["collection"]]
            found = [each for each in self._askable(page, others) if each[1] not in refused]
            if found:
                # One of them by where the exploration began: many pages lead to the same few.
                return self._said(*found[crc32(pages[0]["document"].encode()) % len(found)])
        return {"facts": [], "question": None, "answer": "", "aliases": []}

    def _askable(
        self, page: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[Facts, str, str]]:
        """Facts, question and answer of every two steps that begin with ``page``."""
        for other in others:
            for step in _names(page, other) if other is not page else ():
                value = _value(other, page, step["found"])
                if value is None:
                    continue
                cue = f"the thing that “{page['title']}” names in the words {_masked(step)}"
                asks = f"Which value stands in the words {_masked(value)}"
                question = f"{asks} about {cue}?"
                if not _UNFIT.search(question) and not mentions(question, [value["found"], step["found"]]):
                    yield [{**step, "cue": cue}, {**value, "cue": asks}], question, value["found"]

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
            step = None if start is None or page is start else next(_names(page, start), None)
            if step is None or step["found"] != first["known"] or mentions(question, [step["known"]]):
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


def _sentences(text: str) -> list[str]:
    """What is said in prose, with its links: no titles, menus and cells."""
    parts = [part.strip() for line in text.splitlines()[1:] for part in re.split(r"(?<=[.!?]) (?=[A-Z])", line)]
    return [part for part in parts if len(_LINK.sub("", part).split()) > 3]


def _targets(text: str) -> list[str]:
    return [name.partition("#")[0] for _, name in _LINK.findall(text)]


def _names(page: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The facts of ``page`` that name ``other``, by its title or by the text of a link to it."""
    for line in _sentences(page["text"]):
        linked = [text for text, name in _LINK.findall(line) if name.partition("#")[0] == other["document"]]
        quote = _LINK.sub(r"\1", line)
        for found in dict.fromkeys((other["title"], *linked)):
            apart = not mentions(page["title"], [found]) and not mentions(found, [page["title"]])
            if apart and mentions(quote, [found]):
                yield {"document": page["document"], "quote": quote, "known": page["title"], "found": found}


def _value(page: Mapping[str, Any], other: Mapping[str, Any], name: str) -> dict[str, str] | None:
    """A fact of ``page``, about what is called ``name``, that tells a number or else a long word; ``other`` holds it
    nowhere."""
    lines = [_LINK.sub(r"\1", line) for line in _sentences(page["text"])]
    lines = [line for line in lines if not mentions(line, [other["title"]])]
    if name != page["title"]:
        lines = [line for line in lines if mentions(line, [name])]
    held = (other["text"] + page["title"] + name).lower()
    for pattern in (r"(?<![\w.,-])\d{3,6}(?![\w.,-])", r"(?<![\w.-])[A-Za-z]{9,}(?![\w.-])"):
        for line in lines:
            for found in re.findall(pattern, line):
                if found.lower() not in held:
                    return {"document": page["document"], "quote": line, "known": name, "found": found}
    return None


def _masked(step: Mapping[str, str]) -> str:
    shown = re.sub(re.escape(step["found"]), "...", step["quote"], flags=re.IGNORECASE)
    shown = re.sub(re.escape(step["known"]), "it", shown, flags=re.IGNORECASE)
    at = max(0, shown.find("...") - 60)
    return json.dumps(" ".join(re.sub(r"\d+", "#", shown[at : at + 120]).split()), ensure_ascii=False)
