"""``synth``: one module per group of commands, imported when one of them is run."""

from __future__ import annotations

import codecs
import gc
import io
import json
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command_from_info
from typer.models import CommandInfo

from synth import distribution
from synth.errors import Interrupted, SynthError
from synth.places import refuse_remote

__all__ = ["COMMANDS", "app", "main", "run"]

_GARBAGE_AFTER = 50_000
"""Python looks for cycles after 700 new containers, and most of what a command makes lives on: a tenth of a build."""
COMMANDS: Mapping[str, tuple[str, str]] = {
    "build": (
        "synth.cli.build:build",
        "Build a dataset. Rerun an interrupted build to resume it.",
    ),
    "append": (
        "synth.cli.append:append",
        "Add tasks, and all that is made of them, to a finished build: what is there stays. Rerun to resume.",
    ),
    "watch": (
        "synth.cli.watch:watch",
        "Watch a build from another shell: stages, rows, model calls, cost, time left. Exits with 1 if it failed.",
    ),
    "plan": (
        "synth.cli.build:plan",
        "Say what a build would run, how large it is, and what the store holds already.",
    ),
    "preview": (
        "synth.cli.build:preview",
        "Show a build's first tasks and a run of the first one. The build finds them in the store.",
    ),
    "list": (
        "synth.cli.recipes:list_datasets",
        "List the datasets that ship with synth, and what there is to choose from.",
    ),
    "init": (
        "synth.cli.recipes:init",
        "Write a commented recipe to change.",
    ),
    "new": (
        "synth.cli.new:new",
        "Write a package that adds a part of your own: a working one to change, with a recipe and tests that pass.",
    ),
    "architect": (
        "synth.cli.architect:architect",
        "Write an application for a policy (by a model) or a list of tools (by rule or by a model). Rerun to resume.",
    ),
    "recipe": (
        "synth.cli.recipes:recipe",
        "Print the JSON Schema of recipes, or a recipe with every default filled in.",
    ),
    "validate": (
        "synth.cli.prove:validate",
        "Prove every row again: layout, schemas, ADP rules, evidence, splits, and that the card tells the truth.",
    ),
    "scan": (
        "synth.cli.prove:scan",
        "Look for personal data and secrets in every column: e-mail, telephone, accounts, cards, addresses, keys.",
    ),
    "stats": (
        "synth.cli.look:stats",
        "Rows, yields per stage, success by role and hops, lengths.",
    ),
    "show": (
        "synth.cli.look:show",
        "Show one trajectory, task, step, branch, pair or document as a person can read it.",
    ),
    "evaluate": (
        "synth.cli.evaluate:evaluate",
        "Run models on a dataset's held-out tasks and compare them: success with intervals, failures, cost.",
    ),
    "export": (
        "synth.cli.export:export",
        "Write a dataset in the format of a trainer or of another project, and say what it could not hold.",
    ),
    "import": (
        "synth.cli.export:import_",
        "Import trajectories recorded elsewhere as a dataset.",
    ),
    "mix": (
        "synth.cli.export:mix",
        "Several datasets as one, by weights: tasks are drawn, and all that derives from them comes along.",
    ),
    "push": (
        "synth.cli.push:push",
        "Validate a dataset and publish it on the Hugging Face Hub, in one commit. Needs `hf auth login` or HF_TOKEN.",
    ),
    "redact": (
        "synth.cli.rights:redact",
        "Write a dataset without the text of documents that state no licence: what `synth push --public` publishes.",
    ),
    "rehydrate": (
        "synth.cli.rights:rehydrate",
        "Put redacted text back into a dataset, by id and hash, from your own copy of its documents.",
    ),
    "report": (
        "synth.cli.report:report",
        "Write a page that shows a dataset: plots, tables, rows to search and read. It needs no network.",
    ),
    "serve-reward": (
        "synth.cli.serve:serve_reward",
        "Serve the reward function over HTTP, for trainers (TRL, verl) that run elsewhere. Ctrl-C or SIGTERM ends it.",
    ),
    "serve-env": (
        "synth.cli.serve:serve_env",
        "Serve an environment: over HTTP for RL trainers, or as an MCP server. Ctrl-C or SIGTERM ends it.",
    ),
    "mock-endpoint": (
        "synth.cli.mock:mock_endpoint",
        "Serve chat completions and batches without a model: scripted agents, with faults on a plan. Ctrl-C or SIGTERM "
        "ends it.",
    ),
    "mock-hub": (
        "synth.cli.mock:mock_hub",
        "Serve a Hub that keeps repositories in a folder, for `synth push` and loading. Ctrl-C or SIGTERM ends it.",
    ),
    "deploy": (
        "synth.cli.upkeep:deploy",
        "Build on a schedule, through Prefect: for as long as this command runs, or by the workers of a pool.",
    ),
    "doctor": (
        "synth.cli.upkeep:doctor",
        "Say what is installed and what works; with --model, whether it can play an agent. Exits with 1 if not.",
    ),
    "store": (
        "synth.cli.upkeep:store",
        "List what the store holds, or prune it. What a running build uses is never touched, nor what models replied.",
    ),
}
"""Name -> where it is, and the line that `synth --help` shows: the first of its docstring."""


