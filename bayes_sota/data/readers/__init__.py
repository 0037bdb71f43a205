"""Files and frames to ``Leaderboard``: strict, and every error with its file, row and column.

Nothing is skipped in silence: what a Kaggle download brings along and is dropped stands in
``Leaderboard.notes``. Nothing from a file is executed. ``tests/data/test_readers.py`` holds the
messages.
"""
