r"""EPP: Bradley–Terry skills of players over the rounds of a tournament.

.. math:: \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \sum_i \beta_i = 0

(Gosiewska, Woźnica & Biecek 2022, Def. 2, Properties 3.1 to 3.6). Matches of one round share its
scores, so that standard errors of independent matches are far too small. Every standard error and
test here comes from one matrix, the sandwich over rounds

.. math:: C \Big[\frac{G}{G-1} \sum_r u_r u_r^T\Big] C, \qquad t_{G-1},

with C the inverse information and u_r the contribution of round r to the estimating equations
(``equations``). ``tests/epp/test_fit.py`` compares with published numbers and a second route,
``tests/calibration/test_epp_size.py`` measures how often a true null is rejected.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaincc, stdtr

from bayes_sota import __version__
from bayes_sota.core.arguments import OPEN_SHARE, Range, check_choice
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import equations
from bayes_sota.epp.counts import (
    Compared,
    MatchCounts,
    MatchKind,
    all_tied,
    count_matches,
    infinite_estimates,
    two_players,
    unbeaten_players,
)

if TYPE_CHECKING:
    import xarray as xr

IntervalKind = Literal["robust", "model", "simultaneous"]
FACTS = {
    "schema_version": SCHEMA_VERSION,
    "method": "maximum likelihood",
    "model_name": "bradley-terry",
    "versions": f"bayes_sota {__version__}",
}
AVERAGE_ELO, ELO_PER_EPP = 1500.0, 400 / log(10)
_ENOUGH_CLUSTERS = 3  # of two, a variance may be zero by chance
PENALTY = Range(1e-6, 1e6)  # rounds of ties; 0 is none


@dataclass(frozen=True, eq=False, repr=False)
class BradleyTerryFit:
    """Estimated skills (EPP meta-scores), with their tests, intervals, ranks and deviance.

    Attributes
    ----------
    data, counts
    kind : {"same-round", "all-rounds", "listed"}
    epp : ndarray, shape (m,)
        Skills on the logit scale, mean zero; a difference is a log odds (Property 3.1).
    connected : bool
        Whether the estimates are finite without a penalty.
    penalty, test_fraction
        As in ``fit_epp``.
    """

    data: ScoreTable | Matches
    kind: MatchKind
    counts: MatchCounts
    epp: FloatArray
    connected: bool
    penalty: float
    test_fraction: float | None

    def __repr__(self) -> str:
        best, m = int(np.argmax(self.epp)), len(self.players)
        leads = f"{self.players[best]!r} leads, EPP {self.epp[best]:.3f}"
        return f"<BradleyTerryFit of {m:,} players, {self.kind} matches: {leads}>"

    @property
    def players(self) -> Sequence[str]:
        return self.data.players

    @cached_property
    def covariance_model(self) -> FloatArray:
        """Covariance if all matches were independent, (m, m)."""
        matches = self.counts.with_ties(self.kind, self.penalty)[1]
        return equations.model_covariance(self.epp, matches)

    @cached_property
    def cluster_scores(self) -> FloatArray | None:
        """Contribution of each cluster to the estimating equations, (G, m); None if independent."""
        if isinstance(self.data, Matches) and self.data.groups is None:
            return None
        return equations.cluster_scores(self.data, self.kind, self.win_probabilities())

    @cached_property
    def influence(self) -> FloatArray | None:
        """Influence of each cluster on each skill, (G, m); None if independent."""
        return None if self.cluster_scores is None else self.cluster_scores @ self.covariance_model

    @cached_property
    def matches_by_cluster(self) -> FloatArray:
        """Matches of each player in each cluster, up to a factor, (G, m)."""
        data = self.data
        matches = np.zeros((data.n_clusters, len(self.players)))
        if isinstance(data, Matches):
            for players in (data.first, data.second):
                np.add.at(matches, (data.clusters, players), 1)
            return matches
        played = data.present.astype(np.float64)
        if self.kind == "same-round":  # a player alone in a round has no match
            played *= np.maximum(data.present.sum(axis=1, keepdims=True) - 1, 0)
        np.add.at(matches, data.clusters, played)
        return matches

    @cached_property
    def clusters_of_players(self) -> NDArray[np.intp]:
        """Number of clusters in which each player has matches, (m,)."""
        return np.asarray(np.sum(self.matches_by_cluster > 0, axis=0), np.intp)

    @property
    def overlap(self) -> float:
        """Factor by which overlapping training sets increase variances; 1 for separate data.

        :math:`1 + R q / (1 - q)` for R splits that test a share q (Nadeau & Bengio 2003).
        """
        return float(self.overlap_of(self.data.n_clusters))

    def overlap_of(self, rounds: Any) -> FloatArray:
        q = self.test_fraction or 0.0
        return 1 + np.asarray(rounds) * q / (1 - q)

    @cached_property
    def covariance(self) -> FloatArray:
        r"""Covariance of the skills, clustered by round, (m, m); infinite for one cluster.

        The scores of a player with n clusters add up to zero: they are divided by
        :math:`\sqrt{1 - 1/n}`. Rounds may agree by chance, so combinations of skills keep a share
        of their variance under independent matches: half of 3 / (m + 1), the ratio for equal
        players, or 1 with two clusters and where only a penalty makes estimates finite.
        """
        if self.cluster_scores is None:
            return self.covariance_model
        clusters = self.clusters_of_players
        few = self.overlap_of(clusters) * clusters / np.maximum(clusters - 1, 1)
        scores = self.cluster_scores * np.sqrt(few)
        may_not_vary = len(scores) < _ENOUGH_CLUSTERS or not self.connected
        least = 1.0 if may_not_vary else 1.5 / (len(self.players) + 1)
        covariance = equations.clustered_covariance(scores, self.covariance_model, least)
        np.fill_diagonal(covariance, np.where(clusters > 1, np.diagonal(covariance), np.inf))
        return covariance

    @cached_property
    def inflation(self) -> float:
        r"""Mean factor by which clusters increase the variance of independent matches, at least 1.

        .. math:: c = \frac{1}{m - 1} \frac{G}{G - 1} \sum_g u_g^T C u_g

        times ``overlap``; about (m + 1) / 3 for same-round matches of equal players.
        """
        if self.cluster_scores is None or self.influence is None:
            return self.overlap
        clusters, m = self.cluster_scores.shape
        trace = float(np.sum(self.cluster_scores * self.influence))
        return self.overlap * max(clusters / (clusters - 1) * trace / (m - 1), 1.0)

    @cached_property
    def se(self) -> FloatArray:
        """Standard error of each skill, clustered by round, (m,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def se_model(self) -> FloatArray:
        """Standard error of each skill if all matches were independent, (m,)."""
        return np.sqrt(np.diagonal(self.covariance_model))

    @property
    def df(self) -> NDArray[np.float64]:
        r"""Degrees of freedom of each skill, (m,): effective clusters less one.

        :math:`(\sum_g n_g)^2 / \sum_g n_g^2 - 1`, with n_g the player's matches in cluster g.
        """
        if self.influence is None:
            return np.full(len(self.players), np.inf)
        played = self.matches_by_cluster
        squares = np.maximum(np.sum(played**2, axis=0), 1.0)
        return np.maximum(played.sum(axis=0) ** 2 / squares - 1, 0.0)

    def win_probabilities(self) -> FloatArray:
        """P(row beats column), 1/2 on the diagonal, (m, m)."""
        return equations.win_probabilities(self.epp)

    @property
    def tournament(self) -> str:
        return self.data.tournament

    @property
    def rank(self) -> NDArray[np.intp]:
        """Rank by skill from 1, (m,); equal skills share the better rank."""
        losses = -np.round(self.epp, 9)
        return np.searchsorted(np.sort(losses), losses) + 1

    def interval(self, ci_prob: float = 0.95, kind: IntervalKind = "robust") -> FloatArray:
        """Interval of each skill, (m, 2).

        ``kind`` "robust" is clustered by round, with t; "model" takes matches as independent, with
        z (Property 3.6); "simultaneous" holds for all players at once."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        check_choice("kind", kind, IntervalKind)
        if kind == "model":
            half = equations.bonferroni_critical(ci_prob, 1, np.inf) * self.se_model
        elif kind == "robust":
            half = equations.bonferroni_critical(ci_prob, 1, self.df) * self.se
        else:
            half = equations.critical_values(self.influence, ci_prob, self.df) * self.se
        return np.column_stack([self.epp - half, self.epp + half])

    def win_probability(self, a: str, b: str) -> float:
        i, j = two_players(self.players, a, b)
        return float(expit(self.epp[i] - self.epp[j]))

    def standard_errors_of_pairs(self) -> FloatArray:
        """Standard error of each difference of skills, clustered by round, (m, m)."""
        return errors_of_differences(self.covariance)

    def certainly_better(self, ci_prob: float = 0.95) -> NDArray[np.bool_]:
        """Whether the row has a higher skill than the column, all pairs at once, (m, m)."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        critical = equations.critical_values(self.influence, ci_prob, self.df, pairs=True)
        errors = self.standard_errors_of_pairs()
        np.fill_diagonal(errors, np.inf)
        return self.epp[:, None] - self.epp > critical * errors + equations.ROUND_OFF

    def rank_interval(self, ci_prob: float = 0.95) -> NDArray[np.intp]:
        """Ranks that each player may have, all pairs at once, (m, 2); 1 is best.

        From the numbers of players who are certainly better, or worse (Mogstad, Romano, Shaikh &
        Wilhelm 2024, doi 10.1093/restud/rdad006).
        """
        above = self.certainly_better(ci_prob)
        return np.column_stack([1 + above.sum(axis=0), len(above) - above.sum(axis=1)])

    def tied_with_best(self, ci_prob: float = 0.95) -> NDArray[np.bool_]:
        """Players to whom no other is shown to be better, (m,)."""
        return self.rank_interval(ci_prob)[:, 0] == 1

    def test(self, a: str, b: str, ci_prob: float = 0.95) -> SimpleNamespace:
        """Test that A and B have the same skill (Property 3.3).

        Returns
        -------
        namespace
            ``players``; ``difference`` of skills (logits) with ``interval``, clustered ``se``,
            ``df`` and two-sided ``p_value``; ``n_matches`` of A with B and the ``points`` of A; by
            the skills the ``win_probability`` of A and its ``win_probability_interval``. For
            independent matches, one degree of freedom: ``se_model``, ``wald_chi2``,
            ``p_value_model``, and without a penalty ``lrt_chi2``, ``lrt_p_value``. As published,
            every match counted twice and two degrees of freedom: ``paper_wald_chi2``,
            ``paper_wald_p_value``. Both reject true nulls far too often.

        Examples
        --------
        >>> scores = np.random.default_rng(0).standard_normal((20, 3)) + [1, 0.5, 0]
        >>> test = fit_epp(scores).test("1", "3")
        >>> round(test.difference, 2), round(test.se, 2), test.p_value < 0.05
        (0.55, 0.5, False)
        """
        OPEN_SHARE.check(ci_prob, "ci_prob")
        i, j = two_players(self.players, a, b)
        difference, pair = float(self.epp[i] - self.epp[j]), np.ix_([i, j], [i, j])
        se = float(errors_of_differences(self.covariance[pair])[0, 1])
        se_model = float(errors_of_differences(self.covariance_model[pair])[0, 1])
        df = float(min(self.df[i], self.df[j]))
        equal = np.isinf(se) or abs(difference) < equations.ROUND_OFF
        half = float(equations.bonferroni_critical(ci_prob, 1, df)) * se
        low, high = difference - half, difference + half
        wald = (difference / se_model) ** 2
        ratio = None if self.penalty else self._likelihood_ratio(i, j)
        return SimpleNamespace(
            players=(self.players[i], self.players[j]),
            difference=difference,
            se=se,
            df=df,
            p_value=1.0 if equal else float(2 * stdtr(df, -abs(difference) / se)),
            interval=(low, high),
            n_matches=int(self.counts.n_matches[i, j]),
            points=float(self.counts.doubled_wins[i, j] / 2),
            win_probability=float(expit(difference)),
            win_probability_interval=(float(expit(low)), float(expit(high))),
            se_model=se_model,
            wald_chi2=wald,
            p_value_model=float(gammaincc(0.5, wald / 2)),
            lrt_chi2=ratio,
            lrt_p_value=None if ratio is None else float(gammaincc(0.5, ratio / 2)),
            paper_wald_chi2=2 * wald,
            paper_wald_p_value=float(gammaincc(1.0, wald)),
        )

    def _likelihood_ratio(self, i: int, j: int) -> float:
        """Twice the loss of log-likelihood when two players are treated as one."""
        counts, group = self.counts, np.eye(len(self.players))
        group[j] = group[i]
        group = np.delete(group, j, axis=1)  # of each player, (m, m - 1)
        totals, n_matches = counts.totals @ group, group.T @ counts.n_matches @ group
        totals -= np.diagonal(n_matches) / 2
        np.fill_diagonal(n_matches, 0)
        equal = group @ equations.solve(totals, n_matches)
        lost = equations.deviance(equal - equal.mean(), counts) - self.deviance
        return max(float(lost), 0.0)

    @cached_property
    def deviance(self) -> float:
        """Twice the log-likelihood lost to a model with one parameter per pair (Property 3.7)."""
        return float(equations.deviance(self.epp, self.counts))

    @property
    def deviance_df(self) -> int:
        """Pairs that met, less the free skills: (m - 1)(m - 2) / 2 if all met."""
        met = int(np.count_nonzero(self.counts.n_matches)) // 2
        return met - (len(self.players) - 1)

    @property
    def paper(self) -> dict[str, float]:
        """Deviance as in the paper, which counts every match twice, with its df m (m - 2)."""
        m, doubled = len(self.players), 2 * self.deviance
        df = m * (m - 2)
        standardized = float((doubled - df) / (np.sqrt(2 * df) if df else np.nan))
        return {"deviance": doubled, "df": df, "standardized_deviance": standardized}

    def to_datatree(self) -> "xr.DataTree":
        """Estimates and covariance in the group ``point_estimate``, without draws."""
        import xarray as xr

        two = ("player", "player_other")
        numbers = {
            "epp": ("player", self.epp),
            "epp_se": ("player", self.se),
            "epp_se_model": ("player", self.se_model),
            "epp_covariance": (two, self.covariance),
            "epp_covariance_model": (two, self.covariance_model),
            "win_probability": (two, self.win_probabilities()),
            "rank": ("player", self.rank),
            "deviance": self.deviance,
        }
        facts = FACTS | {
            "matches": self.kind,
            "data_hash": self.data.data_hash(),
            "penalty": self.penalty,
            "connected": int(self.connected),
        }
        point = xr.Dataset(numbers, coords={name: list(self.players) for name in two})
        groups = {"/": xr.Dataset(attrs=facts), "point_estimate": point}
        return xr.DataTree.from_dict(groups | {"observed_data": _observed_data(self.data)})


def fit_epp(
    data: ScoreTable | Matches | Any,
    matches: Compared = "same-round",
    *,
    penalty: float = 0.0,
    test_fraction: float | None = None,
) -> BradleyTerryFit:
    """Estimate Bradley–Terry skills by maximum likelihood, ties as half a win.

    Parameters
    ----------
    data : ScoreTable, Matches, or array-like of shape (n_rounds, n_players)
    matches : {"same-round", "all-rounds"}
        Compare scores of the same round, or any two scores, for rounds that are replicates.
    penalty : float
        Added rounds in which everybody ties: 0.5 shrinks differences slightly and makes all of them
        finite. Where estimates are infinite without it, intervals depend on it.
    test_fraction : float, optional
        Rounds are overlapping splits of one data set, each testing this share of it: variances are
        corrected as by Nadeau & Bengio (2003), and ``ScoreTable.groups`` ignored.

    Raises
    ------
    InfiniteEstimateError
        No finite skills maximise the likelihood and there is no penalty.
    InputError
        Constant scores, and settings that do not fit.

    Examples
    --------
    >>> fit = fit_epp([[3, 2, 1], [3, 1, 2], [2, 3, 1], [1, 3, 2], [1, 2, 3]])
    >>> fit.epp[1:].round(3).tolist(), round(fit.win_probability("2", "3"), 3)
    ([0.272, -0.272], 0.633)
    """
    if not isinstance(data, (ScoreTable, Matches)):
        data = ScoreTable(data)
    kind: MatchKind = "listed" if isinstance(data, Matches) else matches
    if penalty != 0:
        PENALTY.check(penalty, "penalty")
    if test_fraction is not None:
        OPEN_SHARE.check(test_fraction, "test_fraction")
        if isinstance(data, Matches):
            raise InputError(
                "{name} is for rounds that are splits of one data set", parameter="test_fraction"
            )
        data = replace(data, groups=None)
    counts = count_matches(data, kind)
    unbeaten = unbeaten_players(counts.doubled_wins)
    if unbeaten is None and all_tied(data, kind):
        raise InputError("all matches are ties, so no skills can be estimated")
    if unbeaten is not None and not penalty:
        raise infinite_estimates(counts.doubled_wins, unbeaten, data.players)
    epp = equations.solve(*counts.with_ties(kind, penalty))
    connected = unbeaten is None
    return BradleyTerryFit(data, kind, counts, epp, connected, float(penalty), test_fraction)


def fit_tournaments(
    tables: Iterable[ScoreTable | Matches], matches: Compared = "same-round", **options: Any
) -> Iterator[BradleyTerryFit]:
    """Fit tournaments of different names, each on its own, as ``fit_epp``.

    Skills compare between tournaments as chances to beat the average player of each (Property 3.4).

    Examples
    --------
    >>> table = ScoreTable(np.random.default_rng(0).normal(size=(9, 3)), tournament="iris")
    >>> [(fit.tournament, fit.epp.round(1).tolist()) for fit in fit_tournaments([table])]
    [('iris', [0.0, -0.1, 0.1])]
    """
    for table in checked_tables(tables):
        with located(f"tournament {table.tournament!r}"):
            fit = fit_epp(table, matches, **options)
        yield fit


def checked_tables(data: Any) -> list[Any]:
    """Tournaments as a list: ScoreTables or Matches under different names."""
    tables = list(data) if isinstance(data, Iterable) else [data]
    kinds = {type(table) for table in tables}
    if kinds not in ({ScoreTable}, {Matches}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
        raise InputError(f"data must be ScoreTables or Matches, got {names}: see bs.ScoreTable")
    checked_labels([table.tournament for table in tables], len(tables), "tournament")
    return tables


def tournaments_tree(fits: Iterable[BradleyTerryFit]) -> "xr.DataTree":
    """Skills in ``point_estimate``, by tournament and player, NaN where one is absent."""
    import xarray as xr

    kept = ["epp", "epp_se", "epp_se_model", "deviance"]
    points = {fit.tournament: fit.to_datatree()["point_estimate"].to_dataset() for fit in fits}
    tables = [point[kept].assign_coords(tournament=name) for name, point in points.items()]
    joined = xr.concat(tables, "tournament", join="outer")
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=FACTS), "point_estimate": joined})


def errors_of_differences(covariance: FloatArray) -> FloatArray:
    """Standard errors of all differences of skills, (m, m)."""
    own = np.diagonal(covariance)
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.maximum(own[:, None] + own - 2 * covariance, 0.0))
    np.fill_diagonal(errors, 0.0)
    return np.asarray(errors)


def _observed_data(data: ScoreTable | Matches) -> "xr.Dataset":
    import xarray as xr

    if isinstance(data, Matches):
        columns: dict[str, NDArray[Any]] = {"first": data.first, "second": data.second}
        columns |= {"match_outcome": data.outcomes, "match_cluster": data.clusters}
        return xr.Dataset({name: ("match", values) for name, values in columns.items()})
    lower = data.lower_is_better.astype(np.int8)
    return xr.Dataset(
        {"score": (("round", "player"), data.scores), "lower_is_better": ("round", lower)},
        coords={"round": list(data.rounds), "player": list(data.players)},
    )
