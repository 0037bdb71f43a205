"""Printed numbers against computed ones, each with a verdict; only ``off`` is a defect.

What papers print stands in ``published.json``; ``tests/published`` reads the same file.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
