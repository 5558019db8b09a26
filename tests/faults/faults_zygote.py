"""A process that has everything imported and forks a child per request, so that killing a build costs little.

Requests and answers are lines of JSON on stdin and stdout: what to do and when to kill it in; how it ended out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

import pyarrow as pa
from engine_toys import PagesConfig, build_and_forget, plan

from synth.errors import SynthError
from synth.store import activate, publish


@cache
def import_commands() -> None:
    """What the command line imports on its way to a build, once for all children."""
    from synth.registry import BACKENDS, ENVIRONMENTS, STAGES

    for name in ("synth.api", "synth.cli", "synth.pipelines", "synth.recipe.load"):
        import_module(name)
    for entry in (*STAGES.values(), *ENVIRONMENTS.values(), *BACKENDS.values()):
        import_module(entry.partition(":")[0])


def command(request: dict[str, object]) -> None:
    """The console script with ``arguments`` and ``variables``; what it says goes to the file ``said``."""
    from synth.cli import main

    said = os.open(str(request["said"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(dict(request["variables"]))  # type: ignore[call-overload]
    main(list(request["arguments"]))  # type: ignore[call-overload]


def child(request: dict[str, object]) -> None:
    if request["do"] == "command":
        command(request)
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


def ended(pid: int, kill_after: float | None) -> int:
    """Exit code of a child, killed after so many seconds if it still runs.

    Only who waits for a child knows that its number is still its own: so it is killed here and not by the test.
    """
    end = None if kill_after is None else time.monotonic() + kill_after
    while end is not None and time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    if end is not None:
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
        print(json.dumps(ended(pid, json.loads(line)["kill_after"])), flush=True)


if __name__ == "__main__":
    main()
