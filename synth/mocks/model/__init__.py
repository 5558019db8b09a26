"""A model server: it speaks ``/v1/chat/completions``, plays agents as if they were models, and goes wrong on a seeded
plan."""

from synth.mocks.model.faults import CONTENT_FAULTS, TRANSPORT_FAULTS, BatchFault, FaultKind, Faults
from synth.mocks.model.players import Player
from synth.mocks.model.replies import Call, Reply
from synth.mocks.model.scripted import ScriptedPlayer
from synth.mocks.model.server import ModelServer, ServerOptions

__all__ = [
    "CONTENT_FAULTS",
    "TRANSPORT_FAULTS",
    "BatchFault",
    "Call",
    "FaultKind",
    "Faults",
    "ModelServer",
    "Player",
    "Reply",
    "ScriptedPlayer",
    "ServerOptions",
]
