"""Directives of Sphinx and of projects in reStructuredText: each becomes a definition, a remark, words or nothing."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["register_directives"]

_DIRECTIVE = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)*\.\. (?:\|[^|\n]+\| )?([A-Za-z][\w.+-]*(?::[\w.+-]+)*) ?::(?:[ \t]|$)", re.MULTILINE
)
_KEPT = frozenset(
    "attention caution danger error hint important note tip warning admonition image figure topic sidebar line-block "
    "parsed-literal math rubric epigraph highlights pull-quote compound container table csv-table list-table contents "
    "sectnum footer header target-notes meta raw replace unicode date class role default-role title".split()
)
"""What docutils has itself, and reads as Sphinx does."""
_CODE = frozenset("code code-block sourcecode prompt doctest testcode testoutput parsed-code".split())
_SILENT = re.compile(
    r"auto\w*|.*:auto\w*|include|literalinclude|index|highlight|currentmodule|py:currentmodule|module|py:module|program|"
    r"default-domain|tabularcolumns|sectionauthor|codeauthor|moduleauthor|productionlist|testsetup|testcleanup|"
    r"graphviz|digraph|graph|inheritance-diagram|uml|plantuml|mermaid|plot|ipython|ifconfig|program-output|"
    r"command-output|jinja|exec\w*|runblock|click|argparse|bibliography|video|youtube|iframe|asciinema|image-sg|"
    r"contributors|git_\w+|towncrier\w*|gallery|minigallery|thumbnail|sphinx_\w+|cli-\w+|termynal|typer|toctree|"
    r"release-notes|changelog|reno|seqdiag|blockdiag|nwdiag|actdiag|typer-cli|todolist|todo|tags|meta"
)
"""What takes its words from elsewhere, draws something, or tells Sphinx something."""
_MODULES = frozenset(("module", "py:module", "currentmodule", "py:currentmodule"))
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "version-added": "Added in version",
    "version-changed": "Changed in version",
    "version-deprecated": "Deprecated since version",
}
_DOMAIN = {
    **dict.fromkeys(
        "function class method attribute exception data property decorator staticmethod classmethod decoratormethod "
        "pyfunction coroutinefunction coroutinemethod".split(),
        "py",
    ),
    **dict.fromkeys("option cmdoption envvar confval describe object program".split(), "std"),
}
_SAME = {
    "cmdoption": "option",
    "staticmethod": "method",
    "classmethod": "method",
    "decoratormethod": "method",
    "decorator": "function",
    "coroutinefunction": "function",
    "coroutinemethod": "method",
}
_MADE_UP = re.compile(
    r"\w*(?:conf(?:ig)?|confval|config-?(?:value|option|setting)|setting|directive|parameter|variable|param|opt|option|"
    r"envvar|cmd|command|signal|event|macro|hook|rule|check|property|key|field)"
)
"""Types of things that a project describes by a directive of its own, without a domain."""
_HOLDERS = frozenset(("class", "exception"))
_SIGNATURE_FIELDS = ("type", "default", "since", "required", "aliases")
_PARAMETERS = re.compile(
    r"(?:param|parameter|arg|argument|key|keyword|kwarg|kwtype|type|var|ivar|cvar|vartype|raise|raises|except|"
    r"exception|return|returns|rtype|meta|paramtype|retval|tparam|yields?)(?: .*)?$"
)
_TITLED = frozenset("tab tab-item dropdown card grid-item-card group-tab collapse details".split())


def register_directives(text: str) -> None:
    """Registers every directive of a text that docutils does not have, or that Sphinx gives more."""
    from docutils.parsers.rst import directives

    for match in _DIRECTIVE.finditer(text):
        name = match[1].lower()
        if name in _KEPT:
            continue
        directives.register_directive(name, _class_of(name))


def _class_of(name: str) -> Any:
    """The class that reads directives of a name."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Anything(dict[str, Any]):
        """Options of any name, as they are written."""

        def __bool__(self) -> bool:
            return True

        def __contains__(self, key: object) -> bool:
            return True

        def __getitem__(self, key: str) -> Any:
            return _plain

    class Lenient(Directive):
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = Anything()

        def run(self) -> list[Any]:
            return _run(self, name, nodes)

    return Lenient


def _plain(value: str | None) -> str:
    return value or ""


def _run(directive: Any, name: str, nodes: Any) -> list[Any]:
    argument = directive.arguments[0] if directive.arguments else ""
    domain, _, last = name.rpartition(":")
    if name in _CODE or "code" in last or "console" in last:
        code = "\n".join(directive.content) or argument
        return [nodes.literal_block(code, code)]
    if name == "toctree" and "hidden" not in directive.options:
        return _contents(directive, nodes)
    if name in _MODULES:
        directive.state.document.settings.python_module = argument
    if _SILENT.fullmatch(name):
        return []
    if name in _CHANGES:
        return _change(directive, argument, _CHANGES[name], nodes)
    if name == "glossary":
        return _nested(directive, nodes, classes=["glossary"])
    if name == "seealso":
        title = nodes.title("", "See also")
        return [nodes.admonition("", title, *_nested(directive, nodes), classes=["seealso"])]
    found = domain or _DOMAIN.get(last, "std" if _MADE_UP.fullmatch(last) else "")
    if found and argument:
        return _described(directive, found, _SAME.get(last, last), argument, nodes)
    lead = [nodes.paragraph("", "", nodes.Text(argument))] if last in _TITLED and argument else []
    return [*lead, *_nested(directive, nodes)]


