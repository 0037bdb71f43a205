"""The true state of the art behind a leaderboard's best score.

``import bayes_sota`` costs NumPy and nothing more: every public name is imported when it is used.
Names stand in ``__init__.pyi``; subpackages (``bs.claims``, ``bs.epp``, ...) have more of them.
"""

from lazy_loader import attach_stub

__version__ = "1.0.0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
