"""Pages of HTML that open without a network: a template, its style and its script, and a policy that allows no more.

The policy in the head names style and script by their hash. Values reach the page escaped; what is markup by intent is
marked safe in the template.
"""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from importlib.resources import files
from typing import Any

import jinja2

__all__ = ["render_page"]


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
