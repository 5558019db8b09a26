"""``synth architect``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.cli.options import LOCAL_ENDPOINT, EndpointOption, KeyOption, MaxTokensOption, ModelOption, StoreOption
from synth.errors import BuildError, InputError
from synth.late import late

if TYPE_CHECKING:
    from synth import identity, inputs
    from synth import store as stores
    from synth.cli import account as account_text
    from synth.engine import options
    from synth.exploration.app import architect as architects
    from synth.models import contract
    from synth.pipelines import building
else:
    account_text = late("synth.cli.account")
    architects = late("synth.exploration.app.architect")
    building = late("synth.pipelines.building")
    contract = late("synth.models.contract")
    identity = late("synth.identity")
    inputs = late("synth.inputs")
    options = late("synth.engine.options")
    stores = late("synth.store")

__all__ = ["architect"]


def architect(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A text file: one sentence of the policy a line.")],
    model: ModelOption = None,
    endpoint: EndpointOption = None,
    key: KeyOption = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the application goes.")] = Path("desk.yaml"),
    attempts: Annotated[
        int, typer.Option("--attempts", min=1, max=50, help="How many files are proposed at most.")
    ] = 8,
    max_output: Annotated[int, typer.Option("--max-output", min=256, help="Tokens of one file at most.")] = 16_000,
    max_tokens: MaxTokensOption = None,
    store: StoreOption = None,
) -> None:
    """Have a model write an application for a policy. It is kept once all of it was proven. Rerun to resume."""

    sentences = [line.strip() for line in inputs.read_text(str(policy), mend="give a UTF-8 text file").splitlines()]
    sentences = [line for line in sentences if line and not line.startswith("#")]
    if not sentences:
        raise InputError("it holds no sentence", where=str(policy), mend="write one sentence of the policy a line")
    if model is None:
        raise InputError("no model is named", where="architect", mend="name one: --model NAME --endpoint URL")
    if out.exists():
        raise InputError("exists already", where=str(out), mend="name another file with --out")
    kept = stores.Store(store or building.default_store())
    account = f"architect {policy.stem} {identity.digest(sentences)[:8]}"
    with options.StoreHub(kept, account, max_tokens=max_tokens) as hub:
        bound = hub.bind(
            model,
            contract.Sampling(max_tokens=max_output),
            contract.Runtime(endpoints=(endpoint or LOCAL_ENDPOINT,), api_key_env=key, role="architect"),
        )
        made = architects.design(bound, sentences, attempts=attempts)
        for number, problem in enumerate(made.refused, 1):
            print(f"attempt {number}: {problem}")
        print(account_text.account_text(hub.account()))
    if made.text is None:
        raise BuildError(
            f"none of {attempts} applications held",
            where=str(policy),
            mend="allow more with --attempts, split its sentences, or name another model",
        )
    out.write_text(made.text, encoding="utf-8")
    print(f"wrote {out}; next: synth build app-desk --set source.application={out}")
