"""Facts of a graph as clauses of a thought."""

from __future__ import annotations

from synth.environments.passages import Triple

__all__ = ["clauses"]


def clauses(fact: Triple) -> tuple[str, ...]:
    """The ways in which a thought may tell ``fact`` in words: each names both ends and the relation, as shown."""
    subject, relation, end = fact.subject.name, fact.relation, fact.object.name
    return (
        f"{relation} leads from {subject} to {end}",
        f"{subject} is linked to {end} by {relation}",
        f"{relation} links {subject} to {end}",
        f"{relation} for {subject} is {end}",
        f"{subject} points to {end} through {relation}",
        f"for {subject}, {relation} gives {end}",
    )
