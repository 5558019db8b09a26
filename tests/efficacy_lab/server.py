"""A trained decoder behind ``/v1/chat/completions``: to the engine it is a model at an endpoint like any other.

    POST /v1/chat/completions   messages, tools (not read), max_tokens, temperature
    GET  /v1/models             the one model, by the name that its folder gives it
    GET  /health

Its name holds the hash of its weights, so calls of two checkpoints are never taken for each other. The engine names the
sample that it asks for in a header; equal names give equal turns. One thread draws for all requests that are waiting.

    python -m efficacy_lab.server FOLDER

listens on a free port of loopback, writes its address to standard output, and ends with its standard input.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar

from efficacy_lab.checkpoints import Trained, load_trained
from efficacy_lab.lazy import torch, use_device
from efficacy_lab.rows import encode, reply_of
from efficacy_lab.sampling import Drawn, Prefixes, Wanted, draw
from efficacy_lab.words import AGENT, Conversation, SlotsUsedUp
from synth.errors import InputError
from synth.serving.json_http import JsonServer, WrongRequest

__all__ = ["TinyServer", "main"]

_GATHER_SECONDS = 0.02
"""So long after each request the next one is waited for: a batch costs hardly more than one, and takes longer."""
_MOST_AT_ONCE = 64
_SAMPLE = "x_synth_sample"


@dataclass
class _Asked:
    wanted: Wanted
    done: threading.Event = field(default_factory=threading.Event)
    drawn: Drawn | None = None


class TinyServer(JsonServer):
    """Serves one model. ``stop`` as every :class:`JsonServer`."""

    title = "efficacy_lab"
    headers_read: ClassVar[Mapping[str, str]] = {"X-Synth-Sample": _SAMPLE}

    def __init__(self, trained: Trained, port: int = 0, *, device: str = "cpu") -> None:
        super().__init__("127.0.0.1", port, workers=4 * _MOST_AT_ONCE)  # each waits for its batch
        self.trained = trained
        self._name = trained.name  # a hash of all weights: once
        self._tables = trained.vocabulary.tables()
        self._waiting: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(device,), name="synth-tiny", daemon=True).start()

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """One completion.

        Raises:
            InputError: the request can't be read, or asks for another model.
            WrongRequest: it does not fit into the context.
        """
        messages = _messages(body.get("messages"))
        if body.get("model") not in (None, self._name):
            raise InputError(f"there is only {self._name}", where="model")
        conversation = Conversation(self._tables, _question(messages))
        context = self.trained.decoder.context
        try:
            prompt = [one for ids, _ in encode(messages, conversation) for one in ids] + [AGENT]
        except SlotsUsedUp as error:
            raise WrongRequest(HTTPStatus.BAD_REQUEST, f"beyond the context length: {error}") from None
        if len(prompt) >= context:
            raise WrongRequest(HTTPStatus.BAD_REQUEST, f"{len(prompt)} tokens are beyond the context length {context}")
        heat = body.get("temperature")
        most = body.get("max_tokens") or body.get("max_completion_tokens") or context
        asked = _Asked(
            Wanted(
                prompt=tuple(prompt),
                slots=conversation.used,
                sample=str(body.get(_SAMPLE, "0")),
                most=min(int(most), context),
                temperature=1.0 if heat is None else float(heat),
            )
        )
        self._waiting.put(asked)
        asked.done.wait()
        if asked.drawn is None:
            raise RuntimeError("no turn could be drawn")
        return self._answer(asked.drawn, len(prompt), conversation)

    def _answer(self, drawn: Drawn, prompt: int, conversation: Conversation) -> dict[str, Any]:
        content, calls = reply_of(drawn.ids, conversation)
        message: dict[str, Any] = {"role": "assistant", "content": content or None}
        if calls:
            message["tool_calls"] = [
                {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
                for place, (name, arguments) in enumerate(calls)
            ]
        finish = "length" if not drawn.ended else "tool_calls" if calls else "stop"
        used = len(drawn.ids) + 1
        return {
            "object": "chat.completion",
            "model": self._name,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": used, "total_tokens": prompt + used},
        }

    def _work(self, device: str) -> None:
        use_device(device)  # of each thread its own
        prefixes = Prefixes()
        while True:
            batch = [self._waiting.get()]
            try:
                while len(batch) < _MOST_AT_ONCE:
                    batch.append(self._waiting.get(timeout=_GATHER_SECONDS))
            except queue.Empty:
                pass
            try:
                trained = self.trained
                wanted = [asked.wanted for asked in batch]
                first_slot = trained.vocabulary.first_slot
                turns = draw(trained.weights, trained.decoder, first_slot, wanted, prefixes=prefixes)
                for asked, turn in zip(batch, turns, strict=True):
                    asked.drawn = turn
            finally:
                for asked in batch:
                    asked.done.set()


def _messages(value: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) and "role" in one for one in value):
        raise InputError("messages are missing, or not a list of messages", where="messages")
    return value


def _question(messages: Sequence[Mapping[str, Any]]) -> str:
    return str(next((one.get("content") for one in messages if one["role"] == "user"), ""))


TinyServer.routes = {
    "/v1/chat/completions": ("POST", lambda server, body: server.chat(body)),
    "/v1/models": ("GET", lambda server, body: {"object": "list", "data": [{"id": server.trained.name}]}),
    "/health": ("GET", lambda server, body: {"status": "ok"}),
}


def main(arguments: Sequence[str]) -> None:
    """Serve the model in a folder until standard input ends: so it never outlives who started it."""
    torch.set_num_threads(1)  # one result whatever the machine; the builds beside it need the other cores
    folder, device = arguments
    use_device(device)
    server = TinyServer(load_trained(Path(folder)), device=device)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.wait_until_ready()
    sys.stdout.write(f"{server.url}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
