"""``python -m bayes_sota``: the command line."""

from bayes_sota.cli import main

main()
