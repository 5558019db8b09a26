"""What an environment is: tools, episodes, exact snapshots, a check with evidence.

Nothing in agents, branching, labels or preferences knows which environment it runs in: all of them speak this.
An ``Environment`` is shared and immutable (it holds the index or the database template); an ``Episode`` is one run of
one task and holds all the state that calls can change.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from pydantic import Field

from synth.identity import canonical_json
from synth.patterns import fit_plainly, schema_errors
from synth.schemas.described import Described
from synth.schemas.judgments import Harm
from synth.schemas.row import Json, JsonObject, NonEmpty, Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict
from synth.schemas.turns import full_arguments

__all__ = [
    "ID_ARGUMENTS",
    "PROGRAM_ARGUMENTS",
    "STATEFUL",
    "WORD_ARGUMENTS",
    "Environment",
    "EnvironmentKeys",
    "EnvironmentSpec",
    "Episode",
    "Resources",
    "Snapshot",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "ToolSchema",
    "WebPage",
    "call_key",
    "number_argument",
    "refusal",
    "results_argument",
    "shown_name",
    "stateful_options",
    "text_argument",
    "unknown_tool",
    "validate_arguments",
]

ID_ARGUMENTS = frozenset(("document", "entity"))
"""Arguments by these names take an id that an observation has shown as the target of a link, and nothing else: whoever
judges a call knows by that what it goes for, in any environment."""
WORD_ARGUMENTS = frozenset(("query", "name"))
"""Arguments by these names take words to look things up by."""
PROGRAM_ARGUMENTS = frozenset(("replacement", "file_text", "program", "sql"))
"""Arguments by these names take text of programs: work, which claims nothing."""


class ToolSchema(Row):
    """A tool as the agent sees it: a JSON Schema function."""

    name: NonEmpty
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments: ``type: object``, ``additionalProperties: false``."""

    @classmethod
    def of(
        cls, name: str, description: str, arguments: Mapping[str, JsonObject], *, optional: Collection[str] = ()
    ) -> ToolSchema:
        """A tool that takes these arguments, each with its JSON Schema, and no others."""
        required = [argument for argument in arguments if argument not in optional]
        # What is missing is told before what is too much: the first of these keys that is broken counts.
        parameters: JsonObject = {"type": "object", "properties": dict(arguments)}
        parameters |= {**({"required": required} if required else {}), "additionalProperties": False}
        return cls(name=name, description=description, parameters=parameters)

    def taking(self, name: str, argument: JsonObject) -> ToolSchema:
        """The same tool, with another schema of the argument ``name``."""
        properties = {**self.parameters["properties"], name: argument}
        return self.model_copy(update={"parameters": {**self.parameters, "properties": properties}})

    def words(self) -> Iterator[str]:
        """What the schema says of its arguments, and the values that it lists as the only ones that they take."""
        yield from _schema_words(self.parameters)

    def function(self) -> dict[str, Json]:
        """``{"type": "function", "function": {...}}``, the form that chat APIs and trainers take."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }


def _schema_words(schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    about, choices, properties = schema.get("description"), schema.get("enum"), schema.get("properties")
    if isinstance(about, str):
        yield about
    yield from (value for value in (choices if isinstance(choices, list) else ()) if isinstance(value, str))
    if isinstance(properties, dict):
        yield from properties
    for below in (*(properties.values() if isinstance(properties, dict) else ()), schema.get("items")):
        yield from _schema_words(below)


class ToolCall(Row):
    id: NonEmpty
    """Unique in the trajectory."""
    name: NonEmpty
    arguments: JsonObject

    def answered(self, words: str, error: ToolError | None = None, page: WebPage | None = None) -> ToolResult:
        """The observation that answers it."""
        return ToolResult(call_id=self.id, name=self.name, content=words, error=error, page=page)


ToolError = Literal["unknown_tool", "bad_arguments", "not_found", "refused", "failure"]
"""``failure`` = the tool broke, no fault of the agent's (a label treats it as 0); the others answer a wrong call."""


class WebPage(Row):
    """The web page behind an observation, whose ``content`` is its accessibility tree."""

    url: NonEmpty
    viewport: tuple[int, int]
    """Width and height in pixels."""
    html: str | None = None
    """Markup; None where the recipe does not keep it."""
    screenshot: str | None = None
    """A picture of the viewport as ``data:image/png;base64,...``; None where the recipe does not ask for pictures."""

    def __eq__(self, other: object) -> bool:
        # One page may be painted with other pixels elsewhere (fonts): the picture is not part of what was observed.
        if not isinstance(other, WebPage):
            return NotImplemented
        return (self.url, self.viewport, self.html) == (other.url, other.viewport, other.html)

    def __hash__(self) -> int:
        return hash((self.url, self.viewport, self.html))


