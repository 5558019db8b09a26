"""The source `starter`: facts in a YAML file, a thing and what is known of it. Replace how it is read."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import yaml

from synth.errors import InputError
from synth.inputs import read_input
from synth.recipe.sources import SourceSpec
from synth.sources.facts.graph import open_lexicon
from synth.sources.facts.statements import FactsConfig, Statements
from synth.stages.contract import StageConfig
from synth.stages.read_facts import ReadTriples

__all__ = ["SPEC", "ReadStarter"]

MEND = "give a YAML file: the name of a thing, and below it its type and its facts"


class StarterFacts(FactsConfig):
    """Facts in a YAML file."""

    source: ClassVar[str] = "starter"
    path: str
    """Name of a thing -> its type and its facts: a value, or a list of values, each a number, a date or a name."""

    def content_digest(self) -> str:
        return self.digest_of([self.path], MEND)

    def read(self) -> Statements:
        things = yaml.safe_load(read_input(self.path, mend=MEND))
        if not isinstance(things, dict) or not all(isinstance(facts, dict) for facts in things.values()):
            raise InputError("it is no table of things", where=self.path, mend=MEND)
        facts = [
            (str(thing), str(relation), str(value))
            for thing, known in things.items()
            for relation, values in known.items()
            if relation != "type"
            for value in (values if isinstance(values, list) else [values])
        ]
        types = {str(thing): str(known["type"]) for thing, known in things.items() if "type" in known}
        named = frozenset(str(thing) for thing in things)
        return Statements(facts=facts, labels={}, types=types, things=named, rejected=[], rows=len(facts))


class StarterSource(StarterFacts):
    kind: Literal["starter"]


class StarterConfig(StarterFacts, StageConfig):
    pass


class ReadStarter(ReadTriples):
    name = "read_starter"
    version = 1  # raise it when its rows change
    config_type: ClassVar[type[Any]] = StarterConfig


SPEC = SourceSpec(
    StarterSource, "read_starter", "Facts of a YAML file, and a page about each thing.", lexicon=open_lexicon
)
