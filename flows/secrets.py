"""Keys that a Prefect server keeps: Secret blocks as variables of the environment, for the time of a flow run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prefect.blocks.system import Secret

from synth.errors import InputError

__all__ = ["secret_variables"]


@contextmanager
def secret_variables(blocks: Mapping[str, str] | None) -> Iterator[None]:
    """Set variables of the environment from blocks, name -> block, and put back what was there.

    Raises:
        InputError: the server has no such block.
    """
    found: dict[str, str] = {}
    for variable, block in (blocks or {}).items():
        try:
            found[variable] = str(Secret.load(block, _sync=True).get())  # type: ignore[call-arg, union-attr]
        except ValueError:
            mend = f'make it: python -c "from prefect.blocks.system import Secret; Secret(value=...).save({block!r})"'
            raise InputError(
                f"the server has no Secret block {block!r}", where=f"secrets.{variable}", mend=mend
            ) from None
    before = {variable: os.environ.get(variable) for variable in found}
    os.environ.update(found)
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value
