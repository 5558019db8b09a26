"""Files of other formats as Agent Data Protocol trajectories: the way back of ``synth.export``.

Each module reads one object of a file. What the protocol has no place for stands in ``details``, under the keys that
:mod:`synth.agents.imported` reads.
"""
