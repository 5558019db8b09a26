"""A folder of HTML, Markdown or reStructuredText files with hyperlinks, as documents."""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import ClassVar

from pydantic import Field

from synth.errors import InputError
from synth.identity import split_of
from synth.schemas.described import Described
from synth.schemas.documents import Anchor, Document, Link
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.sources.docs.boilerplate import edge_lines, is_menu, shape_of
from synth.sources.docs.decode import NotTextError, decode
from synth.sources.docs.forms import other_form
from synth.sources.docs.hrefs import MISSING, Hrefs
from synth.sources.docs.manuals import spelt_title
from synth.sources.docs.page import MalformedError, Parsed, sections_of, without_spans
from synth.sources.docs.reader import Reader
from synth.sources.files import is_folder, leads_out, refusal
from synth.sources.private import PrivateData, PrivateKind, handled

__all__ = ["DocsConfig", "DocsSource", "content_digest"]

"""In place of a fragment: the link points into the folder, at a page that is not there."""
_NO_CONTENT = re.compile(r"(?:genindex.*|.*-?modindex|search|404|sitemap|print|toc|contents)$", re.IGNORECASE)
"""Names of pages that only list or repeat what others say."""
_SAMPLE = 80
"""Pages that are read first to learn which lines at their heads and feet are the maker's and not the page's."""
_ON_MOST = 0.4
_ENDING = re.compile(r"(?= [-–—|·:»] | \((?=[^()]*(?:\([^()]*\))?\)$))")
"""What may stand behind the title of a page on every page of a site: " - The Book", " (Manual 5.4)"."""
_BEGINNING = re.compile(r".{8,80}? [-–—|·»] ")
_ON_MANY = 0.3
"""Share of the titles that begin alike, where a site has a name for each of its books: "Paper 3 Reference - "."""
_NUMBERED = re.compile(r"(?:(?:Chapter|Appendix) )?(?:[A-Z]|\d+)(?:\.\d+)*[.:]? (?=\S)(?<![A-Z] )")
"""What may stand in front of it: "H.3. ", "17 ", "Chapter 4. "; a letter alone is an article."""
_PLACE_ALONE = re.compile(r"(?:.* )?(?:Section|Chapter|Appendix|Part) [A-Z\d]+(?:\.\d+)*")
"""A title that says where its page stands and not what it is about."""
_INDEX_SHARE = 0.5
"""A page whose visible characters stand in links to this share or more is an index: nothing is stated on it."""


_PAGES = ("*.html", "*.htm", "*.xhtml", "*.md", "*.markdown", "*.rst")


