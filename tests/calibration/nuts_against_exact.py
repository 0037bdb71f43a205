r"""NUTS against the exact route, where both exist: means, standard deviations and what it took.

The references are sampled from many more points than the exact routes use: a mean of parameters
from their few hundred effective points is itself uncertain by .08 standard deviations. Claims,
EPP and two boards have their second routes in their tests. Each model is compiled once and sampled
with every seed; ``docs/measured/calibration.md`` has the results.

    PYTHONPATH=tests python tests/calibration/nuts_against_exact.py 12 200 obesity:normal maximum
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr
from boards import evidence_of, log_likelihood_at
from calibration.sampled_boards import NUTS

from bayes_sota.core.importance import sample_importance
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.leaderboard.fit import FAMILIES, FieldFit, fit_field, fit_shape
from bayes_sota.leaderboard.models import build_model, start_values
from bayes_sota.leaderboard.sample import skills_of_trace
from bayes_sota.leaderboard.skills import draw_posterior
from bayes_sota.leaderboard.specification import load_model

SEEDS = (1, 2, 3, 4)
DRAWS = 40_000  # of a reference
_AT_ONCE = 2_000
ESTIMANDS = ("theta_sota", "winner_skill", "expected_sota", "rho", "shift")
Values = Mapping[str, np.ndarray]
Moments = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Agreement:
    """One run of NUTS against its reference.

    Attributes
    ----------
    mean : dict of str to float
        Difference of means in standard deviations of the reference.
    sd : dict of str to float
        Standard deviation over that of the reference.
    r_hat, ess, tail : float
        The worst over all variables of the model.
    divergences : int
    seconds : float
        After compilation.
    """

    mean: dict[str, float]
    sd: dict[str, float]
    r_hat: float
    ess: float
    tail: float
    divergences: int
    seconds: float

    @classmethod
    def of(
        cls, trace: xr.DataTree, ours: Values, reference: Moments, seconds: float
    ) -> "Agreement":
        posterior = trace["posterior"].to_dataset()
        found = [az.rhat(posterior), az.ess(posterior), az.ess(posterior, method="tail")]
        r_hat, ess, tail = (
            np.concatenate([np.ravel(v.values) for v in values.data_vars.values()])
            for values in found
        )
        return cls(
            {k: float(np.mean(ours[k]) - mean) / sd for k, (mean, sd) in reference.items()},
            {k: float(np.std(ours[k])) / sd for k, (_, sd) in reference.items()},
            float(np.nanmax(r_hat)),
            float(np.nanmin(ess)),
            float(np.nanmin(tail)),
            int(trace["sample_stats"]["diverging"].sum()),
            seconds,
        )

    def row(self, case: str, seed: int) -> str:
        """Row of a Markdown table."""
        far = max(self.mean, key=lambda k: abs(self.mean[k]))
        wide = max(self.sd, key=lambda k: abs(np.log(self.sd[k])))
        return (
            f"| {case} | {seed} | {far} {self.mean[far]:+.3f} | {wide} {self.sd[wide]:.3f} | "
            f"{self.r_hat:.4f} | {self.ess:.0f}, {self.tail:.0f} | {self.divergences} | "
            f"{self.seconds:.0f} |"
        )


def sampled(
    model: pm.Model, start: Mapping[str, Any], settings: Mapping[str, Any]
) -> Iterator[tuple[int, xr.DataTree, float]]:
    """Seed, trace and seconds after compilation, by nutpie as ``run_nuts`` calls it."""
    import nutpie

    began = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model, initial_points=dict(start), jitter_rvs=set())
    print(f"compiled in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    for seed in SEEDS:
        began = time.perf_counter()
        trace = nutpie.sample(
            compiled, cores=2, seed=seed, progress_bar=False, save_warmup=False, **settings
        )
        yield seed, trace, time.perf_counter() - began


def simulated_board(m: int, n_test: int) -> Leaderboard:
    """Entries with normal log odds."""
    rng = np.random.default_rng(7)
    skills = 1 / (1 + np.exp(-rng.normal(2.0, 0.4, m)))
    return Leaderboard(rng.binomial(n_test, skills) / n_test, n_test=n_test, rounding="exact")


def obesity() -> Leaderboard:
    """The private board of 3,587 teams of the paper's example."""
    import bayes_sota as bs

    path = Path(os.environ["BAYES_SOTA_DATA"]) / "kaggle" / "playground-series-s4e2__private.csv"
    return bs.data.read_leaderboard(path, n_test=11_072)


