"""Recipes whose source is explored: what goes together, and what a plan makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.errors import InputError
from synth.pipelines.explored import made_of, published_source, task_values
from synth.recipe.load import parse_recipe
from synth.recipe.model import Recipe

LIBRARY = Path(__file__).parent.parent / "environments" / "library.yaml"


def recipe(**parts: Any) -> Recipe:
    base: dict[str, Any] = {
        "name": "desk",
        "tasks": 5,
        "source": {"kind": "app"},
        "questions": {"kind": "reverse"},
        "environment": {"kind": "app"},
    }
    return parse_recipe({**base, **parts}, "test")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"questions": {"kind": "world"}}, "questions of kind world need a graph of facts"),
        ({"source": {"kind": "world"}}, "a source that is explored"),
        ({"environment": {"kind": "graph"}}, "do not go together"),
        ({"source": {"kind": "app", "aplication": "ledger"}}, "did you mean 'application'"),
        ({"environment": {"kind": "app", "failures": {"rate": 2}}}, "environment.failures.rate"),
        (
            {"roles": {"teacher": {}, "checker": {"backend": "openai", "model": "m", "endpoints": ["http://h/v1"]}}},
            "checker",
        ),
    ],
)
def test_what_makes_no_sense_is_one_line(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        recipe(**parts)
    assert said.casefold() in str(caught.value).casefold()
    assert "\n" not in str(caught.value)


def test_an_application_of_a_file_goes_by_its_text(tmp_path: Path) -> None:
    copy = tmp_path / "mine.yaml"
    copy.write_text(LIBRARY.read_text("utf-8"), "utf-8")
    made = recipe(source={"kind": "app", "application": str(copy)})
    options, version = made_of(made)
    assert str(tmp_path) not in str(options)
    assert str(tmp_path) not in str(published_source(made))
    again = recipe(source=published_source(made))
    assert made_of(again) == (options, version)
    copy.write_text(LIBRARY.read_text("utf-8").replace("title: A lending library", "title: Another library"), "utf-8")
    assert made_of(made)[1] != version


def test_how_agents_fare_is_no_matter_of_the_tasks() -> None:
    calm = recipe()
    rough = recipe(environment={"kind": "app", "failures": {"rate": 0.2}})
    assert task_values(calm) == task_values(rough)
    assert made_of(calm)[0] != made_of(rough)[0]


@pytest.mark.parametrize("application", ["airlin", "missing.yaml", "name: x\ntitle: y\n"])
def test_an_application_that_can_not_be_read_is_one_line(application: str) -> None:
    with pytest.raises(InputError):
        made_of(recipe(source={"kind": "app", "application": application}))


def test_a_licence_is_what_the_file_says_or_else_the_recipe(tmp_path: Path) -> None:
    silent = tmp_path / "mine.yaml"
    silent.write_text(LIBRARY.read_text("utf-8"), "utf-8")
    given = {"kind": "app", "application": str(silent)}
    assert task_values(recipe(source={"kind": "app"}))["licence"] == "CC0-1.0"
    assert task_values(recipe(source={"kind": "app", "licence": "MIT"}))["licence"] == "CC0-1.0"
    assert task_values(recipe(source=given))["licence"] is None
    assert task_values(recipe(source={**given, "licence": "MIT"}))["licence"] == "MIT"
    silent.write_text(LIBRARY.read_text("utf-8").replace("\nabout:", "\nlicence: ODbL-1.0\nabout:"), "utf-8")
    assert task_values(recipe(source={**given, "licence": "MIT"}))["licence"] == "ODbL-1.0"


@pytest.mark.parametrize(
    ("stated", "more", "found"),
    [
        ((None, None), {}, None),
        ((None, None), {"licence": "MIT"}, "MIT"),
        (("CC0-1.0", None), {"licence": "MIT"}, None),  # two licences are no one licence
        (("CC0-1.0", None), {}, None),
        (("CC0-1.0", "CC0-1.0"), {}, "CC0-1.0"),
    ],
)
def test_servers_have_a_licence_where_all_of_them_have_it(
    stated: tuple[str | None, ...], more: dict[str, str], found: str | None
) -> None:
    server = {"command": ["{python}", "-I", "-S", "{shipped}/organizer.py", "home"]}
    servers = {f"s{place}": {**server, "licence": licence} for place, licence in enumerate(stated)}
    made = recipe(source={"kind": "mcp", "servers": servers, **more}, environment={"kind": "mcp", "replay_safe": True})
    assert task_values(made)["licence"] == found
