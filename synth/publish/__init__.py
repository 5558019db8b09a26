"""Publish a finished dataset on the Hugging Face Hub: one commit, all of it or nothing."""

from synth.publish.hub import Patience, PushFailed
from synth.publish.push import Pushed, push

__all__ = ["Patience", "PushFailed", "Pushed", "push"]
