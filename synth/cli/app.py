"""``synth``: one module per group of commands; heavy imports stay inside the commands."""

from __future__ import annotations

import codecs
import io
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from synth import distribution
from synth.cli import build, evaluate, export, look, push, recipes, report, reward, rights, serve, upkeep
from synth.errors import Interrupted, SynthError
from synth.places import refuse_remote

__all__ = ["app", "main", "run"]

app = typer.Typer(
    name="synth",
    help="Make data for post-training agents: tasks, rollouts, trajectories, each row with its proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"synth {distribution.version()}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version of this package."),
    ] = False,
) -> None:
    pass


app.command("build")(build.build)
app.command("plan")(build.plan)
app.command("list")(recipes.list_datasets)
app.command("init")(recipes.init)
app.command("recipe")(recipes.recipe)
app.command("validate")(look.validate)
app.command("scan")(look.scan)
app.command("stats")(look.stats)
app.command("show")(look.show)
app.command("evaluate")(evaluate.evaluate)
app.command("export")(export.export)
app.command("import")(export.import_)
app.command("mix")(export.mix)
app.command("push")(push.push)
app.command("redact")(rights.redact)
app.command("rehydrate")(rights.rehydrate)
app.command("report")(report.report)
app.command("reward")(reward.reward)
app.command("serve-env")(serve.serve_env)
app.command("deploy")(upkeep.deploy)
app.command("doctor")(upkeep.doctor)
app.command("store")(upkeep.store)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 bad input, 3 build, 4 store, 5 dataset, 6 cap reached, 7 endpoint down,
    8 refused by the Hub, 130 interrupted."""
    run(app, arguments)


def run(application: typer.Typer, arguments: list[str] | None = None) -> None:
    """Run an application and exit as :func:`main` does."""
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("synth", _escaped)
        sys.stdout.reconfigure(errors="synth")
    try:
        _refuse_remote(sys.argv[1:] if arguments is None else arguments)
        code = _command(application)(args=arguments, standalone_mode=False)
        sys.stdout.flush()
        if code == Interrupted.exit_code:  # what typer makes of Ctrl-C, without a word
            raise KeyboardInterrupt
        if isinstance(code, int) and code:
            sys.exit(code)
    except TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            sys.exit(0)
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "synth"
        _fail(f"{error.format_message().rstrip('.')}. See `{command} --help`", 2)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except SynthError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted; everything that was finished is kept: the same command goes on from here.", 130)
    except BrokenPipeError:
        # The reader (head, less) went away: not an error of ours, and nothing more can be written to it.
        _drop_output()
        sys.exit(141)
    except OSError as error:
        try:
            print(flush=True)
        except OSError:  # the output is what failed
            _drop_output()
            _fail(f"standard output can't be written: {error.strerror}", 4)
        raise


@cache
def _command(application: typer.Typer) -> Callable[..., Any]:
    """Reading the signatures of all commands takes a tenth of a second: once in a process that runs several."""
    return get_command(application)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a terminal's encoding can't show, as JSON escapes it: text with ``--json`` stays JSON."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_NO_PLACES = {
    "--against",
    "--allow-host",
    "--host",
    "--id",
    "--licence",
    "--model",
    "--repo",
    "--revision",
    "--select",
    "--set",
    "--task",
}
"""Options whose value names nothing on a disk. What ``--set`` says is checked as a recipe."""


def _refuse_remote(arguments: list[str]) -> None:
    """No path is a URL; a ``Path`` would make a folder of it."""
    for before, given in zip(["", *arguments], arguments, strict=False):
        option, equals, value = given.partition("=")
        if option.startswith("-") and equals:
            before, given = option, value
        if before not in _NO_PLACES:
            refuse_remote(given, before if before.startswith("--") else "command line")


def _fail(line: str, code: int) -> None:
    print(f"synth: {' '.join(line.split())}", file=sys.stderr)
    sys.exit(code)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
