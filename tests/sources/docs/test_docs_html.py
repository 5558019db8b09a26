"""HTML to text: what is kept, what is left out, and that every span is exact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.sources.docs.html import parse_html
from synth.sources.docs.page import MalformedError, without_spans

SPHINX = """<!DOCTYPE html><html lang="en"><head><title>getopt &#8212; Docs 3</title>
<link rel="canonical" href="https://example.org/getopt.html"></head><body>
<div class="related" role="navigation"><ul><li><a href="next.html">next</a></li></ul></div>
<div class="document"><div class="body" role="main">
<section id="module-getopt"><span id="getopt-parser"></span>
<h1><a class="reference" href="#module-getopt"><code><span class="pre">getopt</span></code></a> — C-style parser<a
 class="headerlink" href="#module-getopt" title="Permalink">¶</a></h1>
<p><strong>Source code:</strong> <a href="https://example.org/getopt.py">Lib/getopt.py</a></p>
<div class="admonition note"><p class="admonition-title">Note</p><p>Users should consider
 the <a href="argparse.html#module-argparse"><code>argparse</code></a>   module instead.</p></div>
<dl class="py function"><dt class="sig py" id="getopt.getopt"><span>getopt.</span><span>getopt</span>(<em>args</em>)
<a class="headerlink" href="#getopt.getopt">¶</a></dt>
<dd><p>Parses options.</p><div class="highlight"><pre><span></span>&gt;&gt;&gt; x = 1

&gt;&gt;&gt;   y
</pre></div><div class="versionadded"><p>New in version 3.4.</p></div></dd></dl>
<ul class="simple"><li><p>one</p></li><li><p>two <a href="two.html">link</a></p></li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><p>2</p></td></tr></table>
</section></div></div>
<div class="sphinxsidebar" role="navigation"><h4>Previous topic</h4><p><a href="a.html">argparse</a></p></div>
<footer><p>Copyright. Last updated on Oct 07, 2025.</p></footer></body></html>"""

DOCBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>CLUSTER</title></head><body>
<div class="navheader"><table><tr><td><a accesskey="p" href="a.html">Prev</a></td></tr></table></div>
<div class="refentry" id="SQL-CLUSTER"><h2><a id="x1"/>CLUSTER</h2><p>CLUSTER — cluster a table</p>
<div class="toc"><dl><dt><a href="c.html#s1">One</a></dt><dt><a href="c.html#s2">Two</a></dt></dl></div>
<h2>Parameters</h2><div class="variablelist"><dl><dt id="P-V"><span class="term"><code>verbose</code></span></dt><dd><p>
  Prints progress.</p></dd></dl></div>
<div class="warning"><table><tr><td rowspan="2"><img src="w.png" alt="[Warning]"/></td><th>Warning</th></tr>
<tr><td><p>Take care.</p></td></tr></table></div></div>
<div class="navfooter"><p><a href="b.html">Next</a></p></div></body></html>"""


def test_sphinx_page_reads_as_laid_out() -> None:
    page = parse_html(SPHINX)
    assert page.text == (
        "getopt — C-style parser\n\nSource code: Lib/getopt.py\n\n"
        "Note:\n    Users should consider the argparse module instead.\n\n"
        "getopt.getopt(args)\n    Parses options.\n\n        >>> x = 1\n\n        >>>   y\n\n"
        "    New in version 3.4.\n\n"
        "- one\n- two link\n\na | b\n1 | 2"
    )
    assert page.title == "getopt — C-style parser"
    assert page.date == "2025-10-07"
    assert page.url == "https://example.org/getopt.html"
    assert page.licence is None


def test_spans_of_links_and_places_are_exact() -> None:
    page = parse_html(SPHINX)
    anchors = {(page.text[link.start : link.end], link.href) for link in page.links}
    assert ("argparse", "argparse.html#module-argparse") in anchors
    assert ("link", "two.html") in anchors
    assert ("Lib/getopt.py", "https://example.org/getopt.py") in anchors
    places = {page.text[p.start : p.end]: p for p in page.places}
    assert places["getopt — C-style parser"].names == ("module-getopt", "getopt-parser")
    assert places["getopt — C-style parser"].level == 1
    assert places["getopt.getopt(args)"].kind == "py function"
    assert places["getopt.getopt(args)"].names == ("getopt.getopt",)


