"""The automation that the manual shows is one that the server takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.thorough

NOTIFY = Path(__file__).parents[2] / "flows" / "notify.yaml"


@pytest.mark.usefixtures("prefect_server")
def test_the_server_takes_the_automation() -> None:
    from prefect.automations import Automation
    from prefect.blocks.webhook import Webhook

    block = Webhook(url="http://127.0.0.1:9/told").save("synth-notify", overwrite=True)
    body = yaml.safe_load(NOTIFY.read_text("utf-8"))
    body["actions"][0]["block_document_id"] = str(block)
    made = Automation.model_validate(body).create()
    found = Automation.read(id=made.id)
    assert found.name == "synth-failed"
    assert found.trigger.expect == {"prefect.flow-run.Failed", "prefect.flow-run.Crashed"}
    assert [action.type for action in found.actions] == ["send-notification"]
