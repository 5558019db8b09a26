"""A model server for tests: it speaks ``/v1/chat/completions``, plays agents as if they were models, and goes wrong on
a seeded plan."""

from stand_ins.model_server.assistants import EditorPlayer, ReflectorPlayer, SimulatorPlayer, SummarizerPlayer
from stand_ins.model_server.jobs import JobPlayer
from stand_ins.model_server.judging import ExpertPlayer, ScorerPlayer, Shown, read_shown
from stand_ins.model_server.players import FixedPlayer
from stand_ins.model_server.proposing import ProposerPlayer
from stand_ins.model_server.reconcile import Reconciliation, reconcile, sent_again
from synth.mocks.model.faults import CONTENT_FAULTS, TRANSPORT_FAULTS, FaultKind, Faults
from synth.mocks.model.log import Record, RequestLog
from synth.mocks.model.players import Player
from synth.mocks.model.replies import Call, Reply
from synth.mocks.model.scripted import ScriptedPlayer
from synth.mocks.model.server import ModelServer, ServerOptions

__all__ = [
    "CONTENT_FAULTS",
    "TRANSPORT_FAULTS",
    "Call",
    "EditorPlayer",
    "ExpertPlayer",
    "FaultKind",
    "Faults",
    "FixedPlayer",
    "JobPlayer",
    "ModelServer",
    "Player",
    "ProposerPlayer",
    "Reconciliation",
    "Record",
    "ReflectorPlayer",
    "Reply",
    "RequestLog",
    "ScorerPlayer",
    "ScriptedPlayer",
    "ServerOptions",
    "Shown",
    "SimulatorPlayer",
    "SummarizerPlayer",
    "read_shown",
    "reconcile",
    "sent_again",
]
