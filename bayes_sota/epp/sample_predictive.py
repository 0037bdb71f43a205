r"""What a sampled Bayesian EPP says of single rounds, matches, and of tournaments to come.

The log-likelihood is that of every round (or cluster, or match): what ``az.loo`` leaves out one at
a time. Replicated tournaments have the players, rounds and matches of the observed one and skills
of a draw: their deviance against the same skills, and their number of ties, say whether the model
describes the data (Gelman, Meng & Stern 1996). ``tests/epp/test_sample.py`` compares with
the model's own log-likelihood and with simulation.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.epp.counts import ABSENT
from bayes_sota.epp.models_extensions import (
    MatchRows,
    Ties,
    count_cells,
    log_outcomes,
    order_rounds,
    ranking_log_likelihood,
    rows_of_rounds,
)

if TYPE_CHECKING:
    import xarray as xr


_CHUNK = 5_000_000  # numbers at a time


@dataclass(frozen=True, eq=False)
class SampledTournaments:
    """Draws of skills beside the data that they describe.

    Parameters
    ----------
    posterior : Dataset
        With ``epp``, and ``epp_tournament``, ``round_slope``, ``p_tie`` where there are such.
    observed : Dataset
        With ``round_rank`` or ``match_counts``.
    constant : Dataset
        What ``build_epp`` records.
    """

    posterior: "xr.Dataset"
    observed: "xr.Dataset"
    constant: "xr.Dataset"

    @property
    def ranked(self) -> bool:
        """Whether rounds are rankings."""
        return "round_rank" in self.observed

    @property
    def ties(self) -> Ties:
        """Model of ties."""
        if "davidson_nu" in self.posterior:
            return "davidson"
        return "rao-kupper" if "rao_kupper_theta" in self.posterior else "half"

    @property
    def unit_dimension(self) -> str:
        """What the log-likelihood is of: round, cluster or match."""
        if "round_tournament" in self.constant:
            return "round"
        clustered = self.constant.sizes["cluster"] < self.constant.sizes["match"]
        return "cluster" if clustered else "match"

    @cached_property
    def ranks(self) -> NDArray[np.signedinteger]:
        """Ranks in rounds, (n_rounds, n_players)."""
        ranks = self.observed["round_rank"] if self.ranked else self.constant["ranks"]
        return np.asarray(ranks.values)

    @cached_property
    def rows(self) -> MatchRows:
        """Matches one by one."""
        if self.unit_dimension == "round":
            return rows_of_rounds(self.ranks)
        known = self.constant
        outcome = np.rint(2 - 2 * known["match_outcome"].values).astype(np.intp)
        return MatchRows(
            known["first"].values, known["second"].values, outcome, known["match_cluster"].values
        )

    @property
    def tournament(self) -> NDArray[np.intp]:
        """Tournament of each unit."""
        name = "round_tournament" if self.unit_dimension == "round" else "cluster_tournament"
        return np.asarray(self.constant[name].values)

    @property
    def setting(self) -> NDArray[np.intp]:
        """Setting of each unit: units of one setting have the same skills."""
        if "round_slope" in self.posterior:
            return np.arange(len(self.tournament))
        several = "epp_tournament" in self.posterior
        return self.tournament if several else np.zeros(len(self.tournament), np.intp)

    def skills(self, chain: int, draws: Any) -> FloatArray:
        """Skills in every setting, (draws, settings, players)."""
        at = self.posterior.isel(chain=chain, draw=draws)
        found = at["epp"].values[:, None]
        if "epp_tournament" in at:
            found = at["epp_tournament"].values
        if "round_slope" in at:
            columns = self.constant["round_covariates"].values
            found = np.broadcast_to(
                found, (len(found), int(self.tournament.max()) + 1, found.shape[-1])
            )
            found = found[:, self.tournament] + columns @ at["round_slope"].values
        return np.asarray(found)

    def p_tie(self, chain: int, draws: Any) -> Any:
        """Probability that equal players tie, (draws, 1), or None."""
        if self.ties == "half":
            return None
        return self.posterior["p_tie"].values[chain, draws][:, None]

    def log_likelihood(self) -> "xr.Dataset":
        """Log-likelihood of every round, cluster or match, weighted as in the posterior."""
        import xarray as xr

        chains, draws = self.posterior.sizes["chain"], self.posterior.sizes["draw"]
        units = len(self.tournament)
        found = np.empty((chains, draws, units))
        size = max(1, _CHUNK // self._numbers_per_draw())
        for chain in range(chains):
            for begin in range(0, draws, size):
                some = slice(begin, begin + size)
                found[chain, some] = self._units(chain, some)
        found *= self.constant["likelihood_weight"].values[self.tournament]
        name = "round_rank" if self.ranked else "match_counts"
        dims = ("chain", "draw", self.unit_dimension)
        coords = {key: self.posterior[key].values for key in ("chain", "draw")}
        if self.unit_dimension == "round":
            coords["round"] = self.constant["round"].values
        return xr.Dataset({name: (dims, found)}, coords=coords)

    def _numbers_per_draw(self) -> int:
        return (
            self._orders.order.size
            if self.ranked
            else 3 * len(self._pairs[0]) + len(self.tournament)
        )

    def _units(self, chain: int, draws: slice) -> FloatArray:
        skills = self.skills(chain, draws)
        if not self.ranked:
            logs = self._logs(skills, self.p_tie(chain, draws))
            return np.asarray((self._cells_of_units @ logs.reshape(len(logs), -1).T).T)
        return np.asarray(ranking_log_likelihood(skills, self.setting, self._orders))

    @cached_property
    def _orders(self) -> Any:
        return order_rounds(self.ranks)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self.rows.pairs(self.setting[self.rows.unit])

    @cached_property
    def _cells_of_units(self) -> Any:
        """Matches of each unit in each cell, sparse, (units, 3 * pairs)."""
        from scipy.sparse import csr_array

        pairs, cells = self._pairs
        ones = np.ones(cells.size)
        shape = (len(self.tournament), 3 * len(pairs))
        return csr_array((ones, (self.rows.unit, cells)), shape=shape)

    def _logs(self, skills: FloatArray, p_tie: Any) -> FloatArray:
        """Log probabilities of won, tied and lost of each pair, (draws, pairs, 3)."""
        where, first, second = self._pairs[0].T
        difference = skills[:, where, first] - skills[:, where, second]
        return np.stack(log_outcomes(difference, p_tie, self.ties), axis=-1)

    def replicate(self, number: int, rng: np.random.Generator) -> "xr.Dataset":
        """Tournaments to come with the same matches, about as many as asked for.

        Returns
        -------
        Dataset
            ``wins`` (chain, draw, player, player_other), ties as half; ``deviance`` of each, and
            ``observed_deviance`` of the data against the same skills; with a model of ties also
            ``n_ties``. Attributes ``deviance_p_value`` and ``n_ties_p_value``: shares of replicates
            above the data.
        """
        import xarray as xr

        chains, draws = self.posterior.sizes["chain"], self.posterior.sizes["draw"]
        kept = np.unique(np.linspace(0, draws - 1, -(-number // chains)).astype(int))
        observed = count_cells(self._pairs[1], len(self._pairs[0]))
        m = self.posterior.sizes["player"]
        wins = np.empty((chains, kept.size, m, m), np.float32)
        numbers = np.empty((3, chains, kept.size))
        for chain in range(chains):
            for place, draw in enumerate(kept.tolist()):
                skills = self.skills(chain, [draw])
                logs = self._logs(skills, self.p_tie(chain, [draw]))[0]
                counts = self._new_counts(skills[0], logs, rng)
                wins[chain, place] = self._wins(counts, m)
                both = (self._deviance(counts, logs), self._deviance(observed, logs))
                numbers[:, chain, place] = (*both, counts[:, 1].sum())
        names = self.posterior["player"].values
        coords = {
            "chain": self.posterior["chain"].values, "draw": self.posterior["draw"].values[kept],
            "player": names, "player_other": names,
        }  # fmt: skip
        over = ("chain", "draw")
        content: dict[str, Any] = {"wins": ((*over, "player", "player_other"), wins)}
        content |= {"deviance": (over, numbers[0]), "observed_deviance": (over, numbers[1])}
        p_values = {"deviance_p_value": _share_above(numbers[0], numbers[1])}
        if self.ties != "half":
            content["n_ties"] = (over, numbers[2])
            p_values["n_ties_p_value"] = _share_above(numbers[2], observed[:, 1].sum())
        return xr.Dataset(content, coords=coords, attrs=p_values)

    def _new_counts(
        self, skills: FloatArray, logs: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Matches won, tied and lost of each pair in a new tournament, (pairs, 3)."""
        pairs, cells = self._pairs
        if not self.ranked:
            p = np.exp(logs)
            if self.ties == "half":
                p[:, 1] = 0
            sizes = count_cells(cells, len(pairs)).sum(axis=1).astype(int)
            return rng.multinomial(sizes, p / p.sum(axis=1, keepdims=True)).astype(np.float64)
        scores = skills[self.setting] + rng.gumbel(size=self.ranks.shape)
        scores[self.ranks == ABSENT] = np.nan
        rows = self.rows  # its first players are listed before the second ones
        lost = scores[rows.unit, rows.first] < scores[rows.unit, rows.second]
        return count_cells(cells - cells % 3 + 2 * lost, len(pairs))

    def _wins(self, counts: FloatArray, m: int) -> FloatArray:
        _, first, second = self._pairs[0].T
        won = np.bincount(first * m + second, counts[:, 0] + counts[:, 1] / 2, m * m)
        lost = np.bincount(second * m + first, counts[:, 2] + counts[:, 1] / 2, m * m)
        return (won + lost).reshape(m, m)

    def _deviance(self, counts: FloatArray, logs: FloatArray) -> float:
        """Twice what the log-likelihood misses of pairs with shares of their own."""
        groups, size = self._groups
        summed = np.stack([np.bincount(groups, column, size) for column in counts.T], axis=1)
        if self.ties == "half":
            half = summed[:, 1:2] / 2
            summed = np.concatenate([summed[:, :1] + half, summed[:, 2:] + half], axis=1)
        total = summed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(summed > 0, summed * np.log(summed / total), 0.0)
        return 2 * float(terms.sum() - np.sum(counts * logs))

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], int]:
        """Pair of players in a tournament of each pair in a setting."""
        pairs = self._pairs[0]
        tournament = np.zeros(int(self.setting.max()) + 1, np.intp)
        tournament[self.setting] = self.tournament if "epp_tournament" in self.posterior else 0
        keys = np.column_stack([tournament[pairs[:, 0]], pairs[:, 1:]])
        found, groups = np.unique(keys, axis=0, return_inverse=True)
        return groups.ravel(), len(found)


def _share_above(values: Any, observed: Any) -> float:
    return float(np.mean(values > observed) + np.mean(values == observed) / 2)
