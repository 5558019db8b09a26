"""torch, imported when it is first used: everything else in this package works without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy.typing as npt

from synth.distribution import install
from synth.errors import InputError

__all__ = ["functional", "tensor_of", "torch", "use_device"]


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


def use_device(name: str) -> None:
    """Where tensors are made from now on, in this thread and in threads that call this: ``cpu``, ``cuda``, ``cuda:1``.

    Raises:
        InputError: there is no such device here.
    """
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:  # the second: torch without CUDA in it
        why = str(error).splitlines()[0]
        raise InputError(f"can't be used: {why}", where=f"--device {name}", mend="use cpu") from None
    torch.set_default_device(name)


def tensor_of(array: npt.NDArray[Any]) -> Any:
    """The array as a tensor on the device in use."""
    return torch.from_numpy(array).to(torch.get_default_device())
