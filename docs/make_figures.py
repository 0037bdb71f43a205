"""Draw the figures of the documentation: ``python docs/make_figures.py [DIRECTORY]``.

Every figure is of a bundled example and a fixed seed, and small enough to live in the repository.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np

import bayes_sota as bs
from bayes_sota.core.plots import save_figure
from bayes_sota.data.examples import load_responses_example

NAMES = {"theta_sota": "best classifier", "winner_skill": "winner"}

Figure = Callable[[], Any]


def maximum_law() -> Any:
    """Why the best score is too high: row 3 of Table 1 of Møllersen & Holsbø."""
    law = bs.maximum_law(n_test=3_000, n_classifiers=1_000, skill=0.9, correlation=0.6)
    return bs.maximum.plot_maximum_law(law)


def exact_and_abc(board: bs.Leaderboard, exact: Any) -> Any:
    """Two routes that share no likelihood, as cumulative distributions."""
    simulated = bs.estimate_sota(board, method="abc", draws=1000, chains=2, cores=1, random_seed=0)
    off = ("credible_interval", "point_estimate", "point_estimate_text")
    figure = az.plot_dist(
        {"exact": exact.isel(chain=slice(2)), "ABC": simulated},
        var_names=list(NAMES),
        kind="ecdf",
        aes={"color": ["model"], "linestyle": ["model"]},
        visuals=dict.fromkeys(off, False),
        figure_kwargs={"figsize": (7.4, 3.2), "layout": "constrained"},
    )
    for name, title in NAMES.items():
        axes = figure.viz["plot"][name].item()
        axes.set(title=title, xlabel="accuracy", ylabel="share of draws below")
        axes.locator_params("x", nbins=5)
    figure.add_legend("model")
    figure.add_title("Simulation and the exact sum give the same posterior", color="black")
    return figure


def prior_predictive(tree: Any) -> Any:
    """Best scores that the default priors expect before one is seen."""
    figure = az.plot_dist(
        tree,
        group="prior_predictive",
        figure_kwargs={"figsize": (7, 3.6), "layout": "constrained"},
    )
    axes = figure.viz["plot"]["observed_maximum"].item()
    axes.set(title="Best scores under the prior", xlabel="accuracy")
    return figure


def rho_and_shift(tree: Any) -> Any:
    """One board cannot show these: prior and posterior are nearly the same."""
    names = {"rho": "rho: how much error is shared", "shift": "shift: the shared error"}
    figure = az.plot_prior_posterior(
        tree,
        var_names=list(names),
        figure_kwargs={"figsize": (7.4, 2.6), "layout": "constrained"},
    )
    for name, title in names.items():
        figure.viz["plot"][name].item().set(title=title)
    return figure


def board_figures() -> Iterator[tuple[str, Figure]]:
    """The digits benchmark, all 250 test items, read as a leaderboard."""
    board = load_responses_example("digits").test.leaderboard()
    tree = bs.estimate_sota(board, random_seed=0)
    yield "board_posterior", lambda: bs.plot_sota(tree)
    yield "board_rho_and_shift", lambda: rho_and_shift(tree)


def claim() -> Any:
    """How a claim depends on the congruence, which papers hardly ever report."""
    return bs.claims.plot_claim(bs.claims.report_claim(bs.Accuracies(a=0.90, b=0.88, n=500)))


def methods() -> Any:
    """Ten good classifiers of the digits benchmark, compared on 250 items."""
    answers = load_responses_example("digits").test
    ten = answers.subset(list(np.argsort(-answers.scores, kind="stable")[:80:8]))
    return bs.claims.plot_methods(bs.claims.report_methods(ten, selection=False, random_seed=0))


def fit_of_families() -> Any:
    """The best classifier of each of twelve families over twenty rounds of held-out digits."""
    example = load_responses_example("digits")
    best: dict[str, int] = {}
    for place in np.argsort(-example.test.scores, kind="stable"):
        best.setdefault(example.families[place], int(place))
    chosen = list(best.values())[:12]
    answers = example.held_out.correct[:1240, chosen].reshape(20, 62, 12)
    names = [example.held_out.names[place] for place in chosen]
    return bs.fit_epp(bs.ScoreTable(answers.mean(axis=1), players=names))


def figures() -> Iterator[tuple[str, Figure]]:
    """Names of the files and how to draw them."""
    board = bs.load_example("obesity-risk")
    tree = bs.estimate_sota(board, random_seed=0)
    yield "maximum_law", maximum_law
    yield "prior_predictive", lambda: prior_predictive(tree)
    yield "posterior", lambda: bs.plot_sota(tree)
    yield "exact_and_abc", lambda: exact_and_abc(board, tree)
    yield "claim", claim
    yield "claim_methods", methods
    fit = fit_of_families()
    yield "epp", lambda: bs.plot_epp(fit)
    yield "epp_pairs", lambda: bs.epp.plot_critical_differences(fit)
    yield from board_figures()


def main(directory: Path) -> None:
    """Draw every figure into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, draw in figures():
        path = directory / f"{name}.svg"
        # without the date, so that the same figure is the same file
        save_figure(draw(), path, metadata={"Date": None})
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures"
    main(chosen)
