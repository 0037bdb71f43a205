"""The convenience that composes building, sampling and summarising, and does nothing else."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.data.leaderboard import LARGEST, Leaderboard
from bayes_sota.errors import InputError
from bayes_sota.priors import CorrelationPrior, FixedCorrelation, Priors, SkillPrior, TriesPrior
from bayes_sota.specification import ModelSpecification, load_model

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["METHODS", "estimate_sota", "sota_sensitivity"]

_MOST_DRAWS = 2_000_000
METHODS = ("auto", "exact", "abc", "nuts")


def estimate_sota(
    board: Leaderboard | Sequence[Leaderboard],
    *,
    method: str | None = None,
    priors: Priors | None = None,
    model: ModelSpecification | str | os.PathLike[str] | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    cores: int | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior of the true state of the art behind one or several observed maxima.

    Parameters
    ----------
    board : Leaderboard or sequence of them
        Several boards of one task share location, spread and rho.
    method : {"auto", "exact", "abc", "nuts"}, optional
        ``auto`` is exact: quadrature and direct draws. ``abc`` simulates (ABC by sequential Monte
        Carlo), ``nuts`` samples the exact marginal likelihood with PyMC.
    priors : Priors, optional
        Default ``Priors()``; not together with ``model``.
    model : ModelSpecification, name or path, optional
        Named specification with priors and sampler settings.
    draws, chains : int, optional
        Draws per chain and chains; default those of the model, 1000 and 4.
    random_seed : int, SeedSequence or Generator, optional
        The same seed gives the same draws whatever ``cores``.
    reference_skill : float, optional
        theta0; default each board's observed maximum.
    new_n_test : int, optional
        Size of the fresh test set for the predictive scores; default the board's own.
    cores : int, optional
        Processes for ``abc`` and ``nuts``.
    progressbar : bool
        Show progress of the samplers.

    Returns
    -------
    xarray.DataTree
        In the schema of ``bayes_sota.schema``.

    Examples
    --------
    >>> board = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> tree = estimate_sota(board, random_seed=1)
    >>> bool(tree["posterior"]["theta_sota"].mean() < 0.98)
    True
    """
    boards = (board,) if isinstance(board, Leaderboard) else tuple(board)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    if new_n_test is not None and not 1 <= new_n_test <= LARGEST:
        raise InputError(f"new_n_test must lie between 1 and {LARGEST:,}, got {new_n_test}")
    spec = _specification(model, priors)
    chosen = method or spec.sampler.method
    if chosen not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {chosen!r}")
    draws = spec.sampler.draws if draws is None else draws
    chains = spec.sampler.chains if chains is None else chains
    if draws < 1 or chains < 1 or draws * chains > _MOST_DRAWS:
        raise InputError(
            f"draws and chains must be at least 1, and their product at most {_MOST_DRAWS:,}, "
            f"got {draws} draws and {chains} chains"
        )
    settings: dict[str, Any] = {
        "draws": draws,
        "chains": chains,
        "random_seed": random_seed,
        "reference_skill": spec.reference_skill if reference_skill is None else reference_skill,
        "new_n_test": new_n_test,
        "model_name": spec.name,
        "model_hash": spec.specification_hash,
    }
    if chosen in ("auto", "exact"):
        from bayes_sota.inference.quadrature import sample_exact

        return sample_exact(boards, spec.priors, **settings)
    settings |= {"cores": cores, "progressbar": progressbar}
    if chosen == "nuts":
        from bayes_sota.inference.nuts import sample_nuts

        settings |= {"tune": spec.sampler.tune, "target_accept": spec.sampler.target_accept}
        return sample_nuts(boards, spec.priors, **settings)
    from bayes_sota.inference.abc_route import sample_abc

    return sample_abc(boards, spec.priors, **settings)


def _specification(
    model: ModelSpecification | str | os.PathLike[str] | None, priors: Priors | None
) -> ModelSpecification:
    if model is not None and priors is not None:
        raise InputError("give either priors or a model, not both")
    if isinstance(model, ModelSpecification):
        return model
    if model is not None:
        return load_model(model)
    return ModelSpecification("unnamed", priors=priors or Priors())


