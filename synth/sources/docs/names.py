"""What a page or an entry is called, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.schemas.documents import Anchor

__all__ = [
    "CODE_KINDS",
    "MANUAL_KINDS",
    "Named",
    "entry_name",
    "group_kind",
    "heading_name",
    "page_kind",
    "page_name",
    "section_name",
    "term_name",
]

CODE_KINDS = {
    "py function": "function",
    "py class": "class",
    "py exception": "exception",
    "py method": "method",
    "py attribute": "attribute",
    "py property": "property",
    "py data": "variable",
    "c function": "C function",
    "c macro": "C macro",
    "c type": "C type",
    "c var": "C variable",
    "c member": "C struct member",
    "c struct": "C struct",
    "std envvar": "environment variable",
    "std cmdoption": "command-line option",
    "std opcode": "bytecode instruction",
    "js function": "JavaScript function",
    "js class": "JavaScript class",
    "js method": "JavaScript method",
    "cpp function": "C++ function",
    "cpp class": "C++ class",
    "frr clicmd": "command",
}
"""Sphinx's object types as a person calls them. Others go by the second word of their type."""

_NUMBERING = re.compile(
    r"(?:(?:chapter|appendix|part|section)\s+)?(?:[A-Z0-9IVX]{1,5}\.(?:\d+\.)*|\d{1,2}(?:\.\d{1,3})+)\s+(?=\S)",
    re.IGNORECASE,
)
_SUBTITLE = re.compile(r"\s+[—–]\s+|\s+--+\s+")
_PURPOSE = re.compile(r"(?P<name>[a-z][\w.+-]*) - (?P<purpose>[a-z].{8,})")
"""A title as manuals write the line of a command's name: "umask - set or get the file creation mode mask"."""


@dataclass(frozen=True)
class Named:
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names of a callable's parameters: words that mean nothing outside of its entry."""


def page_name(title: str, module: str | None) -> tuple[Named, str | None]:
    """The name of a page and its subtitle, from its title: "getopt — C-style parser" is called "getopt"."""
    bare = unnumbered(title)
    parts = _SUBTITLE.split(bare, maxsplit=1)
    subtitle = parts[1].strip() if len(parts) == 2 else None
    if module:
        return Named(module, "module", tuple(dict.fromkeys(a for a in (bare, title) if a != module))), subtitle
    if subtitle is None and (match := _PURPOSE.fullmatch(bare)) is not None:
        kind = "file" if re.search(r"\.(?:cfg|conf|ini|d)$", match["name"]) else "command"
        return Named(match["name"], kind, tuple(dict.fromkeys((bare, title)))), match["purpose"]
    name = parts[0].strip() if subtitle else bare
    return Named(name, "page", tuple(dict.fromkeys(a for a in (bare, title) if a != name))), subtitle


