"""Generates the reference of the manual while mkdocs builds it: nothing in it is written twice.

commands   what every command takes, from the command line itself
recipe     every key of a recipe, from its JSON Schema
tables     every table and column, from the row types
reasons    every reason to reject a row
choices    what the registry holds
api        the names that `import synth` gives (mkdocstrings)
"""

from __future__ import annotations

import ast
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

import synth
from synth import registry
from synth.cli.app import app
from synth.dataset.configs import CONFIGS
from synth.dataset.rules.coverage import coverage
from synth.recipe.model import Recipe
from synth.schemas.rejections import Reason


def commands() -> Iterator[str]:
    yield "# Commands"
    group: Any = typer.main.get_command(app)
    for name in group.commands:
        command = group.get_command(None, name)
        yield f"\n## synth {name}\n\n{command.help or ''}\n"
        rows = []
        for parameter in command.params:
            record = getattr(parameter, "help", None)
            if record is None or parameter.name == "help":
                continue
            shown = ", ".join(f"`{option}`" for option in parameter.opts if option.startswith("-"))
            rows.append(f"| {shown or f'`{(parameter.metavar or parameter.name).split()[0]}`'} | {_cell(record)} |")
        if rows:
            yield "| option | meaning |\n|---|---|\n" + "\n".join(rows)


def recipe() -> Iterator[str]:
    yield "# Recipe keys\n\nEvery key that a recipe may hold. `synth init --full` writes them with their defaults."
    schema = Recipe.model_json_schema()
    yield _keys("Recipe", schema)
    for name, part in sorted(schema.get("$defs", {}).items()):
        if part.get("properties"):
            yield _keys(name, part)


def _keys(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"\n## {name}\n", str(schema.get("description", "")).strip(), "", "| key | type | default | meaning |"]
    lines.append("|---|---|---|---|")
    for key, value in schema.get("properties", {}).items():
        default = f"`{value['default']}`" if "default" in value else ""
        lines.append(f"| `{key}` | {_type(value)} | {_cell(default)} | {_cell(value.get('description', ''))} |")
    return "\n".join(lines)


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = str(value["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(_type(one) for one in value[several])
    if "enum" in value or "const" in value:
        return ", ".join(f"`{one}`" for one in value.get("enum", [value.get("const")]))
    return str(value.get("type", "any"))


def tables() -> Iterator[str]:
    yield "# Tables and columns"
    carried = [(table, column) for table, column, behind in coverage() if not behind]
    for config in CONFIGS:
        yield f"\n## {config.name}\n\n{config.summary}\n\n| column | meaning |\n|---|---|"
        for name, field in config.row_type.model_fields.items():
            yield f"| `{name}` | {_cell(field.description or '')} |"
        if names := [column for table, column in carried if table == config.name]:
            yield f"\nCarried, not proven by `synth validate`: {', '.join(f'`{name}`' for name in names)}."


def reasons() -> Iterator[str]:
    yield "# Reasons\n\nWhy a row stands in `rejected`.\n\n| reason | sentence |\n|---|---|"
    for reason in Reason:
        yield f"| `{reason.value}` | {_cell(reason.sentence)} |"


def choices() -> Iterator[str]:
    yield "# Choices\n\nWhat a recipe or a command can name. An installed package adds to these tables by entry points."
    for name in sorted(registry._TABLES):
        rows = []
        for choice in registry.choices(name):
            rows.append(f"| `{choice}` | {_cell(_summary(*registry.factory_of(name, choice).split(':')))} |")
        yield f"\n## {name}\n\n| name | what it is |\n|---|---|\n" + "\n".join(rows)


def _summary(module: str, attribute: str) -> str:
    """First line of the docstring, read from the source: what it needs (a browser, a server's SDK) may be missing."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    assert spec is not None
    path = Path(str(spec.origin)).parent.joinpath(*module.split(".")[1:])
    source = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == attribute:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return ""


def api() -> Iterator[str]:
    yield "# Python API\n"
    for name in synth.__all__:
        if not name.startswith("_"):
            yield f"::: synth.{name}\n"


def index() -> Iterator[str]:
    yield "# Reference\n"
    for name, page in PAGES.items():
        if name != "index":
            yield f"* [{next(page()).splitlines()[0].lstrip('# ')}]({name}.md)"


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "index": index,
    "commands": commands,
    "recipe": recipe,
    "tables": tables,
    "reasons": reasons,
    "choices": choices,
    "api": api,
}


def _cell(text: str) -> str:
    return " ".join(str(text).replace("|", "\\|").replace("``", "`").split())


def notebook(path: Path) -> str:
    """A notebook, executed, as a page. Its first cell is the page's head.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTH_STORE"] = str(Path(folder) / "store")
        NotebookClient(book, timeout=240, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    parts = []
    for cell in book.cells:
        parts.append(cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```")
        for output in (one for one in cell.get("outputs", []) if one.get("name") != "stderr"):
            data = output.get("data", {})
            text = output.get("text") or data.get("text/plain", "")
            parts.append(data.get("text/html") or f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def on_files(files: Any, config: Any) -> Any:
    """mkdocs asks for the files of the manual: the generated pages are added."""
    from mkdocs.structure.files import File

    for name, page in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(page()) + "\n"))
    for path in sorted(Path(config["docs_dir"]).rglob("*.ipynb")):
        place = path.relative_to(config["docs_dir"])
        found = files.get_file_from_path(place.as_posix())
        if found is not None:
            files.remove(found)
        files.append(File.generated(config, place.with_suffix(".md").as_posix(), content=notebook(path)))
    return files
