"""What was looked up for the rules that decide on a call: the lines, where each look-up stands, what has moved."""

from __future__ import annotations

from typing import Any

from synth.environments.app.environment import AppEpisode
from synth.environments.app.requests import Ask, Look, Question
from synth.environments.app.words import one_line
from synth.environments.contract import ToolResult
from synth.exploration.app.deciding import applying, bears_on, cents_in, deciding, is_outdated, look_again, named_by
from synth.exploration.app.phrases import plain
from synth.exploration.app.requests import AppRequests, Values
from synth.exploration.pipeline import Dropped
from synth.schemas.plans import Ground, PlannedCall
from synth.schemas.rejections import Reason

__all__ = ["Grounds"]


class Grounds:
    """The part of a solver that tells by what its calls are decided."""

    app: AppRequests
    speaker: Any
    episode: AppEpisode
    calls: list[PlannedCall]
    results: list[ToolResult]
    _priced: str | None
    """The line that shows the last amount that was looked up."""

    def evidence(self, name: str, row: Values, rule: str | None, *, stopped: bool = False) -> tuple[str, ...]:
        """The lines of what was looked up by which ``rule`` decides on an ask's call, where the application says which;
        where it is ``stopped`` by the rule, one of them has to be there.

        Raises:
            Dropped: it says so, and nothing of the kind was shown.
        """
        return () if rule is None else self._ground(name, row, rule, stopped=stopped).lines

    def weighed(self, row: Values, rule: str, *, holds: bool) -> tuple[str, ...]:
        """How what was looked up for ``rule`` compares with it, in words.

        Raises:
            Dropped: by that comparison it comes out the other way than it did.
        """
        due = None if self._priced is None else cents_in(self._priced)
        found = self.app.weighed(self.episode, rule, {**row, "speaker": self.speaker, "due": due})
        if found is not None and found[0] is not holds:
            raise Dropped(Reason.EVIDENCE_DOES_NOT_STATE, f"{rule}: what was looked up says {found[0]}, not {holds}")
        return () if found is None else found[1]

    def _grounds(self, name: str, row: Values) -> tuple[Ground, ...]:
        """The written rules that are kept before an ask's call, each with what was looked up for it: the first, and of
        the others those for which something was, or need be."""
        hidden = self.app.environment.rules.hidden
        written = [rule for rule in self.app.requests.asks[name].refused_by if rule not in hidden]
        every = [self._ground(name, row, rule, whole=rule == written[0]) for rule in written]
        told = [
            (at, one)
            for at, one in enumerate(every)
            if not at or one.lines or one.nothing or self._needs_no_look(name, written[at])
        ]
        return tuple(one.model_copy(update={"weighed": self.weighed(row, written[at], holds=True)}) for at, one in told)

    def _needs_no_look(self, name: str, rule: str) -> bool:
        """Whether a rule is weighed by the request and the policy alone ("never in advance")."""
        return rule in self.app.requests.weighs and not self.app.requests.asks[name].refused_by[rule]

    def _ground(self, name: str, row: Values, rule: str, *, stopped: bool = False, whole: bool = True) -> Ground:
        """What was looked up for one rule. ``whole``: where nothing stands of what it goes by, that nothing does is
        quoted, if the rule allows the call."""
        ask, known = self.app.requests.asks[name], self.app.environment.rules.named(rule)
        text = one_line(known.text if known is not None else rule)
        today, found, named = self.episode.now[:10], list[str](), False
        nothing: dict[str, str] = {}
        for look in ask.refused_by.get(rule, ()):
            call = {one: row[column] for one, column in look.arguments.items() if row[column] is not None}
            at, pieces = self._looked(look.tool, call, since=0), applying(look.shows, row)
            if at is None or not pieces:
                continue
            named = True
            shown = self.results[at].content
            held, every = deciding(shown, [plain(piece, row, today) for piece in pieces])
            missing = named_by(pieces, row, today) if shown.split("\n")[0].endswith(":") else None
            if not held and not stopped and missing is not None:
                nothing[look.tool] = missing
            else:
                found += held or ([] if stopped or not (whole or "\n" not in shown.strip()) else every)
        if ask.confirm is not None and rule in ask.confirm.decides:
            named = named or whole
            priced = self._priced
            found += [priced] if priced is not None and (whole or bears_on(text, ask.confirm, priced)) else []
        if named and whole and not found and not nothing:
            raise Dropped(Reason.EVIDENCE_DOES_NOT_STATE, f"{name}: nothing shows what {rule} goes by")
        return Ground(rule=text, lines=tuple(dict.fromkeys(found)), nothing=nothing)

    def _looked(self, tool: str, arguments: Values, *, since: int) -> int | None:
        """The last call of a tool with these arguments, of those from ``since`` on."""
        calls = reversed(range(since, len(self.calls)))
        return next((n for n in calls if self.calls[n].tool == tool and self.calls[n].arguments == arguments), None)

    def _is_outdated(self, at: int, look: Look, row: Values, ask: Ask | Question | None) -> bool:
        """Whether a change of the plan itself has made of a look-up's evidence what is no longer so."""
        looks = ask.looks if isinstance(ask, Ask) else ()
        same = [one for one in looks if (one.tool, one.arguments) == (look.tool, look.arguments)]
        shows = [piece for one in same for piece in applying(one.shows, row)]
        pieces = [plain(piece, row, self.episode.now[:10]) for piece in shows]
        before = self.results[at].content
        return at < self._last_change() and is_outdated(before, look_again(self.episode, self.calls[at]), pieces)

    def _last_change(self) -> int:
        return next((at + 1 for at in reversed(range(len(self.calls))) if self.calls[at].changes), 0)
