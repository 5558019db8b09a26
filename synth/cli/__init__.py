"""The command line: the composition root. Only this package turns errors into exit codes and reads the environment."""

from synth.cli.app import main

__all__ = ["main"]