class DocsConfig(Described):
    """What to read and how."""

    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """The folder. Ids are relative to it."""
    name: str = Field(default="docs", min_length=1)
    """Name of the source, on every document."""
    pattern: tuple[str, ...] = _PAGES
    """Shell patterns of the files to read, matched against the name and against the path relative to the root."""
    exclude: tuple[str, ...] = ()
    """Shell patterns of files to leave out, matched in the same way."""
    licence: str | None = None
    """SPDX id of the licence of files that state none. Empty: the card says that none was stated."""
    base_url: str | None = None
    """Address of the folder's root on the web: a document that states no address of its own gets this + its id."""
    max_bytes: int = Field(default=16_000_000, gt=0)
    """Files above this size are rejected (``too_large``)."""
    private: PrivateData = "keep"
    """What becomes of documents that hold e-mail addresses, telephone or account numbers, cards, addresses on the
    Internet, keys or tokens: ``keep`` them, ``mask`` what was found, or ``reject`` the document."""
    fractions: Mapping[Split, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of pages that each split owns as gold."""


class DocsSource:
    """The folder, listed once. Holds no file content.

    Symbolic links: one to a file in the folder is read like a file (its twin is then a duplicate); one to a folder is
    not followed, so loops end. One that leads out is rejected (``outside``): it must not name files of yours.

    Raises:
        InputError: the folder is missing, is not a folder, can't be listed, or holds no file of the pattern.
    """

    def __init__(self, config: DocsConfig) -> None:
        self.config = config
        self._root = os.path.abspath(os.path.expanduser(config.path))
        where = "docs source"
        if not config.path:
            raise InputError("no folder was given", where=where, mend="give the folder of pages with --source")
        if not os.path.exists(self._root):
            raise InputError(f"there is no folder {config.path!r}", where=where, mend="give one that is there")
        if not os.path.isdir(self._root):
            raise InputError(f"{config.path!r} is a file, not a folder", where=where, mend="give the folder it lies in")
        try:
            os.listdir(self._root)
        except OSError as error:
            raise InputError(f"can't list {config.path!r}: {error.strerror}", where=where) from error
        self._foreign: dict[str, str] = {}
        found = sorted(self._walk(), key=lambda path: (document_id(path), path))
        if not found:
            wanted = " ".join(config.pattern)
            held = [
                f"{count} of its files are {form}" for form, count in Counter(self._foreign.values()).most_common(1)
            ]
            mend = next(iter(held), "set source.pattern")
            raise InputError(f"no file under {config.path!r} matches {wanted}", where=where, mend=mend)
        self.files: list[str] = found
        """Paths relative to the root, '/'-separated, as the file system spells them, in the order of their ids."""
        self._first: dict[str, str] = {}
        for path in found:
            self._first.setdefault(document_id(path), path)
        self.files += sorted(self._foreign)
        self._hrefs = Hrefs(self._root, self._first)
        self._reader = Reader(self._root, self._first, config.max_bytes)
        self._twins: dict[str, str] | None = None
        self.missing_links = 0
        """Links dropped so far because they point into the folder at no page (a number for the report)."""
        self.private: Counter[PrivateKind] = Counter()
        """What was masked or rejected so far as private."""

    def _walk(self) -> Iterator[str]:
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                entries = sorted(os.scandir(os.path.join(self._root, folder)), key=lambda entry: entry.name)
            except OSError:
                yield folder + "/"  # reading it fails in the same way, and says so in ``rejected``
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif leads_out(self._root, path) if is_folder(entry) else self._wanted(path):
                    yield path

    def _wanted(self, path: str) -> bool:
        """Whether the file is read. Documents in other forms are kept in mind."""
        name = posixpath.basename(path)
        forms = (name, name.lower(), path)
        if any(fnmatchcase(form, pattern) for form in forms for pattern in self.config.exclude):
            return False
        if any(fnmatchcase(form, pattern) for form in forms for pattern in self.config.pattern):
            return True
        if self.config.pattern == _PAGES and (form := other_form(name)) is not None:
            self._foreign[path] = form
        return False

    def digest(self) -> str:
        """sha256 (64 hex) over the relative paths and the contents of all files; what can't be read counts as such."""
        total = hashlib.sha256()
        for path in self.files:
            total.update(os.fsencode(path) + b"\0" + (self._hash(path) or "unreadable").encode() + b"\n")
        return total.hexdigest()

    def read(self, paths: Sequence[str]) -> tuple[list[Document], list[Rejection]]:
        """The documents of ``paths`` (members of ``files``), and a rejection for every path that gave none."""
        documents: list[Document] = []
        rejected: list[Rejection] = []
        for path in paths:
            outcome = self._read(path)
            if isinstance(outcome, Document):
                documents.append(outcome)
            else:
                rejected.append(outcome)
        return documents, rejected

    def _read(self, path: str) -> Document | Rejection:
        name = document_id(path)
        if path in self._foreign:
            return self._rejection(path, Reason.UNREADABLE, self._foreign[path])
        if path != self._first[name]:
            return self._rejection(path, Reason.DUPLICATE_ID, f"{_printable(self._first[name])!r} has the same id")
        full = os.path.join(self._root, path)
        if (refused := refusal(self._root, path)) is not None:
            return self._rejection(path, *refused)
        try:
            size = os.stat(full).st_size
            if size > self.config.max_bytes:
                detail = f"{size} bytes, more than max_bytes = {self.config.max_bytes}"
                return self._rejection(path, Reason.TOO_LARGE, detail)
            with open(full, "rb") as file:
                data = file.read(self.config.max_bytes + 1)
        except OSError as error:
            return self._rejection(
                path, Reason.UNREADABLE, error.strerror or errno.errorcode.get(error.errno or 0, "error")
            )
        if len(data) > self.config.max_bytes:
            return self._rejection(path, Reason.TOO_LARGE, f"more than max_bytes = {self.config.max_bytes}")
        if not data.strip():
            return self._rejection(path, Reason.EMPTY, "the file is empty")
        if twin := self._twin_of(path):
            return self._rejection(path, Reason.DUPLICATE_CONTENT, f"the same bytes as {_printable(twin)!r}")
        try:
            text = decode(data)
            parsed = self._stripped(self._reader.parse(path, text))
        except NotTextError as error:
            return self._rejection(path, Reason.NOT_TEXT, str(error))
        except MalformedError as error:
            return self._rejection(path, Reason.MALFORMED, str(error), preview=text[:500])
        if not parsed.text:
            return self._rejection(path, Reason.EMPTY, "no text is left", preview=text[:500])
        document = self._document(name, parsed)
        kept, found = handled(document, self.config.private)
        self.private += found
        if kept is None:
            return self._rejection(path, Reason.PRIVATE_DATA, ", ".join(sorted(found)))
        return kept

    @cached_property
    def _site(self) -> tuple[frozenset[str], frozenset[str], frozenset[str], bool, str]:
        """Shapes of lines at the heads and feet of pages that stand on most of them, endings of most titles,
        beginnings of many, whether most titles are numbered, and the title that most have."""
        paths = list(self._first.values())
        step = max(1, len(paths) // _SAMPLE)
        seen: Counter[str] = Counter()
        endings: Counter[str] = Counter()
        beginnings: Counter[str] = Counter()
        titles: Counter[str] = Counter()
        read = numbered = 0
        for path in paths[::step]:
            try:
                if refusal(self._root, path) is not None:
                    continue
                with open(os.path.join(self._root, path), "rb") as file:
                    parsed = self._reader.parse(path, decode(file.read(self.config.max_bytes)))
            except (OSError, NotTextError, MalformedError):
                continue
            read += 1
            seen.update({shape_of(parsed.text[start:end]) for start, end in edge_lines(parsed.text)} - {""})
            numbered += _NUMBERED.match(_named(parsed)) is not None
            names = {_named(parsed), parsed.head or ""}
            titles[_named(parsed)] += 1
            endings.update({name[m.start() :].casefold() for name in names for m in _ENDING.finditer(name)})
            if (match := _BEGINNING.match(_named(parsed))) is not None:
                beginnings[match.group()] += 1
        found = [
            frozenset(text for text, count in counts.items() if read >= 8 and count >= share * read)
            for counts, share in ((seen, _ON_MOST), (endings, _ON_MOST), (beginnings, _ON_MANY))
        ]
        one = next((t for t, n in titles.items() if read >= 8 and n >= _ON_MOST * read), "")
        return found[0], found[1], found[2], numbered >= 2 and numbered >= _ON_MOST * read, one

    def _own_name(self, parsed: Parsed) -> str:
        """What a page calls itself below a title that is the whole site's."""
        title = _named(parsed)
        if title != self._site[4] or not title:
            return title
        headings = (parsed.text[place.start : place.end] for place in parsed.places if place.level)
        return next((heading for heading in headings if heading != title), title)

    def _title(self, title: str) -> str:
        """Without the name of the whole site behind it or in front of it, and the number in front of it."""
        if self._site[3] and (number := _NUMBERED.match(title)) is not None:
            title = title[number.end() :]
        ends = (match.start() for match in _ENDING.finditer(title) if match.start())
        title = next((title[:end].strip() for end in ends if title[end:].casefold() in self._site[1]), title)
        beginning = _BEGINNING.match(title)
        return title[beginning.end() :] if beginning is not None and beginning.group() in self._site[2] else title

    def _stripped(self, parsed: Parsed) -> Parsed:
        """The page without the lines at its head and foot that are menus, or stand on most pages. Its headings stay."""
        text = parsed.text
        heads = [(place.start, place.end) for place in parsed.places if place.level or place.kind]
        gone = [
            (start, end)
            for start, end in edge_lines(text)
            if (is_menu(text[start:end]) or shape_of(text[start:end]) in self._site[0])
            and not any(start <= a and b <= end for a, b in heads)
        ]
        return without_spans(parsed, gone) if gone else parsed

    def _document(self, name: str, parsed: Parsed) -> Document:
        url = parsed.url
        if url is None and self.config.base_url:
            url = self.config.base_url.rstrip("/") + "/" + name
        stem = posixpath.splitext(posixpath.basename(name))[0]
        visible = sum(not c.isspace() for c in parsed.text)
        return Document(
            id=name,
            title=self._title(self._own_name(parsed)) or stem or name,
            text=parsed.text,
            kind="index" if parsed.link_characters >= _INDEX_SHARE * visible or _NO_CONTENT.match(stem) else "page",
            sections=sections_of(parsed),
            links=self._links(name, parsed),
            anchors=tuple(
                Anchor(name=fragment, start=place.start, end=place.end, kind=place.kind)
                for place in parsed.places
                for fragment in place.names or ((f"~{place.start}",) if place.kind not in ("", "heading") else ())
            ),
            source=self.config.name,
            path=name,
            url=url,
            licence=parsed.licence or self.config.licence,
            date=parsed.date,
            partition=split_of(name, self.config.fractions),  # type: ignore[arg-type]
        )

    def _links(self, name: str, parsed: Parsed) -> tuple[Link, ...]:
        titles = [(place.start, place.end) for place in parsed.places if place.level or place.kind]
        kept = []
        for link in parsed.links:
            path, fragment = self._hrefs.resolve(name, link.href)
            if path is None:
                self.missing_links += fragment is MISSING
                continue
            target = document_id(self._twin_of(path) or path) if path else name
            if target == name and (not fragment or any(s <= link.start and link.end <= e for s, e in titles)):
                continue  # a heading that links to itself
            kept.append(Link(start=link.start, end=link.end, target=target, fragment=fragment))
        return tuple(sorted(kept, key=lambda link: (link.start, link.end)))

    def _twin_of(self, path: str) -> str | None:
        """The first file with the same bytes, when that is another one."""
        if self._twins is None:
            self._twins = self._find_twins()
        return self._twins.get(path)

    def _find_twins(self) -> dict[str, str]:
        # Only files of equal size can be equal, so few are hashed.
        by_size: dict[int, list[str]] = defaultdict(list)
        for path in self._first.values():
            try:
                state = os.stat(os.path.join(self._root, path))
            except OSError:
                continue
            if refusal(self._root, path) is None and 0 < state.st_size <= self.config.max_bytes:
                by_size[state.st_size].append(path)
        twins: dict[str, str] = {}
        for group in by_size.values():
            seen: dict[str, str] = {}
            for path in group if len(group) > 1 else ():
                # A symbolic link gives way to the file itself, then the first id stays.
                if (value := self._hash(path)) is not None:
                    other = seen.get(value)
                    if other is None:
                        seen[value] = path
                    elif self._is_link(other) and not self._is_link(path):
                        twins[other] = seen[value] = path
                    else:
                        twins[path] = other
        for path in list(twins):
            while (further := twins.get(twins[path])) is not None:
                twins[path] = further
        return twins

    def _is_link(self, path: str) -> bool:
        return os.path.islink(os.path.join(self._root, path))

    def _hash(self, path: str) -> str | None:
        full = os.path.join(self._root, path)
        try:
            if refusal(self._root, path) is not None:
                return None
            with open(full, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None

    def _rejection(self, path: str, reason: Reason, detail: str, preview: str = "") -> Rejection:
        return Rejection(stage=self.config.name, row_id=_printable(path), reason=reason, detail=detail, preview=preview)


def content_digest(config: DocsConfig) -> str:
    """sha256 over relative paths and contents. Raises InputError (DocsSource)."""
    return DocsSource(config).digest()


def document_id(path: str) -> str:
    """The id of the document at ``path``: the path, NFC-normalized; bytes that are not UTF-8 are written ``\\xNN``."""
    return unicodedata.normalize("NFC", _printable(path))


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _named(parsed: Parsed) -> str:
    """What the page calls itself: its title, or where that is a number alone, its first heading without it."""
    title = parsed.title or ""
    if _PLACE_ALONE.fullmatch(title) is None:
        return spelt_title(title, parsed.text)
    heading = next((parsed.text[place.start : place.end] for place in parsed.places if place.level), title)
    return heading[number.end() :] if (number := _NUMBERED.match(heading)) is not None else heading
