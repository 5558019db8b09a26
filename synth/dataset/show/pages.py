"""Pages of HTML that open without a network: a template, its style and its script, and a policy that allows no more.

The policy in the head names style and script by their hash. Values reach the page escaped; what is markup by intent is
marked safe in the template.

Data that a page loads piece by piece stands in the page itself or in files beside it. A page that is opened as a file
may fetch nothing, but it may add a script: a piece beside the page is a script that calls one function with one
literal; within the page it is a block of JSON, which no browser runs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

__all__ = ["Chunks", "literal", "render_page"]


def render_page(
    template: str,
    *,
    style: str,
    script: str | None = None,
    beside: bool = False,
    package: str = "synth.data_cards",
    **values: Any,
) -> str:
    """The page that ``template`` makes of ``values``; names are those of files in ``package``.

    Args:
        script: None = the page runs nothing.
        beside: Whether scripts from files beside the page may run, too.
    """
    read = partial(_file, package)
    texts, rules = {"style": read(style)}, ["default-src 'none'"]
    if script is not None:
        texts["script"] = read(script)
        rules.append(f"script-src '{_hash(texts['script'])}'" + (" 'self' file:" if beside else ""))
    rules += [f"style-src '{_hash(texts['style'])}'", "base-uri 'none'", "form-action 'none'"]
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment.get_template(template).render(policy="; ".join(rules), **texts, **values)


def _file(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def literal(value: Any) -> str:
    """JSON that can stand in a script and in HTML: nothing in it can end the element or begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


class Chunks:
    """Writes pieces into ``folder`` as they come, and gives them back for the page when all of them are small."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.bytes = 0
        folder.mkdir(parents=True)

    def add(self, name: str, value: Any) -> None:
        text = f'synthChunk("{name}",{literal(value)});\n'
        self.names.append(name)
        self.bytes += len(text.encode())
        (self.folder / f"{name}.js").write_text(text, encoding="utf-8")

    def inlined(self) -> dict[str, str]:
        """Name -> JSON of every piece; the files are removed."""
        found = {}
        for name in self.names:
            text = (self.folder / f"{name}.js").read_text(encoding="utf-8")
            found[name] = text.removeprefix(f'synthChunk("{name}",').removesuffix(");\n")
        shutil.rmtree(self.folder)
        return found
