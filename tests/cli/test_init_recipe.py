"""``synth init``: a short recipe that builds what ships, and with ``--full`` the whole reference."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from synth.cli import main
from synth.recipe.load import builtin_names, builtin_text, gallery_names, load_recipe
from synth.recipe.template import OPTIONAL


@pytest.mark.parametrize("name", builtin_names())
def test_the_short_recipe_is_short_and_means_what_ships(tmp_path: Path, name: str) -> None:
    file = tmp_path / "recipe.yaml"
    main(["init", str(file), "--from", name])
    lines = file.read_text().splitlines()
    assert len(lines) <= 45
    assert load_recipe(file=file) == load_recipe(name)
    assert all(lines[number - 1].startswith("# ") for number, line in enumerate(lines) if line[:1].isalpha())


@pytest.mark.parametrize("name", gallery_names())
def test_a_recipe_of_the_gallery_says_whose_it_is_and_what_is_simpler_here(tmp_path: Path, name: str) -> None:
    comment = [line for line in builtin_text(name).splitlines() if line.startswith("#")]
    assert "Here:" in " ".join(comment)
    recipe = load_recipe(name)
    assert (recipe.name, bool(recipe.description)) == (name, True)
    main(["init", str(tmp_path / "recipe.yaml"), "--from", name])
    assert load_recipe(file=tmp_path / "recipe.yaml") == recipe


def test_it_begins_with_what_the_user_has(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    file = tmp_path / "recipe.yaml"
    model = ["--model", "Qwen/Qwen3-8B", "--endpoint", "http://localhost:8001/v1", "--key", "MY_KEY"]
    main(["init", str(file), "--source", str(pages), "--tasks", "30", *model])
    recipe = load_recipe(file=file)
    assert (recipe.name, recipe.tasks, recipe.source.kind, recipe.source.path) == ("docs", 30, "docs", str(pages))
    assert {who.backend for who in recipe.roles.values()} == {"openai"}
    assert recipe.roles["policy"].rollouts == 4
    assert {who.api_key_env for who in recipe.roles.values()} == {"MY_KEY"}
    facts = tmp_path / "facts.csv"
    facts.write_text("subject,relation,object\na,likes,b\n")
    main(["init", str(tmp_path / "facts.yaml"), "--source", str(facts), "--full"])
    made = load_recipe(file=tmp_path / "facts.yaml")
    assert (made.name, made.source.kind) == ("facts", "triples")


def test_an_endpoint_without_a_model_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init", str(tmp_path / "recipe.yaml"), "--endpoint", "http://localhost:8001/v1"])
    assert ended.value.code == 2
    assert "no model is named" in capsys.readouterr().err


@pytest.mark.parametrize("key", OPTIONAL)
def test_every_optional_line_counts_once_its_number_sign_is_gone(tmp_path: Path, key: str) -> None:
    file = tmp_path / "recipe.yaml"
    main(["init", str(file)])
    file.write_text(file.read_text().replace(f"# {key}: ", f"{key}: "))
    assert load_recipe(file=file) != load_recipe("world-search")


def test_the_full_recipe_shows_every_key(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    main(["init", str(file), "--full"])
    assert set(yaml.safe_load(file.read_text())) == set(load_recipe("world-search").model_dump())
    assert load_recipe(file=file) == load_recipe("world-search")
