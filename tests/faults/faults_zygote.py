"""A process that has everything imported and forks a child per request, so that killing a build costs little.

Requests and answers are lines of JSON on stdin and stdout: what to do and when to kill it in; how it ended out.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

import pyarrow as pa
from engine_toys import PagesConfig, build_and_forget, plan
from model_toys import FakeHub, chat_build
from stand_ins.forked import WARM

from synth.errors import SynthError
from synth.store import activate, publish


@cache
def import_commands() -> None:
    """What the command line imports on its way to a build, once for all children, which look through none of it for
    garbage."""
    for name in WARM:
        import_module(name)
    gc.collect()
    gc.freeze()


def command(request: dict[str, object]) -> None:
    """The console script with ``arguments`` and ``variables``; what it says goes to the file ``said``."""
    from synth.cli import main

    said = os.open(str(request["said"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(dict(request["variables"]))  # type: ignore[call-overload]
    main(list(request["arguments"]))  # type: ignore[call-overload]


def chats(request: dict[str, object]) -> None:
    """Build the toy plan that calls a model."""
    chat_build(
        Path(str(request["store"])),
        FakeHub(Path(str(request["calls"]))),
        in_flight=6,
        ledger=Path(str(request["ledger"])),
        failpoint=str(request["failpoint"]),
    )


def child(request: dict[str, object]) -> None:
    if request["do"] == "command":
        command(request)
        return
    if request["do"] == "chats":
        chats(request)
        return
    if request["do"] == "publish":
        activate(str(request["failpoint"]))
        try:
            publish(Path(str(request["staging"])), Path(str(request["out"])))
        except SynthError as error:
            os._exit(error.exit_code)
        return
    build_and_forget(
        Path(str(request["store"])),
        plan(int(str(request["wanted"])), pages=PagesConfig(pages=int(str(request["pages"])))),
        name=str(request["executor"]),
        workers=int(str(request["workers"])),
        ledger=Path(str(request["ledger"])),
        failpoint=request["failpoint"],
    )


def ended(pid: int, kill_after: float | None, kill_file: str | None) -> int:
    """Exit code of a child, killed after so many seconds, or once a file is there, if it still runs.

    Only who waits for a child knows that its number is still its own: so it is killed here and not by the test.
    """
    end = None if kill_after is None else time.monotonic() + kill_after
    doomed = end is not None or kill_file is not None
    while doomed and (end is None or time.monotonic() < end) and not (kill_file and os.path.exists(kill_file)):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    if doomed:
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    pa.array([])  # imports pandas
    for line in sys.stdin:
        if json.loads(line)["do"] == "command":
            import_commands()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child(json.loads(line))
                code = 0
            except SystemExit as error:
                code = int(str(error.code or 0))
            finally:
                os._exit(code)
        request = json.loads(line)
        print(json.dumps(ended(pid, request["kill_after"], request.get("kill_file"))), flush=True)


if __name__ == "__main__":
    main()
