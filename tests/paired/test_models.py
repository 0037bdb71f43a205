"""The model of two boards in PyMC has the likelihood of the exact route."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.paired import PairedBoards
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.likelihood import PairedLikelihood, shift_log_weights
from bayes_sota.paired.models import build_paired_boards
from bayes_sota.paired.teams import Coordinate, PairedPriors, Selection


def some_boards(**options: object) -> PairedBoards:
    rng = np.random.default_rng(0)
    psi = rng.normal(0.8, 0.03, 60)
    x, y = psi + 0.01 * rng.standard_normal(60), psi + 0.02 + 0.015 * rng.standard_normal(60)
    return PairedBoards(x, y, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("family", "options"), [("ex-gaussian", {"standard_errors": (0.02, 0.02)}), ("normal", {})]
)
def test_same_log_likelihood(family: str, options: dict[str, object]) -> None:
    boards = some_boards(**options)
    selection, coordinate = Selection.of_boards(boards), Coordinate(boards.n_test)
    errors = coordinate.standard_errors(boards.standard_errors)
    likelihood = PairedLikelihood(selection.teams, errors, PairedPriors(), coordinate.bounds)
    model = build_paired_boards(boards, family=family)
    logp = model.compile_logp(vars=model.potentials, sum=True)
    size = FAMILIES[family].dimension
    names = likelihood.noise_parameters
    for seed in range(3):
        t = 0.5 * np.random.default_rng(seed).standard_normal((1, size + len(names)))
        noise = likelihood.residuals(t[:, size:])
        rho = 0.7 if noise.rho is None else noise.rho[0]
        at = dict(zip(names, t[0, size:], strict=True))
        point = {"field": t[0, :size], "outliers_z": at["outliers"], "shift": noise.shift[0],
                 "rho_logodds__": np.log(rho / (1 - rho)),
                 "residual_z": at.get("residual"), "ratio_z": at.get("ratio")}  # fmt: skip
        given = {v.name: np.asarray(point[v.name], float) for v in model.value_vars}
        density = likelihood.densities(FAMILIES[family], t)
        total = likelihood.log_likelihood(FAMILIES[family], t)[0, 0]
        total -= likelihood.log_prior_correction(t[:, size:], noise)[0]
        assert float(logp(given)) == pytest.approx(total, abs=0.1)
        assert density.shape == (1, likelihood.nodes.size)
        assert np.isfinite(shift_log_weights(likelihood, noise)).all()


def test_unknown_family() -> None:
    with pytest.raises(InputError, match="family must be one of normal"):
        build_paired_boards(some_boards(), family="cauchy")
