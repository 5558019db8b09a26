"""A process that has everything imported and forks a child per request, so that killing a build costs little.

Requests and answers are lines of JSON on stdin and stdout: a build's options in; its process id out, then how it ended.
"""

from __future__ import annotations

import json
import os
import sys
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
        print(json.dumps(pid), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
