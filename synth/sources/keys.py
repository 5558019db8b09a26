"""Forms of keys that say themselves what they are: one table, for the scan of texts and for the last look of a push."""

from __future__ import annotations

__all__ = ["ISSUED", "PEM", "issued"]

ISSUED: dict[str, str] = {
    # A run of twenty characters without a hyphen stands in every such key, and in hardly any hyphenated word.
    "endpoint": r"sk-[A-Za-z0-9_-]{0,160}[A-Za-z0-9_]{20}",
    "payments": r"[sr]k_live_[A-Za-z0-9]{16,}",
    "forge": r"gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40}|glpat-[A-Za-z0-9_-]{20}",
    "cloud": r"(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}",
    "chat": r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    "hub": r"hf_[A-Za-z0-9]{30,}",
    "packages": r"npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{40,}",
    "mail": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "signed": r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
}
"""What issues it -> its form, in the dialect that Python and RE2 share: no look around."""
PEM = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
"""The first line of a private key."""


def issued() -> str:
    """All forms of ``ISSUED`` as one expression, without what must stand around it: no letter or digit before."""
    return "|".join(ISSUED.values())
