"""What a list of tools is about: entities by nouns in names, operations by verbs, keys and references by ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from synth.environments.app.from_tools.reading import GivenTool, Parameter, snake
from synth.environments.app.from_tools.vocabulary import Kind, is_id, kind_of_verb, nouns, plural_of, stem, words

__all__ = ["Entity", "Operation", "Understood", "understand"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_ROWS = frozenset({"id", "gid", "uuid", "uid", "ts"})
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_ID = re.compile(r"\b(?:id|gid|uuid|ids)\b", re.IGNORECASE)
_PLURALS = frozenset({"details", "series", "news"})


@dataclass(frozen=True)
class Operation:
    """A tool and what it does to which entity."""

    tool: GivenTool
    name: str
    """Of the tool, in snake case."""
    kind: Kind
    verb: str
    noun: str
    owner: str = ""
    """The noun behind a preposition: the issue in ``add_comment_to_issue``."""
    several: bool = False
    """Its name has the noun in the plural."""
    upserts: bool = False
    """Creates a row, or updates it where it exists: ``create_or_update_file``."""


@dataclass
class Entity:
    """What rows of a table are."""

    noun: str
    operations: list[Operation] = field(default_factory=list)
    key: str = ""
    """Column of the key."""
    key_names: set[str] = field(default_factory=set)
    """Parameters that are the key, in snake case."""
    handed_out: bool = True
    """Whether the application assigns the keys; otherwise the caller who creates a row names it."""
    whole_numbers: bool = False
    """The list types the key as a number."""
    scope: tuple[str, ...] = ()
    """Parameters that say, beside the key, where a row is: owner and repository of an issue."""

    @property
    def table(self) -> str:
        return plural_of(self.noun)

    @property
    def implied(self) -> bool:
        """Only ids say that there are such rows; no tool is about them."""
        return not self.operations

    def of(self, *kinds: Kind) -> list[Operation]:
        return [one for one in self.operations if one.kind in kinds]


@dataclass
class Understood:
    """What could be read from the tools."""

    entities: dict[str, Entity]
    left_out: dict[str, str]
    """Tool or tool and parameter -> why nothing was made of it."""

    def entity_of(self, parameter: str, home: Entity) -> Entity | None:
        """The entity whose key a parameter is, of a tool about ``home``; None: it is no key."""
        if parameter in home.key_names:
            return home
        exact = [one for one in self.entities.values() if parameter in one.key_names and stem(parameter)]
        if exact:
            return max(exact, key=lambda one: (one.noun == stem(parameter), len(one.operations)))
        if not is_id(parameter) or not stem(parameter):
            return None
        base = stem(parameter)
        longer = [one for name, one in self.entities.items() if name.endswith(f"_{base}")]
        return (
            self.entities.get(base)
            or next((one for name, one in self.entities.items() if base.endswith(f"_{name}")), None)
            or (longer[0] if len(longer) == 1 else None)
        )


def understand(tools: Sequence[GivenTool]) -> Understood:
    """Entities and their operations; what can't be told is said, tool by tool."""
    left_out: dict[str, str] = {}
    found: list[Operation] = []
    prefix = _prefix(tools)
    taken: set[str] = set()
    for tool in tools:
        name = snake(tool.name)
        if not _NAME.fullmatch(name) or name in taken:
            left_out[tool.name] = "its name is none that an application can give a tool"
            continue
        taken.add(name)
        read = _operation(tool, name, [one for one in name.split("_") if one != prefix] or name.split("_"))
        if isinstance(read, str):
            left_out[tool.name] = read
        else:
            found.append(read)
    known = {one.noun for one in found}
    entities: dict[str, Entity] = {}
    for one in found:
        noun = _home(one, found, known)
        noun = next((other for other in entities if plural_of(other) == plural_of(noun)), noun)
        entities.setdefault(noun, Entity(noun)).operations.append(one)
    for entity in entities.values():
        _find_key(entity, entities)
        entity.scope = tuple(_scope(entity))
    understood = Understood(entities, left_out)
    for entity in list(entities.values()):
        for one in entity.operations:
            for parameter in one.tool.parameters:
                named = entities.get(snake(parameter.name))
                if (
                    named is not None
                    and named.handed_out
                    and _ID.search(str(parameter.schema.get("description") or ""))
                ):
                    named.key_names.add(named.noun)
    _drop_unknown(understood)
    for name, number in _implied(understood):
        made = Entity(stem(name), key=name, key_names={name}, whole_numbers=number)
        entities.setdefault(stem(name), made)
    return understood


