"""Documents in forms that are not read, by the names of their files, and what makes pages of them."""

from __future__ import annotations

import re

__all__ = ["other_form"]

_FORMS = {
    re.compile(r".+\.(?:adoc|asciidoc)"): "AsciiDoc: make pages of it (asciidoctor) and give those",
    re.compile(r".+\.texi(?:nfo)?"): "Texinfo: make pages of it (texi2any --html) and give those",
    re.compile(r".*[^\d.](?<!\.so)\.[1-8](?:\.gz)?"): (
        "manual pages: make pages of them (mandoc -T html FILE > FILE.html) and give those"
    ),
    re.compile(
        r".+\.(?:docx|odt|epub)"
    ): "a word processor's: make pages of it (pandoc FILE -o FILE.html) and give those",
    re.compile(r".+\.pdf"): "PDF: make pages of it (pdftohtml FILE) and give those",
}


def other_form(name: str) -> str | None:
    """What a file of this name holds, if documents that can't be read as they are, and how to make pages of it."""
    return next((way for ending, way in _FORMS.items() if ending.fullmatch(name.lower())), None)
