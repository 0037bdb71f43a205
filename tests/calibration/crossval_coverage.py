r"""Do the intervals of ``bs.crossval`` hold what they say? And how long does it take?

    python tests/calibration/crossval_coverage.py coverage 100   # learners with known effects
    python tests/calibration/crossval_coverage.py sbc 150        # learners that follow the model
    python tests/calibration/crossval_coverage.py time           # 6 learners, 20 data sets, 50 x 10
    python tests/calibration/crossval_coverage.py reversals 100000  # other_seed_probability

The simulated learners do not follow the model: what a learner has of its own in a fold score, and
what a data set adds to it, have Student laws with 4 degrees of freedom, and spreads differ by
learner and data set. What all folds of a data set share, with correlation 1 / k, is drawn and not
told. The model is compiled once; the studies differ by their data alone.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import nutpie
from scipy.stats import kstest

from bayes_sota.core.priors import CrossValidationPriors
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.estimates import canonical_iterations
from bayes_sota.crossval.fold_scores import FoldScores, relative_scores
from bayes_sota.crossval.models import build_model
from bayes_sota.crossval.rules import other_seed_probability
from bayes_sota.crossval.sample import sample_comparison

SEED = 20_261_122  # fixed before anything was run
UNIT = 0.05
SIZE = (6, 3, 5, 5)  # data sets, learners, iterations, folds
RANKED = (
    "difference", "task_difference", "learner_sd", "interaction_sd",
    "task_log_spread", "fold_sd", "partition_sd", "shared_sd",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Truth:
    """Effects of learners relative to their mean."""

    effect: FloatArray
    task_effect: FloatArray
    steady_state: FloatArray

    def differences(self) -> dict[str, FloatArray]:
        """Of all pairs, as the model names them."""
        a, b = np.triu_indices(len(self.effect), 1)
        return {
            "difference": self.effect[a] - self.effect[b],
            "task_difference": self.task_effect[:, a] - self.task_effect[:, b],
        }


def simulate_learners(
    rng: np.random.Generator,
    size: tuple[int, int, int, int] = SIZE,
    *,
    learner_sd: float = 0.05,
    task_sd: float = 0.03,
    tails: float = 4.0,
) -> tuple[Truth, FoldScores]:
    """Learners with known effects, compound-symmetric overlap and heavy tails."""
    tasks, learners, iterations, folds = size
    heavy = np.sqrt((tails - 2) / tails)  # a Student variable times this has variance 1
    effect = rng.normal(0, learner_sd, learners)
    own = task_sd * heavy * rng.standard_t(tails, (tasks, learners))
    sd = UNIT * np.exp(rng.normal(0, 0.4, (tasks, 1)) + rng.normal(0, 0.3, (tasks, learners)))
    rho = 1 / folds
    shared = np.sqrt(rho / (1 - rho)) * sd * rng.standard_normal((tasks, learners))
    noise = heavy * rng.standard_t(tails, (tasks, learners, iterations, folds))
    common = rng.normal(0.8, 0.1, (tasks, 1, 1, 1))
    common = common + rng.normal(0, 0.1, (tasks, 1, iterations, folds))
    true = effect + own
    steady = true + shared
    scores = common + steady[..., None, None] + sd[..., None, None] * noise
    centred = (x - x.mean(axis=-1, keepdims=True) for x in (effect, true, steady))
    return Truth(*centred), FoldScores(scores)


class Sampler:
    """NUTS on data sets of one size; compiled once."""

    def __init__(self, fold_scores: FoldScores, priors: CrossValidationPriors | None = None):
        self.model = build_model(fold_scores, priors, unit=UNIT)
        self.compiled = nutpie.compile_pymc_model(self.model)

    def draws(self, values: FloatArray, seed: int) -> dict[str, FloatArray]:
        """Posterior draws of the scalars and differences, draws first."""
        trace = nutpie.sample(
            self.compiled.with_data(given_scores=values), draws=400, tune=500, chains=2, cores=2,
            target_accept=0.99, seed=seed, progress_bar=False,
        )  # fmt: skip
        found = {
            str(name): v.values.reshape(-1, *v.shape[2:]) for name, v in trace.posterior.items()
        }
        return found | {"diverging": trace.sample_stats.diverging.values.ravel()}


def coverage(
    number: int, size: tuple[int, int, int, int] = SIZE
) -> Iterator[tuple[int, dict[str, float]]]:
    """Shares of 95 % intervals that held the truth so far, and of draws that diverged."""
    rng = np.random.default_rng(SEED)
    inside: dict[str, list[FloatArray]] = {}
    sampler = None
    for replicate in range(number):
        truth, runs = simulate_learners(rng, size)
        sampler = sampler or Sampler(runs)
        draws = sampler.draws(relative_scores(runs).values, replicate)
        for name, true in truth.differences().items():
            low, high = np.quantile(draws[name], [0.025, 0.975], axis=0)
            inside.setdefault(name, []).append((low <= true) & (true <= high))
        inside.setdefault("diverging", []).append(draws["diverging"])
        yield replicate + 1, {name: float(np.mean(found)) for name, found in inside.items()}


def ranks(number: int, size: tuple[int, int, int, int] = SIZE) -> Iterator[dict[str, FloatArray]]:
    """Ranks, in (0, 1), of draws from the prior among posterior draws given their scores.

    Differences have a name for each pair, and of one data set only: those of others are alike.
    """
    import pymc as pm

    _, runs = simulate_learners(np.random.default_rng(SEED), size)
    sampler = Sampler(runs)
    with sampler.model:
        drawn = pm.sample_prior_predictive(number, random_seed=SEED)
    prior = drawn["prior"].to_dataset().squeeze("chain")
    scores = drawn["prior_predictive"]["relative_score"].values[0]
    for replicate in range(number):
        posterior = sampler.draws(scores[replicate], replicate)
        found = {"diverging": posterior.pop("diverging").mean()}
        for name in RANKED:
            truth = np.ravel(prior[name].values[replicate])[:3]
            draws = posterior[name].reshape(len(posterior[name]), -1)[::8, :3]
            below = (draws < truth).sum(axis=0)
            found[name] = (below + 0.5) / (len(draws) + 1)
        yield found


def measure_time() -> None:
    """Time of the whole call, to the complete result."""
    _, runs = simulate_learners(np.random.default_rng(SEED), (20, 6, 50, 10))
    start, used = time.perf_counter(), time.process_time()
    tree = sample_comparison(runs, random_seed=0)
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    import arviz as az

    worst = max(float(v.max()) for v in az.rhat(tree["posterior"].to_dataset()).values())
    divergences = tree.attrs["divergences"]
    print(f"{wall:.0f} s, CPU {cpu:.0f} s, r_hat {worst:.4f}, {divergences} divergences")


LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.standard_exponential(size) - 1,
    "t3": lambda rng, size: rng.standard_t(3, size) / np.sqrt(3),
}


def reversals(number: int, iterations: int, folds: int, law: str) -> Iterator[tuple[float, ...]]:
    """Mean reversal probability, share reversed and number of cases, by sign and probability.

    The errors of the folds are independent; the true difference is uniform over four standard
    deviations of a canonical run to each side, so that with normal errors shares and
    probabilities nearly agree.
    """
    rng, c = np.random.default_rng(SEED), canonical_iterations(folds)
    rows = []
    for true in rng.uniform(-4, 4, number) / np.sqrt(c * folds):
        seen = true + LAWS[law](rng, (iterations, folds)).mean(axis=1)
        new = true + LAWS[law](rng, c * folds).mean()
        d = seen.mean()
        p = other_seed_probability(float(d), float(seen.std(ddof=1)), iterations, c)
        rows.append((np.sign(d), p, np.sign(new) != np.sign(d)))
    sign, p, reversed_ = np.array(rows).T
    for side in (1, -1):
        for low, high in pairwise((0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)):
            used = (sign == side) & (p > low) & (p <= high)
            yield float(p[used].mean()), float(reversed_[used].mean()), int(used.sum())


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "time":
        measure_time()
    elif what == "reversals":
        for law, folds, n in product(LAWS, (10, 2), (10, 30)):
            rows = list(reversals(int(sys.argv[2]), n, folds, law))
            gaps = [round(share - p, 3) for p, share, _ in rows]
            print(
                law, f"{folds} folds, {n} iterations", gaps, "least cases", min(r[2] for r in rows)
            )
    elif what == "sbc":
        found = list(ranks(int(sys.argv[2])))
        print("diverging", np.mean([one.pop("diverging") for one in found]))
        for name in RANKED:
            of = np.array([one[name] for one in found])
            p = [round(float(kstest(column, "uniform").pvalue), 3) for column in of.T]
            print(name, "mean rank", of.mean(axis=0).round(3), "Kolmogorov's p", p, flush=True)
    else:
        for done, shares in coverage(int(sys.argv[2])):
            print(done, {name: round(share, 4) for name, share in shares.items()}, flush=True)
