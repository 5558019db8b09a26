"""The choices of the scripted policy in a graph.

Its errors are those of agents in graphs (GraphWalker, arXiv 2603.28533): a wrong relation or a wrong direction of it,
the first of several, a branch of a list left unread, a condition left untested, an answer given on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.agents.scripted.choosing import ErrorInjection
from synth.agents.scripted.graph.conditions import fact_that_meets
from synth.agents.scripted.matching import WORDED, fit_of, kind_fit, likeness, same_name
from synth.agents.scripted.seen import Fan, Far
from synth.agents.scripted.state import Value
from synth.environments.contract import ToolCall
from synth.environments.shown import Hit, Listed

__all__ = ["GraphReadingChooser"]

_NOTICES = 0.6
"""Share of clearly wrong relations that a policy of full skill sees through once their facts are before it."""


class GraphReadingChooser(ErrorInjection):
    # Entities.

    def entity(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        exact = [hit for hit in hits if same_name(hit.title, name)]
        exact += [hit for hit in hits if hit not in exact and f"called {name}" in hit.text]
        named, alike = self._named(name, hits, exact, "took")
        return named or (alike[0] if alike and likeness(alike[0].title, name) >= 0.5 else None)

    def is_entity(self, clue: int, name: str, title: str, entity: str) -> bool:
        known = next((hit for hit in self._seen.hits() if hit.document == entity), None)
        if same_name(title, name) or (known is not None and name in known.text):
            return True
        if not self.errs(2 * self._config.skipped_check):
            return False
        self.log("skipped_check", f"took the entity {title!r} for {name!r}")
        return True

    # Relations.

    def _fits(self, clue: int, listed: Sequence[Listed], *, source: bool) -> list[float]:
        asked = self._state.reading.clues[clue]
        found = []
        for item in listed:
            fit = fit_of(asked.cue, item, self._lexicon)
            if source:
                fit += kind_fit(asked.sought, asked.cue, asked.kind, item)
                if asked.every and item.facts > 1:
                    fit += 0.1
            elif asked.value:
                fit += 0.2 if _holds_value(asked.name, asked.span, item) else -0.3
            found.append(fit)
        return found

    def relation(self, clue: int, entity: str, listed: Sequence[Listed], *, source: bool) -> Listed | None:
        fits = self._fits(clue, listed, source=source)
        if not fits:
            return None
        scale = 1.6 * self._config.misreading * 2 * (1 - self._config.skill)
        noisy = [fit + float(self._generator.normal(0.0, 1.0)) * scale for fit in fits]
        chosen, best = int(np.argmax(noisy)), int(np.argmax(fits))
        if noisy[chosen] < self._config.threshold + 0.1:
            return None
        if listed[chosen].relation != listed[best].relation:
            self.log("wrong_relation", f"took {listed[chosen].label} rather than {listed[best].label}")
        elif chosen != best:
            self.log("wrong_direction", f"took {listed[chosen].label} rather than {listed[best].label}")
        return listed[chosen]

    def accepts(self, clue: int, entity: str, relation: Listed, ends: Sequence[Far], *, source: bool) -> bool:
        """It sees through a wrong relation now and then: the facts read otherwise than the question."""
        options = list(self._seen.listed.get(entity, {}).values())
        fits = self._fits(clue, options, source=source)
        mine = next((fit for item, fit in zip(options, fits, strict=True) if item.label == relation.label), 0.0)
        if max(fits, default=0.0) - mine < 0.15:
            return True
        return float(self._generator.random()) >= _NOTICES * self._config.skill

    def fits(self, clue: int, relation: Listed) -> bool:
        return fit_of(self._state.reading.clues[clue].cue, relation, self._lexicon) >= WORDED

    def is_for(self, clue: int, entity: str, relation: Listed) -> bool:
        asked = self._state.reading.clues[clue]
        known = self._state.values.get(asked.source) if asked.source is not None else None
        place = self._state.place(asked.name) if asked.source is None else known.place if known else None
        return place == entity and self.fits(clue, relation)

    def reads_on(self, clue: int, fan: Fan) -> bool:
        if "one_page" in self._config.systematic:
            self.log("one_page", f"did not turn to page {fan.unread} of {fan.label}")
            return False
        if not self.errs(self._config.short_list):
            return True
        self.log("lost_branch", f"left pages of {fan.label} unread")
        return False

    def looks_around(self, clue: int, ends: Sequence[Far]) -> bool:
        return not self.errs(self._config.short_list)

    # Far ends.

    def end(self, clue: int, ends: Sequence[Far]) -> Far | None:
        asked = self._state.reading.clues[clue]
        ends = [end for end in ends if bool(end.id) == (asked.kind == "entity")] or list(ends)
        if len(ends) < 2:
            return ends[0] if ends else None
        if self.errs(self._config.wrong_measure):
            taken = ends[int(self._generator.integers(len(ends)))]
            self.log("any_of_several", f"took {taken.name!r}, one of {len(ends)}")
            return taken
        return ends[0]

    def members(self, clue: int, ends: Sequence[Far]) -> list[Far]:
        ends = [end for end in ends if end.id] or list(ends)
        if len(ends) > 1 and self.errs(self._config.short_list):
            kept = ends[: max(1, len(ends) - 1 - int(self._generator.integers(2)))]
            self.log("short_list", f"listed {len(kept)} of {len(ends)}")
            return list(kept)
        return list(ends)

    def meets(self, clue: int, name: str, candidate: Value, ends: Sequence[Far], *, source: bool) -> Far | None:
        asked = self._state.reading.clues[clue]
        found = fact_that_meets(asked, name, candidate, ends, source=source)
        if source:
            return found
        if ends and self.errs(self._config.misjudged_range / 2):
            self.log(
                "misjudged_range", f"{'did not see' if found else 'saw'} that {candidate.name} meets {asked.cue!r}"
            )
            return None if found is not None else ends[0]
        return found

    # The answer.

    def answer(self, value: Value, title: str | None) -> str:
        return value.name

    def _early_guess(self, number: int) -> str | None:
        known = [one for one in self._state.values.values() if one.turn >= self._seen.turns - 2]
        if not known or not self.errs(self._config.early_stop):
            return None
        self.log("early_stop", f"answered {known[-1].name!r} with clue {number} still open")
        return known[-1].name

    def guess(self) -> str | None:
        values = sorted(self._state.values.items())
        return values[-1][1].name if values and float(self._generator.random()) < 0.7 else None

    # Bad arguments.

    def _corrupted(self, call: ToolCall) -> ToolCall:
        draw = int(self._generator.integers(2))
        arguments = dict(call.arguments)
        if call.name == "find_entity":
            arguments = {"query": arguments["name"]} if draw else arguments | {"k": 50}
        else:
            title = next((hit.title for hit in self._seen.hits() if hit.document == arguments["entity"]), None)
            if draw and title is not None:
                arguments["entity"] = title
            else:
                arguments["id"] = arguments.pop("entity")
        return call.model_copy(update={"arguments": arguments})


def _holds_value(name: str, span: tuple[str, str] | None, item: Listed) -> bool:
    """Whether the relation leads to values of the kind of ``name``, or of what lies in ``span``."""
    kinds = set(item.kinds)
    if span is not None:
        dated = any(len(end) == 10 and end[4] == "-" for end in span)
        return bool(kinds & ({"date", "year"} if dated else {"number", "quantity"}))
    digits = any(sign.isdigit() for sign in name)
    return bool(kinds & ({"date", "year", "number", "quantity"} if digits else {"text"}))
