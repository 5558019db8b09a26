"""Finished work on disk: shards, journals, acceptances, and the finished dataset's move into place."""

from synth.store.failpoints import FAILPOINTS, activate, failpoint
from synth.store.publish import check_destination, publish, staged
from synth.store.shards import Manifest
from synth.store.store import STORE_FORMAT, Pruned, StageFolder, Store, StoreEntry
from synth.store.tables import StoredTable

__all__ = [
    "FAILPOINTS",
    "STORE_FORMAT",
    "Manifest",
    "Pruned",
    "StageFolder",
    "Store",
    "StoreEntry",
    "StoredTable",
    "activate",
    "check_destination",
    "failpoint",
    "publish",
    "staged",
]