class ToolResult(Row):
    """The observation that answers a call. A wrong call is answered in words too: it never raises."""

    call_id: NonEmpty
    name: NonEmpty
    content: str
    error: ToolError | None = None
    page: WebPage | None = None
    """Of a browser: the page that ``content`` tells of."""
    proves: tuple[int, ...] = Field(default=(), exclude=True)
    """Hops of the walk that the right answer of a helper goes: for those who judge, told to no agent."""


class Snapshot(Row):
    """The exact state of an episode: canonical text, so that two equal states have equal snapshots and hashes."""

    environment: NonEmpty
    version: NonEmpty
    task_id: NonEmpty
    state: str


class Episode(ABC):
    """One run of one task."""

    def __init__(self, task: Task) -> None:
        self.task = task

    @abstractmethod
    def step(self, call: ToolCall) -> ToolResult:
        """Carry out one call. Never raises for what an agent did."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The exact state, cheap: no copy of what calls can not change."""

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Go back to ``snapshot``; what follows is as if nothing had happened since.

        Raises:
            ValueError: the snapshot is of another environment, version or task.
        """

    @abstractmethod
    def check(self, answer: str | None) -> Verdict:
        """Is the answer (or, where the task is about a state, the state) right? Names the rule and the evidence."""

    def begin(self, system: str, generator_for_turn: Callable[[int], np.random.Generator]) -> None:  # noqa: B027
        """A run begins here, or goes on: what the episode does in the agent's place (a helper's run) is told ``system``
        and draws from the generators of the run's turns. Usually nothing does."""

    def tokens(self) -> int:
        """Completion tokens that models used in the agent's place so far: they count to its limit. Usually none."""
        return 0

    def lost(self) -> str | None:
        """Why nobody can say any more how the run would have ended, through no choice of the agent: what it acts in is
        gone. None while it stands, and for environments that can't go."""
        return None

    def harm(self) -> Harm | None:
        """What was done beyond what the task wants; None where nothing was, or nothing measures it."""
        return None

    def facts(self) -> JsonObject:
        """What a record of the run must hold beside its observations, so that :meth:`Environment.resume` can repeat it
        (what a model wrote for it). Usually nothing."""
        return {}

    def close(self) -> None:  # noqa: B027 - most episodes hold nothing that must be released
        """Release what the episode holds."""


class Environment(ABC):
    name: ClassVar[str]
    version: ClassVar[str]
    """Bumped when an observation or a verdict can change."""

    @abstractmethod
    def tools(self) -> tuple[ToolSchema, ...]:
        """The tools, in a fixed order."""

    @abstractmethod
    def instructions(self) -> str:
        """What an agent is told about the environment (part of the system prompt)."""

    def settings(self, task: Task) -> JsonObject:
        """What about the environment is special for ``task`` (how noisy it is): recorded with every run. Usually
        nothing."""
        return {}

    @abstractmethod
    def reset(self, task: Task) -> Episode:
        """A fresh episode. Equal calls in equal order give equal observations."""

    def resume(self, task: Task, recorded: JsonObject) -> Episode:
        """A fresh episode for making the calls of a recorded run once more; ``recorded`` is what its ``settings`` and
        ``facts`` were. Until ``begin`` or ``restore`` it may leave out what two equal observations may differ in."""
        return self.reset(task)

    def same(self, one: ToolResult, other: ToolResult) -> bool:
        """Whether two answers to the same call of the same run agree. Exact equality, unless the environment's answers
        contain timestamps."""
        return one == other

    def pack(self, task: Task, state: Any) -> Snapshot:
        """``state``, which is JSON, as a snapshot of an episode of ``task``."""
        return Snapshot(environment=self.name, version=self.version, task_id=task.id, state=canonical_json(state))

    def unpack(self, task: Task, snapshot: Snapshot) -> Any:
        """The state that :meth:`pack` was given.

        Raises:
            ValueError: the snapshot is of another environment, version or task.
        """
        mine = (self.name, self.version, task.id)
        theirs = (snapshot.environment, snapshot.version, snapshot.task_id)
        if mine != theirs:
            raise ValueError(f"the snapshot is of {theirs}, this episode is {mine}")
        return json.loads(snapshot.state)


class EnvironmentKeys(Described):
    """Keys of an environment in a recipe, which are options of its factory. A subclass says its ``kind`` as a
    literal."""

    kind: str


class Resources(Protocol):
    """Where a build keeps tables and arrays; a stage's inputs are one."""

    def table(self, name: str) -> Any: ...

    def arrays(self, name: str) -> Mapping[str, np.ndarray[Any, Any]]: ...


