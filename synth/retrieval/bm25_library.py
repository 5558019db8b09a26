"""bm25s, without JAX.

Its import runs JAX where that is installed, and on a machine with a GPU JAX takes three quarters of the memory, in
every process. Nothing of it is used here: scores come from bm25s, and we sort them.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["load_bm25s"]


def load_bm25s() -> Any:
    """The module; JAX, unless it is loaded already, can't be imported meanwhile."""
    hidden = "jax" not in sys.modules
    if hidden:
        sys.modules["jax"] = None  # type: ignore[assignment]  # Python's own way of saying: not to be had
    try:
        import bm25s
    finally:
        if hidden:
            del sys.modules["jax"]
    return bm25s
