"""Files that a user names: read within a bound, and parsed so that every mistake is one line that says where it is.

What is not a regular file (a device, a pipe, a folder) is refused unread: reading it may never end.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from synth.errors import InputError
from synth.places import refuse_remote

__all__ = [
    "DATA_BYTES",
    "LINE_BYTES",
    "MOST_DEPTH",
    "TEXT_BYTES",
    "YamlLoader",
    "checked",
    "open_input",
    "parse_json",
    "parse_setting",
    "parse_yaml",
    "read_input",
    "read_text",
]

M = TypeVar("M", bound=BaseModel)
TEXT_BYTES = 4 << 20
"""Bound of files that a person writes: recipes, plans, definitions of environments."""
DATA_BYTES = 1 << 30
"""Bound of data that is held in memory as a whole: questions, benchmarks, tokenizers."""
LINE_BYTES = 64 << 20
"""Bound of one line of a file that is read line by line."""
MOST_DEPTH = 64
"""Lists and mappings inside each other: Python's own parsers and ours recurse."""
_MOST_VALUES = 200_000
"""Of a YAML file, each alias counted as what it stands for."""

_KINDS: Sequence[tuple[Callable[[int], bool], str]] = (
    (stat.S_ISDIR, "is a folder, not a file"),
    (stat.S_ISFIFO, "is a pipe, not a file"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "is a device, not a file"),
)


def checked(model: type[M], value: Any, where: str) -> M:
    """``value`` as a ``model``.

    Raises:
        InputError: it is of another form; says what is wrong first, and where below ``where``.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (where, *first["loc"]))
        raise InputError(str(first["msg"]).removeprefix("Value error, "), where=place) from None


def open_input(path: Path | str, *, mend: str, most: int | None = DATA_BYTES) -> BufferedReader:
    """A regular file of at most ``most`` bytes, open for reading. Never waits: a pipe without a writer is refused.

    Raises:
        InputError: it is missing, a URL, no regular file, larger, or may not be read; ``mend`` says what to give
            instead.
    """
    refuse_remote(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise InputError(_why(error), where=str(path), mend=mend) from None
    state = os.fstat(descriptor)
    what = next((words for is_kind, words in _KINDS if is_kind(state.st_mode)), None)
    if what is None and most is not None and state.st_size > most:
        what = f"has {state.st_size:,} bytes, more than the {most:,} that are read"
    if what is not None:
        os.close(descriptor)
        raise InputError(what, where=str(path), mend=mend)
    return os.fdopen(descriptor, "rb")


def _why(error: OSError | ValueError) -> str:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return "does not exist"
    if number in (errno.EISDIR, errno.ENXIO):
        return "is a folder, not a file" if number == errno.EISDIR else "is a socket, not a file"
    return f"can't be read ({getattr(error, 'strerror', None) or error})"


def read_input(path: Path | str, *, mend: str, most: int = DATA_BYTES) -> bytes:
    """The content of a regular file.

    Raises:
        InputError: as :func:`open_input`, or the device fails.
    """
    with open_input(path, mend=mend, most=most) as file:
        try:
            content = file.read(most + 1)  # a file of /proc says 0 bytes and holds more
        except OSError as error:
            raise InputError(_why(error), where=str(path), mend=mend) from None
    if len(content) > most:
        raise InputError(f"has more than the {most:,} bytes that are read", where=str(path), mend=mend)
    return content


def read_text(path: Path | str, *, mend: str, most: int = TEXT_BYTES) -> str:
    """The same as UTF-8 text, without a byte order mark.

    Raises:
        InputError: as :func:`read_input`, or it is not UTF-8.
    """
    try:
        return read_input(path, mend=mend, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start:,})", where=str(path), mend=mend) from None


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, or is nested more than ``MOST_DEPTH`` deep.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > MOST_DEPTH and _depth(value) > MOST_DEPTH:
        raise ValueError(_TOO_DEEP)
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, list | dict)]:
        depth += 1
        level = [below for one in level for below in (one.values() if isinstance(one, dict) else one)]
    return depth


_TOO_DEEP = f"nested more than {MOST_DEPTH} deep"


class YamlLoader(yaml.SafeLoader):
    """PyYAML's safe loader with bounds: it refuses a key that is given twice (the last would win), nesting that Python
    can't recurse into, and aliases that expand to more than fits or hold themselves."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._above = 0
        self._sizes: dict[yaml.Node, tuple[int, int]] = {}
        """Of every node that is read: values in it, aliases counted as what they stand for, and levels."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if self._above >= MOST_DEPTH and isinstance(event, yaml.CollectionStartEvent):
            _refuse(_TOO_DEEP, event.start_mark)
        self._above += 1
        node = super().compose_node(parent, index)
        self._above -= 1
        if node is None:
            return None
        if not isinstance(event, yaml.AliasEvent):
            self._sizes[node] = self._size(node)
        elif node not in self._sizes:
            _refuse("an alias stands for what holds it", event.start_mark)
        values, levels = self._sizes[node]
        if values > _MOST_VALUES:
            _refuse(f"more than {_MOST_VALUES:,} values, aliases counted as what they stand for", event.start_mark)
        if self._above + levels > MOST_DEPTH:
            _refuse(_TOO_DEEP, event.start_mark)
        return node

    def _size(self, node: yaml.Node) -> tuple[int, int]:
        if isinstance(node, yaml.ScalarNode):
            return 1, 0
        below = node.value if isinstance(node, yaml.SequenceNode) else [one for pair in node.value for one in pair]
        sizes = [self._sizes[one] for one in below]
        return 1 + sum(values for values, _ in sizes), 1 + max((levels for _, levels in sizes), default=0)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                first = lines.get((key.tag, key.value))
                if first is not None:
                    _refuse(f"key {key.value!r} is given twice (lines {first} and {line})", None)
                lines[key.tag, key.value] = line
        return node


class _Refused(yaml.MarkedYAMLError):
    """YAML, but not what we read."""


def _refuse(problem: str, mark: Any) -> NoReturn:
    raise _Refused(problem=problem, problem_mark=mark)


def parse_yaml(text: str, where: str, *, mend: str, loader: type[YamlLoader] = YamlLoader) -> Any:
    """The value of a YAML text.

    Raises:
        InputError: it is not YAML, gives a key twice, or passes a bound; the line says where.
    """
    try:
        reading = loader(text)
        try:
            return reading.get_single_data()
        finally:
            reading.dispose()
    except yaml.YAMLError as error:
        mark: yaml.Mark | None = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        what = f"this is not YAML{place}: {problem}" if not isinstance(error, _Refused) else f"{problem}{place}"
        raise InputError(what, where=where, mend=mend) from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # What PyYAML's own constructors raise where a text is not of its tag: 2020-13-45, !!bool maybe.
        raise InputError(f"a value is not what it is written as ({error})", where=where, mend=mend) from None


def parse_setting(text: str) -> tuple[str, Any]:
    """``"a.b=3"`` -> ``("a.b", 3)``; the value is read as YAML.

    Raises:
        InputError: no ``=``, an empty key, or a value that is not YAML.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(
            f"{text!r} is not key=value", where="--set", mend="write for example --set limits.max_turns=16"
        )
    return key.strip(), parse_yaml(value, f"--set {key.strip()}", mend="quote the value")
