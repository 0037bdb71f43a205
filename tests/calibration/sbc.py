r"""Simulation-based calibration of the routes to theta_sota (Talts et al. 2018, arXiv 1804.06788).

Parameters are drawn from the prior, a whole board from the parameters by brute force, and the
posterior given nothing but its maximum. If the posterior is right, the rank of every true
parameter and estimand among its posterior draws is uniform. Uniformity is judged by ArviZ's
simultaneous band of the ECDF (Säilynoja, Bürkner & Vehtari 2022, doi 10.1007/s11222-022-10090-6).

The reference skill theta0 is fixed in advance: the default of the estimators, the observed
maximum, would make the model depend on the data, and no calibration could hold exactly.

    python tests/calibration/sbc.py exact 2000      # or auc 1000, abc 100
"""

import sys
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from arviz_stats.ecdf_utils import ecdf_pit
from joblib import Parallel, delayed

from bayes_sota.auc.estimate import auc_scores
from bayes_sota.core.priors import BetaCorrelation, LogitNormalSkill, MaximumPriors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_abc

SEED = 20_261_121  # fixed before anything was run
QUANTITIES = (
    "location", "spread", "rho", "theta_sota", "expected_sota", "winner_skill", "shift",
    "winner_new_score", "best_new_score",
)  # fmt: skip


@dataclass(frozen=True)
class CalibrationSetting:
    """A board to simulate again and again, and the posterior to judge.

    Attributes
    ----------
    n_test, n_classifiers : int
    priors : MaximumPriors
    reference_skill : float
        theta0, fixed.
    assumed_classifiers : int, optional
        Number of classifiers that the posterior is told; default the true one. Another number
        gives a wrong posterior on purpose.
    n_positive : int, optional
        Positive items where scores are AUCs; the reference skill then has no meaning.
    """

    n_test: int = 500
    n_classifiers: int = 100
    priors: MaximumPriors = field(
        default_factory=lambda: MaximumPriors(
            LogitNormalSkill(typical=(0.7, 0.95), spread=(0.05, 0.6)), BetaCorrelation(14.0, 5.0)
        )
    )
    reference_skill: float = 0.92
    assumed_classifiers: int | None = None
    n_positive: int | None = None


def simulate_board(
    setting: CalibrationSetting, rng: np.random.Generator
) -> tuple[dict[str, float], Leaderboard]:
    """True parameters, and a board of which every classifier was simulated.

    Ties for the maximum are broken at random. The fresh test set has as many items.
    """
    n, m = setting.n_test, setting.n_classifiers
    location, spread = (float(x[0]) for x in setting.priors.skill.draw(rng, 1))
    rho = float(setting.priors.correlation.quantile(rng.random(1))[0])
    distribution = setting.priors.skill.distribution(location, spread)
    skills = distribution.skill(distribution.isf(rng.random(m)))
    play = _play_accuracies if setting.n_positive is None else _play_aucs
    (scores, shift), (again, _) = (play(setting, skills, rho, rng) for _ in range(2))
    winner = rng.choice(np.flatnonzero(scores == scores.max()))
    truth = {
        "location": location,
        "spread": spread,
        "rho": rho,
        "theta_sota": float(skills.max()),
        "expected_sota": float(distribution.expected_maximum(m)),
        "winner_skill": float(skills[winner]),
        "shift": shift,
        "winner_new_score": float(again[winner]),
        "best_new_score": float(again.max()),
    }
    board = BestScore(
        float(scores.max()),
        n_test=n,
        n_positive=setting.n_positive,
        metric="accuracy" if setting.n_positive is None else "auc",
        n_classifiers=setting.assumed_classifiers or m,
        rounding="exact",
    )
    return truth, board


