"""Prompts are files: loaded from the package, rendered strictly, named by id, version and hash.

``prompts/<stage>/<name>/v<N>.md`` begins with a front matter that declares its variables::

    ---
    variables: [instructions]
    ---
    Text with {{ instructions }}.

A released version never changes: ``prompts/lock.json`` holds its hash and a test compares. Who builds may lay texts of
their own over them (:mod:`synth.prompting.own`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from synth.errors import InputError
from synth.schemas.row import NonEmpty, Row

__all__ = ["PromptFile", "PromptRef", "list_prompts", "load_prompt", "overlaid", "parse_own", "parse_prompt"]

_LAID: ContextVar[Mapping[str, str | None]] = ContextVar("prompts laid over ours", default=MappingProxyType({}))
_FRONT = re.compile(r"\A---\nvariables:[ \t]*\[([^\]\n]*)\][ \t]*\n---\n(.*)\Z", re.S)


class PromptRef(Row):
    """Which prompt, exactly."""

    id: NonEmpty
    """``<stage>/<name>``."""
    version: int
    sha256: NonEmpty
    """Of the whole file's bytes."""

    def __str__(self) -> str:
        return f"{self.id}/v{self.version}@{self.sha256}"


class PromptFile(Row):
    """A prompt as it stands in its file."""

    ref: PromptRef
    variables: tuple[str, ...]
    text: str

    def render(self, **values: Any) -> str:
        """The prompt with its variables filled in.

        Raises:
            InputError: a declared variable is missing, or a value was given that is not declared.
        """
        missing = sorted(set(self.variables) - set(values))
        extra = sorted(set(values) - set(self.variables))
        if missing or extra:
            what = "; ".join(
                f"{word} {', '.join(names)}" for word, names in (("missing", missing), ("not declared", extra)) if names
            )
            raise InputError(f"wrong variables: {what}", where=f"prompt {self.ref.id}/v{self.ref.version}")
        try:
            return str(_template(self.text).render(**values)).strip()
        except Exception as error:  # a template is a program, and may be a user's
            what = f"it can't be filled in: {type(error).__name__}: {error}"
            raise InputError(what, where=f"prompt {self.ref.id}/v{self.ref.version}") from None


def _template(text: str) -> Any:
    """Prompts come with datasets, too: none may reach for more than its variables."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=False, autoescape=False
    ).from_string(text)


def _used(text: str) -> set[str]:
    from jinja2 import Environment
    from jinja2.meta import find_undeclared_variables

    return find_undeclared_variables(Environment(autoescape=False).parse(text))


def _root() -> Traversable:
    return files("synth").joinpath("prompts")


def parse_prompt(prompt_id: str, version: int, data: bytes) -> PromptFile:
    """Read a prompt file.

    Raises:
        InputError: it is not UTF-8, has no front matter, or declares other variables than it uses.
    """
    where = f"prompt {prompt_id}/v{version}"
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8", where=where) from error
    match = _FRONT.match(content)
    if match is None:
        raise InputError("the file must begin with '---', 'variables: [...]', '---'", where=where)
    declared = tuple(name.strip() for name in match.group(1).split(",") if name.strip())
    used = _used(match.group(2))
    if set(declared) != used:
        raise InputError(
            f"it declares {sorted(declared)} and uses {sorted(used)}", where=where, mend="Declare what is used"
        )
    ref = PromptRef(id=prompt_id, version=version, sha256=hashlib.sha256(data).hexdigest())
    return PromptFile(ref=ref, variables=declared, text=match.group(2))


def parse_own(shipped: PromptFile, text: str) -> PromptFile:
    """A user's text in the place of ``shipped``. It may leave out variables, and a front matter.

    Raises:
        InputError: it is no template, or uses a variable that the prompt is not given.
    """
    from jinja2 import TemplateSyntaxError

    ref = shipped.ref.model_copy(update={"sha256": hashlib.sha256(text.encode()).hexdigest()})
    where = f"prompt {ref.id}/v{ref.version}"
    match = _FRONT.match(text)
    body = text if match is None else match.group(2)
    try:
        used = _used(body)
    except TemplateSyntaxError as error:
        line = error.lineno + (0 if match is None else text[: match.start(2)].count("\n"))
        mend = "text in double braces is a placeholder; {% raw %} and {% endraw %} stand around what is none"
        raise InputError(f"line {line}: {error.message}", where=where, mend=mend) from None
    if unknown := sorted(used - set(shipped.variables)):
        there = _braced(shipped.variables) or "none"
        raise InputError(f"it is given no {_braced(unknown)}", where=where, mend=f"its placeholders are: {there}")
    return PromptFile(ref=ref, variables=shipped.variables, text=body)


def _braced(names: Iterable[str]) -> str:
    return ", ".join(f"{{{{ {name} }}}}" for name in names)


@contextmanager
def overlaid(texts: Mapping[str, str | None]) -> Iterator[None]:
    """In the block, prompts of these names (``agents/search/v2``) are these texts. None: one that must not be loaded
    there, since who loads it does not say so, and its rows would stand for those of another text."""
    token = _LAID.set(texts)
    try:
        yield
    finally:
        _LAID.reset(token)


def load_prompt(prompt_id: str, version: int | None = None) -> PromptFile:
    """The prompt ``<stage>/<name>``, or what is laid over it; the newest version when none is given.

    Raises:
        InputError: there is no such prompt or version (the message lists what there is).
    """
    shipped = _shipped(prompt_id, version)
    name = f"{prompt_id}/v{shipped.ref.version}"
    laid = _LAID.get()
    if name not in laid:
        return shipped
    text = laid[name]
    if text is None:
        raise ValueError(f"prompt {name} is loaded by a stage that does not name it, neither in its config nor itself")
    return _own(prompt_id, shipped.ref.version, text)


@lru_cache(maxsize=256)
def _own(prompt_id: str, version: int, text: str) -> PromptFile:
    return parse_own(_shipped(prompt_id, version), text)


@cache
def _shipped(prompt_id: str, version: int | None) -> PromptFile:
    known = list_prompts()
    versions = [number for name, number in known if name == prompt_id]
    wanted = max(versions, default=0) if version is None else version
    if wanted not in versions:
        names = ", ".join(f"{name}/v{number}" for name, number in known)
        raise InputError(f"there is no prompt {prompt_id}/v{version or 'N'}", mend=f"choose one of: {names}")
    return parse_prompt(prompt_id, wanted, _root().joinpath(*prompt_id.split("/"), f"v{wanted}.md").read_bytes())


def list_prompts() -> list[tuple[str, int]]:
    """(id, version) of every prompt that ships, sorted."""
    found: list[tuple[str, int]] = []
    for stage in _root().iterdir():
        if not stage.is_dir():
            continue
        for name in stage.iterdir():
            if not name.is_dir():
                continue
            for file in name.iterdir():
                match = re.fullmatch(r"v([1-9]\d*)\.md", file.name)
                if match:
                    found.append((f"{stage.name}/{name.name}", int(match.group(1))))
    return sorted(found)
