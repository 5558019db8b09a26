"""Keys from Secret blocks are variables for the time of a flow run, and nothing else."""

from __future__ import annotations

import os

import pytest

from synth.errors import InputError

pytestmark = pytest.mark.thorough


@pytest.mark.usefixtures("prefect_server")
def test_a_block_is_a_variable_while_the_flow_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect import flow
    from prefect.blocks.system import Secret

    from synth.flows.secrets import secret_variables

    monkeypatch.setenv("SYNTH_TEST_KEPT", "mine")
    monkeypatch.delenv("SYNTH_TEST_KEY", raising=False)
    Secret(value="s3cret-of-the-block").save("synth-test", overwrite=True)

    @flow(name="secrets", persist_result=False)
    def run(secrets: dict[str, str] | None) -> list[str | None]:
        with secret_variables(secrets):
            return [os.environ.get("SYNTH_TEST_KEY"), os.environ.get("SYNTH_TEST_KEPT")]

    assert run({"SYNTH_TEST_KEY": "synth-test", "SYNTH_TEST_KEPT": "synth-test"}) == ["s3cret-of-the-block"] * 2
    assert (os.environ.get("SYNTH_TEST_KEY"), os.environ["SYNTH_TEST_KEPT"]) == (None, "mine")
    assert run(None) == [None, "mine"]
    with pytest.raises(InputError, match="no Secret block 'nowhere'"):
        run({"SYNTH_TEST_KEY": "nowhere"})
