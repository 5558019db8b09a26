"""A Hub for tests: it speaks the upload protocol of the Hugging Face Hub on the loopback interface, keeps repositories
on disk, and goes wrong on a plan."""

from stand_ins.hub_server.faults import Fault, FaultKind
from stand_ins.hub_server.repositories import Commit, RepoFile, Repositories
from stand_ins.hub_server.server import HubServer, Record

__all__ = ["Commit", "Fault", "FaultKind", "HubServer", "Record", "RepoFile", "Repositories"]
