"""A folder to documents: every file ends as a document or as a rejection that says why; order and ids never depend
on the file system."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import InputError
from synth.schemas.documents import Document
from synth.schemas.rejections import Reason
from synth.sources.docs.decode import NotTextError, decode
from synth.sources.docs.markdown import parse_markdown
from synth.sources.docs.source import DocsConfig, DocsSource, content_digest


def page(body: str, title: str = "T") -> str:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def write(root: Path, files: dict[str, str | bytes]) -> DocsConfig:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return DocsConfig(path=str(root))


def read_all(config: DocsConfig) -> tuple[dict[str, Document], dict[str, Reason]]:
    source = DocsSource(config)
    documents, rejected = source.read(source.files)
    assert len(documents) + len(rejected) == len(source.files)
    return {d.id: d for d in documents}, {r.row_id: r.reason for r in rejected}


@pytest.mark.parametrize(
    ("titles", "wanted"),
    [
        (("H.3. Options", "17 Builtins", "Chapter 4. Folds"), ("Options", "Builtins", "Folds")),
        (("2.4 Release notes", "A Tour", "C API", "Options"), ("2.4 Release notes", "A Tour", "C API", "Options")),
    ],
)
def test_numbers_go_from_titles_where_most_have_them(
    tmp_path: Path, titles: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    config = write(tmp_path, {f"{at}.html": page("<p>Text.</p>", title) for at, title in enumerate(titles)})
    assert tuple(document.title for document in read_all(config)[0].values()) == wanted


def test_the_names_of_the_books_of_a_site_go_from_titles(tmp_path: Path) -> None:
    books = [f"Paper 3 {book} - {part} {at}" for at in range(5) for book, part in (("Guide", "Fold"), ("List", "Edge"))]
    titles = [*books, "Paper 9 Notes - Crease"]
    config = write(tmp_path, {f"{at:02}.html": page("<p>Text.</p>", title) for at, title in enumerate(titles)})
    found = [document.title for document in read_all(config)[0].values()]
    assert found == [*(title.partition(" - ")[2] for title in books), "Paper 9 Notes - Crease"]


def test_the_name_of_the_site_goes_where_few_titles_have_it(tmp_path: Path) -> None:
    """Pages with one main heading are called by it; of the others the head's title is left, with the site behind it."""
    site = "Clay - The Potter’s Tool 1.2-3 documentation"
    one = "<html><head><title>{0} — {1}</title></head><body><h1>{0}</h1><p>Text.</p></body></html>"
    two = one.replace("</body>", "<h1>More</h1><p>Text.</p></body>")
    files = {f"{at}.html": one.format(f"Fold {at}", site.upper()) for at in range(9)}
    files["x.html"] = two.format("Notes", site)
    assert read_all(write(tmp_path, files))[0]["x.html"].title == "Notes"


def test_a_page_that_is_called_a_number_goes_by_its_heading(tmp_path: Path) -> None:
    html = "<html><head><title>The Fold Manual: Section 4.2</title></head><body><h2>4.2 Creases</h2></body></html>"
    config = write(tmp_path, {"a.html": html})
    assert [document.title for document in read_all(config)[0].values()] == ["Creases"]


def test_links_are_resolved_relative_to_their_file(tmp_path: Path) -> None:
    links = {
        "b.html": ("b.html", None),
        "sub/c.html#x": ("sub/c.html", "x"),
        "#here": ("a.html", "here"),
        "./sub/../b.html?q=1": ("b.html", None),
        "sub/": ("sub/index.html", None),
        "d%20e.html": ("d e.html", None),
        "m.html": ("m.md", None),
    }
    dropped = [
        "https://example.org/",
        "mailto:a@b",
        "../outside.html",
        "/gone.html",
        "gone.html",
        "picture.png",
        "http://[bad",
    ]
    anchors = "".join(f'<p><a href="{href}">to {n}</a></p>' for n, href in enumerate([*links, *dropped]))
    files: dict[str, str | bytes] = {"a.html": page(anchors), "m.md": "# M\n\nText of m."}
    files |= {name: page(f"<p>{name}</p>") for name in ("b.html", "sub/c.html", "sub/index.html", "d e.html")}
    source = DocsSource(write(tmp_path, files))
    documents = {d.id: d for d in source.read(source.files)[0]}
    found = documents["a.html"].links
    assert [(link.target, link.fragment) for link in found] == list(links.values())
    text = documents["a.html"].text
    assert [text[link.start : link.end] for link in found] == [f"to {n}" for n in range(len(links))]
    assert source.missing_links == 1


