"""What the card may say about licences: nothing that nobody said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Licence", "licence_of"]

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
    """Beside ``other``: what it is, or that nobody said."""
    sentence: str
    """For the text of the card."""


def licence_of(documents: Mapping[str, int]) -> Licence:
    """From documents by licence, as the rows state it (``unknown`` = nobody said)."""
    stated = {name: count for name, count in sorted(documents.items()) if name != "unknown" and count}
    unknown = documents.get("unknown", 0)
    if not stated:
        return Licence(
            "other",
            "not-stated",
            "No document of the source states a licence, so this dataset states none. Settle what you may do with the "
            "texts before you publish or share them.",
        )
    listed = ", ".join(f"{name} ({count:,} documents)" for name, count in stated.items())
    if unknown:
        return Licence(
            "other",
            "mixed-or-not-stated",
            f"Licences as the documents state them: {listed}; {unknown:,} documents state none. The column `licence` "
            "says it for each row. Settle what you may do with the others before you publish or share them.",
        )
    if len(stated) > 1:
        return Licence(
            "other",
            "mixed",
            f"Licences as the documents state them: {listed}. The column `licence` says it for each row.",
        )
    (name,) = stated
    identifier = name.lower().removesuffix("-only").removesuffix("-or-later")
    if identifier in _HUB_IDS:
        return Licence(identifier, None, f"Every document is under {name}.")
    return Licence("other", identifier, f"Every document is under {name}.")
