"""How a model came to a turn: what a trajectory keeps among its details, a branch in ``model_turns``."""

from __future__ import annotations

from synth.schemas.details import Brief, Facts
from synth.schemas.row import NonEmpty, Row

__all__ = ["ModelTurn", "ModelTurns", "RepeatedCall"]


class RepeatedCall(Row):
    """A reply that could not be carried out, after which the model was asked once more."""

    call: NonEmpty
    """Key of the call."""
    problem: NonEmpty
    """What the model was told about it."""
    raw: str
    """What it had said."""


class ModelTurn(Row):
    """Where one turn comes from."""

    call: NonEmpty
    """Key of the call that the turn answers: what the store of calls knows it by."""
    finish: NonEmpty
    """Why the model stopped, as the server says: ``stop``, ``tool_calls``, ``other``."""
    prompt_tokens: int | None
    """Tokens of the prompt, those of a first, unreadable reply included; None when the server did not say."""
    completion_tokens: int | None
    """Tokens of the reply, those of a first, unreadable one included; None when the server did not say."""
    repaired: tuple[NonEmpty, ...] = ()
    """What was read otherwise than it was written, by name (``narrated_call``, ``double_encoded``, ...)."""
    raw: str | None = None
    """The reply as the server gave it, where something was repaired."""
    corrected: RepeatedCall | None = None
    """The reply before, where this one came only after a correction."""
    served_by: str | None = None
    """What the server says that the model is, where that is not the name that was asked for."""
    fingerprint: str | None = None
    """The server's own name of its set-up (``system_fingerprint``)."""
    token_ids: tuple[int, ...] | None = None
    """Of the reply, when asked for and given."""
    logprobs: tuple[float, ...] | None = None
    """Log probabilities of those tokens."""


class ModelTurns(Facts):
    """Where the turns of a model's run come from."""

    model_turns: tuple[Brief[ModelTurn], ...] = ()
    """One per turn."""
