"""Regular expressions that a dataset or a server brings, in time linear in the text: no pattern can hang us.

RE2 runs them, as Arrow brings it. It knows no look-around and no back-references; a pattern with these is not checked
where the tool's owner checks it anyway, and is refused where the check is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["fit_plainly", "fits", "is_found", "problem_with_pattern", "schema_errors"]


def problem_with_pattern(pattern: str) -> str | None:
    """Why ``pattern`` can't be run, None when it can."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        return str(error).removeprefix("Invalid regular expression: ")
    return None


def is_found(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches somewhere in ``text``.

    Raises:
        ValueError: it can't be run, or the text has no UTF-8 form.
    """
    return bool(pc.match_substring_regex(pa.array([text]), pattern)[0].as_py())


def fits(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches the whole of ``text``. Raises as :func:`is_found`."""
    return is_found(rf"\A(?:{pattern})\z", text)


def schema_errors(schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """What the validator of ``jsonschema`` says of ``value``, with patterns run as above."""
    return iter(_checker(json.dumps(schema)).iter_errors(value))


@lru_cache(maxsize=512)
def _checker(schema: str) -> Any:
    return _validator()(json.loads(schema))


def _is_found(pattern: str, text: str) -> bool:
    try:
        return is_found(pattern, text)
    except ValueError:
        return True


@cache
def _validator() -> Any:
    import jsonschema

    base = jsonschema.Draft202012Validator

    def pattern(validator: Any, wanted: str, value: Any, schema: Any) -> Iterator[Any]:
        if validator.is_type(value, "string") and not _is_found(wanted, value):
            yield jsonschema.ValidationError(f"{value!r} does not match {wanted!r}")

    def pattern_properties(validator: Any, wanted: Mapping[str, Any], value: Any, schema: Any) -> Iterator[Any]:
        for one, inner in wanted.items() if validator.is_type(value, "object") else ():
            for name in [name for name in value if _is_found(one, name)]:
                yield from validator.descend(value[name], inner, path=name, schema_path=one)

    def additional(validator: Any, wanted: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        patterns = schema.get("patternProperties", {})
        if patterns and validator.is_type(value, "object"):
            known = {name: True for name in value if any(_is_found(one, name) for one in patterns)}
            schema = {"properties": {**schema.get("properties", {}), **known}}
        yield from base.VALIDATORS["additionalProperties"](validator, wanted, value, schema)

    rules = {"pattern": pattern, "patternProperties": pattern_properties, "additionalProperties": additional}
    return jsonschema.validators.extend(base, rules)  # type: ignore[no-untyped-call]


def fit_plainly(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether they fit a schema of texts and whole numbers, as nearly all calls do: no validator is made then. False
    where it takes one to say."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not schema.keys() <= _PLAIN_OBJECT or schema.get("type") != "object":
        return False
    if any(name not in arguments for name in schema.get("required", ())):
        return False
    return all(_fits_plainly(properties.get(name), value) for name, value in arguments.items())


_PLAIN_OBJECT = frozenset(("type", "properties", "required", "additionalProperties"))
_PLAIN_VALUE = frozenset(("type", "description", "default", "minLength", "minimum", "maximum"))


def _fits_plainly(schema: Any, value: Any) -> bool:
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN_VALUE:
        return False
    if schema.get("type") == "string":
        return type(value) is str and len(value) >= schema.get("minLength", 0)
    whole = schema.get("type") == "integer" and type(value) is int
    return whole and schema.get("minimum", value) <= value <= schema.get("maximum", value)