@cache
def _command(name: str) -> Any:
    module, _, function = COMMANDS[name][0].partition(":")
    found = CommandInfo(name=name, callback=getattr(import_module(module), function))
    return get_command_from_info(found, pretty_exceptions_short=True, rich_markup_mode=None)


class _Commands(TyperGroup):
    """Imports the module of the command that is asked for, and of no other."""

    def __init__(self, **settings: Any) -> None:
        lines = {name: TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()}
        super().__init__(**{**settings, "commands": lines})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)


app = typer.Typer(
    cls=_Commands,
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


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 bad input, 3 build, 4 store, 5 dataset, 6 cap reached, 7 endpoint down,
    8 refused by the Hub, 130 interrupted."""
    run(app, arguments)


def run(application: typer.Typer, arguments: list[str] | None = None) -> None:
    """Run an application and exit as :func:`main` does."""
    signal.signal(signal.SIGTERM, _terminate)
    if 0 < gc.get_threshold()[0] < _GARBAGE_AFTER:  # 0 = turned off
        gc.set_threshold(_GARBAGE_AFTER, *gc.get_threshold()[1:])
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("synth", _escaped)
        sys.stdout.reconfigure(errors="synth")
    try:
        _refuse_remote(sys.argv[1:] if arguments is None else arguments)
        code = application(args=arguments, standalone_mode=False)
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
        _fail("interrupted. Finished work is saved; rerun the same command to resume.", 130)
    except BrokenPipeError:
        # The reader (head, less) went away: not our error, and nothing more can be written to it.
        _drop_output()
        sys.exit(141)
    except OSError as error:
        try:
            print(flush=True)
        except OSError:  # the output is what failed
            _drop_output()
            _fail(f"standard output can't be written: {error.strerror}", 4)
        raise


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a terminal's encoding can't show, as JSON escapes it: text with ``--json`` stays JSON."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_NO_PLACES = frozenset(
    "--against --allow-host --endpoint --host --id --licence --model --repo --revision --select --set --task".split()
)
"""Options whose value names nothing on a disk. What ``--set`` says is checked as a recipe."""
_REMOTE = frozenset("--benchmark --calls --from --out --source --tasks-file".split())
"""Options whose folder or file may lie in storage elsewhere."""
_LOCAL_OUT = ("evaluate", "report")
"""Commands whose ``--out`` is a page or a folder that is written to and read again."""
_LOCAL_PLACE = ("init", "new", "recipe", "build", "plan", "preview", "deploy", "store")
"""Commands whose argument, where it is a place, is one on this machine."""


def _refuse_remote(arguments: list[str]) -> None:
    """Where a place must be on this machine, it is no URL; a ``Path`` would make a folder of it."""
    command = arguments[0] if arguments else ""
    for before, given in zip(["", *arguments], arguments, strict=False):
        option, equals, value = given.partition("=")
        if option.startswith("-") and equals:
            before, given = option, value
        named = before.startswith("--")
        may_be_remote = before in _REMOTE - {"--out" if command in _LOCAL_OUT else ""}
        if before in _NO_PLACES or may_be_remote or not (named or command in _LOCAL_PLACE):
            continue
        refuse_remote(given, before if named else "command line")


def _fail(line: str, code: int) -> None:
    print(f"synth: {' '.join(line.split())}", file=sys.stderr)
    sys.exit(code)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
