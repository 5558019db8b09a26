"""The Hub's client library for the time of a push: bounded waits, no chatter, no log of signed addresses."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from synth.publish.patience import Patience

__all__ = ["Announce", "polite", "without_xet", "xet_is_on"]

Announce = Callable[[str], None]

_XET_PATIENCE = "HF_XET_CLIENT_RETRY_MAX_DURATION"
"""hf_xet's own variable; it tries for six minutes otherwise."""


def xet_is_on() -> bool:
    """Whether huggingface_hub uploads by Xet: hf_xet is installed, and HF_HUB_DISABLE_XET is not set."""
    from huggingface_hub.utils._runtime import is_xet_available

    return bool(is_xet_available())


@contextmanager
def without_xet() -> Iterator[None]:
    """Within the block huggingface_hub uploads by LFS, in the whole process."""
    from huggingface_hub import constants

    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before


@contextmanager
def polite(patience: Patience, name: str, announce: Announce) -> Iterator[None]:
    """Within the block every request of huggingface_hub has a timeout (by itself it has none, and waits for ever), and
    each refusal that it will retry by itself is first stretched by a drawn time (by itself it draws none).

    Xet sends its requests itself; the time it may spend on retries is bounded, too.

    The client is set for the whole process and is the library's default again afterwards.
    """
    from huggingface_hub import close_session, set_client_factory
    from huggingface_hub.utils._http import default_client_factory
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    refusals = 0

    def bounded(request: Any) -> None:
        limits = dict(request.extensions.get("timeout") or {})
        request.extensions["timeout"] = {
            part: patience.timeout if limits.get(part) is None else limits[part]
            for part in ("connect", "read", "write", "pool")
        }

    def refused(response: Any) -> None:
        nonlocal refusals
        if response.status_code != 429 and response.status_code < 500:
            return
        refusals += 1
        asked = response.headers.get("Retry-After")
        announce(
            f"the Hub answers {response.status_code}"
            + (f" and asks to wait {asked} s" if asked else "")
            + ": trying again"
        )
        time.sleep(patience.stretch(refusals, name))

    def client() -> Any:
        made = default_client_factory()
        hooks = made.event_hooks
        made.event_hooks = {
            "request": [*hooks.get("request", ()), bounded],
            "response": [*hooks.get("response", ()), refused],
        }
        return made

    patient = _XET_PATIENCE not in os.environ
    if patient:
        os.environ[_XET_PATIENCE] = f"{patience.timeout:.0f}s"
    log = logging.getLogger("huggingface_hub")
    level, bars = log.level, are_progress_bars_disabled()
    set_client_factory(client)
    log.setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield
    finally:
        if patient:
            os.environ.pop(_XET_PATIENCE, None)
        log.setLevel(level)
        if not bars:
            enable_progress_bars()
        set_client_factory(default_client_factory)
        close_session()
        for text in dict.fromkeys(" ".join(str(one.message).split()) for one in said if one.category is UserWarning):
            announce(text)
