r"""Bayesian EPP: Bradley–Terry skills with one law of all players, as plain ``pm.Model`` for NUTS.

.. math::
   \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \beta \sim N(X \gamma,\, \sigma^2) \text{ with } \textstyle\sum_i \beta_i = 0, \qquad
   \sigma \sim N^+(0, s^2)

(Def. 2 of Gosiewska, Woźnica & Biecek 2022, who have no Bayesian model.) Where players take part in
several tournaments, :math:`\beta_{it} = \beta_i + \delta_{it}`. Rounds of scores are rankings
(``rankings``), listed matches compare pairs.

Matches that share a round, a prompt or a judge are not independent. Their log-likelihood is divided
by what clusters multiply variances by (``BradleyTerryFit.inflation``), so that the posterior has
about the variance of the clustered estimates (magnitude adjustment of a composite likelihood:
Pauli, Racugno & Ventura 2011; Ribatet, Cooley & Davison 2012); that of rankings by the same factor
for groups of rounds. ``tests/epp/test_models.py`` compares with densities by hand.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import EppPriors, own_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import ABSENT, ranks_of_rounds
from bayes_sota.epp.fit import BradleyTerryFit, checked_tables, fit_epp
from bayes_sota.epp.rankings import RoundOrders, order_rounds, ranking_log_likelihood

RankingLikelihood = Literal["auto", "matches"]
_PENALTY = 1e-6  # rounds of ties: finite estimates, for weights
_CLEAR = 4.0  # squared spread of estimates per squared error, above which skills are centred


def build_model(
    data: ScoreTable | Matches | Sequence[ScoreTable] | Sequence[Matches],
    priors: EppPriors | None = None,
    *,
    likelihood: RankingLikelihood = "auto",
    player_covariates: Any = None,
    test_fraction: float | None = None,
) -> pm.Model:
    r"""Model of the skills of players in one tournament or several.

    Parameters
    ----------
    data : ScoreTable, Matches, or a sequence of one of them
        One per tournament; players of the same name are the same player.
    priors : EppPriors, optional
    likelihood : {"auto", "matches"}
        Rounds as rankings (the default for scores), or pairs of players. A tie is half a win.
    player_covariates : DataFrame indexed by player, optional
        They enter the prior mean of the skills: numbers standardised, the levels of anything else
        as centred columns.
    test_fraction : float, optional
        Rounds are overlapping splits of one data set, each testing this share of it: the
        log-likelihood is divided by what that multiplies variances by (Nadeau & Bengio 2003).

    Returns
    -------
    pm.Model
        Deterministic ``epp`` (player,), mean zero; free ``skill_sd`` with ``skill_offset`` (skills
        in units of it) or, where the data say much of each player, ``own_skill``; if
        requested ``tournament_sd`` with ``epp_tournament`` (tournament, player) and
        ``covariate_effect`` (covariate,). Observed ``round_rank`` (round, player), or
        ``match_counts`` (pair, outcome).

    Raises
    ------
    InputError
        Settings that do not fit the data, constant scores, tournaments of the same name, and
        covariates that lack a value or do not vary.

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
    players = list(dict.fromkeys(name for table in tables for name in table.players))
    tournaments = [table.tournament for table in tables]
    fits = [fit_epp(t, penalty=_PENALTY, test_fraction=test_fraction) for t in tables]
    weights = np.array([_weight(fit, ranked) for fit in fits])
    with pm.Model(coords={"player": players, "tournament": tournaments}) as model:
        centred = all(np.var(fit.epp) > _CLEAR * np.mean(fit.se**2) for fit in fits)
        skills = _player_skills(player_covariates, players, known, centred)
        skills = _tournament_skills(skills, len(tables), known.tournament_scale)
        weight = pm.Data("likelihood_weight", weights, dims="tournament")
        if ranked:
            _observe_rankings(skills, tables, weight)
        else:
            _observe_matches(skills, fits, weight)
        add_digest(*tables)
    return model


