"""Scores of players in rounds, and battles, as people have them: one reader per format.

What a column is goes by its name or is asked for; what cannot be told is refused. Nothing is left
out in silence: notes say it. ``tests/data/test_score_files.py`` holds formats and messages.
"""
