"""Repeated cross-validation: what many random partitions show, and what they cannot show."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
