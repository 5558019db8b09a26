"""What README and manual say exists: commands parse, keys and links exist, recipes load, code compiles."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from manual_pages import PAGES, ROOT, blocks_of

from synth.cli.app import app
from synth.inputs import parse_setting
from synth.recipe.load import load_recipe

TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
COMMANDS: Any = typer.main.get_command(app)
LINES = [
    pytest.param(line, id=f"{path.name}: {line[:60]}")
    for path, text in TEXTS.items()
    for line in dict.fromkeys(re.findall(r"^    (synth [^|\n]*)$", text, re.M))
]
GENERATED = "reference/"


@pytest.mark.parametrize("line", LINES)
def test_commands_parse_and_their_keys_exist(line: str, tmp_path: Path) -> None:
    words = [
        str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(line, comments=True)
    ]
    command = COMMANDS.get_command(None, words[1])
    context = command.make_context(words[1], list(words[2:]))
    changes = context.params.get("changes") or ()
    name = context.params.get("dataset")
    if changes and name:
        settings = dict(parse_setting(change) for change in changes)
        if context.params.get("source"):
            settings["source.path"] = str(tmp_path)
        assert load_recipe(name, settings=settings).name == name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXTS[path]):
        if "://" not in target and not target.startswith(GENERATED):
            there = path.parent / target  # a notebook becomes a page when the manual is built
            assert there.exists() or there.with_suffix(".ipynb").exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_compiles_and_recipes_load(path: Path, tmp_path: Path) -> None:
    for code in re.findall(r"```python\n(.*?)```", TEXTS[path], re.S):
        compile(code, str(path), "exec")
    for text in re.findall(r"```yaml\n(.*?)```", TEXTS[path], re.S):
        body = yaml.safe_load(text)
        (tmp_path / "pages").mkdir(exist_ok=True)
        (tmp_path / "pages" / "a.md").write_text("# A\n")
        if body["source"]["kind"] != "web":  # whose site need not be there to load a recipe
            body["source"]["path"] = str(tmp_path / "pages")
        (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(body))
        assert load_recipe(file=tmp_path / "recipe.yaml").name == body["name"]


def test_files_beside_the_pages_load() -> None:
    files = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".py", ".yaml")]
    assert len(files) >= 3
    for path in files:
        if path.suffix == ".yaml":
            recipe = load_recipe(file=path)
            assert recipe.name == path.stem
        else:
            compile(path.read_text(encoding="utf-8"), str(path), "exec")
        assert any(f"]({path.name})" in text for page, text in TEXTS.items() if page.parent == path.parent), path


def test_every_page_is_in_the_manual() -> None:
    listed = (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")
    for path in PAGES[1:]:
        assert f"- {path.relative_to(ROOT / 'docs')}\n" in listed, path


def test_the_readme_is_short() -> None:
    shown = re.sub(r"<!--.*?-->", "", TEXTS[ROOT / "README.md"], flags=re.S)
    assert len(shown.split()) <= 900
    assert shown.count("![") == 1


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_is_run_or_says_why_not(path: Path) -> None:
    """tests/project/test_manual_runs.py runs them."""
    for block in blocks_of(path):
        known = block.kind in ("sh", "python", "yaml", "text", "material")
        assert known or any(map(block.marked, ("not run", "file", "begins"))), block.place
        run = block.kind == "sh" and not block.marked("not run") and not block.marked("shows")
        for line in block.text.splitlines() if run else ():
            known = re.match(r"(?:[A-Z_]+=\S+ )*(?:synth |python |make demo$)|$", line) is not None
            assert known or any(words in line for words in block.left_out()), f"{block.place}: what runs {line!r}?"
        for what, words, text in block.marks:
            assert what != "not run" or len(text.split()) > 2, block.place
            assert not words or words in block.text, block.place