def sota_sensitivity(
    board: Leaderboard | Sequence[Leaderboard],
    *,
    priors: Priors | None = None,
    reference_skill: float | None = None,
    prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | None = 0,
) -> "pd.DataFrame":
    """How theta_sota moves with what is assumed rather than observed, by the exact route.

    The number of classifiers at half, twice and ten times; theta0 at half and twice its odds; rho
    fixed at the 2.5 %, 50 % and 97.5 % quantiles of its prior (or at 0, 0.6 and 0.9 where it is
    fixed); the spread of skills fixed at the ends of its prior range (or at half and twice).

    Returns
    -------
    pandas.DataFrame
        Columns assumption, value, mean, lower, upper; the first row is the result itself. With
        several boards, theta_sota is the first board's.
    """
    import pandas as pd

    boards = (board,) if isinstance(board, Leaderboard) else tuple(board)
    rows = sensitivity_rows(boards, priors or Priors(), reference_skill, prob, draws, random_seed)
    return pd.DataFrame(list(rows))


def sensitivity_rows(
    boards: tuple[Leaderboard, ...],
    priors: Priors,
    reference_skill: float | None,
    prob: float,
    draws: int,
    random_seed: int | None,
) -> Iterator[dict[str, Any]]:
    """Rows of ``sota_sensitivity``; NumPy and SciPy only."""
    from bayes_sota.exact.sota_posterior import sota_posterior
    from bayes_sota.summaries import check_probability

    check_probability(prob)
    for assumption, value, some, prior, theta0 in _variants(boards, priors, reference_skill):
        posterior = sota_posterior(
            some, prior, draws=draws, random_seed=random_seed, reference_skill=theta0
        )
        theta = posterior.draws["theta_sota"][:, 0]
        low, high = np.quantile(theta, [(1 - prob) / 2, (1 + prob) / 2])
        yield {
            "assumption": assumption,
            "value": value,
            "mean": float(theta.mean()),
            "lower": float(low),
            "upper": float(high),
        }


_Variant = tuple[str, float, tuple[Leaderboard, ...], Priors, float | None]


def _variants(
    boards: tuple[Leaderboard, ...], priors: Priors, reference_skill: float | None
) -> Iterator[_Variant]:
    from bayes_sota.exact.board_likelihood import default_reference_skill

    yield "as given", float("nan"), boards, priors, reference_skill
    for factor in (0.5, 2.0, 10.0):
        scaled = tuple(b.with_tries(_scaled_tries(b, factor)) for b in boards)
        yield "n_classifiers", factor, scaled, priors, reference_skill
    theta0 = default_reference_skill(boards[0]) if reference_skill is None else reference_skill
    for factor in (0.5, 2.0):
        odds = factor * theta0 / (1 - theta0)
        moved = odds / (1 + odds)
        yield "reference_skill", moved, boards, priors, moved
    for rho in _correlations(priors.correlation):
        yield "rho", rho, boards, Priors(priors.skill, FixedCorrelation(rho)), reference_skill
    for spread in _spreads(priors.skill):
        skill = replace(priors.skill, spread=spread)
        yield "spread", spread, boards, Priors(skill, priors.correlation), reference_skill


def _scaled_tries(board: Leaderboard, factor: float) -> int | TriesPrior:
    if isinstance(board.tries, TriesPrior):
        return board.tries.scaled(factor)
    return max(1, round(board.tries * factor))


def _spreads(prior: SkillPrior) -> tuple[float, float]:
    if isinstance(prior.spread, tuple):
        return prior.spread
    return prior.spread / 2, min(prior.spread * 2, 4.9)


def _correlations(prior: CorrelationPrior) -> tuple[float, ...]:
    if prior.is_fixed:
        return (0.0, 0.6, 0.9)
    return tuple(float(q) for q in prior.quantile([0.025, 0.5, 0.975]))
