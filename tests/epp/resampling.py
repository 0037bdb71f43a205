"""Skills estimated again from resampled clusters of rounds: another route to their errors."""

import numpy as np

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data.tournaments import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp


def resampled_skills(fit: BradleyTerryFit, repetitions: int, random_seed: int = 0) -> np.ndarray:
    """Skills of resampled rounds, (B, m); without finite ones half a round of ties is added."""
    rng, data, skills = np.random.default_rng(random_seed), fit.data, []
    for _ in range(repetitions):
        drawn = rng.integers(data.n_clusters, size=data.n_clusters)
        rows = np.concatenate([np.flatnonzero(data.clusters == k) for k in drawn])
        groups = None if data.groups is None else [data.groups[r] for r in rows]
        table = ScoreTable(data.oriented[rows], groups=groups)
        try:
            skills.append(fit_epp(table, fit.kind, penalty=fit.penalty).epp)
        except InfiniteEstimateError:
            skills.append(fit_epp(table, fit.kind, penalty=0.5).epp)
    return np.array(skills)
