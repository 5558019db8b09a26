"""A Hub: it speaks the upload protocol of the Hugging Face Hub on the loopback interface, keeps
repositories on disk, and goes wrong on a plan."""

from synth.mocks.hub.faults import Fault, FaultKind
from synth.mocks.hub.repositories import Commit, RepoFile, Repositories
from synth.mocks.hub.server import HubServer, Record

__all__ = ["Commit", "Fault", "FaultKind", "HubServer", "Record", "RepoFile", "Repositories"]
