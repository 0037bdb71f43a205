"""Typed containers of what was observed."""
