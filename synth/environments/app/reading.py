"""From a YAML file, or the name of a shipped application, to a definition: every mistake is one clear line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from synth.environments.app.definition import Definition
from synth.environments.app.extending import EXTENDS, added, extended
from synth.environments.app.grammar import GRAMMAR, desk_text
from synth.errors import InputError
from synth.inputs import YamlLoader, parse_yaml, read_text
from synth.patterns import problem_with_pattern

__all__ = ["additions", "load_definition", "parse_definition", "shipped", "source_text"]

_SUFFIX = ".yaml"
_MOST_WEIGHT = 100_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_CLOCK = re.compile(r"'now'|\bcurrent_(?:time|date|timestamp)\b", re.IGNORECASE)


class _Loader(YamlLoader):
    """Dates stay texts."""


# YAML 1.1 reads `on`, `off`, `yes` and `no` as booleans and 2031-05-15 as a date: here they are words.
_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, re.compile(r"^(?:true|false|True|False)$") if tag == "tag:yaml.org,2002:bool" else pattern)
        for tag, pattern in resolvers
        if tag != "tag:yaml.org,2002:timestamp"
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def shipped() -> tuple[str, ...]:
    """Names of the applications that ship with the package, sorted."""
    folder = resources.files("synth.environments.app") / "shipped"
    return tuple(sorted(f.name.removesuffix(_SUFFIX) for f in folder.iterdir() if f.name.endswith(_SUFFIX)))


def load_definition(name_or_file: str | Path) -> Definition:
    """The definition of a shipped application, of a file of the user's (its name ends with ``.yaml`` or ``.yml``), of
    the text of such a file (more than one line), or of a seed of the grammar (``grammar:7``).

    Raises:
        InputError: there is no such application or file, or something in it is wrong; the line says what and where.
    """
    name = str(name_or_file)
    if "\n" in name:
        return parse_definition(source_text(name), "source.application")
    if GRAMMAR.fullmatch(name):
        return parse_definition(source_text(name), f"application {name}")
    if not name.endswith((".yaml", ".yml")):
        if name not in shipped():
            near = difflib.get_close_matches(name, shipped(), n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(
                f"there is no application {name!r}",
                mend=f"{hint}Shipped ones: {', '.join(shipped())}; or name a YAML file of your own, or grammar:SEED",
            )
        return parse_definition(_shipped_text(name), f"application {name}")
    return parse_definition(_text(name), name)


def source_text(name_or_file: str) -> str:
    """What stands for an application wherever it goes: a name of ours as it is, in place of a file or of a seed of the
    grammar its text, which of one that extends another holds that, too.

    Raises:
        InputError: the file can't be read, or extends what is not there.
    """
    if "\n" in name_or_file:
        return _whole(name_or_file, "source.application", None)
    seed = GRAMMAR.fullmatch(name_or_file)
    if seed:
        return desk_text(int(seed[1]))
    given = name_or_file.endswith((".yaml", ".yml"))
    return f"{_text(name_or_file).rstrip()}\n" if given else name_or_file


def additions(name_or_file: str) -> tuple[str, list[tuple[str, list[str]]]] | None:
    """What a file of the user's extends, and the names that it adds; None where it extends nothing.

    Raises:
        InputError: as :func:`source_text`.
    """
    if "\n" not in name_or_file and not name_or_file.endswith((".yaml", ".yml")):
        return None
    text = name_or_file if "\n" in name_or_file else _read(name_or_file)
    data = parse_yaml(text, "source.application", mend="mend that line", loader=_Loader)
    if not isinstance(data, dict) or EXTENDS not in data:
        return None
    return str(data[EXTENDS]), list(added(data))


def _read(name: str) -> str:
    return read_text(name, mend="give a UTF-8 YAML file")


def _shipped_text(name: str) -> str:
    return (resources.files("synth.environments.app") / "shipped" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def _text(name: str, below: tuple[str, ...] = ()) -> str:
    return _whole(_read(name), name, Path(name).parent, (*below, str(Path(name).resolve())))


def _whole(text: str, where: str, folder: Path | None, below: tuple[str, ...] = ()) -> str:
    """``text``, or where it extends another application, the text of both.

    Args:
        folder: Where files lie that it may extend; None = it may extend shipped ones only.
        below: Files that are being read.
    """
    if not re.search(rf"^['\"]?{EXTENDS}\b", text, re.MULTILINE):
        return text
    data = parse_yaml(text, where, mend="mend that line", loader=_Loader)
    if not isinstance(data, dict) or EXTENDS not in data:
        return text
    of = str(data[EXTENDS])
    if of.endswith((".yaml", ".yml")) and folder is not None:
        path = folder / of
        if str(path.resolve()) in below:
            raise InputError(f"{EXTENDS}: {of} extends itself", where=where, mend="name another")
        base = _text(str(path), below)
    elif of in shipped():
        base = _shipped_text(of)
    elif GRAMMAR.fullmatch(of):
        base = source_text(of)
    else:
        near = difflib.get_close_matches(of, shipped(), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        also = "" if folder is None else ", or name a YAML file beside this one"
        raise InputError(
            f"{EXTENDS}: there is no application {of!r}",
            where=where,
            mend=f"{hint}Shipped ones: {', '.join(shipped())}{also}",
        )
    whole = extended(parse_yaml(base, of, mend="mend that line", loader=_Loader), data, where)
    return yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


class _Dumper(yaml.SafeDumper):
    """What is said twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@lru_cache(maxsize=16)
