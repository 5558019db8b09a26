"""Facts in a row's ``details``, read and written as typed values.

``details`` is free JSON: whatever a source, an environment or somebody else's run says beyond the columns. Code that
knows a fact declares it as a field of a :class:`Facts`, in its own package, and reads it by that class only.
"""

from __future__ import annotations

from typing import Annotated, Self, TypeVar

from pydantic import ConfigDict, PlainSerializer, ValidationError

from synth.schemas.adp import error_lines
from synth.schemas.row import JsonObject, Row

__all__ = ["Brief", "Facts", "details_with"]

R = TypeVar("R", bound=Row)

Brief = Annotated[R, PlainSerializer(lambda row: row.model_dump(mode="json", exclude_defaults=True))]
"""A row inside facts that is written without what is as by default."""


class Facts(Row):
    """Some of the facts in ``details``, each under the name of its field; the other keys are not looked at.

    An optional fact has a default. One that is not given, or is None by default, is not written.
    """

    model_config = ConfigDict(extra="ignore")

    @classmethod
    def of(cls, details: JsonObject) -> Self:
        """The facts in ``details``.

        Raises:
            ValueError: a required one is missing, or one has a value that it can't have; one line says which.
        """
        try:
            return cls.model_validate({name: details[name] for name in cls.model_fields if name in details})
        except ValidationError as error:
            raise ValueError(f"details.{error_lines(error)[0]}") from None

    @classmethod
    def stand_in(cls, details: JsonObject) -> bool:
        """Whether ``details`` say any of these facts, well or badly."""
        return any(name in details for name in cls.model_fields)


def details_with(*said: Facts | JsonObject) -> JsonObject:
    """Details that say all of ``said``; of a fact said twice, the later word counts."""
    found: JsonObject = {}
    for one in said:
        found |= _written(one) if isinstance(one, Facts) else one
    return found


def _written(facts: Facts) -> JsonObject:
    fields = type(facts).model_fields
    given = {name for name in facts.model_fields_set if fields[name].is_required() or getattr(facts, name) is not None}
    return facts.model_dump(mode="json", include=given)
