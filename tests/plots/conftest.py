"""Results that the figures are drawn from."""

from collections.abc import Iterator

import pytest
import xarray as xr

import bayes_sota as bs


@pytest.fixture(scope="session")
def board() -> bs.Leaderboard:
    return bs.Leaderboard.from_maximum("0.95", n_test=400, n_classifiers=60)


@pytest.fixture(scope="session")
def tree(board: bs.Leaderboard) -> xr.DataTree:
    return bs.estimate_sota(board, draws=500, random_seed=1)


@pytest.fixture(scope="session")
def two_boards() -> xr.DataTree:
    names_and_maxima = (("public $board$", "0.95"), ("<b>private</b>", "0.93"))
    boards = [
        bs.Leaderboard.from_maximum(maximum, n_test=400, n_classifiers=60, name=name)
        for name, maximum in names_and_maxima
    ]
    return bs.estimate_sota(boards, draws=300, random_seed=2)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
