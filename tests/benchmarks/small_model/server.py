"""A server of the chat completions protocol over ``engine``: python server.py PORT NAME=FOLDER...

What our client reads of vLLM's answers is there: finished replies, calls read as its ``hermes`` parser reads them,
counts of tokens, one line for a prompt that is too long. Models come and go while it runs (``POST /load``).
"""

from __future__ import annotations

import gc
import json
import re
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from engine import Engine, Request
from transformers import AutoTokenizer

_PATIENCE = 900.0
"""Seconds that a request waits for its model to be loaded."""
_CALL = re.compile(r"<tool_call>(.*?)</tool_call>|<tool_call>(.*)", re.DOTALL)


class Served:
    def __init__(self, folder: str, **sizes: int):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.engine = Engine(folder, **sizes)
        self.engine.start()

    def stop(self) -> None:
        self.engine.stop()
        self.engine.join()
        del self.engine
        gc.collect()
        torch.cuda.empty_cache()

    def reply(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        prompt = self.tokenizer.apply_chat_template(
            asked["messages"], tools=asked.get("tools"), add_generation_prompt=True, return_dict=False
        )
        budget = asked.get("max_completion_tokens") or asked.get("max_tokens") or 512
        request = Request(prompt, budget, float(asked.get("temperature", 1.0)))
        try:
            made = self.engine.ask(request).result()
        except ValueError:
            said = (
                f"This model's maximum context length is {self.engine.length} tokens. However, you requested {budget} "
            )
            said += f"output tokens and your prompt contains {len(prompt)} input tokens."
            return 400, {"error": {"message": said, "type": "BadRequestError", "param": None, "code": 400}}
        text = self.tokenizer.decode(made.tokens)
        calls = read_calls(text) if asked.get("tools") else []
        message: dict[str, Any] = {"role": "assistant", "content": text.partition("<tool_call>")[0] if calls else text}
        if calls:
            message["content"] = message["content"] or None
            message["tool_calls"] = calls
        finish = "length" if not made.ended else "tool_calls" if calls else "stop"
        counts = {"prompt_tokens": len(prompt), "completion_tokens": len(made.tokens) + made.ended}
        return 200, {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {**counts, "total_tokens": sum(counts.values())},
        }


def read_calls(text: str) -> list[dict[str, Any]]:
    """The calls in a reply; none where one of them is not JSON with a name, as with vLLM: the reply is then text."""
    found = []
    try:
        for closed, open_ended in _CALL.findall(text):
            call = json.loads(closed or open_ended)
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            function = {"name": call["name"], "arguments": arguments}
            found.append({"id": f"call-{uuid.uuid4().hex[:16]}", "type": "function", "function": function})
    except (ValueError, KeyError, TypeError):
        return []
    return found


def serve(port: int, folders: dict[str, str], **sizes: int) -> ThreadingHTTPServer:
    """A listening server; ``serve_forever`` is the caller's."""
    sys.setswitchinterval(0.0005)  # the engine's next step must not wait for a reply to be written
    served = {name: Served(folder, **sizes) for name, folder in folders.items()}
    loaded = threading.Condition()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            data = [{"id": name, "object": "model", "max_model_len": one.engine.length} for name, one in served.items()]
            self.answer(200, {"object": "list", "data": data} if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/load":
                with loaded:
                    if asked.get("unload") in served:  # first, for there may not be memory for both
                        served.pop(asked["unload"]).stop()
                    if asked["folder"]:
                        served[asked["name"]] = Served(asked["folder"], **sizes)
                        loaded.notify_all()
                self.answer(200, {})
            else:
                name = asked["model"]
                with loaded:  # it may still be in training: clients start early, and wait here
                    there = loaded.wait_for(lambda: name in served, timeout=_PATIENCE)
                if there:
                    self.answer(*served[name].reply(asked))
                else:
                    self.answer(404, {"error": {"message": f"no model {name!r}", "code": 404}})

        def answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 1024

    return Server(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(int(sys.argv[1]), dict(name.split("=", 1) for name in sys.argv[2:])).serve_forever()
