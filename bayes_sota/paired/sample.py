"""Two boards of the same teams: posterior draws as a DataTree.

The draws are resampled from weighted points (``importance_effective_size``) and laid out as
chains, so that every ArviZ function works; ``tests/paired/test_sample.py`` compares the groups with
the likelihood, ``tests/paired/test_models.py`` with a model of PyMC. ``complete`` makes the same
tree of draws of a model, extended or not: the skills are drawn given the hyperparameters, by the
exact route's own functions (``tests/paired/test_sample_complete.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import xarray as xr
from scipy.stats import spearmanr

from bayes_sota.core.arguments import DEFAULT_SEED, check_choice, refuse_unused
from bayes_sota.core.builders import PairedPriors, paired_priors
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors, Priors
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    check_trace,
    describe_completed,
    describe_provenance,
    lay_out,
    model_groups,
    model_of,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.specification import ModelSpecification
from bayes_sota.core.types import FloatArray, Groups, IntArray, Seed
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.evidence import check_luck
from bayes_sota.leaderboard.sample_estimate import Data
from bayes_sota.leaderboard.sample_estimate import estimate_sota as estimate_board
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.leaderboard.specification import Model, chosen_model
from bayes_sota.paired.hyperparameters import (
    Draws,
    draw_prior,
    log_priors,
    name_draws,
    read_draws,
)
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.posterior import (
    PairedPosterior,
    estimands_of,
    gains_of,
    paired_posterior,
    predict_from_public,
    skills_given,
)
from bayes_sota.paired.replicates import replicate_scores, simulate_boards
from bayes_sota.paired.residuals import Residuals
from bayes_sota.paired.teams import Coordinate, Selection

if TYPE_CHECKING:
    import pymc as pm

# Of the arguments of ``estimate_sota``, those that two boards take.
_TAKEN = ("priors", "model", "domain", "field", "draws", "chains", "random_seed", "groups")
_PER_TEAM = ("skill", "expected_private")
_GAINS = ("public_gain", "unusual")
LEVELS = (0.025, 0.5, 0.975)  # at which the prior of lambda is told
NEW_SCORES = ("winner_new_score", "best_new_score")
_DIMENSIONS = {
    **dict.fromkeys((*_PER_TEAM, *_GAINS, "private_from_public"), ("classifier",)),
    "score": ("classifier", "board"),
    "shape": ("shape_parameter",),
}


def estimate_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    top: float | None = None,
    merge: bool | None = None,
    public_alone: bool = True,
    groups: Groups = "all",
) -> xr.DataTree:
    r"""Posterior of the best skill, of the public winner's and of every team's, from both boards.

    Scores are :math:`x_j = \theta_j + s_1 (\rho z_1 + \sqrt{1 - \rho^2} e_{1j})` and the same with
    index 2; P of the skills is averaged over families; residuals may be outliers. Skills are those
    of the *private* population. Where the standard errors are known the variance of the differences
    over teams, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`, teaches rho; else only that product is learnt,
    and rho keeps its prior. Where public scores are the best of several submissions their luck
    (``bayes_sota.paired.submissions``) is taken off, and lambda is learnt from the differences.

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
        Prior of rho, sizes that the offset of the public board may have, and the luck of
        submissions. Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Named specification with priors and sizes of samples.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Domain whose prior of rho the default model takes. Not together with ``priors`` or
        ``model``.
    field : {"single", "ensembles"}, optional
        Whether entries are single classifiers, or ensembles that share members, notebooks or
        parents and so more luck, which raises the prior of rho. Default: ensembles for a download
        of a competition, else single. Not together with ``priors`` or ``model``.
    draws, chains : int, optional
        Draws per chain, and chains; default those of the model, 250 and 4.
    random_seed : int, SeedSequence, Generator or None
    top : float, optional
        The model is about teams among the best ``top`` of either board (never fewer than 30
        places); failed and abandoned entries lie below. Default: one half, at most 1,500 places.
    merge : bool, optional
        Count teams with the same two scores once. Default: only where scores are not accuracies.
    public_alone : bool
        Predict the private scores from the public board alone as well, where the noise is known.
    groups : {"all", "estimands"}
        "estimands" leaves out the groups that only checks need.

    Returns
    -------
    xarray.DataTree
        ``posterior``: theta_sota, winner_skill, multiplicity_bias, rho, score_shift (private minus
        public score at the winner's skill), standard errors, ``best`` (index of the best team), per
        classifier ``skill`` and ``expected_private``, and the hyperparameters in product space
        (``bayes_sota.paired.hyperparameters``). ``prior``: the same of fields from the prior.
        ``observed_data``, ``posterior_predictive`` and ``prior_predictive``: ``score``
        (classifier, board) of the teams that the model is about; replicates are of each team given
        its skill, on the same items, and selected as the teams were. ``log_likelihood``: ``score``
        (classifier,), shared equally among teams that count once. ``predictions``: new scores,
        ``private_from_public``, and per classifier ``public_gain`` (public score beyond what the
        private one lets expect) and ``unusual`` (probability that this is more than luck and
        selection explain). With submissions ``submission_luck`` (lambda) and
        ``submission_slope``, what the skill of a team has more per unit of its ``expected_luck``
        (``constant_data``). Attributes ``rho_learnt`` and ``luck_learnt``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> theta = rng.uniform(0.7, 0.8, 40)
    >>> public, private = rng.binomial(500, theta, (2, 40)) / 500
    >>> tree = estimate_paired(
    ...     PairedBoards(public, private, n_test=(500, 500)), draws=50, random_seed=0
    ... )  # doctest: +SKIP
    >>> tree.attrs["rho_learnt"], tree["posterior"]["skill"].dims  # doctest: +SKIP
    (1, ('chain', 'draw', 'classifier'))
    """
    check_choice("groups", groups, Groups)
    check_luck(priors, boards)
    spec = chosen_model(model, "paired", priors, domain=domain, field=field, data=boards)
    sizes = spec.sizes(draws, chains)
    rng, seed = resolve_seed(random_seed)
    settings: Any = {"rng": rng, "draws": sizes["draws"] * sizes["chains"], "top": top}
    result = paired_posterior(boards, spec.priors, merge=merge, **settings)
    alone = None
    if public_alone and boards.noise_is_known:
        kept = result.selection.kept
        alone = predict_from_public(boards, spec.priors, entries=kept, **settings)
    layout = Layout(boards, result.selection, **sizes)
    predicted = layout.predicted(result.draws)
    behind = dict(zip(("point", "stratum"), result.skills.parameters.behind, strict=True))
    if alone is not None:
        predicted["private_from_public"] = alone
    laid_out = {
        "posterior": layout.dataset(layout.estimands(result.draws, boards.public.max())),
        "predictions": layout.dataset(predicted),
        "sample_stats": layout.dataset(behind),
        **layout.data(result.fit.likelihood),
    }
    attributes = _attributes(boards, spec, result, seed)
    named = _hyperparameters(result, rng)
    laid_out["posterior"] = laid_out["posterior"].merge(layout.dataset(named))
    if groups == "all":
        laid_out |= _checking_groups(layout, result, named, rng)
        attributes |= notes_of(laid_out)
    return result_tree(laid_out, attributes)


@overload
def estimate_sota(
    board: PairedBoards,
    *,
    method: Literal["auto", "exact"] | None = None,
    priors: Priors | PairedPriors | None = None,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    groups: Groups = "all",
) -> xr.DataTree: ...
@overload
def estimate_sota(
    board: Data | Sequence[BestScore],
    *,
    method: str | None = None,
    priors: Priors | None = None,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    groups: Groups = "all",
    epsilon: float | None = None,
    cores: int | None = None,
    progressbar: bool = False,
) -> xr.DataTree: ...
@wraps(estimate_board, assigned=["__doc__"])
def estimate_sota(  # noqa: D103
    board: Any, *, method: Any = None, **options: Any
) -> xr.DataTree:
    if not isinstance(board, PairedBoards):
        return estimate_board(board, method=method, **options)
    if method not in (None, "auto", "exact"):
        raise InputError(
            f"method must be auto or exact for two boards of the same teams, got {method!r}"
        )
    taken = {name: options.pop(name) for name in _TAKEN if name in options}
    others = {k: v for k, v in options.items() if k not in ("cores", "progressbar")}
    refuse_unused("two boards of the same teams", others)
    return estimate_paired(board, **taken)


def _hyperparameters(result: PairedPosterior, rng: np.random.Generator) -> Draws:
    """Hyperparameters of the posterior in product space."""
    likelihood, skills = result.fit.likelihood, result.skills
    unused = rng.standard_normal(skills.t.shape)
    t = np.where(np.isnan(skills.t), unused, skills.t)
    return name_draws(likelihood, skills.family, t, skills.noise)


def _checking_groups(
    layout: "Layout", result: PairedPosterior, named: Draws, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """The groups that only checks need."""
    likelihood, skills = result.fit.likelihood, result.skills
    some = layout.thinned
    family, t, noise = draw_prior(likelihood, some.size, rng)
    prior, scores = simulate_boards(likelihood, layout.coordinate, family, t, noise, rng)
    prior |= name_draws(likelihood, family, t, noise)
    return {
        "prior": some.dataset(some.estimands(prior, scores[..., 0].max(axis=1))),
        "prior_predictive": some.scores(scores),
        "posterior_predictive": layout.replicates(likelihood, skills.psi, skills.noise, rng),
        "log_likelihood": layout.log_likelihood(skills.log_likelihood),
        "log_prior": layout.dataset(log_priors(likelihood, result.draws | named)),
    }


@dataclass(frozen=True, eq=False)
class Layout:
    """How draws over distinct pairs of scores become variables of the kept teams.

    Attributes
    ----------
    boards : PairedBoards
    selection : Selection
    chains, draws : int
        Of the whole, draws per chain.
    every : int
        Every so manieth draw of a chain is here.
    """

    boards: PairedBoards
    selection: Selection
    chains: int
    draws: int
    every: int = 1

    @property
    def coordinate(self) -> Coordinate:
        """Of the scores."""
        return Coordinate(self.boards.n_test)

    @property
    def thinned(self) -> "Layout":
        """The layout of predictive groups, which hold at most ``LARGEST_GROUP`` bytes."""
        size = 16 * self.selection.kept.size * self.chains * self.draws
        return replace(self, every=-(-size // LARGEST_GROUP))

    @property
    def rows(self) -> IntArray:
        """Which of all draws are here, (chain, draw)."""
        return np.arange(self.chains * self.draws).reshape(self.chains, -1)[:, :: self.every]

    @property
    def size(self) -> int:
        """Number of draws."""
        return self.rows.size

    def dataset(self, values: Draws) -> xr.Dataset:
        """Variables of draws, each (size, ...)."""
        dims = {name: _DIMENSIONS.get(name, ())[: value.ndim - 1] for name, value in values.items()}
        kept = {"draw": np.arange(self.draws)[:: self.every]}
        return lay_out(values, self.chains, dims, kept | self.coords)

    @property
    def coords(self) -> dict[str, Any]:
        """Labels of teams and boards."""
        return {
            "classifier": [self.boards.names[i] for i in self.selection.kept],
            "board": list(BOARDS),
        }

    def estimands(self, draws: Draws, best_public: FloatArray | float) -> Draws:
        """All but new scores, of the kept teams; the best public score is observed or simulated."""
        estimated = {
            k: v for k, v in draws.items() if k not in (*NEW_SCORES, *_PER_TEAM, *_GAINS, "best")
        }
        estimated |= {name: draws[name][:, self.selection.group] for name in _PER_TEAM}
        estimated["multiplicity_bias"] = best_public - draws["theta_sota"]
        estimated["best"] = self.selection.first[draws["best"]]
        return estimated

    def predicted(self, draws: Draws) -> Draws:
        """New scores, and gains on the public board, of the kept teams."""
        gains = {name: draws[name][:, self.selection.group] for name in _GAINS}
        return {name: draws[name] for name in NEW_SCORES} | gains

    def scores(self, scores: FloatArray) -> xr.Dataset:
        """Scores (size, distinct pairs, board) as those of the kept teams."""
        return self.dataset({"score": scores[:, self.selection.group]})

    def replicates(
        self,
        likelihood: PairedLikelihood,
        psi: FloatArray,
        noise: Residuals,
        rng: np.random.Generator,
    ) -> xr.Dataset:
        """Replicated scores of the teams given their skills, thinned."""
        some = self.thinned
        rows = some.rows.ravel()
        scores = replicate_scores(likelihood, psi[rows], noise[rows], rng)
        return some.scores(self.coordinate.printed(scores))

    def log_likelihood(self, values: FloatArray) -> xr.Dataset:
        """Log likelihood of each kept team, copies by equal parts; empty where it is too large."""
        group = self.selection.group
        if 4 * values.shape[0] * group.size > LARGEST_GROUP:
            return xr.Dataset()
        each = values[:, group] / self.selection.copies
        if each.nbytes > LARGEST_GROUP:
            each = each.astype(np.float32)
        return self.dataset({"score": each})

    def data(self, likelihood: PairedLikelihood) -> dict[str, xr.Dataset]:
        """Observed scores of the kept teams, what was known, and the grid of the skills."""
        kept, boards = self.selection.kept, self.boards
        scores = np.stack([boards.public[kept], boards.private[kept]], axis=1)
        values: dict[str, Any] = {
            "group": ("classifier", self.selection.group),
            "grid": ("node", likelihood.nodes),
            "field_prior": ("moment", list(likelihood.scale.prior)),
            "observed_maximum": float(boards.public.max()),
        }
        limits = self.selection.teams.threshold
        if limits is not None:
            limits = self.coordinate.to_score(np.array(limits)).tolist()
        choice, lucky = self.selection.teams.choice, dict[str, Any]()
        if choice is not None:
            numbers = np.median(boards.submissions[kept], axis=1)
            values["submissions"] = ("classifier", numbers)
            values["expected_luck"] = ("classifier", choice.luck[self.selection.group])
            quantiles = likelihood.priors.submission_luck.quantile(np.array(LEVELS))
            lucky["level"] = list(LEVELS)
            values["submission_luck_prior"] = ("level", quantiles)
        facts = {"n_test": boards.n_test, "standard_error": boards.standard_errors}
        for name, pair in (facts | {"threshold": limits}).items():
            if pair is not None:
                values[name] = ("board", list(pair))
        return {
            "observed_data": xr.Dataset({"score": (_DIMENSIONS["score"], scores)}, self.coords),
            "constant_data": xr.Dataset(values, self.coords | lucky),
        }


def notes_of(groups: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """Attribute that says which groups are thinned or left out for their size."""
    notes = []
    if groups["prior_predictive"]["draw"].size < groups["posterior"]["draw"].size:
        notes.append("predictive groups and the prior keep every k-th draw")
    if not groups["log_likelihood"]:
        notes.append("the log likelihood is left out: it would pass 64 MiB")
    return {"notes": "; ".join(notes)} if notes else {}


def describe_boards(
    boards: PairedBoards, priors: PairedPriors, selection: Selection, provenance: dict[str, str]
) -> dict[str, Any]:
    """Attributes that any route to a posterior of two boards has."""
    return {
        **provenance,
        "priors": repr(priors),
        "data_hash": boards.data_hash(),
        "luck_learnt": int(boards.has_submissions and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "noise_known": int(boards.noise_is_known),
        "metric": "score" if boards.n_test is None else "accuracy",
        "skill_scale": "private population",
        "public_winner": boards.names[boards.public_winner],
        "n_teams": boards.n_entries,
        "n_kept": int(selection.kept.size),
        "n_distinct": int(selection.teams.x.size),
        "rank_correlation": float(spearmanr(boards.public, boards.private).statistic),
    }


def _attributes(
    boards: PairedBoards, spec: ModelSpecification, result: PairedPosterior, seed: str
) -> dict[str, Any]:
    provenance = describe_provenance(
        (),
        MaximumPriors(correlation=spec.priors.correlation),
        method="exact",
        seed=seed,
        **spec.provenance,
    )
    fit = result.fit
    return {
        **describe_boards(boards, spec.priors, result.selection, provenance),
        "skill_family": "averaged",
        "log_evidence": fit.log_evidence_of_all,
        "family_weights": ", ".join(f"{k} {v:.3f}" for k, v in fit.shape_weights.items()),
        "importance_effective_size": fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
    }


def complete(
    trace: xr.DataTree,
    boards: PairedBoards,
    model: "pm.Model | None" = None,
    priors: Priors | PairedPriors | None = None,
    *,
    top: float | None = None,
    merge: bool | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Tree of skills, estimands and checks of draws from a model of two boards.

    Parameters
    ----------
    trace : DataTree
        Draws of the model of ``build_model``, extended or not.
    boards : PairedBoards
        What the model is of.
    model : pm.Model, optional
        The extended model; default that of the ``with`` block, else that of ``build_model``. The
        family is that of the trace.
    priors, top, merge
        As given to ``build_model``.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        The groups of ``estimate_paired`` without ``family`` in ``posterior`` and without
        ``private_from_public``, and what the sampler says. With a given model the hyperparameters'
        prior, replicated scores (of the teams of fresh fields), log likelihood and log prior are
        that model's.

    Raises
    ------
    InputError
        A trace of another model, other boards or another schema; variables that are missing.

    Examples
    --------
    >>> boards = PairedBoards([0.8, 0.7, 0.9, 0.85, 0.6], [0.7, 0.72, 0.85, 0.8, 0.65])
    >>> complete(xr.DataTree(), boards)
    Traceback (most recent call last):
    ...
    bayes_sota.core.errors.InputError: the trace has no group 'posterior' with draws
    """
    import pymc as pm

    from bayes_sota.paired.models import build_model

    check_trace(trace)
    priors, selection = paired_priors(priors), Selection.of_boards(boards, top, merge)
    current = model if model is not None else pm.Model.get_context(error_if_none=False)
    family = _family(trace, current)
    settings: dict[str, Any] = {"family": family, "top": top, "merge": merge}
    chosen = model_of(trace, current, lambda: build_model(boards, priors, **settings), boards)
    likelihood = PairedLikelihood.of_teams(boards, selection.teams, priors)
    posterior = trace["posterior"].to_dataset()
    layout = Layout(boards, selection, posterior.sizes["chain"], posterior.sizes["draw"])
    _check_model(chosen, likelihood, layout)
    rng, seed = resolve_seed(random_seed)
    t, noise = read_draws(likelihood, _flat(posterior))
    psi, terms, unusual = skills_given(likelihood, FAMILIES[family], t, noise, rng)
    winner = selection.place_of(boards.public_winner)
    draws = estimands_of(likelihood, noise, psi, winner, layout.coordinate, rng)
    draws |= gains_of(likelihood, noise, unusual, layout.coordinate)
    estimands = layout.dataset(layout.estimands(draws, boards.public.max()))
    groups = {
        "posterior": _with(posterior, estimands),
        "predictions": layout.dataset(layout.predicted(draws)),
    }
    if current is None:
        groups |= {
            "posterior_predictive": layout.replicates(likelihood, psi, noise, rng),
            "log_likelihood": layout.log_likelihood(terms),
            "log_prior": layout.dataset(log_priors(likelihood, _flat(posterior))),
        }
    else:
        groups |= model_groups(chosen, trace, rng)
    groups |= _prior_groups(groups.get("prior"), layout, likelihood, family, rng)
    groups["sample_stats"] = dataset_of(trace, "sample_stats")
    groups = {name: _at(posterior, group) for name, group in groups.items()} | layout.data(
        likelihood
    )
    provenance = describe_completed(trace, chosen, groups, seed)
    attributes = describe_boards(boards, priors, selection, provenance)
    attributes |= {"skill_family": family} | notes_of(groups)
    return result_tree(groups, attributes)


def _prior_groups(
    drawn: xr.Dataset | None,
    layout: Layout,
    likelihood: PairedLikelihood,
    family: str,
    rng: np.random.Generator,
) -> dict[str, xr.Dataset]:
    """Prior with estimands, of the hyperparameters that a model drew; else both, and scores."""
    shape = FAMILIES[family]
    if drawn is None:
        some = layout.thinned
        _, t, noise = draw_prior(likelihood, some.size, rng)
    else:
        some = Layout(layout.boards, layout.selection, 1, drawn.sizes["draw"])
        t, noise = read_draws(likelihood, _flat(drawn))
    t = t[:, : shape.dimension]
    index: IntArray = np.full(some.size, list(FAMILIES).index(family))
    draws, scores = simulate_boards(likelihood, layout.coordinate, index, t, noise, rng)
    estimands = some.estimands(draws, scores[..., 0].max(axis=1))
    if drawn is not None:
        return {"prior": _with(drawn, some.dataset(estimands))}
    named = name_draws(likelihood, index, t, noise)
    named = {k: v for k, v in named.items() if k != "family" and v.size}
    return {"prior": some.dataset(estimands | named), "prior_predictive": some.scores(scores)}


def _with(draws: xr.Dataset, more: xr.Dataset) -> xr.Dataset:
    """Draws with the variables that they lack, at their own coordinates."""
    more = more.drop_vars([name for name in more.data_vars if name in draws])
    return draws.merge(more.assign_coords(chain=draws["chain"], draw=draws["draw"]))


def _at(posterior: xr.Dataset, group: xr.Dataset) -> xr.Dataset:
    """The group with the labels of the shape's numbers, where it has any."""
    name = "shape_parameter"
    labelled = name in group.dims and name in posterior.coords
    return group.assign_coords({name: posterior[name]}) if labelled else group


def _flat(data: xr.Dataset) -> Draws:
    """Draws of all chains, (chains times draws, ...), by name."""
    flat = {}
    for name, variable in data.data_vars.items():
        values = variable.transpose("chain", "draw", ...).values
        flat[str(name)] = values.reshape(-1, *values.shape[2:])
    return flat


def _family(trace: xr.DataTree, model: "pm.Model | None") -> str:
    """Family of the skills, which a model and its traces hold as data."""
    index = None
    if model is not None and "family" in model.named_vars:
        index = model["family"].get_value()
    elif model is None:
        index = dataset_of(trace, "constant_data").get("family")
    if index is None:
        raise InputError(
            "the trace or its model has no data 'family': is it of bs.paired.build_model?"
        )
    return list(FAMILIES)[int(index)]


def _check_model(model: "pm.Model", likelihood: PairedLikelihood, layout: Layout) -> None:
    """Refuse a model without what the skills need, or of other boards."""
    needed = ["location", "spread", "rho", "outliers", "board_shift", "score"]
    if likelihood.standard_errors is None:
        needed += ["residual_sd", "noise_ratio"]
    if likelihood.teams.choice is not None:
        needed += ["submission_luck", "submission_slope"]
    missing = [name for name in needed if name not in model.named_vars]
    if missing:
        raise InputError(f"the model has no {', '.join(missing)}, which the skills need")
    stored = model.rvs_to_values[model["score"]].eval()
    scores = layout.data(likelihood)["observed_data"]["score"].values
    if stored.shape != scores.shape or not np.array_equal(stored, scores):
        raise InputError("the model is of other boards: its scores differ, or top and merge do")
