"""Whether there is a browser to test with."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from synth.environments.web.browser import find_browser
from synth.errors import InputError

__all__ = ["needs_browser"]


def _missing() -> str:
    if find_spec("playwright") is None:
        return "the extra web is not installed (playwright)"
    try:
        find_browser(None)
    except InputError:
        return "there is no Chromium on this machine (Debian: apt-get install chromium)"
    return ""


needs_browser = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is one")
