"""Words for relations that the lexicon does not have, drafted by a model: once each, before questions are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from synth.identity import key_of
from synth.lexicon.model import Lexicon, RelationEntry
from synth.lexicon.names import written_value
from synth.schemas.drafted_words import DraftedWordsRow, RelationFacts, ShownFact
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.stages.contract import Batch, Context, Implementation, Outcome, RowStage, StageConfig, TableStage
from synth.tasks.writing.drafting import WordsDrafter, label_of

__all__ = ["DraftWords", "DraftWordsConfig", "PickRelationFacts", "PickRelationFactsConfig"]

_FACTS, _OWN = 10, 3


class PickRelationFactsConfig(StageConfig):
    lexicon: Lexicon
    """Words of the graph's relations and types."""
    worded: tuple[str, ...] = ()
    """Relations that the user worded: they are left as they are."""


class PickRelationFacts(TableStage[PickRelationFactsConfig]):
    """Ten facts for each relation without words: three of its own, the others of its neighbours, the relations whose
    ends are most like its."""

    name = "pick_relation_facts"
    version = 41
    config_type = PickRelationFactsConfig
    reads: ClassVar[tuple[str, ...]] = ("entities", "edges")
    writes: ClassVar[Mapping[str, type[Row]]] = {"relation_facts": RelationFacts}
    libraries = ("numpy",)

    def run(self) -> Batch:
        edges = self.context.inputs.table("edges").arrow
        encoded = edges.column("relation").combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        names = encoded.dictionary.to_pylist()
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
        places = {name: order[starts[at] : starts[at + 1]] for at, name in enumerate(names)}
        rows = [
            self._row(name, places, edges)
            for name in sorted(places)
            if name not in self.config.worded and name in self.config.lexicon.relations
        ]
        return Batch(tables={"relation_facts": rows}, rows_in=len(rows), kept_in=len(rows))

    def _row(self, name: str, places: Mapping[str, Any], edges: Any) -> RelationFacts:
        rng = self.context.generator(name)
        others = sorted(places.keys() - {name}, key=lambda other: (-self._alike(name, other), other))
        chosen = list(rng.choice(places[name], min(_OWN, len(places[name])), replace=False))
        left = {other: list(rng.permutation(places[other])[:_FACTS]) for other in others[: _FACTS - _OWN]}
        while len(chosen) < _FACTS and any(left.values()):
            for facts in left.values():
                if facts and len(chosen) < _FACTS:
                    chosen.append(facts.pop())
        return RelationFacts(
            id=name, facts=tuple(self._shown(edges.slice(int(at), 1).to_pylist()[0]) for at in rng.permutation(chosen))
        )

    def _alike(self, name: str, other: str) -> int:
        """How much the ends of two relations have in common: at the subject, at the object."""
        one, two = self.config.lexicon.relations[name], self.config.lexicon.relations.get(other)
        if two is None:
            return -1
        return 2 * len({*one.subject} & {*two.subject}) + len({*_ends(one)} & {*_ends(two)})

    def _shown(self, edge: Mapping[str, Any]) -> ShownFact:
        entities = self.context.inputs.table("entities")
        entry = self.config.lexicon.relations[edge["relation"]]
        found = entities.row(edge["object"]).name if edge["object"] >= 0 else written_value(edge["value"], entry.value)
        return ShownFact(
            relation=label_of(edge["relation"]), subject=entities.row(edge["subject"]).name, object=found or "-"
        )


def _ends(entry: RelationEntry) -> tuple[str, ...]:
    return entry.object or (entry.value,)


class DraftWordsConfig(StageConfig):
    lexicon: Lexicon
    """Words that the rule made of the labels."""
    writer: Implementation
    """Who drafts."""
    reader: Implementation
    """Who picks the relation by each phrase."""
    prompts: tuple[str, str]
    """``<stage>/<name>/v<N>@<sha256>`` of their prompt files."""


class DraftWords(RowStage[DraftWordsConfig, RelationFacts]):
    """Each relation keeps its row, with the phrases that passed."""

    name = "draft_words"
    version = 41
    config_type = DraftWordsConfig
    reads: ClassVar[tuple[str, ...]] = ("relation_facts",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"drafted_words": DraftedWordsRow}
    over = "relation_facts"

    def __init__(self, config: DraftWordsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._drafter = WordsDrafter(context.make(config.writer), context.make(config.reader))

    def process(self, row: RelationFacts) -> Outcome:
        drafted = self._drafter.draft(
            row, self.config.lexicon.relations[row.id], lambda number: key_of(self.context.generator(row.id, number))
        )
        kept: dict[str, list[str]] = {}
        refused = []
        if drafted.reason is not None:
            refused.append(
                Rejection(stage=self.name, row_id=row.id, reason=drafted.reason, detail=drafted.detail[:1000])
            )
        for number, phrase in enumerate(drafted.phrases):
            if phrase.reason is None and phrase.slot is not None:
                kept.setdefault(phrase.slot, []).append(phrase.words)
            elif phrase.reason is not None:
                told = f"{phrase.detail}: {phrase.said}"[:1000]
                refused.append(
                    Rejection(stage=self.name, row_id=row.id, reason=phrase.reason, detail=told, part=number)
                )
        worded = DraftedWordsRow(
            id=row.id,
            **{kind: tuple(words) for kind, words in kept.items()},
            said=len(drafted.phrases),
            kept=sum(map(len, kept.values())),
            model=self.config.writer.model_name,
            reader=self.config.reader.model_name,
            prompts=self.config.prompts,
            calls=drafted.calls,
        )
        self.context.metrics["said"], self.context.metrics["kept"] = float(worded.said), float(worded.kept)
        return Outcome((worded,), tuple(refused))
