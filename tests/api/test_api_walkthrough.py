"""The manual's walk-through "Your folder, your vLLM", as it stands there, against the test server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from stand_ins.model_server import Call, FixedPlayer, ModelServer, Reply

import synth
from synth.agents.model.wire import GAVE_UP
from synth.cli import main
from synth.testing.corpus import small_documents, small_tasks

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "models.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Your folder, your vLLM\n")[1].split("\n## ")[0]
RECIPE = re.findall(r"```yaml\n(.*?)```", SECTION, re.S)[0]
COMMANDS = [line.split("#")[0].split() for line in re.findall(r"^    (synth (?!init).*)$", SECTION, re.M)]
MODEL = "Qwen/Qwen3-8B"


def write_folder(folder: Path) -> None:
    """The pages as linked Markdown, and questions about them."""
    folder.mkdir()
    for document in small_documents():
        text = document.text
        for link in sorted(document.links, key=lambda link: -link.start):
            text = f"{text[: link.start]}[{text[link.start : link.end]}]({link.target}.md){text[link.end :]}"
        (folder / f"{document.id}.md").write_text(f"# {document.title}\n\n{text}\n")
    lines = [json.dumps({"question": task.question, "answer": task.answer}) for task in small_tasks()]
    (folder.parent / "questions.jsonl").write_text("\n".join(lines) + "\n")


def read_on(request: Mapping[str, Any], sample: str | None) -> Reply:
    """A model that searches for the question's own words, opens what is listed, and answers once it has read it."""
    messages = request["messages"]
    answer = next((task.answer for task in small_tasks() if task.question == messages[1]["content"]), None)
    assert answer is not None
    seen = [message["content"] for message in messages if message["role"] == "tool"]
    if not request.get("tools"):
        return Reply(content=GAVE_UP)
    if any(answer in text for text in seen):
        return Reply(content=answer, reasoning="The page says so.")
    opened = len(seen) - 1
    if opened < 0:
        names = " ".join(re.findall(r"(?<=\s)(?:[A-Z]\w+ ?)+", messages[1]["content"]))
        return Reply(
            calls=(Call("search", json.dumps({"query": names.strip() or "book", "k": 20})),), reasoning="I look."
        )
    listed = list(dict.fromkeys(re.findall(r"\]\(([^)#]+)", seen[0])))
    if opened >= min(8, len(listed)):
        return Reply(content=GAVE_UP, reasoning="Nothing of it helps.")
    return Reply(calls=(Call("open", json.dumps({"document": listed[opened]})),), reasoning="I read on.")


def exit_code(arguments: list[str]) -> int:
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_walk_through_of_the_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    write_folder(tmp_path / "pages")
    with ModelServer({MODEL: FixedPlayer(read_on)}) as server:
        text = RECIPE.replace("http://localhost:8000/v1", server.url).replace("/path/to/my/pages", "pages")
        recipe = yaml.safe_load(text)
        assert {role["endpoints"][0] for role in recipe["roles"].values()} == {server.url}
        # Seventeen pages are too few for questions of ours: they come with their own.
        recipe |= {"tasks": None, "questions": {"kind": "given", "path": "questions.jsonl"}}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(recipe))
        assert [command[1] for command in COMMANDS] == ["doctor", "preview", "plan", "plan", "build", "show", "stats"]
        for command in COMMANDS[1:]:  # doctor asks the address where a server usually is: tests/models asks one of ours
            assert exit_code(command[1:]) == 0, (command, capsys.readouterr().err)
        assert server.errors == []
    rows = list(synth.load("out/mine").rows("trajectories"))
    assert {row.model for row in rows} == {MODEL}
    assert {row.provenance.backend for row in rows} == {"vllm"}
    assert any(row.success for row in rows)
    assert any(not row.success for row in rows)
    assert exit_code(["validate", "out/mine"]) == 0, capsys.readouterr().out
    rl = datasets.load_dataset("out/mine", "rl", split="train")
    assert len(rl) == len(small_tasks())
    assert {"prompt", "reward_model"} <= set(rl.column_names)
    assert server.url not in "".join(path.read_text() for path in Path("out/mine").glob("*.*") if path.is_file())
