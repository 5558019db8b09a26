"""What a deep audit finds: violations by rule, and how many rows each rule judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from synth.schemas.row import Row

__all__ = ["Audit", "Findings", "Place", "RuleCount", "Violation"]

Place = tuple[str, int]
"""File and row, from 0."""


class Violation(Row):
    """A row that breaks a rule."""

    file: str
    """Path inside the dataset folder."""
    row: int
    """Row of the file, from 0."""
    id: str
    """Id of the row."""
    rule: str
    what: str
    see: str
    """The command that shows the row."""

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}: {self.rule}: {self.what} ({self.see})"


class RuleCount(Row):
    """What became of one rule."""

    rule: str
    sentence: str
    """What holds where nothing is violated."""
    rows: int
    """Rows that it judged."""
    undecided: int
    """Rows that it could not judge from what the dataset holds."""
    violations: int
    why: str = ""
    """Why it could not judge some."""


class Audit(Row):
    """A finished audit. ``model_dump(mode="json")`` is what ``--json`` prints."""

    rules: tuple[RuleCount, ...]
    violations: tuple[Violation, ...]
    """In the order of finding; of a rule with very many, the first."""

    @property
    def total(self) -> int:
        """All violations, listed or not."""
        return sum(rule.violations for rule in self.rules)


class Findings:
    """Collects; after ``limit`` violations of one rule it only counts."""

    def __init__(self, sentences: Mapping[str, str], limit: int) -> None:
        self._sentences = sentences
        self._limit = limit
        self._violations: list[Violation] = []
        self._counts: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.undecided: Counter[str] = Counter()
        self.why: dict[str, str] = {}

    def add(self, place: Place, row_id: str, rule: str, what: str) -> None:
        """A violation. Raises KeyError for a rule that nobody declared."""
        self._sentences[rule]
        self._counts[rule] += 1
        if self._counts[rule] <= self._limit:
            see = f"synth show DIR --id {row_id}"
            what = " ".join(what.split())
            self._violations.append(Violation(file=place[0], row=place[1], id=row_id, rule=rule, what=what, see=see))

    def leave(self, rule: str, why: str, rows: int = 1) -> None:
        """Rows that the rule can't judge."""
        self.undecided[rule] += rows
        self.why[rule] = why

    def audit(self) -> Audit:
        """Rules that had nothing to judge are left out."""
        rules = tuple(
            RuleCount(
                rule=rule,
                sentence=sentence,
                rows=self.rows[rule],
                undecided=self.undecided[rule],
                violations=self._counts[rule],
                why=self.why.get(rule, ""),
            )
            for rule, sentence in self._sentences.items()
            if self.rows[rule] or self.undecided[rule] or self._counts[rule]
        )
        return Audit(rules=rules, violations=tuple(self._violations))
