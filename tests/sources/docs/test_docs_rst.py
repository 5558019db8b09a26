"""reStructuredText: what Sphinx adds is read, what nobody knows does no harm, nothing comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Document
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.rst import labels_of, parse_rst
from synth.sources.docs.source import DocsConfig, DocsSource

KILN = """\
:orphan:

.. _firing:

Firing
======

.. program:: kiln

See :ref:`glazes`, :ref:`the lid <lid-shut>`, :doc:`index` and :unheard:`of`. |release| burns at :func:`~kite.heat`.

.. option:: -s, --slow <minutes>

   Raise the heat over ``minutes``.

   .. versionadded:: 2.1

.. confval:: lid
   :type: bool
   :default: shut

   Whether the lid is opened after the firing.

.. py:module:: kite

.. py:class:: Oven(size)

   Holds the pots.

   :param size: of the oven
   :default: 5

   .. method:: heat(degrees)

      Raise the heat to some degrees.

.. strange-box:: a title
   :made-up: yes

   Words in a *box* stay.

.. automodule:: kite
   :members:

.. code-tab:: toml

   [kiln]
   lid = "shut"

.. seealso:: :doc:`glazes`

.. include:: /etc/hostname
"""


def tree(root: Path) -> DocsSource:
    (root / "more").mkdir()
    files = {
        "firing.rst": KILN,
        "index.rst": "Manual\n======\n\n.. toctree::\n   :maxdepth: 2\n\n   firing\n   The glazes <glazes>\n",
        "glazes.rst": ".. _glazes:\n\nGlazes and ``colours``\n----------------------\n\nA glaze is glass.\n\n"
        ".. include:: more/part.rst.inc\n\n.. include:: ../outside.txt\n",
        "more/part.rst.inc": "The part says :ref:`firing`.\n",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    (root.parent / "outside.txt").write_text("Secret words.\n")
    return DocsSource(DocsConfig(path=str(root)))


@pytest.fixture
def documents(tmp_path: Path) -> dict[str, Document]:
    (tmp_path / "docs").mkdir()
    source = tree(tmp_path / "docs")
    read, rejected = source.read(source.files)
    assert not rejected
    return {document.id: document for document in read}


def test_a_page_of_sphinx_keeps_its_words_and_none_of_its_markup(documents: dict[str, Document]) -> None:
    page = documents["firing.rst"]
    assert page.title == "Firing"
    assert "See Glazes and colours, the lid, index and of. release burns at heat()." in page.text
    assert "-s, --slow <minutes>\n    Raise the heat over minutes.\n\n    Added in version 2.1." in page.text
    assert "Type: bool" in page.text
    assert "Default: shut" in page.text
    assert "Words in a box stay." in page.text
    assert 'lid = "shut"' in page.text
    for gone in ("orphan", "automodule", "made-up", ":param", "size: of", "..", ":doc:", "hostname", "strange"):
        assert gone not in page.text


def test_links_lead_to_labels_and_pages_of_other_files(documents: dict[str, Document]) -> None:
    page = documents["firing.rst"]
    links = {page.text[link.start : link.end]: (link.target, link.fragment) for link in page.links}
    assert links["Glazes and colours"] == ("glazes.rst", "glazes")
    assert links["index"] == ("index.rst", None)
    assert "the lid" not in links  # no label of any file
    contents = documents["index.rst"]
    assert [link.target for link in contents.links] == ["firing.rst", "glazes.rst"]
    assert contents.kind == "index"


def test_only_files_of_the_folder_are_included(documents: dict[str, Document]) -> None:
    page = documents["glazes.rst"]
    assert "The part says Firing." in page.text
    assert "Secret" not in page.text


def test_what_a_page_defines_becomes_things_with_values(documents: dict[str, Document]) -> None:
    rows = [documents[name] for name in sorted(documents)]
    table = pa.Table.from_pylist([row.model_dump() for row in rows], schema=arrow_schema(Document))
    entities, edges = graph_tables(table)
    named = {row["ordinal"]: (row["kind"], row["name"]) for row in entities.to_pylist()}
    stated = {(*named[row["subject"]], row["relation"], row["value"]) for row in edges.to_pylist()}
    assert ("option", "--slow", "since", "2.1") in stated
    assert ("setting", "lid", "default", "shut") in stated
    assert {("class", "kite.Oven"), ("method", "kite.Oven.heat")} <= set(named.values())


def test_a_page_reads_the_same_whatever_was_read_before() -> None:
    alone = parse_rst(KILN)
    parse_rst(".. strange-box::\n\n   x\n\n:unheard:`y`\n\n.. py:class:: Other\n")
    assert parse_rst(KILN) == alone


@pytest.mark.parametrize(
    "text",
    [
        "Title\n===\n\n.. table::\n\n   broken ===\n\n*half",
        ".. |a| replace:: |a|\n\n|a| and |b|_ and `x`_",
        "==\n\n- a\n  * b\n .. ::\n\n:ref:`",
        ".. list-table::\n   :unknown: 1\n\n   * - a",
    ],
)
def test_broken_markup_is_read_as_far_as_it_goes(text: str) -> None:
    assert "problematic" not in parse_rst(text).text
    assert "System Message" not in parse_rst(text).text


def test_labels_take_the_heading_below_them() -> None:
    found = labels_of("a/b.rst", ".. _one:\n.. _Two:\n\n****\nHead\n****\n\n.. _three:\n\nWords.\n")
    assert {name: (label.path, label.title) for name, label in found.items()} == {
        "one": ("/a/b.rst", "Head"),
        "two": ("/a/b.rst", "Head"),
        "three": ("/a/b.rst", None),
    }
