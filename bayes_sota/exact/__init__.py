"""Exact laws and posteriors in NumPy and SciPy."""
