"""Where a link of a page leads in a folder of pages, as writers of manuals write links: relative or from the root of
the site, with the ending of the file, of its rendered form or with none, to a page or to a folder with an index. What
begins at a root that is a folder in the folder, or is written in small letters where the file is not, leads to the one
file that ends so."""

from __future__ import annotations

import os
import posixpath
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain, starmap
from urllib.parse import unquote, urlsplit

__all__ = ["MARKDOWN", "MISSING", "RST", "Hrefs"]

MARKDOWN = (".md", ".markdown", ".mkd")
RST = (".rst", ".rest")

MISSING = "\0missing"
"""In place of a fragment: the link points into the folder, at nothing."""
_INDEXES = [(name, ending) for name in ("index", "_index") for ending in (".html", ".htm", ".md", ".rst")]


class Hrefs:
    """
    Args:
        root: The folder, absolute.
        files: What a page may be called -> the file that it is read from; both relative to ``root``.
    """

    def __init__(self, root: str, files: Mapping[str, str]) -> None:
        self._root, self._files = os.path.normpath(root).split(os.sep), files
        self._ends: dict[str, str | None] = {}
        """How a name ends, in small letters -> the one file that does; None where several do."""
        for name, file in files.items():
            parts = name.casefold().split("/")
            for start in range(len(parts) - 1):
                end = "/".join(parts[start:])
                self._ends[end] = None if self._ends.get(end, file) != file else file

    def resolve(self, name: str, href: str) -> tuple[str | None, str | None]:
        """(file that ``href`` on page ``name`` leads to, empty for the page itself; fragment). The file is None for
        what leads out of the folder, and for what points into it at nothing: the fragment is then :data:`MISSING`."""
        try:
            parts = urlsplit(href.strip())
        except ValueError:
            return None, None
        if parts.scheme or parts.netloc:
            return None, None
        fragment = unquote(parts.fragment) or None
        if not parts.path:
            return "", fragment
        path = unicodedata.normalize("NFC", unquote(parts.path))
        if path.startswith("/"):
            places = list(self._below_root(path))
            tries = ((place, self._files) for place in places), ((place.casefold(), self._ends) for place in places)
            found = next(filter(None, starmap(self._file, chain(*tries))), None)
            return found, fragment if found else None  # what is not here is another part of the site
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if joined.startswith("../") or joined == "..":
            return None, None
        if (found := self._file(f"{joined}/" if path.endswith("/") else joined, self._files)) is not None:
            return found, fragment
        extension = posixpath.splitext(joined)[1].lower()
        if extension and extension not in (".html", ".htm", ".xhtml", *MARKDOWN, *RST):
            return None, None  # a picture, an archive, a source file: no page
        return None, MISSING

    def _below_root(self, path: str) -> Iterator[str]:
        """Where ``path``, which begins at the root of a site, may stand: the folder is that root, or is what the path
        begins with (``/docs/intro`` in a folder named ``docs``)."""
        parts = path.strip("/").split("/")
        end = "/" if path.endswith("/") else ""
        for cut in (0, *(n for n in range(1, len(parts) + 1) if parts[:n] == self._root[-n:])):
            yield posixpath.normpath("/".join(parts[cut:]) or ".") + end

    def _file(self, path: str, files: Mapping[str, str | None]) -> str | None:
        joined = path.rstrip("/")
        stem, extension = posixpath.splitext(joined)
        tries = [joined]
        if path.endswith("/") or not extension or joined == ".":
            tries += [posixpath.normpath(posixpath.join(joined, index + ending)) for index, ending in _INDEXES]
            tries += [joined + ending for ending in (".html", ".md", ".rst")]
        elif extension in (".html", ".rst"):
            tries += [stem + ".md", stem + ".rst"]  # Markdown that is written for its rendered form
        return next(filter(None, map(files.get, tries)), None)