_NOUNS = (
    "return value|return code|exit code|environment variable|"
    "configuration variable|configuration option|command-line option|command|function|directive|"
    "method|option|macro|variable|parameter|argument|attribute|class|module|statement|operator|keyword|type|property|"
    "event|element|setting|pragma|trait|struct|enum|field|flag|tool|utility|program|package|plugin|filter|container|"
    "constant|placeholder|modifier|extension|exception|hook|key|mode|format|rule|lint|primitive|crate|procedure|"
    "instruction|qualifier|switch|subcommand|builtin|signal|target|widget|handler|clause|specifier|table|file|action"
)
_NAMED_BEHIND = re.compile(rf"(?:The )?(?P<name>\S{{2,40}}(?: [A-Z]\S{{0,20}})?) (?P<kind>{_NOUNS})$", re.IGNORECASE)
_NAMED_BEFORE = re.compile(rf"(?:[A-Z][\w-]* )?(?P<kind>{_NOUNS}):? (?P<name>[^\s,]{{2,60}})$", re.IGNORECASE)
_ACTIVITY = re.compile(r"[a-z]{3,}(?:ing|[ts]ion|ment)s?$")
"""Behind the word for a kind such a word names no thing of it: "Key remapping"."""
_GROUP = re.compile(rf"(?:.* )?(?P<kind>{_NOUNS}|propertie|librarie)(?:s|es| documentation)$", re.IGNORECASE)
_OF_ENVIRONMENT = re.compile(r"(?:\w+ )?environment variables", re.IGNORECASE)
_OF_FILE = re.compile(r"\[[\w:. *-]+\](?: sections?)?(?: (?:values|settings|options|keys|parameters))?", re.IGNORECASE)
"""A section of a file of settings: "[kite:tail] Section Values"."""
_OF_SECTION = re.compile(r"\[[\w:.-]+\] (?P<key>[a-z][\w.-]*)")
"""A setting with its section of a file: "[kite] tail"."""
_PHRASE = re.compile(r"\w+ing [\w-]+ |(?:.* )?(?:from|of|for|to|with|in|on|by|about|using|between|the|your) ")
"""Begins a heading that says what one does with things of a kind, or where: "Blocking clients from modules"."""
_COMPOUND = re.compile(
    r"[A-Z][a-z]+(?:-[a-z]+)+|[a-z]+-(?:line|time|party|level|side|based|wide|only|specific|defined|like|oriented)"
)
"""Words that say what sort of thing of a kind is meant: "Command-line Tool" is no tool of that name."""
_CODE = re.compile(r"(?=.*[\d_.:()<>$%@/\\-]|.*[a-z][A-Z]|[a-z]+$|[A-Z]{3,}$)[^\s]{2,50}$")
_CLASS = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")
"""A class is written so, and so are products: under "Configuration" neither is a setting."""
_TITLE = re.compile(r"[A-Z][a-z-]+(?: [\w-]+)+")
_CONFIGURATION = re.compile(r"(?:.* )?(?:configuration|settings|preferences)$", re.IGNORECASE)
_MANUAL = re.compile(
    r"(?P<name>[\w.+-]+) ?\((?P<section>[1-8])[a-z]{0,3}\)(?: (?=[A-Z])[\w.-]+(?: [A-Z][\w.-]+)? v?\d[\w.~+-]*)?$"
)
"""The title of a manual page, with or without the program and its version behind it."""
_REFERENCE = re.compile(
    r"(?:.*: )?(?P<name>[\w:.<>]+) (?P<kind>Class|Struct|Union|Interface|Namespace|File)(?: Template)? Reference$"
)
"""A title as Doxygen writes it: "Paper::Fold Class Reference"."""
_LABEL = re.compile(
    r"(?:returns?|return values?|parameters?|arguments|exceptions|throws|deprecated|since|version|authors?|notes?|"
    r"warnings?|remarks?|anonymous|see also|examples?|todo|bug|preconditions?|postconditions?|invariant|attention|"
    r"copyright|date|descriptions?|mandatory|syntax|"
    r"specifies|type of value|effect if unset|default value|supported values|"
    r"names?|synopsis|version information|overview|summary|requirements):?$",
    re.IGNORECASE,
)
"""What stands in front of a part of a description, and names nothing."""
_CALLED = re.compile(r"(?:[\w~$]+(?:\.|::|#))*[\w~$]{2,}\([^()]*(?:\([^()]*\)[^()]*)*\)")
"""A heading that is a call: "fs.readFile(path[, options])"."""
_MARKS = re.compile(r"^[◆§¶#] ?| ?\[\d+/\d+\]$")
MANUAL_KINDS = {"1": "command", "2": "system call", "3": "function", "5": "file", "6": "command", "8": "command"}


def group_kind(heading: str) -> str:
    """What each thing under a heading is: "Command-line Options" -> "option"; empty where the heading does not say."""
    bare = re.sub(r" \([^()]*\)$", "", unnumbered(heading).strip().rstrip(":"))
    if len(bare.split()) > 6:
        return ""
    if _OF_ENVIRONMENT.fullmatch(bare):
        return "environment variable"
    if _OF_FILE.fullmatch(bare):
        return "setting"
    if (match := _GROUP.match(bare)) and not _PHRASE.match(bare):
        return {"propertie": "property", "librarie": "library"}.get(match["kind"].lower(), match["kind"].lower())
    return "setting" if _CONFIGURATION.match(bare) else ""


