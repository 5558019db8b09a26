"""Rows of which a test says what it is about, and nothing else."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from synth.schemas.provenance import Provenance
from synth.schemas.row import Row
from synth.testing.corpus import PROVENANCE

__all__ = ["bare"]

R = TypeVar("R", bound=Row)


def bare(kind: type[R], /, **given: Any) -> R:
    """A row of ``kind`` that says ``given``, and as little as it can in every other field that must be given."""
    fields = kind.model_fields.items()
    return kind(**{name: _least(field.annotation) for name, field in fields if field.is_required()} | given)


def _least(annotation: Any) -> Any:
    origin, of = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return None if NoneType in of else _least(of[0])
    if origin is Literal:
        return of[0]
    if origin is not None:
        return origin()
    if issubclass(annotation, Provenance):
        return PROVENANCE
    if issubclass(annotation, Row):
        return bare(annotation)
    if issubclass(annotation, Enum):
        return next(iter(annotation))
    return "-" if annotation is str else annotation()
