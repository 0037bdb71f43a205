"""Results of two boards: one shape, reproducible, readable by the package's own tables."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation, Priors
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.schema import ATTRIBUTES, GROUPS
from bayes_sota.core.summary import diagnose, summarize
from bayes_sota.data.paired import PairedBoards
from bayes_sota.paired.sample import estimate_paired
from bayes_sota.paired.teams import PairedPriors, paired_priors


@pytest.fixture(scope="module")
def boards() -> PairedBoards:
    rng = np.random.default_rng(1)
    theta = 0.8 - 0.05 * rng.exponential(size=40)
    public, private = (rng.binomial(n, theta) / n for n in (800, 1600))
    return PairedBoards(public, private, n_test=(800, 1600))


@pytest.fixture(scope="module")
def tree(boards: PairedBoards) -> xr.DataTree:
    return estimate_paired(boards, draws=50, random_seed=3)


def test_shape_and_attributes(tree: xr.DataTree, tmp_path: Path) -> None:
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert tree.attrs["rho_learnt"] == 1
    kept = tree.attrs["n_kept"]
    assert tree["posterior"]["skill"].shape == (4, 50, kept)
    assert tree["posterior_predictive"]["private_from_public"].shape == (4, 50, kept)
    theta = tree["posterior"]["theta_sota"].values
    assert np.all(theta >= tree["posterior"]["skill"].values.max(axis=-1) - 1e-12)
    assert np.all(theta >= tree["posterior"]["winner_skill"].values)
    assert diagnose(tree)["ok"]
    assert "winner_skill" in summarize(tree).index
    again = read_result(save_result(tree, tmp_path / "paired.nc"))
    assert again["posterior"]["best"].equals(tree["posterior"]["best"])


@pytest.mark.slow
def test_same_seed_same_draws(tree: xr.DataTree, boards: PairedBoards) -> None:
    again = estimate_paired(boards, draws=50, random_seed=3)
    assert again["posterior"].to_dataset().equals(tree["posterior"].to_dataset())


def test_draws_are_checked(boards: PairedBoards) -> None:
    with pytest.raises(InputError, match="at least 1"):
        estimate_paired(boards, draws=0)


def test_one_kind_of_priors_serves_two_boards() -> None:
    assert paired_priors(None) == PairedPriors()
    assert paired_priors(Priors(correlation=FixedCorrelation(0.5))).correlation.value == 0.5
    with pytest.raises(InputError, match="families has no effect on two boards"):
        paired_priors(Priors(families=("normal",)))
    with pytest.raises(InputError, match="must be Priors, got BoardPriors"):
        paired_priors(BoardPriors())  # type: ignore[arg-type]