def heading_name(heading: str, group: str) -> Named | None:
    """The thing that a heading names ("BufferedLogs Directive", "Function: trunc", "registry" under "Options"); None
    for a heading that is only a title."""
    bare = _MARKS.sub("", " ".join(unnumbered(heading).split())).strip(" ¶")
    for pattern in (_NAMED_BEHIND, _NAMED_BEFORE):
        match = pattern.match(bare)
        if (
            match
            and _CODE.match(match["name"].removesuffix("()"))
            and not _ORDINARY.match(match["name"])
            and not _COMPOUND.fullmatch(match["name"])
        ):
            if pattern is _NAMED_BEHIND and match["kind"].isupper() and not match["name"].isupper():
                return None  # "LimitTo TARGET" shows an argument
            if pattern is _NAMED_BEFORE and _ACTIVITY.match(match["name"]):
                return None
            name = match["name"].strip("`'\"“”")
            return Named(name, match["kind"].lower(), (bare,)) if len(name) > 1 else None
    if group and (name := term_name(bare, group)) is not None and len(bare.split()) <= 3:
        # Titles, and no names: "Objective" in "Repo-managed configuration", "Build options" under "Options".
        titled = (
            _TITLE.fullmatch(name.name)
            or re.fullmatch(r".+ [a-z]+[^su]s", name.name)
            or (group == "setting" and (not _CODE.match(name.name) or _CLASS.fullmatch(name.name)))
        )
        return None if titled or _LABEL.match(name.name) else name
    if _CALLED.fullmatch(bare):
        return term_name(bare, "")
    if keyed := _OF_SECTION.fullmatch(bare):
        return Named(bare, "setting", (keyed["key"],))
    return None


_ORDINARY = re.compile(
    r"(?:the|a|an|this|other|new|using|common|basic|advanced|default|general|all|more|see|how|what|writing|defining|"
    r"in|on|of|for|and|to|with|by|from|about|custom|special|standard|simple|global|local|"
    r"file|data|input|output|string|memory|modules|options|parameters|arguments|types|values|names|examples|functions|"
    r"commands|settings|fields|files|rules|strings|errors|modes|directives|placeholders|specifiers|line|lines|prompt|support|handling|management|overview|usage|basics|reference|guide|integration|discovery|lookup)$",
    re.IGNORECASE,
)


def page_kind(title: str) -> Named | None:
    """A page about one thing, where its title says of what kind: "git-log(1)", "Apache Module mod_ssl"."""
    bare = " ".join(unnumbered(title).split())
    if match := _MANUAL.match(bare):
        return Named(match["name"], MANUAL_KINDS.get(match["section"], "page"), (bare,))
    if match := _REFERENCE.match(bare):
        return Named(match["name"], match["kind"].lower(), (bare,))
    named = heading_name(title, "")
    several = named is not None and re.fullmatch(r"[a-z]{4,}(?<![su])s", named.name)
    return None if several else named  # "Format suffixes" are no format


def section_name(heading: str) -> Named:
    """The name of a section: its heading without its number, which stays as an alias ("Section 28.4.4")."""
    bare = unnumbered(heading)
    aliases: list[str] = []
    if bare != heading:
        number = heading[: len(heading) - len(bare)].strip().rstrip(".")
        aliases = [heading, f"Section {number}"]
    return Named(bare, "section", tuple(aliases))


def unnumbered(title: str) -> str:
    title = " ".join(title.split())
    match = _NUMBERING.match(title)
    return title[match.end() :] if match else title


def entry_name(anchor: Anchor, text: str, group: str) -> Named | None:
    """The name of what a term defines, or None when it is not a name (a sentence, a code sample).

    A Python object goes by its full dotted name, which its fragment is; other things by what the term's line says.
    """
    if _LABEL.match(text.strip()):
        return None
    if anchor.kind and (own := anchor.kind.split()[-1]) not in ("class", "function") and text.startswith(f"{own} "):
        text = text[len(own) + 1 :]  # "defcustom kite-tail" shows the type in front of the name
    kind = CODE_KINDS.get(anchor.kind) or (_spelt_out(anchor.kind.split()[-1]) if anchor.kind else "term")
    domain = anchor.kind.split()[0] if " " in anchor.kind else ""
    if domain in ("py", "c", "cpp", "js"):
        return _code_name(anchor, text, kind, domain)
    named = term_name(text, group)
    if named is None or kind == "term":
        return named
    return Named(named.name, "term" if kind == "glossary" else kind, named.aliases, named.parameters)


