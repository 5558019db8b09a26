"""Prompts of the user's: a folder that is laid over ``prompts``, with files at the same relative paths."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from synth.errors import InputError
from synth.inputs import read_text
from synth.prompting import list_prompts, load_prompt, overlaid, parse_own

__all__ = ["checked_prompts", "read_prompts", "write_prompts"]

_LONGEST = 200_000
"""Characters of a prompt."""


def read_prompts(folder: Path) -> dict[str, str]:
    """Name (``agents/search/v2``) -> text of each prompt in ``folder``; hidden files are none.

    Raises:
        InputError: it is no folder, holds a file that takes the place of no prompt, or one that can't take it.
    """
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise InputError(what, where=f"prompts {folder}", mend="name a folder with files such as agents/search/v2.md")
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_dir() or any(part.startswith(".") for part in relative.parts):
            continue
        name = relative.as_posix().removesuffix(".md")
        if not relative.name.endswith(".md") or name not in _names():
            raise _nothing(relative.as_posix(), str(path))
        found[name] = read_text(path, mend="give a prompt, a UTF-8 text")
    if not found:
        raise InputError("holds no prompt", where=f"prompts {folder}", mend=f"there are: {', '.join(_newest())}")
    return checked_prompts(found)


def checked_prompts(texts: Mapping[str, str]) -> dict[str, str]:
    """Those of ``texts`` that are other texts than ours, by name.

    Raises:
        InputError: one takes the place of no prompt, can't take it, or is no template.
    """
    found: dict[str, str] = {}
    for name, text in sorted(texts.items()):
        if name not in _names():
            raise _nothing(f"{name}.md", "prompts")
        if len(text) > _LONGEST:
            raise InputError(f"has {len(text):,} characters, more than {_LONGEST:,}", where=f"prompt {name}")
        prompt_id, _, version = name.rpartition("/v")
        with overlaid({}):
            shipped = load_prompt(prompt_id, int(version))
        if parse_own(shipped, text).ref != shipped.ref:
            found[name] = text
    return found


def write_prompts(folder: Path) -> int:
    """Write the newest version of every prompt that ships; gives how many. Those that stay as they are change nothing.

    Raises:
        InputError: the folder is there, or can't be written.
    """
    try:
        folder.mkdir(parents=True)
        for name in _newest():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(files("synth").joinpath("prompts", *name.split("/")).read_bytes())
    except FileExistsError:
        raise InputError("exists already", where=str(folder), mend="name another folder") from None
    except OSError as error:
        raise InputError(f"can't be written ({error.strerror})", where=str(folder), mend="name another place") from None
    return len(_newest())


def _names() -> tuple[str, ...]:
    return tuple(f"{name}/v{version}" for name, version in list_prompts())


def _newest() -> tuple[str, ...]:
    newest = dict(list_prompts())
    return tuple(f"{name}/v{version}.md" for name, version in newest.items())


def _nothing(path: str, where: str) -> InputError:
    near = difflib.get_close_matches(path, [f"{name}.md" for name in _names()], n=1, cutoff=0.5)
    mend = f"did you mean {near[0]}?" if near else f"there are: {', '.join(_newest())}"
    return InputError(f"there is no prompt {path} that it could take the place of", where=where, mend=mend)