def parse_definition(text: str, where: str) -> Definition:
    """A definition from the text of its YAML file: names, types and cross-references are checked here, SQL and words
    where tables are made (:mod:`synth.environments.app.checking`).

    Raises:
        InputError: the first thing that is wrong.
    """
    data = parse_yaml(text, where, mend="mend that line", loader=_Loader)
    if not isinstance(data, dict):
        raise InputError("an application is a mapping of keys to values", where=where, mend="begin with `name:`")
    try:
        definition = Definition.model_validate(data)
    except ValidationError as error:
        raise InputError(_said(_first(error.errors())), where=where, mend="mend that part") from None
    for place, problem in _problems(definition):
        raise InputError(f"{place}: {problem}", where=where, mend="mend that part")
    return definition


def _first(errors: Sequence[Any]) -> Any:
    """The mistake to be told: of a key that is missing, the one that stands in its place under a name like it."""
    first = min(errors, key=lambda found: len(found["loc"]))
    if first["type"] == "missing":
        beside = [one for one in errors if one["type"] == "extra_forbidden" and one["loc"][:-1] == first["loc"][:-1]]
        names = [str(one["loc"][-1]) for one in beside]
        near = difflib.get_close_matches(str(first["loc"][-1]), names, n=1)
        if near:
            return beside[names.index(near[0])]
    return first


def _keys_at(place: Sequence[Any]) -> list[str]:
    """The keys that a part of a definition may have, as YAML writes them."""
    kinds: list[Any] = [Definition]
    for step in place:
        inner: list[Any] = []
        for kind in kinds:
            fields = {field.alias or name: field for name, field in kind.model_fields.items()}
            inner += _models_in(fields[step].annotation) if step in fields else []
        # A place within a list or mapping goes on with what it holds.
        kinds = inner or kinds
    return sorted({field.alias or name for kind in kinds for name, field in kind.model_fields.items()})


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]