def build_design(covariates: Any, names: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """Columns of covariates of players, mean zero, and their labels.

    Parameters
    ----------
    covariates : pandas DataFrame
        Rows are found by its index.
    names : sequence of str
        Players.

    Examples
    --------
    >>> import pandas as pd
    >>> covariates = {"size": [1, 2, 3], "family": ["tree", "net", "net"]}
    >>> columns, labels = build_design(pd.DataFrame(covariates, list("abc")), "abc")
    >>> labels
    ['size', 'family: net', 'family: tree']
    >>> (columns[:, 0].round(2) + 0.0).tolist()
    [-1.22, 0.0, 1.22]
    """
    import pandas as pd

    if not isinstance(covariates, pd.DataFrame):
        raise InputError("covariates are a data frame, whose index names the players")
    frame = covariates.set_axis(covariates.index.astype(str))
    frame = frame[~frame.index.duplicated()].reindex(list(names))
    for name, values in frame.items():
        missing = values.isin([np.inf, -np.inf]) | values.isna()
        if missing.any():
            at = f"covariate {name!r}, player {missing.idxmax()!r}"
            raise InputError(f"{at}: a value is missing or infinite")
        if values.nunique() < 2:
            raise InputError(f"covariate {name!r} is the same for all players: leave it out")
    numbers = frame.select_dtypes(["number", "bool"]).columns
    frame = frame.astype({name: float if name in numbers else str for name in frame})
    frame = pd.get_dummies(frame, prefix_sep=": ", dtype=float)
    frame[numbers] /= frame[numbers].std(ddof=0)
    return (frame - frame.mean()).to_numpy(), [*frame.columns.astype(str)]


def _weight(fit: BradleyTerryFit, ranked: bool) -> float:
    """Weight of the log-likelihood of one tournament."""
    if not ranked:
        return 1 / fit.inflation
    if fit.data.groups is None:
        return 1 / fit.overlap
    alone = fit_epp(replace(fit.data, groups=None), penalty=fit.penalty)
    return min(alone.inflation / fit.inflation, 1.0)


def _player_skills(
    covariates: Any, players: Sequence[str], priors: EppPriors, centred: bool
) -> Any:
    """Skills, (player,)."""
    spread = pm.HalfNormal("skill_sd", priors.skill_scale)
    if centred:
        own = pm.ZeroSumNormal("own_skill", sigma=spread, dims="player")
    else:
        own = spread * pm.ZeroSumNormal("skill_offset", sigma=1.0, dims="player")
    if covariates is not None:
        columns, labels = build_design(covariates, players)
        pm.modelcontext(None).add_coord("covariate", labels)
        own += columns @ pm.Normal("covariate_effect", 0.0, priors.effect_scale, dims="covariate")
    return pm.Deterministic("epp", own, dims="player")


def _tournament_skills(skills: Any, number: int, scale: float) -> Any:
    """Skills in each tournament, (tournament, player)."""
    if number == 1:
        return skills[None, :]
    spread = pm.HalfNormal("tournament_sd", scale)
    dims = ("tournament", "player")
    offset = pm.ZeroSumNormal("tournament_offset", sigma=1.0, n_zerosum_axes=1, dims=dims)
    return pm.Deterministic("epp_tournament", skills + spread * offset, dims=dims)


def _observe_rankings(skills: Any, tables: Sequence[ScoreTable], weights: Any) -> None:
    model = pm.modelcontext(None)
    players = list(model.coords["player"])
    tournament = np.repeat(np.arange(len(tables)), [table.n_rounds for table in tables])
    ranks = np.full((tournament.size, len(players)), ABSENT, np.int64)
    for place, table in enumerate(tables):
        own = [players.index(name) for name in table.players]
        ranks[np.ix_(tournament == place, own)] = ranks_of_rounds(table.oriented)
    named = [(table.tournament, label) for table in tables for label in table.rounds]
    rounds = [f"{name}: {label}" if len(tables) > 1 else label for name, label in named]
    model.add_coord("round", rounds)
    present = ranks != ABSENT
    pm.Data("round_tournament", tournament, dims="round")
    orders = order_rounds(ranks)
    tensors = RoundOrders(*(pm.Data(f"round_{k}", x) for k, x in orders._asdict().items()))

    def logp(_: Any, skills: Any) -> Any:
        skills = skills[0]  # PyMC gives parameters the number of dimensions of the data
        return weights[tournament] * ranking_log_likelihood(skills, tournament, tensors, pt)

    def random(skills: Any, rng: Any = None, size: Any = None) -> Any:
        scores = skills.reshape(skills.shape[-2:])[tournament] + rng.gumbel(size=present.shape)
        places = np.argsort(np.argsort(np.where(present, scores, np.inf), axis=-1), axis=-1)
        return np.where(present, places, ABSENT)

    pm.CustomDist(
        "round_rank",
        skills,
        logp=logp,
        random=random,
        signature="(s,p)->(p)",
        dtype="int64",
        observed=ranks,
        dims=("round", "player"),
    )


def _observe_matches(skills: Any, fits: Sequence[BradleyTerryFit], weights: Any) -> None:
    model, columns = pm.modelcontext(None), []
    players = list(model.coords["player"])
    for place, fit in enumerate(fits):
        own = np.array([players.index(name) for name in fit.players])
        first, second = np.nonzero(np.triu(fit.counts.n_matches))
        wins = fit.counts.doubled_wins / 2
        of_pairs = own[first], own[second], wins[first, second], wins[second, first]
        columns.append([np.full(first.size, place), *of_pairs])
    rows = np.hstack(columns)
    where, first, second = rows[:3].astype(np.intp)
    counts = rows[3:].T
    model.add_coords({"pair": np.arange(len(where)), "outcome": ["won", "lost"]})
    places = {"pair_tournament": where, "pair_first": first, "pair_second": second}
    for name, values in places.items():
        pm.Data(name, values, dims="pair")
    difference = skills[where, first] - skills[where, second]
    logs = pt.stack([-pt.softplus(-difference), -pt.softplus(difference)], axis=-1)
    sizes = counts.sum(axis=1).astype(int)

    def logp(counts: Any, logs: Any) -> Any:
        return weights[where] * (counts * logs).sum(axis=-1)

    def random(logs: Any, rng: Any = None, size: Any = None) -> Any:
        won = rng.binomial(sizes, np.exp(logs[..., 0]))
        return np.stack([won, sizes - won], axis=-1).astype(float)

    pm.CustomDist(
        "match_counts",
        logs,
        logp=logp,
        random=random,
        signature="(o)->(o)",
        observed=pm.Data("counted", counts),
        dims=("pair", "outcome"),
    )