def _prefix(tools: Sequence[GivenTool]) -> str:
    """The word with which nearly all names begin: that of the server."""
    first = Counter(snake(tool.name).split("_")[0] for tool in tools)
    if not first:
        return ""
    word, count = first.most_common(1)[0]
    usual = kind_of_verb(word) is None and len(tools) > 2 and count * 10 >= len(tools) * 8
    return word if usual or word == "api" else ""


def _operation(tool: GivenTool, name: str, tokens: list[str]) -> Operation | str:
    if tool.hint is not None and tokens[0] in _METHODS and any(map(kind_of_verb, tokens[1:])):
        tokens = tokens[1:]  # post_search: the method says less than the verb
    at = next((index for index, word in enumerate(tokens) if kind_of_verb(word)), None)
    if at is not None and at > 0 and kind_of_verb(tokens[-1]):
        at = len(tokens) - 1  # issues_list, issues_get
    kind = kind_of_verb(tokens[at]) if at is not None else None
    verb = tokens[at] if at is not None and kind else ""
    if tool.hint is not None and not (kind == "state" or (kind == "list" and tool.hint == "create")):
        kind = tool.hint
        verb = verb if verb and kind_of_verb(verb) == kind else {"read": "get"}.get(kind, kind)
    if kind is None:
        return "no word of its name says whether it reads, lists, creates, updates or deletes"
    rest = tokens if at is None else [*tokens[:at], *tokens[at + 1 :]]
    upserts = rest[:1] == ["or"] and {kind, kind_of_verb((rest[1:2] or [""])[0])} == {"create", "update"}
    if rest[:1] == ["or"]:
        rest = [word for word in rest[1:] if not kind_of_verb(word)]
    kind = "create" if upserts else kind
    if verb in words("makings") and (rest[:1] == ["to"] or not nouns(rest[:1])):
        rest = [verb, *rest]
    links = set(words("links")) | {"by"}
    cut = next((index for index, word in enumerate(rest) if word in links and index > 0), len(rest))
    head, behind = rest[:cut], rest[cut + 1 :]
    noun, owner = nouns(head), nouns(behind) if cut < len(rest) and rest[cut] != "by" else ""
    if not noun:
        noun = owner or nouns([tool.resource or ""]) or ""
    if not noun:
        return "its name says nothing of what it is about"
    several = bool(head) and noun.split("_")[-1] not in head and head[-1] not in _PLURALS
    return Operation(tool, name, kind, verb, noun, owner, several, upserts)


def _home(one: Operation, found: Sequence[Operation], known: set[str]) -> str:
    """The entity of an operation: its noun, or the head of it where other tools name that ("user ticket")."""
    noun = one.noun
    parts = noun.split("_")
    writers = {other.noun for other in found if other.kind in ("create", "update", "delete")}
    for start in range(1, len(parts)):
        head = "_".join(parts[start:])
        if head in known and noun not in writers and one.kind in ("list", "read", "state"):
            return head
    ids = {snake(parameter.name) for other in found for parameter in other.tool.parameters}
    if parts[-1] in words("aspects") and noun not in writers and not any(f"{noun}_{end}" in ids for end in _ROWS):
        return "_".join(parts[:-1]) or noun
    return noun