def _play_accuracies(
    setting: CalibrationSetting, skills: FloatArray, rho: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Scores of all classifiers on fresh items, and the shift."""
    n, theta0 = setting.n_test, setting.reference_skill
    a, b = conditional_probabilities(skills, rho, theta0)
    k = rng.binomial(n, theta0)
    shift = float((k - n * theta0) / np.sqrt(n * theta0 * (1 - theta0)))
    return (rng.binomial(k, a) + rng.binomial(n - k, b)) / n, shift


def _play_aucs(
    setting: CalibrationSetting, skills: FloatArray, rho: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """The same for AUCs, whose normal scores share the shift."""
    assert setting.n_positive is not None
    sizes = setting.n_positive, setting.n_test - setting.n_positive
    table = auc_scores(*sizes, 0.6, 0.99)
    shift = float(rng.standard_normal())
    normal = rho * shift + np.sqrt(1 - rho**2) * rng.standard_normal(skills.size)
    return table.estimate(normal, skills), shift


def run_sbc(
    setting: CalibrationSetting,
    *,
    route: str = "exact",
    replicates: int = 2000,
    draws: int = 500,
    random_seed: int = 0,
    n_jobs: int = 1,
) -> xr.DataTree:
    """Ranks of the true values among posterior draws, one per replicate.

    Parameters
    ----------
    setting : CalibrationSetting
    route : {"exact", "abc"}
    replicates, draws : int
        Simulated boards, and posterior draws for each.
    random_seed : int
        Replicate i uses the i-th child of this seed, whatever ``n_jobs``.
    n_jobs : int
        Processes of joblib.

    Returns
    -------
    xarray.DataTree
        Group ``prior_sbc`` with normalised ranks in (0, 1) over the dimension ``sample``, as
        ``az.plot_ecdf_pit`` takes it.
    """
    seeds = np.random.SeedSequence(random_seed).spawn(replicates)
    ranks = Parallel(n_jobs=n_jobs)(
        delayed(_replicate)(setting, route, draws, seed) for seed in seeds
    )
    table = {q: ("sample", np.array([found[q] for found in ranks])) for q in QUANTITIES}
    tree = xr.DataTree.from_dict({"prior_sbc": xr.Dataset(table)})
    tree.attrs.update(route=route, replicates=replicates, draws=draws, random_seed=random_seed)
    return tree


def judge_ranks(
    tree: xr.DataTree, ci_prob: float = 0.99, simulations: int = 1000
) -> dict[str, dict[str, float]]:
    """Whether the ECDF of the ranks stays inside its simultaneous band.

    Returns
    -------
    dict
        For each quantity ``inside``, ``largest_deviation`` of the ECDF from uniformity,
        ``band`` (half-width of the band at one half) and ``mean_rank``.
    """
    rows: dict[str, dict[str, float]] = {}
    for name in map(str, tree["prior_sbc"].data_vars):
        ranks = tree["prior_sbc"][name].values
        x, ecdf, lower, upper = ecdf_pit(
            ranks, ci_prob, simulations, rng=np.random.default_rng(214)
        )
        middle = int(np.argmin(np.abs(x - 0.5)))
        rows[name] = {
            "inside": bool(np.all((ecdf >= lower) & (ecdf <= upper))),
            "largest_deviation": float(np.abs(ecdf - x).max()),
            "band": float((upper[middle] - lower[middle]) / 2),
            "mean_rank": float(ranks.mean()),
        }
    return rows


def _replicate(
    setting: CalibrationSetting, route: str, draws: int, seed: np.random.SeedSequence
) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    truth, board = simulate_board(setting, rng)
    values = _posterior_draws(board, setting, route, draws, rng)
    ranks = {}
    for name in QUANTITIES:
        below = np.sum(values[name] < truth[name])
        ties = np.sum(values[name] == truth[name])
        ranks[name] = float((below + rng.random() * (ties + 1)) / (values[name].size + 1))
    return ranks


def _posterior_draws(
    board: Leaderboard,
    setting: CalibrationSetting,
    route: str,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    reference = setting.reference_skill if setting.n_positive is None else None
    if route == "exact":
        found = sota_posterior(
            board, setting.priors, draws=draws, random_seed=rng, reference_skill=reference
        )
        return {name: found.draws[name].ravel() for name in QUANTITIES}
    tree = sample_abc(
        (board,), setting.priors, draws=draws, chains=1, cores=1, random_seed=rng,
        reference_skill=reference,
    )  # fmt: skip
    merged = tree["posterior"].to_dataset().merge(tree["predictions"].to_dataset())
    return {name: np.asarray(merged[name].values).ravel() for name in QUANTITIES}


def study(name: str, replicates: int, n_jobs: int = 2) -> xr.DataTree:
    """Ranks of the exact route, of its best AUCs, or of ABC."""
    setting = (
        CalibrationSetting(n_test=800, n_positive=60) if name == "auc" else CalibrationSetting()
    )
    return run_sbc(
        setting, route="abc" if name == "abc" else "exact", replicates=replicates, draws=500,
        random_seed=SEED, n_jobs=n_jobs,
    )  # fmt: skip


if __name__ == "__main__":
    for quantity, judged in judge_ranks(study(sys.argv[1], int(sys.argv[2]))).items():
        print(quantity, judged)
