"""Who acts: the keys of a role, what fits together, and what a stage is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from synth.agents.model.policy import ModelConfig
from synth.agents.model.shown import ShownConfig
from synth.agents.model.wire import STRUCTURED_PROMPT, Mode
from synth.agents.scripted.players import scripted_options
from synth.annotate.critical.model_expert import ModelExpertConfig
from synth.annotate.critical.model_scorer import ScorerConfig
from synth.annotate.critical.scripted_expert import ExpertConfig
from synth.annotate.labels.answer_probability import SENT
from synth.errors import InputError
from synth.models.asking import AskConfig
from synth.models.contract import BatchOptions, Limits, Patience, Price, Runtime, Sampling, ServeOptions
from synth.own_code import source_of
from synth.prompting import PromptRef, load_prompt
from synth.redaction import password_of
from synth.registry import factory_of
from synth.schemas.described import Described
from synth.schemas.steps import Behaviour
from synth.stages.contract import Implementation
from synth.text.lists import listed

__all__ = [
    "ACTORS",
    "PRIVATE",
    "Role",
    "RoleName",
    "assistant_of",
    "believer_of",
    "check_keys",
    "check_role",
    "job_of",
    "keys_of",
    "policy_of",
]

RoleName = Literal[
    "teacher",
    "policy",
    "expert",
    "judge",
    "prm",
    "simulator",
    "summarizer",
    "writer",
    "checker",
    "reflector",
    "perturber",
    "proposer",
]
ACTORS: tuple[RoleName, ...] = ("teacher", "policy")
"""Who makes trajectories. The others assist: they answer one question at a time, and where a recipe does not name them
the embedded stand-in does it."""


class ProposerConfig(ModelConfig, AskConfig):
    """A proposer explores as an agent does, and answers as an assistant does."""


_ASSISTANTS: Mapping[RoleName, type[BaseModel]] = {
    "expert": ModelExpertConfig,
    "judge": ShownConfig,
    "prm": ScorerConfig,
    "simulator": AskConfig,
    "summarizer": AskConfig,
    "writer": AskConfig,
    "checker": AskConfig,
    "reflector": AskConfig,
    "perturber": AskConfig,
    "proposer": ProposerConfig,
}
"""What the options of a role may hold that a model plays."""
_OF_ACTORS: Mapping[str, tuple[RoleName, ...]] = {
    "rollouts": ACTORS,
    "mode": (*ACTORS, "expert", "proposer"),  # an expert takes a step, too, and a proposer explores
    "limits": ACTORS,
    "behaviours": ("teacher",),
}
_ONLY_MODELS: tuple[RoleName, ...] = ("writer", "checker", "proposer")
"""Assistants without an embedded stand-in: without them, their job is not done."""

BATCHED: tuple[RoleName, ...] = ("writer", "checker", "judge", "perturber")
"""Whose calls may go in batches. A rollout asks for a turn when it has seen what came of the last: as many batches as
turns, each up to a day."""

PRIVATE = (
    *("base_url", "endpoints", "api_key_env", "price", "concurrency", "timeout", "attempts", "patience"),
    *("serve", "batch"),
)
"""Keys of a role that stay on this machine: where the model is and on which terms. No row depends on them."""
_MODELS = ("openai", "vllm")
_OF_MODELS = ("model", "base_url", "endpoints", "api_key_env", "serve", "batch")


class Role(Described):
    """Who acts."""

    backend: str = Field(default="scripted", min_length=1)
    """``scripted`` needs no model; ``openai`` is any server of the chat completions protocol, ``vllm`` one of vLLM's.
    `synth list` shows what else is installed; ``module:function`` names an agent of your own."""
    rollouts: int = Field(default=1, ge=1, le=1000)
    """Rollouts per task; of teacher and policy."""
    behaviours: tuple[Behaviour, ...] = ()
    """Of the teacher: what a run must show, each in some turn, to be kept; by default nothing."""
    model: str | None = Field(default=None, min_length=1)
    """Name of the model at its endpoint; empty for scripted agents."""
    endpoints: tuple[str, ...] = ()
    """Addresses of servers of the model, up to and with ``/v1``: calls are spread over them."""
    base_url: str | None = None
    """The same where there is one server only."""
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """NAME of the environment variable that holds the key: a key never stands in a recipe."""
    mode: Mode = "native"
    """``native``: the server reads tool calls (vLLM: --enable-auto-tool-choice --tool-call-parser). ``structured``:
    every turn is one JSON object of a given schema, for servers that read none."""
    sampling: Sampling = Sampling()
    """How the model draws."""
    limits: Limits = Limits()
    """What one rollout may use beside its turns; a rollout that used it up is rejected."""
    price: Price = Price()
    """What the model costs, for the account and for --max-cost."""
    concurrency: int = Field(default=256, ge=1, le=100_000)
    """Calls in flight per server at most; how many it takes is found out."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds for one attempt of a call."""
    attempts: int = Field(default=8, ge=1, le=100)
    """Attempts per call."""
    patience: Patience = Patience()
    """How long an outage or a sustained rate limit is borne before the run ends, and how attempts are paced."""
    serve: ServeOptions | None = None
    """Of ``vllm`` without endpoints: how the server is started."""
    batch: BatchOptions | None = None
    """Of writer, checker, judge and perturber: their calls go to the endpoint's batches (``/v1/batches``), at half the
    price and some time within a day; with ``serve`` to ``vllm run-batch`` on this machine. ``true`` = with the usual
    options."""
    options: dict[str, Any] = {}
    """Options of the backend (for ``scripted``: ``skill``; for models: ``strict``, ``send_reasoning``,
    ``check_calls``, ``correct``, and ``vision`` with ``pictures``: whether it is sent the last so many pictures)."""

    @field_validator("endpoints", "base_url")
    @classmethod
    def _addresses(cls, value: Any) -> Any:
        for address in [value] if isinstance(value, str) else value or ():
            if not address.startswith(("http://", "https://")):
                raise ValueError(f"{address!r} is not an address: write it as http://host:port/v1")
        return value

    @field_validator("batch", mode="before")
    @classmethod
    def _usual(cls, value: Any) -> Any:
        return {True: {}, False: None}[value] if isinstance(value, bool) else value

    @property
    def addresses(self) -> tuple[str, ...]:
        """All endpoints."""
        return ((self.base_url,) if self.base_url is not None else ()) + self.endpoints


