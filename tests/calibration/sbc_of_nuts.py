"""Simulation-based calibration of NUTS on boards of 12 entries with a normal field.

It takes about half a minute a board; the p values of 100 of them are in
``docs/measured/calibration.md``.

    python tests/calibration/sbc_of_nuts.py 200
"""

import sys

import numpy as np
from calibration.sampled_boards import sample_board
from joblib import Parallel, delayed
from scipy import stats

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.score_laws import score_law

N_SBC = 400
SBC = BoardPriors(typical=(0.7, 0.95), spread=(0.1, 0.8), families=("normal",))


def ranks_of_one_board(replicate, entries=12):
    """Truth and board from the model itself; ranks of the truths among the draws of NUTS."""
    rng = np.random.default_rng([20, replicate])
    place = rng.normal(*SBC.location)
    spread = np.exp(rng.normal(*SBC.log_spread))
    y = rng.normal(place, spread, entries)
    strangers = rng.random(entries) < 0.5 / entries
    y = np.where(strangers, rng.normal(*SBC.location, entries), y)
    psi = 1 / (1 + np.exp(-y))
    rho, z = SBC.correlation.quantile(rng.random()), rng.standard_normal()
    # variance (1 - rho^2) n psi (1 - psi): the normal approximation of the kernel's law
    noise = rng.standard_normal(entries) * np.sqrt((1 - rho**2) * N_SBC * psi * (1 - psi))
    counts = np.clip(np.rint(N_SBC * psi + noise), 0, N_SBC)
    board = Leaderboard(counts / N_SBC, n_test=N_SBC, rounding="exact")
    skill = score_law(board).remove_shift(psi, np.full(entries, rho * z))
    truth = {
        "theta_sota": skill.max(),
        "winner_skill": skill[counts == counts.max()].mean(),
        "shift": z,
        "rho": rho,
    }
    draws = sample_board(board, SBC, draws=100, tune=300, chains=2, cores=1, random_seed=replicate)[
        "posterior"
    ]
    return {name: float(np.mean(draws[name].values < value)) for name, value in truth.items()}


if __name__ == "__main__":
    ranks = Parallel(n_jobs=2)(delayed(ranks_of_one_board)(i) for i in range(int(sys.argv[1])))
    for name in ranks[0]:
        p = stats.kstest([r[name] for r in ranks], "uniform").pvalue
        print(f"{name}: Kolmogorov's p value of the ranks {p:.3f}")