def test_docbook_page() -> None:
    page = parse_html(DOCBOOK)
    assert page.text == (
        "CLUSTER\n\nCLUSTER — cluster a table\n\nParameters\n\n"
        "verbose\n    Prints progress.\n\nWarning:\n    Take care."
    )
    assert page.title == "CLUSTER"
    terms = [p for p in page.places if p.kind == "term"]
    assert [(page.text[p.start : p.end], p.names) for p in terms] == [("verbose", ("P-V",))]
    assert page.places[0].names[-1] == "x1"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<script>x</script>b<style>y</style></p>", "ab"),
        ("<p>a <b>bold</b>, <i>c</i>.</p>", "a bold, c."),
        ("<p>one<br>two</p>", "one\ntwo"),
        ("<ol start=3><li>a<li>b<ul><li>c</ul></ol>", "3. a\n4. b\n   - c"),
        ("<p>unclosed <b>tag<p>next", "unclosed tag\n\nnext"),
        ("<p>2<sup>n</sup> and x<sup><a href='#f'>1</a></sup></p>", "2^n and x1"),
        ("<div hidden>no</div><p aria-hidden=true>no</p><p style='display: none'>no</p><p>yes</p>", "yes"),
        ("<p>soft\u00adhyphen zero\u200bwidth</p>", "softhyphen zerowidth"),
        ("<nav>menu</nav><main><p>body</p></main><footer>foot</footer>", "body"),
        ("<p><a href=a>Previous</a> | <a href=b>Up</a> | <a href=c>Next</a></p><p>kept</p>", "kept"),
        ("<dl><dt>t</dt><dd>one</dd><dd>two</dl>", "t\n    one\n\n    two"),
        ("<p>say <q>hi</q></p>", "say “hi”"),
        ("just text &amp; entity &nbsp; end", "just text & entity end"),
    ],
)
def test_small_cases(html: str, text: str) -> None:
    assert parse_html(html).text == text


def test_a_page_that_links_to_next_in_a_sentence_keeps_it() -> None:
    page = parse_html("<p>See the <a href=x>next</a> chapter for a long explanation of how all of this works.</p>")
    assert "next chapter" in page.text


def test_licence_and_date_are_only_what_the_page_says() -> None:
    licence = '<link rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/">'
    head = f'<head>{licence}<meta name="date" content="2024-02-03T10:00Z"></head>'
    page = parse_html(f"<html>{head}<body><p>x</p></body></html>")
    assert (page.licence, page.date) == ("CC-BY-SA-4.0", "2024-02-03")
    page = parse_html('<html><head><meta name="license" content="All rights reserved"></head><body>x</body></html>')
    assert page.licence is None


def test_absurd_nesting_is_malformed_and_deep_nesting_is_not() -> None:
    assert parse_html("<div>" * 500 + "deep" + "</div>" * 500).text == "deep"
    with pytest.raises(MalformedError, match="nested"):
        parse_html("<div>" * 6000 + "deep")


def test_no_element_at_all_is_malformed() -> None:
    with pytest.raises(MalformedError):
        parse_html("<!-- only a comment -->")


_INLINE = st.recursive(
    st.text(alphabet="abc \n\u00a0&<>é", max_size=8).map(lambda t: t.replace("&", "&amp;").replace("<", "&lt;")),
    lambda inner: st.tuples(
        st.sampled_from(["b", "a href='x.html'", "code", "span id='s'", "sup"]), st.lists(inner, max_size=3)
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0].split()[0]}>"),
    max_leaves=6,
)
_BLOCK = st.recursive(
    _INLINE,
    lambda inner: st.tuples(
        st.sampled_from(
            [
                "p",
                "div",
                "ul",
                "li",
                "dl",
                "dt",
                "dd",
                "pre",
                "table",
                "tr",
                "td",
                "h2",
                "blockquote",
                "div class='note'",
            ]
        ),
        st.lists(inner, max_size=4),
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0].split()[0]}>"),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_BLOCK, max_size=5).map("".join))
def test_any_markup_gives_spans_within_the_text(body: str) -> None:
    page = parse_html(f"<html><body><h1>T</h1>{body}</body></html>")
    for link in page.links:
        assert 0 <= link.start < link.end <= len(page.text)
        anchor = page.text[link.start : link.end]
        assert anchor == anchor.strip()
    for place in page.places:
        assert 0 <= place.start <= place.end <= len(page.text)
    assert not any(line != line.rstrip() for line in page.text.split("\n"))
    assert page.text == parse_html(f"<html><body><h1>T</h1>{body}</body></html>").text


def test_lines_that_go_take_their_links_along_and_the_others_move() -> None:
    page = parse_html(
        "<p><a href=m>Menu</a></p><h1>Locks</h1><p>A lock is a <a href=x>mutex</a>.</p>"
        "<p>Foot</p><p>See <a href=y>this</a> end.</p>"
    )
    cut = [page.text.index(word) for word in ("Menu", "Foot")]
    left = without_spans(page, [(at, at + 4) for at in cut])
    assert left.text == "Locks\n\nA lock is a mutex.\n\nSee this end."
    assert [(left.text[link.start : link.end], link.href) for link in left.links] == [("mutex", "x"), ("this", "y")]
    assert [left.text[place.start : place.end] for place in left.places if place.level] == ["Locks"]
    assert (page.link_characters, left.link_characters) == (13, 9)
