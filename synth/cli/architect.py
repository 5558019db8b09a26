"""``synth architect``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    from synth.environments.app.from_tools import reading
    from synth.exploration.app import architect as architects
    from synth.exploration.app import given_tools
    from synth.models import contract
    from synth.pipelines import building
else:
    account_text = late("synth.cli.account")
    architects = late("synth.exploration.app.architect")
    building = late("synth.pipelines.building")
    contract = late("synth.models.contract")
    given_tools = late("synth.exploration.app.given_tools")
    identity = late("synth.identity")
    inputs = late("synth.inputs")
    options = late("synth.engine.options")
    reading = late("synth.environments.app.from_tools.reading")
    stores = late("synth.store")

__all__ = ["architect"]


def architect(
    policy: Annotated[
        Path | None, typer.Argument(metavar="[POLICY]", help="A text file: one sentence of the policy a line.")
    ] = None,
    tools: Annotated[
        Path | None,
        typer.Option(
            "--tools", metavar="FILE", help="OpenAI's `tools`, an MCP `tools/list` or OpenAPI, in place of it."
        ),
    ] = None,
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
    """Write an application for a policy (by a model) or a list of tools (by rule or by a model). Rerun to resume."""

    if (policy is None) == (tools is None):
        raise InputError(
            "a policy or a list of tools is needed, not both" if policy else "there is no policy and no list of tools",
            where="architect",
            mend="give a text file, or --tools FILE",
        )
    if tools is None and model is None:
        raise InputError("no model is named", where="architect", mend="name one: --model NAME --endpoint URL")
    if out.exists():
        raise InputError("exists already", where=str(out), mend="name another file with --out")
    given = policy or tools
    assert given is not None
    content = inputs.read_text(str(given), mend="give a UTF-8 text file")
    asked = _Asked(model, endpoint, key, attempts, max_output, max_tokens, store)
    text = _of_policy(content, str(given), asked) if tools is None else _of_tools(content, tools, asked)
    out.write_text(text, encoding="utf-8")
    print(f"wrote {out}; next: synth build app-desk --set source.application={out}")


@dataclass(frozen=True)
class _Asked:
    """The model and how often it is asked."""

    model: str | None
    endpoint: str | None
    key: str | None
    attempts: int
    max_output: int
    max_tokens: int | None
    store: Path | None

    def design(self, account: str, propose: Callable[[contract.Model], architects.Design]) -> architects.Design:
        """What comes of it; each attempt that did not hold is said."""
        assert self.model is not None
        with options.StoreHub(
            stores.Store(self.store or building.default_store()), account, max_tokens=self.max_tokens
        ) as hub:
            bound = hub.bind(
                self.model,
                contract.Sampling(max_tokens=self.max_output),
                contract.Runtime(endpoints=(self.endpoint or LOCAL_ENDPOINT,), api_key_env=self.key, role="architect"),
            )
            made = propose(bound)
            for number, problem in enumerate(made.refused, 1):
                print(f"attempt {number}: {problem}")
            print(account_text.account_text(hub.account()))
        return made


def _of_policy(content: str, where: str, asked: _Asked) -> str:
    sentences = [line.strip() for line in content.splitlines()]
    sentences = [line for line in sentences if line and not line.startswith("#")]
    if not sentences:
        raise InputError("it holds no sentence", where=where, mend="write one sentence of the policy a line")
    account = f"architect {Path(where).stem} {identity.digest(sentences)[:8]}"
    made = asked.design(account, lambda bound: architects.design(bound, sentences, attempts=asked.attempts))
    if made.text is None:
        raise BuildError(
            f"none of {asked.attempts} applications held",
            where=where,
            mend="allow more with --attempts, split its sentences, or name another model",
        )
    return made.text


def _of_tools(content: str, file: Path, asked: _Asked) -> str:
    listed = reading.read_tools(content, str(file))
    name = reading.snake(file.stem)[:40] or "desk"
    made = given_tools.make_of_tools(listed, name if name[0].isalpha() else f"desk_{name}", str(file))
    for line in made.left_out:
        print(f"left out: {line}")
    seen = sum(feed.seen > 0 for feed in made.graph.feeds)
    ways = len(made.graph.feeds)
    print(f"{len(made.tools)} of {len(listed)} tools; {ways} ways from one to the next, {seen} of them taken")
    if unfed := made.graph.unfed():
        print(f"no tool shows the ids that these take, so people say them: {', '.join(unfed)}")
    if asked.model is None:
        return made.text
    account = f"architect {file.stem} {identity.digest(made.text)[:8]}"
    fuller = asked.design(account, lambda bound: given_tools.design_tools(bound, listed, made, attempts=asked.attempts))
    if fuller.text is None:
        print(f"none of the model's {asked.attempts} applications held: what was made by rule is kept")
    return fuller.text or made.text