def check_role(role: RoleName, who: Role, *, plans: bool = False, code: bool = False) -> None:
    """``plans``: tasks have plans, which scripted agents carry out; ``code``: they are repairs of code.

    Raises:
        ValueError: keys that do not go together, or options that the backend has not.
    """
    at = f"roles.{role}"
    if ":" not in who.backend:
        try:
            factory_of("backends", who.backend)
        except InputError as error:
            raise ValueError(f"{at}.backend: {error}, or module:function of your own") from None
    if who.base_url is not None and who.endpoints:
        raise ValueError(f"{at}.base_url: endpoints are given too; name all servers in endpoints")
    for name, allowed in _OF_ACTORS.items():
        given = name in who.model_fields_set and getattr(who, name) != Role.model_fields[name].get_default()
        if role not in allowed and given:
            why = "" if role in ACTORS else f"; {role} answers single questions"
            raise ValueError(f"{at}.{name}: only for {' and '.join(allowed)}{why}")
    if who.backend == "scripted" and role in _ONLY_MODELS:
        raise ValueError(
            f"{at}.backend: no script plays a {role}; name openai, vllm or module:function, or leave it out"
        )
    if who.backend == "scripted":
        given = [name for name in _OF_MODELS if getattr(who, name)]
        if given:
            raise ValueError(f"{at}.{given[0]}: scripted agents call no model; set {at}.backend to openai or vllm")
        _check_options(at, _scripted(role, plans, code), who.options)
        return
    if who.backend in _MODELS:
        if who.model is None:
            raise ValueError(f"{at}.model: the backend {who.backend} needs the name of a model")
        if "mode" in who.options:
            raise ValueError(f"{at}.options.mode: say it as {at}.mode")
        _check_options(at, _ASSISTANTS.get(role, ModelConfig), who.options, hidden="mode")
    if who.serve is not None and (who.backend != "vllm" or who.addresses):
        raise ValueError(f"{at}.serve: only for the backend vllm without endpoints: those run already")
    if who.batch is not None and role not in BATCHED:
        raise ValueError(
            f"{at}.batch: only for {listed(BATCHED)}: what {role} asks next depends on the "
            "last reply, so each turn would wait for a batch of its own"
        )
    if who.batch is not None and not who.addresses and who.serve is None:
        raise ValueError(
            f"{at}.batch: name the endpoint of a provider that has batches, or give {at}.serve (say {{}}) to have "
            "them worked through by vLLM on this machine"
        )
    if who.backend == "vllm" and not who.addresses and who.serve is None:
        raise ValueError(
            f"{at}.endpoints: the backend vllm needs the address of a server, "
            f"or {at}.serve (say {{}}) to have one started"
        )
    if who.model is not None and not who.addresses and who.backend != "vllm":
        raise ValueError(f"{at}.endpoints: name the address of a server of {who.model}, up to and with /v1")
    if who.model is None and (who.addresses or who.api_key_env):
        raise ValueError(f"{at}.model: an endpoint is given and no model at it")


class _NoOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _scripted(role: RoleName, plans: bool, code: bool) -> type[BaseModel]:
    if role == "expert":
        return ExpertConfig
    actor: Literal["teacher", "policy"] = "teacher" if role == "teacher" else "policy"
    return scripted_options(actor, plans=plans, code=code) if role in ACTORS else _NoOptions