def _said(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"]) or "the whole"
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        keys = _keys_at(error["loc"][:-1])
        near = difflib.get_close_matches(str(error["loc"][-1]), keys, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(keys)}"
        message = f"there is no such key ({hint})"
    elif error["type"] == "missing":
        message = "is missing"
    elif error["type"] == "too_short":
        message = "is empty: give one entry at least"
    return f"{place}: {message[0].lower()}{message[1:]}"


def _problems(definition: Definition) -> Iterator[tuple[str, str]]:
    yield from _names(definition)
    yield from _word_problems(definition)
    yield from _table_problems(definition)
    yield from _rule_problems(definition)
    yield from _tool_problems(definition)
    for place, sql in _statements(definition):
        if _CLOCK.search(sql):
            yield place, "reads the clock of the machine; :now and :today are the time of the application"


def _names(definition: Definition) -> Iterator[tuple[str, str]]:
    listed: list[tuple[str, Sequence[str]]] = [("tables", list(definition.tables)), ("tools", list(definition.tools))]
    listed += [(f"tables.{name}.columns", list(table.columns)) for name, table in definition.tables.items()]
    listed += [(f"tools.{name}.arguments", list(tool.arguments)) for name, tool in definition.tools.items()]
    listed += [("words", list(definition.words)), ("variants", list(definition.variants))]
    for place, names in listed:
        for name in names:
            if not _NAME.fullmatch(name):
                yield f"{place}.{name}", "a name is lower-case letters, digits and _, and begins with a letter"
    for taken in ("numbers", "policy_violations"):
        if taken in definition.tables:
            yield f"tables.{taken}", "the engine has a table of this name"
    for name, tool in definition.tools.items():
        for reserved in {"now", "today", "page"} & set(tool.arguments):
            yield f"tools.{name}.arguments.{reserved}", "the engine gives this name a value of its own"


def _word_problems(definition: Definition) -> Iterator[tuple[str, str]]:
    for name, words in definition.words.items():
        if isinstance(words, dict) and sum(words.values()) > _MOST_WEIGHT:
            yield f"words.{name}", f"the weights come to over {_MOST_WEIGHT:,}"


def _table_problems(definition: Definition) -> Iterator[tuple[str, str]]:
    for name, table in definition.tables.items():
        place = f"tables.{name}"
        if not table.key:
            yield place, "no column is the key (key: true)"
        for column, spec in table.columns.items():
            at = f"{place}.columns.{column}"
            target = spec.references
            if target is not None and (target not in definition.tables or len(definition.tables[target].key) != 1):
                yield at, f"refers to {target!r}, which is not a table with a key of one column"
            if spec.key and (spec.optional or spec.volatile):
                yield at, "a key is neither optional nor volatile"
            if spec.generated and not spec.key:
                yield at, "only a key is handed out by the application (generated)"
            if spec.among and spec.type != "text":
                yield at, "`in` lists texts"
        if table.code is not None and not (len(table.key) == 1 and table.columns[table.key[0]].generated):
            yield place, "`code` is the pattern of a single key that is generated"


def _rule_problems(definition: Definition) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    rules = [("policy", rule) for rule in definition.rules]
    rules += [(f"variants.{name}", rule) for name, variant in definition.variants.items() for rule in variant.rules]
    for place, rule in rules:
        at = f"{place}.{rule.name}"
        if rule.name in seen:
            yield at, "there are two rules of this name"
        seen.add(rule.name)
        if rule.table is not None and rule.table not in definition.tables:
            yield at, f"there is no table {rule.table!r}"
        for tool in rule.before:
            if tool not in definition.tools or not definition.tools[tool].writes:
                yield at, f"there is no tool {tool!r} that writes"
    known = {rule.name for rule in definition.rules}
    for name, variant in definition.variants.items():
        for hidden in variant.hide:
            if hidden not in known:
                yield f"variants.{name}.hide", f"the policy has no rule {hidden!r}"
        if not variant.hide and not variant.rules:
            yield f"variants.{name}", "hides nothing and adds no rule"
    for number, boundary in enumerate(definition.boundaries):
        if boundary.rule not in known:
            yield f"boundaries.{number}", f"the policy has no rule {boundary.rule!r}"


def _tool_problems(definition: Definition) -> Iterator[tuple[str, str]]:
    for name, tool in definition.tools.items():
        place = f"tools.{name}"
        writes = any(step.run is not None for step in tool.steps)
        if tool.writes != writes:
            yield place, "`writes: true` and a `run` step belong together"
        if tool.says is None and not tool.lists:
            yield place, "it has nothing to say: give it `says` or `lists`"
        if sum(listing.paged for listing in tool.lists) > 1:
            yield place, "only one of its lists can be long: mark the others `paged: false`"
        for number, step in enumerate(tool.steps):
            table = definition.tables.get(step.of or "")
            if step.of is not None and (table is None or table.code is None):
                yield f"{place}.steps.{number}", f"{step.of!r} is not a table with a `code`, so it has no new keys"
        for number, listing in enumerate(tool.lists):
            if not re.search(r"\border\s+by\b", listing.source, re.IGNORECASE):
                yield f"{place}.lists.{number}", "rows without an ORDER BY come in any order"
        for argument, spec in tool.arguments.items():
            inner = {f"{argument}.{at}": part for at, part in spec.fields.items()}
            inner |= {f"{argument}.of": spec.of} if spec.of is not None else {}
            for at, part in {argument: spec, **inner}.items():
                target = definition.tables.get(part.refers or "")
                if part.refers is not None and (target is None or len(target.key) != 1):
                    yield f"{place}.arguments.{at}", f"{part.refers!r} is not a table with a key of one column"
                problem = problem_with_pattern(part.pattern) if part.pattern is not None else None
                if problem is not None:
                    yield f"{place}.arguments.{at}", f"the pattern is not a regular expression of RE2 ({problem})"


def _statements(definition: Definition) -> Iterator[tuple[str, str]]:
    """Every piece of SQL with its place."""
    for number, sql in enumerate(definition.data):
        yield f"data.{number}", sql
    for number, boundary in enumerate(definition.boundaries):
        for sql in (boundary.pick, *boundary.set):
            yield f"boundaries.{number}", sql
    for invariant in definition.invariants:
        yield f"invariants.{invariant.name}", invariant.none
    extra = [rule for variant in definition.variants.values() for rule in variant.rules]
    for rule in (*definition.rules, *extra):
        for piece in (rule.require, rule.check, rule.forbid, rule.record):
            yield f"rule {rule.name}", piece or ""
    for name, tool in definition.tools.items():
        for number, step in enumerate(tool.steps):
            for piece in (step.source, step.be, step.require, step.run):
                yield f"tools.{name}.steps.{number}", piece or ""
        for number, listing in enumerate(tool.lists):
            yield f"tools.{name}.lists.{number}", listing.source