def test_links_from_the_root_of_a_site(tmp_path: Path) -> None:
    """The folder is the root, or what the paths begin with, or holds it; sites write paths in small letters."""
    links = {
        "/docs/b.html": "b.html",
        "/b/#x": "b.html",
        "/sub/": "sub/_index.md",
        "/docs/sub": "sub/_index.md",
        "/docs/docs/": "docs.md",
        "/docs/": "docs.md",
        "/": "index.html",
        "/guides/fold/#x": "site/en/guides/Fold.md",
        "/docs/guides/": "site/en/guides/_index.md",
    }
    (tmp_path / "docs").mkdir()
    dropped = ["/blog/b.html", "/docs/gone/", "//b.html"]
    anchors = "".join(f'<p><a href="{href}">to {href}</a></p>' for href in [*links, *dropped])
    files: dict[str, str | bytes] = {"sub/_index.md": "# S\n\nText of s.", "docs.md": "# D\n\nOf docs."}
    files |= {"site/en/guides/Fold.md": "# F\n\nOf folds.", "site/en/guides/_index.md": "# G\n\nOf guides."}
    files |= {"a.html": page(anchors), "b.html": page("<p>Text of b.</p>"), "index.html": page("<p>Root.</p>")}
    source = DocsSource(write(tmp_path / "docs", files))
    found = next(d for d in source.read(source.files)[0] if d.id == "a.html").links
    assert [link.target for link in found] == list(links.values())
    assert source.missing_links == 0


def test_sections_anchors_and_index_pages(tmp_path: Path) -> None:
    body = '<p>Lead of the page.</p><h2 id="one">One</h2><p>First text.</p><h3>Deeper</h3><h2>Two</h2><p>End.</p>'
    toc = "".join(f'<li><a href="a.html">Chapter number {n} of the manual</a></li>' for n in range(9))
    documents, _ = read_all(write(tmp_path, {"a.html": page(body), "index.html": page(f"<ul>{toc}</ul>")}))
    text = documents["a.html"].text
    assert [(s.heading, s.level, text[s.start : s.end]) for s in documents["a.html"].sections] == [
        ("T", 1, "Lead of the page."),
        ("One", 2, "First text."),
        ("Deeper", 3, ""),
        ("Two", 2, "End."),
    ]
    anchor = documents["a.html"].anchors[0]
    assert (anchor.name, anchor.kind, text[anchor.start : anchor.end]) == ("one", "heading", "One")
    assert (documents["a.html"].kind, documents["index.html"].kind) == ("page", "index")


def test_every_bad_file_is_rejected_with_its_reason(tmp_path: Path) -> None:
    config = write(
        tmp_path,
        {
            "good.html": page("<p>Good text.</p>"),
            "empty.html": b"",
            "blank.html": b" \n\t ",
            "silent.html": "<html><body><script>x</script></body></html>",
            "comment.html": "<!-- nothing -->",
            "binary.html": b"\x89PNG\x00\x00\x01",
            "control.html": b"<p>" + bytes(range(1, 9)) * 20,
            "twin.html": page("<p>Good text.</p>"),
            "large.html": page("x" * 5000),
            "deep.html": "<div>" * 6000,
            "notes.txt": "not of the pattern",
            "guide.adoc": "= Guide\n",
            "tool.8.gz": b"a manual page",
            "libtool.so.6": b"a library",
        },
    )
    (tmp_path / "broken.html").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self.html").symlink_to(tmp_path / "self.html")
    os.mkfifo(tmp_path / "fifo.html")
    if Path("/proc/self/mem").exists():
        (tmp_path / "fault.html").symlink_to("/proc/self/mem")  # a regular file that can't be read, also by root
    documents, rejected = read_all(config.model_copy(update={"max_bytes": 4000}))
    assert set(documents) == {"good.html"}
    expected = {
        "empty.html": Reason.EMPTY,
        "blank.html": Reason.EMPTY,
        "silent.html": Reason.EMPTY,
        "comment.html": Reason.MALFORMED,
        "binary.html": Reason.NOT_TEXT,
        "control.html": Reason.NOT_TEXT,
        "twin.html": Reason.DUPLICATE_CONTENT,
        "large.html": Reason.TOO_LARGE,
        "deep.html": Reason.TOO_LARGE,
        "broken.html": Reason.UNREADABLE,
        "self.html": Reason.UNREADABLE,
        "fifo.html": Reason.UNREADABLE,
        "guide.adoc": Reason.UNREADABLE,
        "tool.8.gz": Reason.UNREADABLE,
    }
    assert {name: rejected[name] for name in expected} == expected
    assert rejected.get("fault.html", Reason.OUTSIDE) == Reason.OUTSIDE


