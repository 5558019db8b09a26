"""A signal that comes at the worst moment ends a server like any other."""

from __future__ import annotations

import subprocess
import sys

_EVERY_LINE = """
import os, signal, sys, threading
from http import HTTPStatus
from synth.serving.bounds import answer
from synth.serving.http import HttpServer, serve

async def app(scope, receive, send):
    await answer(send, HTTPStatus.OK, {})

def stopped_at(line):
    left = [line]
    late = threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM))

    def trace(frame, event, argument):
        if event == "line" and left[0] >= 0:
            left[0] -= 1
            if left[0] < 0:
                signal.raise_signal(signal.SIGTERM)
        return trace

    def say(address):
        late.start()
        sys._getframe(1).f_trace = trace
        sys.settrace(trace)

    serve(HttpServer(app, "127.0.0.1", 0), say=say)
    sys.settrace(None)
    late.cancel()
    return left[0] < 0

print(sum(stopped_at(line) for line in range(8)))
"""

_ANOTHER_THREAD = """
import signal, threading
from http import HTTPStatus
from synth.serving.bounds import answer
from synth.serving.http import HttpServer, serve

async def app(scope, receive, send):
    await answer(send, HTTPStatus.OK, {})

def send():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

serve(HttpServer(app, "127.0.0.1", 0), say=lambda address: threading.Timer(0.5, send).start())
"""


def test_a_signal_ends_the_server_at_whatever_line_it_comes() -> None:
    # A lock that the main thread holds while it waits, and that the handler wants, would end neither.
    ended = subprocess.run([sys.executable, "-c", _EVERY_LINE], capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 5


def test_a_signal_that_another_thread_takes_ends_the_server() -> None:
    ended = subprocess.run([sys.executable, "-c", _ANOTHER_THREAD], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