_SQUEEZED = (
    (re.compile(r"[\w-]+conf(?:ig)?|conf(?:ig)?val(?:ue)?|def(?:custom|var)|[\w-]+setting"), "setting"),
    (re.compile(r"def(?:un|ine|macro)|[\w-]+func(?:tion)?"), "function"),
    (re.compile(r"[\w-]+(?:cmd|command)"), "command"),
    (re.compile(r"[\w-]+opt(?:ion)?"), "option"),
    (re.compile(r"(?:define|def|set|make|new)-\w+"), "term"),
)
"""Types of objects that a project made up for itself, as no person says them: "nmconfig", "clicmd"."""


def _spelt_out(kind: str) -> str:
    """What people call the things of a Sphinx domain's type."""
    return next((name for pattern, name in _SQUEEZED if pattern.fullmatch(kind)), kind)


_OPTION = re.compile(r"(?<![\w-])(?:--?(?:\[no-\])?[A-Za-z0-9?][\w-]*|\+[a-z][\w-]*)")
_CALL = re.compile(r"(?:[\w*<>&: ]+[ *])?(?P<name>[A-Za-z_][\w.:]*?)(?:::)? ?\(")
_REMARK = re.compile(
    r" \( ?(?:[Dd]efault|since|new|version|deprecated|obsolete|optional|required|boolean|bool|integer|int|enum|float|"
    r"floating point|interval|text|number|string|(?:[xX]86|[aA][rR][mM])\w*)\b"
)
"""In these brackets stand no arguments: "queue_minfree (default: 0)", "jit (boolean)"."""
_PLACEHOLDER = re.compile(
    r"=?[<\[{].*|[= ](?:<|\[|[A-Z]{2,}\b).*"
    r"|(?<=\w)=(?:(?:integer|int|string|float|double|value|name|number|filename|file|path|boolean|bool|type|text|list)\b.*)?$"
)
_BARE_TERM = re.compile(r"[\w%$@~^&:./+*#!?|=<>\\-]+(?:[ _-][\w.-]+){0,3}$")


def term_name(text: str, group: str) -> Named | None:
    """The name in a term of a definition list or in a heading. ``group``: what its section says that each thing is."""
    text = " ".join(text.strip().split()).rstrip(":")
    if text.startswith(("-", "+")):
        found = [option.replace("[no-]", "") for option in _OPTION.findall(text)]
        found = [option for option in found if option.strip("-+")]
        if not found:
            return None
        name = max(found, key=lambda option: (option.startswith("--"), -found.index(option)))
        return Named(name, "option", tuple(dict.fromkeys(option for option in found if option != name)))
    if (match := _CALL.match(text)) and not _REMARK.search(text):
        name = match["name"]
        kind = group if group in ("method", "macro", "procedure", "operator", "builtin", "command") else "function"
        return Named(name, kind, _forms(text, name)) if len(name) > 1 and len(text) < 160 else None
    if (declared := _DECLARED.fullmatch(text)) is not None:
        return Named(declared["name"], group or "variable", (text,))
    text = re.sub(r"^(\w+)=\1\b(?: in [A-Za-z]+)?(?= |$)", r"\1", text)  # "memory=memory in MB" shows what it takes
    bare = _PLACEHOLDER.sub("", re.sub(r"\s*\([^()]*\)$", "", text)).strip(" ,`'\"“”").rstrip(":")
    bare = re.sub(r"^([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)=\S+$", r"\1", bare)  # "KILN_DRY=1" shows how it is set
    if bare.endswith(("$", "$_", " of", " for", " to", " in", " and")):
        return None  # "KILN_${LID}_HEAT" stands for many names; "Murder of IMAP servers" is no name with an argument
    if not 1 < len(bare) <= 48 or not _BARE_TERM.match(bare) or bare.endswith((".", ";")):
        return None
    if bare.startswith("(") or re.fullmatch(r"[\d.]+", bare) or (not any(c.isalpha() for c in bare) and len(bare) > 3):
        return None
    if re.fullmatch(r"([a-z][\w-]+) \1", bare):
        bare = bare.split(" ", 1)[0]  # an option and its argument: "dscp dscp"
    if group in _TAKING:
        bare = re.sub(r"(?<=\w)=(?:[A-Za-z]\w*|\w+(?:\|\w+)+)$", "", bare)  # "retry=N" shows what it takes
    if re.search(r"\w[<>]=?\w", bare) and "(" not in bare:
        return None  # "mtime>1h": a comparison, and no name
    kind = group
    if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", bare) and group in ("", "variable"):
        kind = group or "constant"
    return Named(bare, kind or "term", (*_forms(text, bare), *_without_argument(bare)))


