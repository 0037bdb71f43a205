"""The command line: arguments to calls."""

from bayes_sota.cli.main import main

__all__ = ["main"]
