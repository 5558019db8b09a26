"""``PYTHONPATH=tests python -m stand_ins.model_server.serve SPEC``: the model server in a process of its own.

SPEC is a JSON file of the form of :class:`~stand_ins.model_server.process.ServerSpec`; the server then runs until
SIGTERM or SIGINT. ``-`` reads it from the first line of standard input, and ends the server with the end of that
input, too, so that it never outlives who started it. Its address is its first line of output.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from pydantic import ValidationError

from stand_ins.model_server.players import EchoPlayer, Player
from stand_ins.model_server.process import EchoSpec, ScriptedSpec, ServerSpec
from stand_ins.model_server.scripted import ScriptedPlayer
from stand_ins.model_server.server import ModelServer
from synth.dataset.reader import load
from synth.errors import InputError, SynthError
from synth.schemas.adp import error_lines
from synth.schemas.tasks import Task

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Exit code; one line on standard error where it is not 0."""
    try:
        spec = _spec(arguments)
        server = ModelServer(_players(spec), spec.options, port=spec.port, log=spec.log)
        try:
            server.start()
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise InputError(f"can't listen ({reason})", where=f"port {spec.port}") from None
    except SynthError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    stop = threading.Event()

    def stopped(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    if arguments == ["-"]:
        threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    stop.wait()
    server.stop()
    for raised in server.errors:
        sys.stderr.write(f"player: {type(raised).__name__}: {raised}\n")
    return 1 if server.errors else 0


def _wait_for_end(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()


def _spec(arguments: list[str]) -> ServerSpec:
    if len(arguments) != 1:
        raise InputError("give one specification", mend="name a file SPEC.json, or - for the standard input")
    (name,) = arguments
    try:
        text = sys.stdin.readline() if name == "-" else Path(name).read_text(encoding="utf-8")
        return ServerSpec.model_validate_json(text)
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror})", where=name) from None
    except ValidationError as error:
        raise InputError(error_lines(error)[0], where="specification") from None


def _players(spec: ServerSpec) -> Mapping[str, Player]:
    return {name: _player(one) for name, one in spec.players.items()}


def _player(spec: EchoSpec | ScriptedSpec) -> Player:
    if isinstance(spec, EchoSpec):
        return EchoPlayer(spec.size)
    tasks = [task for task in load(spec.dataset).rows("tasks") if isinstance(task, Task)]
    return ScriptedPlayer.scripted(tasks, spec.role, language=spec.language, **spec.options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
