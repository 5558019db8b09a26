"""Any server of the Model Context Protocol as an environment (extra ``mcp``)."""

from importlib.util import find_spec

from synth.distribution import install
from synth.errors import InputError

if find_spec("mcp") is None:
    raise InputError("the library mcp is not installed", where="environment mcp", mend=install("mcp"))