def _check_options(at: str, known: type[BaseModel], options: dict[str, Any], hidden: str = "") -> None:
    try:
        known.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        names = ", ".join(name for name in known.model_fields if name != hidden) or "none"
        raise ValueError(f"{at}.options.{key}: {first['msg']}; there are {names}") from None


def check_keys(roles: Mapping[RoleName, Role], environment: Mapping[str, str]) -> None:
    """
    Raises:
        InputError: a variable that is to hold a key is not set.
    """
    for role, who in roles.items():
        if who.model is not None and who.api_key_env is not None and not environment.get(who.api_key_env):
            raise InputError(
                f"the environment variable {who.api_key_env}, which is to hold the key, is not set",
                where=f"roles.{role}.api_key_env",
                mend=f"export {who.api_key_env}=... and run the same command",
            )


def keys_of(roles: Mapping[RoleName, Role], environment: Mapping[str, str]) -> set[str]:
    """The keys that ``roles`` are called with: values of their variables, passwords of their addresses."""
    named = {environment.get(who.api_key_env or "", "").strip() for who in roles.values()}
    return (named - {""}).union(*(password_of(address) for who in roles.values() for address in who.addresses))


def policy_of(role: RoleName, who: Role, language: Mapping[str, Any]) -> Implementation:
    """What makes the policy of ``role``; ``language``: what a scripted one knows of words.

    Raises:
        InputError: there is no such backend.
    """
    versions: dict[str, Any] = {}
    if who.backend in _MODELS:
        # vLLM holds arguments to their schema only when asked; others then refuse tools with optional arguments.
        # A policy's slips are its own, and what it has to unlearn; a teacher is asked again.
        own = {"strict": who.backend == "vllm", "check_calls": role == "teacher"}
        options = {"role": role, "mode": who.mode, **own, **who.options}
        if who.mode == "structured":
            versions["structured_prompt"] = str(load_prompt(*STRUCTURED_PROMPT).ref)
    else:
        options = {"role": role, **language, **who.options}
    if ":" not in who.backend:
        return _implementation(role, who, factory_of("backends", who.backend), options, versions)
    return _implementation(role, who, who.backend, options, {"source": source_of(who.backend, f"roles.{role}.backend")})


def assistant_of(
    role: RoleName, who: Role, factory: str, *prompts: PromptRef, options: Mapping[str, Any] | None = None
) -> Implementation:
    """What makes the assistant of ``role`` when a model plays it, or a user's own function does.

    Args:
        factory: ``module:function`` that makes it of a ``model`` and the role's options (those of
            :class:`~synth.models.asking.AskConfig`, at least); a user's own function takes its place.
        prompts: What the model is asked with; another text is another assistant.
        options: Further keyword arguments of the factory, which the recipe's own override.

    Raises:
        InputError: a user's function can't be imported.
    """
    if ":" in who.backend:
        return _implementation(
            role, who, who.backend, who.options, {"source": source_of(who.backend, f"roles.{role}.backend")}
        )
    own = {"strict": who.backend == "vllm"}
    versions = {f"prompt {prompt.id}": str(prompt) for prompt in prompts}
    return _implementation(role, who, factory, {**own, **(options or {}), **who.options}, versions)


def job_of(role: RoleName, who: Role, factory: str, prompt: PromptRef) -> Implementation:
    """What does one job of an assistant that has several, each with a prompt of its own: as :func:`assistant_of`, where
    the factory (a user's own function too) is told the job by ``prompt``, the name of the prompt file."""
    made = assistant_of(role, who, factory, prompt)
    job: dict[str, Any] = {"prompt": prompt.id}
    if ":" not in who.backend:
        job["prompt_version"] = prompt.version
    return made.model_copy(update={"options": {**made.options, **job}})


def believer_of(who: Role) -> Implementation:
    """What says how probable ``who`` holds an answer: the same model, asked for its reading of a prompt alone."""
    sampling = Sampling(max_tokens=1, length_field=who.sampling.length_field, extra=who.sampling.extra | SENT)
    options = {"mode": who.mode, "strict": who.options.get("strict", who.backend == "vllm")}
    prompts = [load_prompt(*STRUCTURED_PROMPT).ref] if who.mode == "structured" else []
    asked = who.model_copy(update={"sampling": sampling, "options": options})
    return assistant_of("policy", asked, factory_of("assistants", "answer_probability"), *prompts)


def _implementation(
    role: RoleName, who: Role, factory: str, options: Mapping[str, Any], versions: Mapping[str, Any]
) -> Implementation:
    runtime = Runtime(
        endpoints=who.addresses,
        api_key_env=who.api_key_env,
        concurrency=who.concurrency,
        timeout=who.timeout,
        attempts=who.attempts,
        patience=who.patience,
        price=who.price,
        role=role,
        serve=who.serve,
        batch=who.batch,
    )
    return Implementation(
        kind=who.backend,
        factory=factory,
        options=dict(options),
        versions=dict(versions),
        model=who.model,
        sampling=who.sampling,
        runtime=runtime if who.model is not None else Runtime(),
    )
