"""What the card says about licences: what is stated, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from synth.schemas.reports import BuildReport

__all__ = ["Licence", "StatedLicences", "licence_of", "licence_of_dataset"]

_HUB_IDS = frozenset(
    """
    afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 cc-by-2.0 cc-by-2.5
    cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 epl-2.0 eupl-1.1 eupl-1.2 gfdl
    gpl-2.0 gpl-3.0 isc lgpl-2.1 lgpl-3.0 lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 osl-3.0 pddl
    postgresql unlicense wtfpl zlib
    """.split()
)
"""Identifiers that the Hub takes in a card's front matter; everything else is ``other`` with a name."""


@dataclass(frozen=True)
class Licence:
    id: str
    """For the front matter: an identifier of the Hub, or ``other``."""
    name: str | None
    """Beside ``other``: what it is, or that none is stated."""
    sentence: str
    """For the text of the card."""


@dataclass
class StatedLicences:
    """Rows by the licence that they state (``unknown`` = not stated), counted as they pass: of documents, and, where
    there are none, of the first of tasks and trajectories that has any (an application, a site, an import)."""

    _counted: dict[str, Counter[str]] = field(default_factory=dict)

    def see(self, config: str, batch: pa.RecordBatch) -> None:
        """``batch`` has a column ``licence``."""
        values = pc.value_counts(pc.fill_null(batch.column("licence"), "unknown"))
        counted = {item["values"]: item["counts"] for item in values.to_pylist()}
        self._counted.setdefault(config, Counter()).update(counted)

    @property
    def documents(self) -> dict[str, int]:
        return dict(sorted(self._counted.get("documents", Counter()).items()))

    @property
    def rows(self) -> dict[str, int]:
        """Empty where there are documents: rows have the licence of theirs."""
        if self.documents:
            return {}
        found = (self._counted.get(config) for config in ("tasks", "trajectories"))
        return dict(sorted(next((counted for counted in found if counted), Counter()).items()))


def licence_of_dataset(report: BuildReport) -> Licence:
    """Of the documents, or, where there are none, of the rows."""
    if report.document_licences or not report.row_licences:
        return licence_of(report.document_licences)
    return licence_of(report.row_licences, "row")


def licence_of(counts: Mapping[str, int], noun: str = "document") -> Licence:
    """From documents, or whatever else ``noun`` says, by licence, as they state it (``unknown`` = not stated)."""
    stated = {name: count for name, count in sorted(counts.items()) if name != "unknown" and count}
    unknown = counts.get("unknown", 0)
    if not stated:
        return Licence(
            "other",
            "not-stated",
            f"No {noun} of the source states a licence, so this dataset states none. Settle what you may do with the "
            "texts before you publish or share them.",
        )
    listed = ", ".join(f"{name} ({count:,} {noun}s)" for name, count in stated.items())
    if unknown:
        return Licence(
            "other",
            "mixed-or-not-stated",
            f"Licences as the {noun}s state them: {listed}; {unknown:,} {noun}s state none. The column `licence` "
            "says it for each row. Settle what you may do with the others before you publish or share them.",
        )
    if len(stated) > 1:
        return Licence(
            "other",
            "mixed",
            f"Licences as the {noun}s state them: {listed}. The column `licence` says it for each row.",
        )
    (name,) = stated
    identifier = name.lower().removesuffix("-only").removesuffix("-or-later")
    if identifier in _HUB_IDS:
        return Licence(identifier, None, f"Every {noun} is under {name}.")
    return Licence("other", identifier, f"Every {noun} is under {name}.")
