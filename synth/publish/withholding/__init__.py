"""Datasets whose text is not all ours to publish: the text goes out as references, and comes back from a copy."""

from synth.publish.withholding.edition import withhold
from synth.publish.withholding.restore import Restored, restore

__all__ = ["Restored", "restore", "withhold"]
