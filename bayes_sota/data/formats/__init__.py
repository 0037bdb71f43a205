"""Per-item outcomes as evaluation tools write them, one reader per format, joined on the item.

Nothing is left out in silence: what some files do not hold stands in ``Evaluations.notes``. Nothing
from a file is executed. ``tests/data/test_read_evaluations.py`` holds formats and messages."""
