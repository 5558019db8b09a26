"""Publish a finished dataset on the Hugging Face Hub: one commit, all of it or nothing."""

from synth.exporters.hub.failures import PushFailed
from synth.exporters.hub.patience import Patience
from synth.exporters.hub.push import Pushed, push

__all__ = ["Patience", "PushFailed", "Pushed", "push"]
