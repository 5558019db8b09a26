from __future__ import annotations

import hashlib
import json
from importlib.resources import files

import pytest

from synth.errors import InputError
from synth.prompting import list_prompts, load_prompt, parse_prompt

PROMPT = b"---\nvariables: [name, tools]\n---\nHello {{ name }}: {% for tool in tools %}{{ tool }} {% endfor %}\n"


def test_released_prompts_do_not_change() -> None:
    lock = json.loads(files("synth").joinpath("prompts", "lock.json").read_text(encoding="utf-8"))
    shipped = {f"{name}/v{version}": load_prompt(name, version).ref.sha256 for name, version in list_prompts()}
    assert shipped == lock, "a released prompt changed: make a new version, and add its hash to prompts/lock.json"


def test_every_prompt_can_be_read_and_declares_what_it_uses() -> None:
    assert ("agents/search", 1) in list_prompts()
    for name, version in list_prompts():
        prompt = load_prompt(name, version)
        rendered = prompt.render(**dict.fromkeys(prompt.variables, "VALUE"))
        assert rendered.count("VALUE") >= len(prompt.variables)
        assert "{{" not in rendered


def test_the_newest_version_is_the_default() -> None:
    assert load_prompt("agents/search") == load_prompt("agents/search", max(v for n, v in list_prompts()))


def test_rendering_and_reference() -> None:
    prompt = parse_prompt("a/b", 3, PROMPT)
    assert prompt.render(name="Ann", tools=["x", "y"]) == "Hello Ann: x y"
    digest = hashlib.sha256(PROMPT).hexdigest()
    assert str(prompt.ref) == f"a/b/v3@{digest}"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "Ann"}, "missing tools"),
        ({"name": 1, "tools": [], "more": 2}, "not declared more"),
        ({}, "name, tools"),
    ],
)
def test_missing_and_extra_variables(values: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_prompt("a/b", 3, PROMPT).render(**values)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no front matter {{ x }}", "must begin with"),
        (b"---\nvariables: []\n---\n{{ x }}", "uses \\['x'\\]"),
        (b"---\nvariables: [x, y]\n---\n{{ x }}", "declares"),
        (b"---\nvariables: []\n---\n\xff", "not UTF-8"),
    ],
)
def test_broken_files(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_prompt("a/b", 1, data)


def test_unknown_prompts_list_the_choices() -> None:
    with pytest.raises(InputError, match="agents/search/v1"):
        load_prompt("agents/nothing")
    with pytest.raises(InputError, match="agents/search/v999"):
        load_prompt("agents/search", 999)
