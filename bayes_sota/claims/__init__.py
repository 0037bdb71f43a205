""" "A outperforms B": how probable it is that a claim is false."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