_TAKING = frozenset("parameter argument option setting flag directive keyword".split())
_DECLARED = re.compile(
    r"(?:(?:const|static|extern|unsigned|struct) )*(?:int|char|uschar|BOOL|bool|long|short|double|float|size_t|time_t|"
    r"[a-z]+_t|[a-z]+_item) (?:\*+ ?)*(?P<name>[a-z]\w+)"
)
"""A variable of C with its type: "int body_linecount"."""
_ARGUMENT = re.compile(
    r"(?:number|string|text|name|\w*filename|file|path|dir|directory|value|time|seconds|milliseconds|minutes|interval"
    r"|address|addr|host|hostname|port|size|count|integer|int|level|mask|prefix|id|\w+ID|key|keyid|version|list|mode"
    r"|type|format|\w+name|\w+path)$"
)


def _without_argument(name: str) -> tuple[str, ...]:
    """What an option is called without the argument that is shown with it: "stratum number" is the option "stratum"."""
    first, _, rest = name.partition(" ")
    takes = bool(rest) and all(word == first or _ARGUMENT.match(word) for word in rest.split())
    return (first,) if takes and re.fullmatch(r"[a-z][\w.-]+", first) else ()


def _forms(text: str, name: str) -> tuple[str, ...]:
    """A whole term as another name of what it defines, unless it shows how it is used."""
    return (text,) if text != name and len(text) <= 40 and not re.search(r"[<\[{=…]", text) else ()


def _code_name(anchor: Anchor, signature: str, kind: str, domain: str) -> Named | None:
    name = re.sub(r"^(?:c|cpp)\.", "", anchor.name) if domain != "py" else anchor.name
    name = re.sub(r"^((?:\w+\.)+)\1", r"\1", name)  # a module that is named twice
    if not re.fullmatch(r"[\w.]+", name) or name.endswith("."):
        return None
    head, _, inside = signature.partition("(")
    last = name.rsplit(".", 1)[-1]
    if not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", head):
        return None
    words = head.split()[:-1]
    if kind == "variable" and last.isupper():
        kind = "constant"
    if kind == "C type" and ("." in name or (re.fullmatch(r"[a-z\d]+(?:_[a-z\d]+)*", name) and last[-2:] != "_t")):
        kind = "constant" if last.isupper() else "field"  # of a module, written in the one domain that has such things
    if signature.startswith("@"):
        kind = "decorator"
    elif kind == "method" and "classmethod" in words:
        kind = "class method"
    elif kind == "method" and ("static" in words or "staticmethod" in words):
        kind = "static method"
    elif kind in ("function", "method") and ("coroutine" in words or "async" in words):
        kind = "coroutine"
    elif kind == "attribute" and "property" in words:
        kind = "property"
    callable_ = "(" in signature and kind not in ("class", "exception", "attribute", "variable", "constant")
    aliases = [last] if last != name else []
    if callable_:
        aliases += [f"{name}()", *([f"{last}()"] if last != name else [])]
    if kind == "decorator":
        aliases.append(f"@{name}")
    parameters = tuple(dict.fromkeys(re.findall(r"(?<![\w.'\"=])\*{0,2}([A-Za-z_]\w*)(?=\s*[,)=\[\]:]|\s*$)", inside)))
    return Named(name, kind, tuple(aliases), parameters)
