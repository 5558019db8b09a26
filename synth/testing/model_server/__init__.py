"""A model server for tests: it speaks ``/v1/chat/completions``, plays agents as if they were models, and goes wrong on
a seeded plan."""

from synth.testing.model_server.assistants import EditorPlayer, ReflectorPlayer, SimulatorPlayer, SummarizerPlayer
from synth.testing.model_server.faults import CONTENT_FAULTS, TRANSPORT_FAULTS, FaultKind, Faults
from synth.testing.model_server.jobs import JobPlayer
from synth.testing.model_server.judging import ExpertPlayer, ScorerPlayer, Shown, read_shown
from synth.testing.model_server.log import Record, RequestLog, read_log
from synth.testing.model_server.players import EchoPlayer, FixedPlayer, Player
from synth.testing.model_server.process import EchoSpec, ModelServerProcess, ScriptedSpec, ServerSpec
from synth.testing.model_server.reconcile import Reconciliation, reconcile, sent_again
from synth.testing.model_server.replies import Call, Reply
from synth.testing.model_server.scripted import ScriptedPlayer
from synth.testing.model_server.server import ModelServer, ServerOptions

__all__ = [
    "CONTENT_FAULTS",
    "TRANSPORT_FAULTS",
    "Call",
    "EchoPlayer",
    "EchoSpec",
    "EditorPlayer",
    "ExpertPlayer",
    "FaultKind",
    "Faults",
    "FixedPlayer",
    "JobPlayer",
    "ModelServer",
    "ModelServerProcess",
    "Player",
    "Reconciliation",
    "Record",
    "ReflectorPlayer",
    "Reply",
    "RequestLog",
    "ScorerPlayer",
    "ScriptedPlayer",
    "ScriptedSpec",
    "ServerOptions",
    "ServerSpec",
    "Shown",
    "SimulatorPlayer",
    "SummarizerPlayer",
    "read_log",
    "read_shown",
    "reconcile",
    "sent_again",
]