@one_thread()
def finely_sampled(shape: FieldFit, points: int) -> FieldFit:
    """The same exact fit with many more points."""

    def of_points(t: np.ndarray) -> np.ndarray:
        return log_likelihood_at(shape, shape.families[0], t, shape.rho)

    def target(t: np.ndarray) -> np.ndarray:
        parts = np.array_split(t, -(-len(t) // _AT_ONCE))
        return np.concatenate([of_points(part) for part in parts])

    rng = np.random.default_rng(0)
    found = sample_importance(target, shape.shape.dimension, rng, points, shape.points[0])
    return replace(shape, points=(found,))


def moments(values: Values) -> Moments:
    """Mean and standard deviation of each."""
    return {name: (float(np.mean(v)), float(np.std(v))) for name, v in values.items()}


def reference_of(shape: FieldFit, points: int) -> tuple[Moments, float]:
    """Moments of estimands and parameters of the exact route, and the effective points behind."""
    fine = finely_sampled(shape, points)
    rng, found = np.random.default_rng(1), fine.points[0]
    skills = draw_posterior(fine, DRAWS, rng)
    draws = skills.estimands() | skills.new_scores(None, rng)
    values = {name: draws[name] for name in ESTIMANDS}
    chosen = np.concatenate(
        [rng.choice(len(found.points), DRAWS, p=column) for column in found.weights.T]
    )
    values |= dict(zip(shape.parameters, fine.natural_points[chosen].T, strict=True))
    return moments(values), float(found.effective_size.min())


def compare_board(board: Leaderboard, families: tuple[str, ...], points: int, case: str) -> None:
    """All shapes of one board."""
    fit = fit_field(evidence_of(board), BoardPriors(), np.random.default_rng(0))
    for family in families:
        shape = fit_shape(board, family=family, fit=fit)
        reference, size = reference_of(shape, points)
        print(f"effective points {size:.0f}, of the fit itself "
              f"{shape.points[0].effective_size.min():.0f}", file=sys.stderr)  # fmt: skip
        model = build_model(board, family=family, fit=shape)
        for seed, trace, seconds in sampled(model, start_values(shape), NUTS):
            posterior = trace["posterior"].to_dataset()
            rng = np.random.default_rng(seed)
            skills = skills_of_trace(shape, model, posterior, rng)
            ours = skills.estimands() | skills.new_scores(None, rng)
            ours |= {name: posterior[name].values.ravel() for name in shape.parameters}
            found = Agreement.of(trace, ours, reference, seconds)
            print(found.row(f"{case}, {family}", seed), flush=True)


def compare_maximum(board: Leaderboard, case: str) -> None:
    """The best score alone."""
    from bayes_sota.core.priors import MaximumPriors
    from bayes_sota.maximum import build_model
    from bayes_sota.maximum.posterior import Maxima
    from bayes_sota.maximum.sample import sample_exact

    names = ["location", "spread", "rho", "theta_sota", "winner_skill"]
    exact = sample_exact((board,), MaximumPriors(), draws=DRAWS // 4, random_seed=1)["posterior"]
    model = build_model(board)
    sampler = load_model("observed-maximum").sampler
    settings = {k: getattr(sampler, k) for k in ("draws", "tune", "chains", "target_accept")}
    settings |= {"adaptation": "low_rank"}
    for seed, trace, seconds in sampled(model, {}, settings):
        drawn = {name: trace["posterior"][name].values.ravel() for name in names[:3]}
        maxima = Maxima((board,), MaximumPriors())
        ours = maxima.draw_fields(drawn, np.random.default_rng(seed))
        reference = moments({name: exact[name].values for name in names})
        found = Agreement.of(trace, {k: ours[k].ravel() for k in names}, reference, seconds)
        print(found.row(case, seed), flush=True)


def main(cases: list[str]) -> None:
    """Compare what is named: m or obesity, with families after a colon; maximum."""
    for case in cases:
        name, _, rest = case.partition(":")
        families = tuple(rest.split(",")) if rest else tuple(FAMILIES)
        if name == "obesity":
            compare_board(obesity(), families, 20_000, name)
        elif name == "maximum":
            small = BestScore("0.98", n_test=200, n_classifiers=50)
            large = BestScore("0.9116", n_test=13_840, n_classifiers=3_558)
            compare_maximum(small, "maximum, m = 50")
            compare_maximum(large, "maximum, m = 3,558")
        else:
            board = simulated_board(int(name), 400 if int(name) < 50 else 1000)
            compare_board(board, families, 60_000, f"m = {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
