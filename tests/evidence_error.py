"""Monte Carlo error of a log evidence."""

import numpy as np

from bayes_sota.core.inference import Fit


def log_evidence_mcse(fit: Fit) -> float:
    """Standard error of ``fit.log_evidence_of_all`` between seeds."""
    top = fit.log_evidence.max()
    means = [np.exp(points.log_weights - top).mean(axis=1) for points in fit.points]
    variance = sum(float(mean.var()) / mean.size for mean in means)
    return float(np.sqrt(variance) / sum(float(mean.mean()) for mean in means))