def _scope(entity: Entity) -> Iterator[str]:
    needed = {one.name: {snake(p.name) for p in one.tool.parameters if p.required} for one in entity.operations}
    creates = [needed[one.name] for one in entity.of("create")]
    finds = [needed[one.name] for one in entity.of("read", "list", "delete")]
    others = [needed[one.name] for one in entity.of("read", "update", "delete", "state")]
    for name in dict.fromkeys(name for names in others for name in sorted(names - entity.key_names)):
        found = any(name in names for names in finds) and sum(name in names for names in needed.values()) > 1
        if found and all(name in names for names in creates) and name not in words("names"):
            yield name


def _find_key(entity: Entity, entities: Mapping[str, Entity]) -> None:
    own = {entity.noun, entity.noun.split("_")[-1], ""}
    own |= {entity.noun.split("_")[0]} - set(entities)  # pull_number of a pull_request
    votes: Counter[str] = Counter()
    whole: set[str] = set()
    for one in entity.of("read", "update", "delete", "state"):
        for place, parameter in enumerate(one.tool.parameters):
            name = snake(parameter.name)
            if not parameter.required or parameter.kind not in ("string", "integer", "number"):
                continue
            if (is_id(name) and stem(name) in own) or name in own or stem(name) in own:
                votes[name] += 10
            elif name in words("names") and name.split("_")[-1] in ("name", "path", "username", "email"):
                votes[name] += 5 - min(place, 4)
            else:
                continue
            whole |= {name} if parameter.kind != "string" else set()
    if votes:
        best = votes.most_common(1)[0][0]
        entity.key_names = {name for name, count in votes.items() if count >= 10} or {best}
        entity.whole_numbers = best in whole
        entity.key = best if stem(best) or not is_id(best) else f"{entity.noun}_id"
        given = {snake(p.name) for one in entity.of("create") for p in one.tool.parameters if p.required}
        entity.handed_out = is_id(best) or (entity.noun == best and best not in given) or entity.whole_numbers
        if best in given and not is_id(best):
            entity.handed_out = False
        return
    given = {snake(p.name) for one in entity.of("create") for p in one.tool.parameters if p.required}
    own |= {entity.noun.split("_")[-1]}
    called = [
        entity.noun,
        f"{entity.noun}_name",
        *(n for n in sorted(given) if n.endswith("_number") and stem(n) in own),
    ]
    named = next((name for name in called if name in given and name not in words("notes")), None)
    entity.handed_out = named is None
    entity.key = named or f"{entity.noun}_id"
    entity.key_names = {entity.key}


def _drop_unknown(understood: Understood) -> None:
    """Leave out entities of which nothing is known but that they can be read."""
    for noun, entity in list(understood.entities.items()):
        if entity.of("create", "update", "delete", "state"):
            continue
        told = any(one.tool.shows for one in entity.operations)
        listed = any(one.kind == "list" or one.several for one in entity.operations)
        keyed = any(snake(p.name) in entity.key_names for one in entity.operations for p in one.tool.parameters)
        asked = any(
            snake(parameter.name) not in words("service") and snake(parameter.name) not in words("queries")
            for one in entity.operations
            for parameter in one.tool.parameters
        )
        if not (keyed or (listed and (told or asked or _referred(understood, entity)))):
            for one in entity.operations:
                understood.left_out[one.tool.name] = f"nothing says what is known of a {noun.replace('_', ' ')}"
            del understood.entities[noun]


def _referred(understood: Understood, entity: Entity) -> bool:
    return any(
        snake(parameter.name) in (f"{entity.noun}_id", entity.noun)
        for other in understood.entities.values()
        for one in other.operations
        for parameter in one.tool.parameters
    )


def _implied(understood: Understood) -> Iterator[tuple[str, bool]]:
    """Ids that tools must be given and that no tool is about."""
    for entity in list(understood.entities.values()):
        for one in entity.operations:
            for parameter in one.tool.parameters:
                name = snake(parameter.name)
                usable = parameter.required and _scalar(parameter) and name.split("_")[-1] in _ROWS and stem(name)
                if usable and understood.entity_of(name, entity) is None:
                    yield name, parameter.kind != "string"


def _scalar(parameter: Parameter) -> bool:
    return parameter.kind in ("string", "integer", "number")