@dataclass(frozen=True)
class EnvironmentSpec:
    """All that the rest of a build asks of an environment, as the one value that the registry names. Calling it opens
    the environment."""

    kind: str
    """Its name in recipes."""
    open: Callable[..., Environment]
    """Makes it from its options and ``inputs``, the tables and arrays below."""
    needs: tuple[str, ...] = ()
    """Tables and arrays of the build that it is opened over."""
    libraries: tuple[str, ...] = ("numpy",)
    """Distributions whose version can change what it shows."""
    prompt: str = "agents/search"
    """Prompt of the agents that act in it, without its version."""
    rl_prompt: str = "rl/search"
    """Prompt of rows for training by reinforcement."""
    pages: bool = False
    """Whether agents read documents in it, of which distractors can be made."""
    keys: type[EnvironmentKeys] | None = None
    """Its keys in a recipe; None = it has none but its kind."""
    stateful: bool = False
    """Whether calls change it. Its tasks are then derived from exploring it, and there are no documents."""

    def __call__(self, **options: Any) -> Environment:
        return self.open(**options)

    @property
    def version(self) -> int:
        """What the factory states (:func:`synth.identity.versioned`)."""
        stated: int = self.open.version  # type: ignore[attr-defined]
        return stated


def validate_arguments(schema: ToolSchema, arguments: dict[str, Any]) -> str | None:
    """None when ``arguments`` fit; else one line that tells an agent what is wrong."""
    if fit_plainly(schema.parameters, arguments):
        return None
    errors = sorted(schema_errors(schema.parameters, arguments), key=lambda error: list(error.path))
    if not errors:
        return None
    first = errors[0]
    place = ".".join(str(part) for part in first.absolute_path)
    return f"{place}: {first.message}" if place else str(first.message)


def text_argument(about: str, most: int | None = None) -> JsonObject:
    """JSON Schema of a text that is not empty, of at most ``most`` characters."""
    schema: JsonObject = {"type": "string", "minLength": 1, "description": about}
    return schema if most is None else {**schema, "maxLength": most}


def number_argument(about: str, most: int | None = None, *, default: int = 1) -> JsonObject:
    """JSON Schema of a whole number from 1 up to ``most``, ``default`` if it is not given."""
    schema: JsonObject = {"type": "integer", "minimum": 1, "description": about, "default": default}
    return schema if most is None else {**schema, "maximum": most}


def results_argument(default: int) -> JsonObject:
    """JSON Schema of how many results a search gives."""
    return number_argument(f"How many results; {default} if not given.", 20, default=default)


def call_key(call: ToolCall, tools: Iterable[ToolSchema]) -> str:
    """Equal for calls that ask for the same, given in full or with defaults left out."""
    parameters = next((tool.parameters for tool in tools if tool.name == call.name), {})
    return f"{call.name} {canonical_json(full_arguments(call.arguments, parameters))}"


def unknown_tool(call: ToolCall, tools: Iterable[str], shown: str | None = None) -> ToolResult:
    """The answer to a call of a tool that does not exist. ``shown``: its name, as the words have it."""
    name = repr(call.name) if shown is None else shown
    return call.answered(f"There is no tool {name}. The tools are: {', '.join(tools)}.", "unknown_tool")


def shown_name(name: str) -> str:
    """A name that an agent made up, as far as it can be repeated to it."""
    return name if len(name) <= 60 and name.isprintable() else "of this name"


def refusal(call: ToolCall, tools: Mapping[str, ToolSchema], longest: int | None = None) -> ToolResult | None:
    """The answer to a call that reaches no tool or gives it wrong arguments; None for a call that can be made.

    Args:
        longest: Characters of what is said of an argument.
    """
    if call.name not in tools:
        return unknown_tool(call, tools)
    problem = validate_arguments(tools[call.name], call.arguments)
    if problem is None:
        return None
    return call.answered(f"Wrong arguments for {call.name}: {problem[:longest]}.", "bad_arguments")


STATEFUL = frozenset({"app", "mcp", "web"})
"""Sources that are explored rather than read: the environment of the same kind is made of them, and there are no
documents."""

_ABOUT = frozenset({"kind", "licence"})
"""Keys that say something about the source or the environment, and nothing to its factory."""


def stateful_options(source: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the factory of an environment of a kind of ``STATEFUL``, from a recipe's ``source`` and
    ``environment``; keys without a value are left out."""
    options = {**source, **place}
    found = {name: value for name, value in options.items() if name not in _ABOUT and value is not None}
    # In every dataset of an application the user can be asked: no recipe says it.
    return {**found, "user": True} if source.get("kind") == "app" else found
