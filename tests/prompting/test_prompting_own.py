"""A folder of the user's prompts: what it may hold, and which stages another text of it reaches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from synth.engine.fingerprint import fingerprints
from synth.errors import InputError
from synth.pipelines.planner import plan
from synth.prompting import list_prompts, load_prompt, overlaid
from synth.prompting.own import checked_prompts, read_prompts, write_prompts
from synth.recipe.load import load_recipe

JUDGED: dict[str, Any] = {
    "roles.judge": {"backend": "openai", "model": "j", "base_url": "http://localhost:1/v1"},
    "ratings": {},
}


def folder(at: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text, encoding="utf-8")
    return at


def changed(settings: Mapping[str, Any], prompts: Mapping[str, str]) -> set[str]:
    """Labels of the stage runs whose own fingerprint material another text of a prompt changes."""
    plans = [plan(load_recipe("world-search", settings={**settings, "prompts": one})) for one in ({}, prompts)]
    before, after = (fingerprints(one) for one in plans)
    assert {label for label in before if before[label].value != after[label].value}, "nothing depends on it"
    apart = ("inputs", "prompts")
    return {
        label
        for label, one in after.items()
        if {key: value for key, value in one.material.items() if key not in apart}
        != {key: value for key, value in before[label].material.items() if key not in apart}
        or "prompts" in one.material
    }


def test_another_text_reaches_exactly_the_stages_that_use_it() -> None:
    agents = {"teacher-rollouts", "policy-rollouts", "closed-book"}
    assert changed({}, {"agents/search/v2": "Look it up.\n{{ instructions }}"}) == agents
    assert changed(JUDGED, {"judge/rate/v1": _edited("judge/rate")}) == {"teacher-ratings", "policy-ratings"}
    assert changed({}, {"rl/search/v1": _edited("rl/search")}) == {"rl"}
    hints = {"refine.how": ["regenerate", "hint"]}
    assert changed(hints, {"agents/retry/v1": _edited("agents/retry")}) == {"policy-refined"}


def _edited(name: str) -> str:
    prompt = load_prompt(name)
    return "Mind this.\n" + "\n".join(f"{{{{ {variable} }}}}" for variable in prompt.variables)


def test_a_stage_that_does_not_name_a_prompt_may_not_load_it() -> None:
    with overlaid({"agents/search/v2": None}), pytest.raises(ValueError, match="does not name it"):
        load_prompt("agents/search")
    with overlaid({"agents/search/v2": "Mine."}):
        assert load_prompt("agents/search").text == "Mine."
    assert load_prompt("agents/search").text != "Mine."


def test_a_folder_is_read_with_the_recipe_beside_it(tmp_path: Path) -> None:
    folder(tmp_path / "mine", {"agents/search/v2.md": "Mine.", ".git/x": "hidden"})
    recipe = tmp_path / "recipe.yaml"
    body = "name: small\ntasks: 5\nsource: {kind: world, entities: 400}\nquestions: {kind: world}\n"
    recipe.write_text(f"{body}prompts: mine\n")
    assert load_recipe(file=recipe).prompts == {"agents/search/v2": "Mine."}
    other = folder(tmp_path / "other", {"agents/search/v2.md": "Other."})
    assert load_recipe(file=recipe, settings={"prompts": str(other)}).prompts == {"agents/search/v2": "Other."}
    (tmp_path / "pages").mkdir()
    recipe.write_text(f"{body}prompts: mine\n".replace("{kind: world, entities: 400}", "{kind: docs, path: pages}"))
    documents: Any = load_recipe(file=recipe, settings={"questions.kind": "docs"})
    assert documents.source.path == str(tmp_path / "pages")
    recipe.write_text(f"{body}prompts: nowhere\n")
    with pytest.raises(InputError, match="does not exist"):
        load_recipe(file=recipe)


def test_texts_that_are_ours_change_nothing() -> None:
    from importlib.resources import files

    ours = {
        f"{name}/v{version}": files("synth").joinpath("prompts", *name.split("/"), f"v{version}.md").read_text("utf-8")
        for name, version in list_prompts()
    }
    assert checked_prompts(ours) == {}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"agents/serch/v2.md": "x"}, "agents/serch/v2.md .*did you mean agents/search/v2.md"),
        ({"agents/search/v99.md": "x"}, "did you mean agents/search/v2.md"),
        ({"readme.txt": "x"}, "there is no prompt readme.txt"),
        ({}, "holds no prompt"),
        ({"agents/search/v2.md": "a\n{{ question }}"}, "given no {{ question }}. .*{{ instructions }}"),
        ({"agents/search/v2.md": "a\n{{ instructions"}, "line 2: unexpected end of template"),
        ({"agents/search/v2.md": "---\nvariables: [instructions]\n---\na {% fro %}"}, "line 4: .*unknown tag 'fro'"),
    ],
)
def test_a_mistake_is_one_line(files: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"(?i){said}"):
        read_prompts(folder(tmp_path / "mine", {".keep": "", **files}))


def test_a_template_reaches_for_nothing_but_its_variables() -> None:
    sly = "{{ instructions.__class__.__mro__ }}"
    with overlaid({"agents/search/v2": sly}), pytest.raises(InputError, match="can't be filled in: SecurityError"):
        load_prompt("agents/search").render(instructions="x")


def test_only_a_user_names_a_folder() -> None:
    with pytest.raises(InputError, match="name a folder, or give texts"):
        load_recipe("world-search", settings={"prompts": 3})


def test_what_ships_can_be_written_and_changed(tmp_path: Path) -> None:
    assert write_prompts(tmp_path / "mine") == len(dict(list_prompts()))
    assert read_prompts(tmp_path / "mine") == {}
    (tmp_path / "mine" / "agents" / "search" / "v2.md").write_text("Mine.")
    assert read_prompts(tmp_path / "mine") == {"agents/search/v2": "Mine."}
    with pytest.raises(InputError, match="exists already"):
        write_prompts(tmp_path / "mine")
