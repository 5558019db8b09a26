"""Ranges as sources of hops (``Node(kind="range")``): which values lie in them, and what a page says instead."""

from __future__ import annotations

from typing import cast

from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Hop, Node, Walk
from synth.tasks.contract import Facts
from synth.tasks.text import value_forms
from synth.tasks.values import MEASURED_KINDS, in_range, parse_measure, parse_range

__all__ = ["lies_in", "stated_forms"]


def lies_in(kind: str, text: str, span: str) -> bool:
    """Whether a value of ``kind`` lies in the range ``<least>/<greatest>`` for certain; False where the two have no
    common scale. Raises ValueError when ``span`` is not a range."""
    value = parse_measure(kind, text)
    ends = parse_range(span)
    low, high = (parse_measure(kind, end) if end else None for end in ends)
    if value is None or (ends[0] and low is None) or (ends[1] and high is None):
        return False
    if not all(end is None or value.comparable(end) for end in (low, high)):
        return False
    return in_range(value, low, high) is True


def stated_forms(hop: Hop, facts: Facts) -> tuple[str, ...]:
    """How a page may write the value because of which ``hop``, whose source is a range, holds: every form of every
    value of the hop's target, by its relation, that lies in the range. Empty when there is none."""
    end = Node(id="?", name="?", kind="text")
    asked = hop.model_copy(update={"source": hop.target, "target": end, "forward": not hop.forward, "needs": ()})
    found = facts.results(Walk(shape="composition", hops=(asked,))).found
    forms = [
        form
        for values in found
        for text in values
        for kind in MEASURED_KINDS
        if lies_in(kind, text, hop.source.id)
        for form in (*value_forms(text, cast(ValueKind, kind)), *_grouped(text))
    ]
    return tuple(dict.fromkeys(forms))


def _grouped(text: str) -> tuple[str, ...]:
    """Plain numbers with digit groups: "12045 metres" -> "12,045 metres"."""
    number, blank, unit = text.partition(" ")
    return (f"{int(number):,}{blank}{unit}",) if number.isdigit() else ()
