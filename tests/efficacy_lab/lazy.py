"""torch, imported when it is first used: everything else in this package works without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy.typing as npt

from synth.distribution import install
from synth.errors import InputError

__all__ = ["functional", "tensor_of", "torch"]


class _Lazy:
    """Stands for a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            found = getattr(import_module(self._name), attribute)
        except ImportError:
            raise InputError("training needs torch, and it is not installed", mend=install("train")) from None
        self.__dict__[attribute] = found
        return found


torch: Any = _Lazy("torch")
functional: Any = _Lazy("torch.nn.functional")


def tensor_of(array: npt.NDArray[Any]) -> Any:
    """The array as a tensor."""
    return torch.from_numpy(array)
