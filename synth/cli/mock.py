"""``synth mock-endpoint`` and ``synth mock-hub``: servers on loopback in place of a model's and of the Hub."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.errors import InputError
from synth.late import late

if TYPE_CHECKING:
    from synth.dataset import reader
    from synth.mocks import hub, model
    from synth.mocks.model import cast
else:
    reader = late("synth.dataset.reader")
    hub = late("synth.mocks.hub")
    model = late("synth.mocks.model")
    cast = late("synth.mocks.model.cast")

__all__ = ["mock_endpoint", "mock_hub"]


def mock_endpoint(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A dataset: its questions are answered as its scripted agents would."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8000,
    latency: Annotated[float, typer.Option("--latency", min=0, metavar="S", help="Seconds before an answer.")] = 0.0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="KIND=SHARE",
            help="What goes wrong how often: rate_limited=0.1, hang=0.01, torn_json, lost_calls, batch_expired, ..., "
            "or all=0.01 (without batches). Repeatable; a wrong name lists all.",
        ),
    ] = None,
    batch_seconds: Annotated[
        float, typer.Option("--batch-seconds", min=0, metavar="S", help="Seconds until a batch is through.")
    ] = 10.0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="What the faults are drawn with.")] = 0,
    key: Annotated[str | None, typer.Option("--require-key", metavar="KEY", help="Refuse who sends another.")] = None,
) -> None:
    """Serve chat completions and batches without a model: scripted agents, with faults on a plan. Ctrl-C or SIGTERM
    ends it."""

    players = cast.Cast(None if folder is None else reader.load(folder))
    options = model.ServerOptions(
        port=port, latency=latency, batch_seconds=batch_seconds, faults=_faults(fault or [], seed), api_key=key
    )
    server = model.ModelServer(players, options)
    try:
        server.start()
    except OSError as error:
        raise InputError(f"the port can't be used: {error.strerror}", where="--port", mend="choose another") from None
    known = (
        f"{players.tasks:,} tasks; models {', '.join(players.models)}" if players.tasks else "answers are improvised"
    )
    try:
        print(f"{server.url} ({known})", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        server.stop()
    outcomes = Counter(record.outcome for record in server.log.records())
    print(f"{sum(outcomes.values()):,} requests" + "".join(f", {n:,} {what}" for what, n in sorted(outcomes.items())))


def _faults(given: list[str], seed: int) -> model.Faults:
    kinds = {str(kind): kind for kind in model.FaultKind}
    of_batches = {str(kind): kind for kind in model.BatchFault}
    rates: dict[model.FaultKind, float] = {}
    batches: dict[model.BatchFault, float] = {}
    for text in given:
        name, _, share = text.partition("=")
        try:
            rate = float(share)
            if not 0 <= rate <= 1:
                raise ValueError
        except ValueError:
            raise InputError(f"{text!r} is not KIND=SHARE", where="--fault", mend="write hang=0.05") from None
        if name in of_batches:
            batches[of_batches[name]] = rate
            continue
        if name != "all" and name not in kinds:
            mend = f"one of all, {', '.join((*kinds, *of_batches))}"
            raise InputError(f"there is no fault {name!r}", where="--fault", mend=mend)
        rates |= dict.fromkeys(kinds.values() if name == "all" else [kinds[name]], rate)
    for group in (model.TRANSPORT_FAULTS, model.CONTENT_FAULTS):
        if sum(rates.get(kind, 0.0) for kind in group) > 1:
            raise InputError("the shares sum to more than 1", where="--fault", mend="give smaller ones")
    return model.Faults(seed=seed, rates=rates, batches=batches)


def mock_hub(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the repositories are kept.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8001,
    token: Annotated[str, typer.Option("--token", help="The one token that it takes.")] = "hf_mock",
) -> None:
    """Serve a Hub that keeps repositories in a folder, for `synth push` and loading. Ctrl-C or SIGTERM ends it.

    It then writes the files of each repository to DIR/files.
    """

    try:
        folder.mkdir(parents=True, exist_ok=True)
        server = hub.HubServer(folder, token=token, port=port)
    except OSError as error:
        raise InputError(f"it can't be served: {error.strerror}", where=f"{folder}, port {port}") from None
    with server:
        try:
            print(f"HF_ENDPOINT={server.url} HF_TOKEN={token} synth push DIR --repo NAME/NAME", flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"{len(server.records):,} requests", flush=True)
    for name in server.repositories.repos:
        print(f"{name}: {server.repositories.checkout(name, folder / 'files' / name)}")