def _nested(directive: Any, nodes: Any, classes: list[str] | None = None) -> list[Any]:
    """What stands in a directive, read as the text around it is."""
    held = nodes.Element()
    directive.state.nested_parse(directive.content, directive.content_offset, held, match_titles=True)
    children = list(held.children)
    for child in children:
        if classes and isinstance(child, nodes.definition_list):
            child["classes"] += classes
    return children


def _contents(directive: Any, nodes: Any) -> list[Any]:
    """The pages that a table of contents leads to."""
    items = []
    for line in directive.content:
        entry = re.fullmatch(r"(?P<words>[^<]+?)\s*<(?P<path>[^>]+)>", line.strip())
        path = entry["path"] if entry else line.strip()
        if not path or "*" in path or ":" in path or path == "self":
            continue
        words = entry["words"] if entry else re.sub(r"[-_]+", " ", path.rstrip("/").rpartition("/")[2])
        link = nodes.reference("", words, refuri=path if path.endswith((".rst", ".md")) else f"{path}.rst")
        items.append(nodes.list_item("", nodes.paragraph("", "", link)))
    return [nodes.bullet_list("", *items)] if items else []


def _change(directive: Any, argument: str, said: str, nodes: Any) -> list[Any]:
    """ "Added in version 1.3: ..." as Sphinx writes it."""
    version, _, more = argument.partition(" ")
    text = f"{said} {version}"
    found, _ = directive.state.inline_text(f": {more}" if more else "", directive.lineno)
    children = _nested(directive, nodes)
    if children and not more and isinstance(children[0], nodes.paragraph):
        first = children[0]
        return [nodes.paragraph("", "", nodes.Text(f"{text}: "), *first.children), *children[1:]]
    end = [] if more and more.endswith(".") else [nodes.Text(".")]
    return [nodes.paragraph("", "", nodes.Text(text), *found, *end), *children]


def _described(directive: Any, domain: str, kind: str, argument: str, nodes: Any) -> list[Any]:
    """A definition: its names, and below them what is said of them."""
    document = directive.state.document
    outer: list[str] = getattr(document.settings, "python_classes", [])
    signatures = [line.strip() for line in re.sub(r"\\\n\s*", "", argument).splitlines() if line.strip()]
    terms = []
    for signature in signatures:
        plain = re.sub(r"\\(.)", r"\1", signature)
        term = nodes.term(plain, plain, classes=["sig"])
        term["ids"] = [_id(domain, kind, plain, outer, getattr(document.settings, "python_module", ""))]
        terms.append(term)
    inner = [*outer, _bare(signatures[0])] if domain == "py" and kind in _HOLDERS and signatures else outer
    document.settings.python_classes = inner
    children = [child for node in _nested(directive, nodes) for child in _fields(node, nodes)]
    document.settings.python_classes = outer
    for label in _SIGNATURE_FIELDS:
        value = directive.options.get(label)
        if value:
            found, _ = directive.state.inline_text(value, directive.lineno)
            children.append(nodes.paragraph("", "", nodes.Text(f"{label.title()}: "), *found))
    item = nodes.definition_list_item("", *terms, nodes.definition("", *children))
    return [nodes.definition_list("", item, classes=[domain, kind])]


def _fields(node: Any, nodes: Any) -> list[Any]:
    """What a list of fields says of the thing itself as lines of their own: "Default: 5". Parameters are left out."""
    if not isinstance(node, nodes.field_list):
        return [node]
    lines = []
    for field in node.children:
        name, body = field.children[0].astext(), field.children[1]
        if _PARAMETERS.fullmatch(name) or not body.children or not isinstance(body.children[0], nodes.paragraph):
            continue
        label = nodes.Text(f"{name[:1].upper()}{name[1:]}: ")
        lines += [nodes.paragraph("", "", label, *body.children[0].children), *body.children[1:]]
    return lines


def _bare(signature: str) -> str:
    """The name in a signature: "async kite.fly(height)" is "kite.fly"."""
    head = signature.partition("(")[0].split(":")[0].split("=")[0].split()
    return head[-1] if head else signature


def _id(domain: str, kind: str, signature: str, outer: list[str], module: str) -> str:
    """The fragment that Sphinx gives a definition: names of Python and C are read from it."""
    name = _bare(signature)
    if domain == "py":
        parts = [*([module] if module else []), *outer, name]
        return ".".join(parts) if "." not in name or not module or not name.startswith(module) else name
    if domain == "c":
        return f"c.{name.lstrip('*')}"
    return f"{kind}-{re.sub(r'[^A-Za-z0-9]+', '-', signature).strip('-').lower()}"
