"""Methods compared on the same items; the correlation between classifiers, learnt."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
