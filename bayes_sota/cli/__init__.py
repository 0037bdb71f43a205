"""The command line: arguments -> calls. No mathematics here."""

from bayes_sota.cli.main import main

__all__ = ["main"]