def test_documents_in_other_forms_are_told_how_to_become_pages(tmp_path: Path) -> None:
    config = write(tmp_path, {"guide.adoc": "= Guide\n", "more/part.adoc": "= Part\n", "tool.8": ".TH TOOL 8"})
    with pytest.raises(InputError, match=r"2 of its files are AsciiDoc: make pages of it \(asciidoctor"):
        read_all(config)
    (tmp_path / "notes.md").write_text("# Notes\n\nGood text.\n")
    documents, rejected = read_all(config)
    assert (set(documents), set(rejected)) == ({"notes.md"}, {"guide.adoc", "more/part.adoc", "tool.8"})
    documents, rejected = read_all(config.model_copy(update={"exclude": ("*.adoc", "tool*")}))
    assert (set(documents), rejected) == ({"notes.md"}, {})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what nobody may read")
def test_files_and_folders_without_permission(tmp_path: Path) -> None:
    config = write(tmp_path, {"a.html": page("a"), "b.html": page("b"), "closed/c.html": page("c")})
    (tmp_path / "a.html").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        documents, rejected = read_all(config)
    finally:
        (tmp_path / "closed").chmod(0o755)
    assert set(documents) == {"b.html"}
    assert rejected == {"a.html": Reason.UNREADABLE, "closed/": Reason.UNREADABLE}


def test_a_folder_that_vanishes_between_listing_and_reading_is_a_rejection(tmp_path: Path) -> None:
    source = DocsSource(write(tmp_path, {"a.html": page("a"), "b.html": page("b")}))
    (tmp_path / "a.html").unlink()
    documents, rejected = source.read(source.files)
    assert [d.id for d in documents] == ["b.html"]
    assert [(r.row_id, r.reason) for r in rejected] == [("a.html", Reason.UNREADABLE)]


