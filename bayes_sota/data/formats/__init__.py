"""What only one tool writes, one reader per format: outcomes of items, scores of rounds, battles.

Nothing is left out in silence: what some files do not hold stands in the notes. Nothing from a file
is executed. ``tests/data/test_read_evaluations.py`` and ``test_read_scores.py`` hold formats and
messages.
"""
