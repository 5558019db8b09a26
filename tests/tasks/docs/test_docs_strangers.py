"""Pairs over a site: a name without an entry that both pages hold makes a pair ambiguous."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs_proposer import build, site

from synth.tasks.docs.conjunctions import Conjunctions
from synth.tasks.docs.strangers import strangers


@pytest.mark.parametrize("stranger", ["", "<p>Before noon <code>outer.brew_tea()</code> is called.</p>"])
def test_pages_that_share_a_name_without_an_entry_make_no_pair(tmp_path: Path, stranger: str) -> None:
    shared = '<p>Then <a href="quarn.html#quarn.do_quarn">quarn.do_quarn()</a> and {} take over.</p>'
    files = site()
    for page, other in (("wembly", "fennic"), ("mirad", "plune")):
        words = shared.format(f'<a href="{other}.html#{other}.do_{other}">{other}.do_{other}()</a>') + stranger
        files[f"lib/{page}.html"] = files[f"lib/{page}.html"].replace("</body>", f"{words}</body>")
    corpus = build(tmp_path, files).proposer().corpus
    pages = {row for row, name in enumerate(corpus.columns.ids) if name in ("lib/wembly.html", "lib/mirad.html")}
    pairs = [
        found
        for groups in Conjunctions(corpus).by_signature.values()
        for found in groups.get("named_on&named_on", [])
        if {part.source for part in found.constraints} == pages
    ]
    assert [corpus.entities[pair.answer].name for pair in pairs] == ([] if stranger else ["quarn.do_quarn"])


def test_names_of_other_kinds_and_names_with_an_entry_are_no_strangers() -> None:
    text = "Call os.brew_tea() or tie(), catch KettleError, see brew(1), set TEA_POT, pass --strong-tea."
    assert strangers(text, "function", {"tie"}) == {"brew_tea"}
    assert strangers(text, "exception", {"tie"}) == {"KettleError"}
    assert strangers(text, "command", {"tie"}) == {"brew"}
    assert strangers(text, "environment variable", {"tie"}) == {"TEA_POT"}
    assert strangers(text, "command-line option", {"tie"}) == {"--strong-tea"}
    assert strangers(text, "section", {"tie"}) == frozenset()
