"""Skill over rounds: Bradley-Terry meta-scores whose intervals allow for few, dependent rounds."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
