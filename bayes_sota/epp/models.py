r"""Bayesian EPP: Bradley–Terry skills with one law of all players, as plain ``pm.Model`` for NUTS.

.. math::
   \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \beta \sim N(X \gamma,\, \sigma^2) \text{ with } \textstyle\sum_i \beta_i = 0, \qquad
   \sigma \sim N^+(0, s^2)

(Def. 2 of Gosiewska, Woźnica & Biecek 2022, who have no Bayesian model.) Where players take part in
several tournaments, :math:`\beta_{it} = \beta_i + \delta_{it}`; a covariate x of rounds cancels in
every difference, unless each player has a slope: :math:`\beta_{ir} = \beta_i + x_r b_i`. Rounds of
scores are rankings, listed matches compare pairs (``likelihoods``).

Covariates of players enter the mean of their skills. A numeric one is one standardised column, a
category (algorithm family) one centred column per level. Columns have mean zero, so that effects
leave the mean of the skills at zero.
``tests/epp/test_models.py`` compares with enumeration, with integration by
quadrature and with columns by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.builders import EppPriors, own_priors
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import likelihoods
from bayes_sota.epp.counts import ABSENT, ranks_of_rounds
from bayes_sota.epp.field import Field, checked_tables, join_tournaments
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.likelihoods import MatchRows

RankingLikelihood = Literal["auto", "matches"]
_PENALTY = 0.5  # rounds of ties: finite estimates for weights and starting values
_CLEAR = 4.0  # squared spread of estimates per squared error, above which skills are centred


@dataclass(frozen=True, eq=False)
class Design:
    """Design matrix.

    Attributes
    ----------
    columns : ndarray, shape (n, n_columns)
        Mean zero.
    labels : tuple of str
        Names of the columns: of the covariate, or "covariate: level".
    categories : tuple of str
        Names of the covariates that are categories.
    category : ndarray of int, shape (n_columns,)
        Place of a column's category, -1 for a numeric covariate.
    """

    columns: FloatArray
    labels: tuple[str, ...]
    categories: tuple[str, ...]
    category: NDArray[np.intp]


def build_design(covariates: Any, names: Sequence[str], kind: str) -> Design:
    """Columns of covariates.

    Parameters
    ----------
    covariates : mapping of str to array-like, or pandas DataFrame
        One value for each of ``names``, in their order; the rows of a frame are found by its index.
        Numbers are standardised, anything else is a category.
    names : sequence of str
        Players or rounds.
    kind : str
        "player" or "round", for messages.

    Raises
    ------
    InputError
        Lengths that differ, names without a row, values that are missing or all the same.

    Examples
    --------
    >>> covariates = {"size": [1, 2, 3], "family": ["tree", "net", "net"]}
    >>> design = build_design(covariates, "abc", "player")
    >>> design.labels
    ('size', 'family: net', 'family: tree')
    >>> design.columns[:, 0].round(2).tolist()
    [-1.22, 0.0, 1.22]
    """
    columns: list[FloatArray] = []
    labels: list[str] = []
    categories: list[str] = []
    category: list[int] = []
    for name, values in _columns_by_name(covariates, names, kind).items():
        of_covariate = _columns_of(name, values, names, kind)
        columns += of_covariate.values()
        labels += of_covariate
        categories += [name] * (name not in of_covariate)
        category += [-1 if name in of_covariate else len(categories) - 1] * len(of_covariate)
    places = np.array(category, np.intp)
    return Design(np.stack(columns, axis=1), tuple(labels), tuple(categories), places)


def _columns_of(
    name: str, values: NDArray[Any], names: Sequence[str], kind: str
) -> dict[str, FloatArray]:
    """One column of numbers, or one for each level of a category."""
    if values.size != len(names):
        raise InputError(f"covariate {name!r} has {values.size} values for {len(names)} {kind}s")
    numeric = np.issubdtype(values.dtype, np.number) or values.dtype == bool
    missing = ~np.isfinite(values) if numeric else [v is None or v != v for v in values]
    if np.any(missing):
        name_of = names[int(np.argmax(missing))]
        raise InputError(f"covariate {name!r}, {kind} {name_of!r}: a value is missing or infinite")
    levels = np.unique(values.astype(np.float64 if numeric else str))
    if levels.size < 2:
        raise InputError(f"covariate {name!r} is the same for all {kind}s: it explains nothing")
    if numeric:
        numbers = values.astype(np.float64)
        return {name: np.asarray((numbers - numbers.mean()) / numbers.std())}
    members = {f"{name}: {level}": (values.astype(str) == level) * 1.0 for level in levels}
    return {label: member - member.mean() for label, member in members.items()}


def _columns_by_name(covariates: Any, names: Sequence[str], kind: str) -> dict[str, NDArray[Any]]:
    if hasattr(covariates, "columns"):
        frame = covariates.set_axis([str(label) for label in covariates.index])
        missing = [name for name in names if name not in frame.index]
        if missing:
            raise InputError(f"{kind} {missing[0]!r} has no row in the table of covariates")
        if not frame.index.is_unique:
            raise InputError(f"the table of covariates names a {kind} more than once")
        covariates = frame.loc[list(names)]
    return {str(name): np.asarray(values).ravel() for name, values in covariates.items()}


def build_model(
    data: ScoreTable | Matches | Sequence[ScoreTable] | Sequence[Matches],
    priors: EppPriors | None = None,
    *,
    likelihood: RankingLikelihood = "auto",
    player_covariates: Any = None,
    round_covariates: Any = None,
    test_fraction: float | None = None,
    centred: bool | None = None,
) -> pm.Model:
    r"""Model of the skills of players in one tournament or several.

    Parameters
    ----------
    data : ScoreTable, Matches, or a sequence of one of them
        One per tournament; players of the same name are the same player.
    priors : EppPriors, optional
    likelihood : {"auto", "matches"}
        Rounds as rankings (the default for scores), or pairs of players. Pairs of one round or
        cluster share its scores: their log-likelihood is weighted (``likelihoods.cluster_weight``);
        matches without clusters are independent. A tie is half a win.
    player_covariates : mapping of str to array-like, or DataFrame indexed by player, optional
        They enter the prior mean of the skills. Numbers are standardised; categories, such as an
        algorithm family, have effects with a common spread. Values of a mapping are in the order of
        the players' first appearance.
    round_covariates : mapping of str to array-like, or DataFrame indexed by round, optional
        Each player has a slope for each of them. With several tournaments, rounds are named
        "tournament: round" and come tournament by tournament.
    test_fraction : float, optional
        Rounds are overlapping splits of one data set, each testing this share of it: the
        log-likelihood is divided by what that multiplies variances by (Nadeau & Bengio 2003).
    centred : bool, optional
        Whether skills are sampled themselves, and not in units of their sd: quicker where the data
        say much of each player, the default there; the model is the same.

    Returns
    -------
    pm.Model
        Deterministic ``epp`` (player,), mean zero; free ``skill_sd`` with ``skill_offset`` (skills
        in units of it) or ``own_skill`` (centred), and what is asked for:
        ``tournament_sd`` with ``epp_tournament`` (tournament, player), ``covariate_effect``
        (covariate,), ``category_sd`` (category,), ``round_slope`` (round_covariate, player) with
        ``round_slope_sd``. Observed ``round_rank`` (round, player), or ``match_counts`` (pair,
        outcome).

    Raises
    ------
    InputError
        Settings that do not fit the data, constant scores, tournaments of the same name, and
        what ``build_design`` refuses.

    Notes
    -----
    Rounds of one group (``ScoreTable.groups``) depend on each other; the log-likelihood of the
    rankings is then weighted as well (``likelihoods.group_weight``).

    Examples
    --------
    >>> table = ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = build_model(table)
    >>> [v.name for v in model.observed_RVs], model.named_vars_to_dims["epp"]
    (['round_rank'], ('player',))
    """
    known = own_priors(EppPriors, priors)
    check_choice("likelihood", likelihood, RankingLikelihood)
    tables = checked_tables(data)
    ranked = isinstance(tables[0], ScoreTable) and likelihood == "auto"
    field = join_tournaments(tables, ranked=ranked, by_round=round_covariates is not None)
    design = slopes = None
    if player_covariates is not None:
        design = build_design(player_covariates, field.players, "player")
    if round_covariates is not None:
        if field.rounds is None:
            raise InputError("covariates of rounds need scores of rounds: listed matches have none")
        slopes = build_design(round_covariates, field.rounds, "round")
    fits = [fit_epp(t, penalty=_PENALTY, test_fraction=test_fraction) for t in tables]
    if centred is None:
        centred = all(np.var(fit.epp) > _CLEAR * np.mean(fit.se**2) for fit in fits)
    weights = [_weight(t, field, fit) for t, fit in zip(tables, fits, strict=True)]
    with pm.Model(coords=_coords(field, design, slopes)) as model:
        skills = _player_skills(design, known, centred)
        skills = _tournament_skills(skills, field, known.tournament_scale)
        if slopes is not None:
            skills = _round_skills(skills, field, slopes, known.slope_scale)
        weight = pm.Data("likelihood_weight", np.array(weights), dims="tournament")
        if field.ranked:
            _observe_rankings(skills, field, weight)
        else:
            _observe_matches(skills, field, weight)
    return model


def field_of(model: pm.Model) -> Field:
    """Tournaments that a model of ``build_model`` observes, extended or not.

    Raises
    ------
    InputError
        A model without skills and observed matches or rankings.
    """
    names = set(model.named_vars)
    ranked = "round_rank" in names
    if not {"epp", "likelihood_weight"} <= names or not (ranked or "match_counts" in names):
        held = ", ".join(map(str, model.named_vars)) or "no variables"
        raise InputError(
            "the model needs skills 'epp' and observed data, as build_model makes them; it has "
            f"{held}"
        )

    def data_of(name: str) -> Any:
        return model[name].get_value().astype(np.intp)

    ranks = listed = rounds = None
    if "round" in model.coords:
        seen = model.rvs_to_values[model["round_rank"]].eval() if ranked else data_of("ranks")
        ranks, tournament = seen.astype(np.int64), data_of("round_tournament")
        rounds = tuple(map(str, model.coords["round"]))
    else:
        outcome = np.rint(2 - 2 * model["match_outcome"].get_value()).astype(np.intp)
        listed = MatchRows(data_of("first"), data_of("second"), outcome, data_of("match_cluster"))
        tournament = data_of("cluster_tournament")
    players, tournaments = (tuple(map(str, model.coords[n])) for n in ("player", "tournament"))
    by_round = "round_slope" in names
    return Field(players, tournaments, rounds, ranks, listed, tournament, ranked, by_round)


def skills_or_outcomes(model: pm.Model) -> Any:
    """What the observed variable is distributed by, as a graph of the free variables.

    Skills (setting, player) of rankings; log probabilities of the outcomes (pair, outcome) of
    matches.
    """
    name = "round_rank" if "round_rank" in model.named_vars else "match_counts"
    node = model[name].owner
    (parameter,) = node.op.dist_params(node)
    return parameter


def _weight(table: Any, field: Field, fit: BradleyTerryFit) -> float:
    """Weight of the log-likelihood of one tournament."""
    if field.ranked and (table.groups is None or fit.test_fraction is not None):
        return 1 / fit.overlap
    if field.ranked:
        return likelihoods.group_weight(ranks_of_rounds(table.oriented), table.clusters, fit.epp)
    if isinstance(table, Matches) and table.groups is None:
        return 1.0
    if isinstance(table, Matches):
        rows = likelihoods.rows_of_matches([table], table.players)
        return likelihoods.cluster_weight(rows, rows.unit) / fit.overlap
    rows = likelihoods.rows_of_rounds(ranks_of_rounds(table.oriented))
    return likelihoods.cluster_weight(rows, fit.data.clusters[rows.unit]) / fit.overlap


def _coords(field: Field, design: Design | None, slopes: Design | None) -> dict[str, Any]:
    coords = {
        "player": field.players,
        "tournament": field.tournaments,
        "outcome": likelihoods.OUTCOMES,
        "round": field.rounds,
        "covariate": None if design is None else design.labels,
        "category": None if design is None else design.categories,
        "round_covariate": None if slopes is None else slopes.labels,
    }
    return {name: list(labels) for name, labels in coords.items() if labels}


def _player_skills(design: Design | None, priors: EppPriors, centred: bool) -> Any:
    """Skills, (player,)."""
    spread = pm.HalfNormal("skill_sd", priors.skill_scale)
    if centred:
        own = pm.ZeroSumNormal("own_skill", sigma=spread, dims="player")
    else:
        own = spread * pm.ZeroSumNormal("skill_offset", sigma=1.0, dims="player")
    if design is None:
        return pm.Deterministic("epp", own, dims="player")
    scale: Any = np.full(len(design.labels), priors.effect_scale)
    if design.categories:
        of_category = pm.HalfNormal("category_sd", priors.effect_scale, dims="category")
        is_level = design.category >= 0
        scale = pt.switch(is_level, of_category[np.maximum(design.category, 0)], scale)
    offset = pm.Normal("covariate_offset", dims="covariate")
    effect = pm.Deterministic("covariate_effect", scale * offset, dims="covariate")
    return pm.Deterministic("epp", design.columns @ effect + own, dims="player")


def _tournament_skills(skills: Any, field: Field, scale: float) -> Any:
    """Skills in each tournament, (tournament, player)."""
    if len(field.tournaments) == 1:
        return skills[None, :]
    spread = pm.HalfNormal("tournament_sd", scale)
    dims = ("tournament", "player")
    offset = pm.ZeroSumNormal("tournament_offset", sigma=1.0, n_zerosum_axes=1, dims=dims)
    return pm.Deterministic("epp_tournament", skills + spread * offset, dims=dims)


def _round_skills(skills: Any, field: Field, design: Design, scale: float) -> Any:
    """Skills in each round, (round, player)."""
    pm.Data("round_covariates", design.columns, dims=("round", "round_covariate"))
    dims = ("round_covariate", "player")
    spread = pm.HalfNormal("round_slope_sd", scale, dims="round_covariate")
    offset = pm.ZeroSumNormal("round_slope_offset", sigma=1.0, n_zerosum_axes=1, dims=dims)
    slope = pm.Deterministic("round_slope", spread[:, None] * offset, dims=dims)
    return skills[field.tournament] + design.columns @ slope


def _observe_rankings(skills: Any, field: Field, weights: Any) -> None:
    assert field.ranks is not None
    orders = likelihoods.order_rounds(field.ranks)
    tensors = likelihoods.RoundOrders(*(pm.Data(f"round_{n}", a) for n, a in vars(orders).items()))
    setting, present = field.setting, field.ranks != ABSENT

    def logp(_: Any, skills: Any) -> Any:
        skills = skills[0]  # PyMC gives parameters the number of dimensions of the data
        log_likelihood = likelihoods.ranking_log_likelihood(skills, setting, tensors, pt)
        return weights[field.tournament] * log_likelihood

    def random(skills: Any, rng: Any = None, size: Any = None) -> Any:
        scores = skills.reshape(skills.shape[-2:])[setting] + rng.gumbel(size=present.shape)
        places = np.argsort(np.argsort(np.where(present, scores, np.inf), axis=-1), axis=-1)
        return np.where(present, places, ABSENT)

    pm.Data("round_tournament", field.tournament, dims="round")
    pm.CustomDist(
        "round_rank",
        skills,
        logp=logp,
        random=random,
        signature="(s,p)->(p)",
        dtype="int64",
        observed=field.ranks,
        dims=("round", "player"),
    )


def _observe_matches(skills: Any, field: Field, weights: Any) -> None:
    pairs, cells = field.pairs
    counts = likelihoods.count_cells(cells, len(pairs))
    where, first, second = pairs.T  # setting and players
    _record_matches(field)
    pm.modelcontext(None).add_coord("pair", np.arange(len(pairs)))

    difference = skills[where, first] - skills[where, second]
    logs = pt.stack(likelihoods.log_outcomes(difference, pt), axis=-1)
    sizes = counts.sum(axis=1).astype(int)

    def logp(counts: Any, logs: Any) -> Any:
        return weights[field.tournament_of_setting[where]] * (counts * logs).sum(axis=-1)

    def random(logs: Any, rng: Any = None, size: Any = None) -> Any:
        p = np.exp(logs)
        p[..., 1] = 0
        return rng.multinomial(sizes, p / p.sum(axis=-1, keepdims=True)).astype(float)

    pm.CustomDist(
        "match_counts",
        logs,
        logp=logp,
        random=random,
        signature="(o)->(o)",
        observed=pm.Data("counted", counts),
        dims=("pair", "outcome"),
    )


def _record_matches(field: Field) -> None:
    """Keep single matches with the model: results leave out one round or match at a time."""
    if field.ranks is not None:
        pm.Data("ranks", field.ranks, dims=("round", "player"))
        pm.Data("round_tournament", field.tournament, dims="round")
        return
    rows = field.rows
    pm.Data("first", rows.first, dims="match")
    pm.Data("second", rows.second, dims="match")
    pm.Data("match_outcome", 1 - rows.outcome / 2, dims="match")
    pm.Data("match_cluster", rows.unit, dims="match")
    pm.Data("cluster_tournament", field.tournament, dims="cluster")
