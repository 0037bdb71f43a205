"""The best score alone: its exact laws, posterior, ABC/SMC and NUTS; shrinking and cropping."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