def test_symbolic_links_end_and_give_way_to_what_they_point_to(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    config = write(root, {"z/page.html": page("<p>x</p>"), "y.html": page('<p>y <a href="alias.html">z</a></p>')})
    write(outside, {"more.html": page("<p>more</p>")})
    (root / "a_loop").symlink_to(root)
    (root / "z" / "up").symlink_to(root / "z")
    (root / "out").symlink_to(outside)
    (outside / "back").symlink_to(outside)
    (root / "alias.html").symlink_to(root / "z" / "page.html")
    documents, rejected = read_all(config)
    assert set(documents) == {"y.html", "z/page.html"}
    assert rejected == {"alias.html": Reason.DUPLICATE_CONTENT, "out": Reason.OUTSIDE}
    assert documents["y.html"].links[0].target == "z/page.html"


def test_ids_are_nfc_and_names_that_fall_together_are_rejected(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9.html", unicodedata.normalize("NFD", "caf\u00e9.html")
    config = write(
        tmp_path, {decomposed: page("one"), composed: page("two"), "l.html": page(f'<a href="{decomposed}">c</a>')}
    )
    documents, rejected = read_all(config)
    assert set(documents) == {composed, "l.html"}
    assert list(rejected.values()) == [Reason.DUPLICATE_ID]
    assert documents["l.html"].links[0].target == composed


def test_file_names_that_are_no_utf8_have_an_id(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.html")
    with open(path, "wb") as file:
        file.write(page("latin name").encode())
    documents, rejected = read_all(DocsConfig(path=str(tmp_path)))
    assert set(documents) == {"caf\\xe9.html"}
    assert not rejected


def test_order_digest_and_rows_do_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    files = {f"{n}/{m}.html": page(f"<p>{n} {m}</p>") for n in "ba" for m in ("y", "x")}
    first = write(tmp_path / "one", dict(files))
    second = write(tmp_path / "two", dict(reversed(files.items())))
    assert DocsSource(first).files == DocsSource(second).files == ["a/x.html", "a/y.html", "b/x.html", "b/y.html"]
    assert content_digest(first) == content_digest(second)
    one, other = DocsSource(first), DocsSource(second)
    assert one.read(one.files) == other.read(other.files)
    halves = [DocsSource(first).read(part)[0] for part in (one.files[:1], one.files[1:])]
    assert halves[0] + halves[1] == one.read(one.files)[0]
    (tmp_path / "two/a/x.html").write_text(page("changed"))
    assert content_digest(first) != content_digest(second)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda root: root / "missing", "there is no folder"),
        (lambda root: root / "file.html", "is a file, not a folder"),
        (lambda root: root / "empty", "no file under"),
    ],
)
def test_an_impossible_source_is_one_clear_line(tmp_path: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    write(tmp_path, {"file.html": page("x"), "empty/data.bin": b"\0"})
    with pytest.raises(InputError, match=message) as caught:
        DocsSource(DocsConfig(path=str(make(tmp_path))))
    assert "\n" not in str(caught.value)


def test_licence_url_and_partition(tmp_path: Path) -> None:
    config = write(
        tmp_path, {"a.html": page("<p>a</p>"), "b.md": "---\nlicense: MIT\ndate: 2020-01-02\n---\n# B\n\nText."}
    )
    config = config.model_copy(update={"licence": "PSF-2.0", "base_url": "https://example.org/x/"})
    documents, _ = read_all(config)
    assert (documents["a.html"].licence, documents["b.md"].licence) == ("PSF-2.0", "MIT")
    assert documents["a.html"].url == "https://example.org/x/a.html"
    assert documents["b.md"].date == "2020-01-02"
    only = config.model_copy(update={"fractions": {"train": 0.0, "validation": 0.0, "test": 1.0}})
    assert {d.partition for d in read_all(only)[0].values()} == {"test"}


def test_markdown_page() -> None:
    page_ = parse_markdown(
        "# Big Title\n\nSee [other](other.md#part) and `#!python code()`.\n\n## Sub *section*\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\nx = 1\n  y\n```\n\n## Sub section\n"
    )
    assert page_.title == "Big Title"
    assert page_.text == (
        "Big Title\n\nSee other and code().\n\nSub section\n\na | b\n1 | 2\n\n    x = 1\n      y\n\nSub section"
    )
    assert [p.names for p in page_.places if p.level == 2] == [("sub-section",), ("sub-section-1",)]
    assert [page_.text[link.start : link.end] for link in page_.links] == ["other"]


def test_a_rule_is_not_front_matter() -> None:
    assert parse_markdown("---\njust: [broken\n---\ntext").text.startswith("just: [broken")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        (b"\xef\xbb\xbfbom", "bom"),
        ("é".encode("utf-16"), "é"),
        ("é".encode("utf-32"), "é"),
        (b'<meta charset="iso-8859-2">\xb1', '<meta charset="iso-8859-2">ą'),
        (b'<?xml version="1.0" encoding="koi8-r"?>\xc1', '<?xml version="1.0" encoding="koi8-r"?>а'),
        (b'<meta charset="utf-8">caf\xe9', '<meta charset="utf-8">café'),
        (b'<meta charset="no-such">\xc3\xa9', '<meta charset="no-such">é'),
        (b'<meta charset="hex">\xc3\xa9', '<meta charset="hex">é'),
        (b"caf\xe9 \x93quoted\x94", "café “quoted”"),
    ],
)
def test_decode_follows_its_rule(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_a_broken_byte_order_mark_is_not_text() -> None:
    with pytest.raises(NotTextError, match="byte order mark"):
        decode(b"\xff\xfe\x00\xd8x")


@given(st.binary(max_size=200))
def test_decode_gives_text_or_says_why_not(data: bytes) -> None:
    try:
        text = decode(data)
    except NotTextError:
        return
    assert "\0" not in text or data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\0\0\xfe\xff"
