"""Which reader takes a file, by its ending, and what it needs of the other files of the folder."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from functools import cached_property

from synth.sources.docs.decode import NotTextError, decode
from synth.sources.docs.hrefs import MARKDOWN, RST
from synth.sources.docs.html import parse_html
from synth.sources.docs.markdown import parse_markdown
from synth.sources.docs.page import Parsed
from synth.sources.docs.rst import labels_of, parse_rst
from synth.sources.docs.rst_roles import Label
from synth.sources.files import leads_out, refusal

__all__ = ["Reader"]


class Reader:
    """
    Args:
        root: the folder, absolute.
        files: id -> path of every page, relative to the folder.
        max_bytes: of a file; the rest of a longer one is not read.
    """

    def __init__(self, root: str, files: Mapping[str, str], max_bytes: int) -> None:
        self._root, self._files, self._max_bytes = root, files, max_bytes

    def parse(self, path: str, text: str) -> Parsed:
        """The page at a path.

        Raises:
            MalformedError: its markup can't be read.
        """
        ending = posixpath.splitext(path)[1].lower()
        if ending in MARKDOWN:
            return parse_markdown(text)
        if ending not in RST:
            return parse_html(text)

        def included(target: str) -> str | None:
            begins = "" if target.startswith("/") else posixpath.dirname(path)
            return self._text(posixpath.normpath(posixpath.join(begins, target.lstrip("/"))))

        return parse_rst(text, self._labels, included)

    @cached_property
    def _labels(self) -> Mapping[str, Label]:
        """Where the labels of all files of reStructuredText lead."""
        found: dict[str, Label] = {}
        for name, path in sorted(self._files.items()):
            if path.lower().endswith(RST) and (text := self._text(path)) is not None:
                found |= labels_of(name, text)
        return found

    def _text(self, path: str) -> str | None:
        """The text of a file of the folder; None for one that is not there, lies or leads outside, or is no text."""
        if path.startswith("../") or refusal(self._root, path) is not None or self._lies_outside(path):
            return None
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                return decode(file.read(self._max_bytes))
        except (OSError, NotTextError):
            return None

    def _lies_outside(self, path: str) -> bool:
        """Whether a folder on the way to a file leads out of the root."""
        parts = path.split("/")
        return any(leads_out(self._root, "/".join(parts[:end])) for end in range(1, len(parts)))
