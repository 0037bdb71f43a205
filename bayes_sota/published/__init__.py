"""Published numbers and figures, computed again.

Each number is judged as ``reproduced``, ``differs``, ``not verifiable`` or ``off``
(``bayes_sota.published.comparison``); only ``off`` is a defect. What is printed lives in
``bayes_sota/published/published.json``, which ``tests/published/test_reproduce.py`` reads too.
"""

from bayes_sota.published.comparison import Comparison, comparisons_to_frame
from bayes_sota.published.items import item_names, reproduce
from bayes_sota.published.plots import board_figure_names, figure_names, reproduce_figure

__all__ = [
    "Comparison",
    "board_figure_names",
    "comparisons_to_frame",
    "figure_names",
    "item_names",
    "reproduce",
    "reproduce_figure",
]
