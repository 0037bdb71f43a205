r"""A simulated study of the design of the EPP paper's on OpenML, whose scores are not available.

Thirty tournaments, five families of 400 players, 20 rounds: 1,200,000 AUCs (Sec. 4.1 of Gosiewska,
Woźnica & Biecek 2022). In tournament t, player i of family f has in round r

.. math:: z_{ir} = c_t (\mu_{tf} - \sigma_{tf} g_i) + s_r + \tau_{tf} e_{ir}, \qquad
   \mathrm{AUC} = \tfrac12 + \tfrac12 \operatorname{expit}(a_t + 0.35 z_{ir})

with Gumbel g and e: most configurations are near the best of their family and some far below, and
families differ by data set in place, spread and noise. Where they differ in noise, no order of
skills explains all wins. Some glmnet players have AUC 0.5 in every round, as under an excessive
penalty, and lose every match; their EPP is finite only with a penalty. All numbers here are
invented and say nothing of these algorithms. ``tests/published/test_reproduce_epp.py`` checks the
sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.tournaments import TournamentLeaderboard, fit_tournaments

Published = dict[str, Any]

PENALTY = 0.01  # rounds of ties: players that always lose get a finite EPP, far below the others
_CHANCE = 0.5  # AUC of a model that predicts nothing
_SLOPE = 0.35  # of log odds of AUC in z
_PLACE = {"gbm": 1.0, "glmnet": -0.6, "kknn": -1.2, "RF": 0.9, "ranger": 0.9}
_SPREAD = {"gbm": 1.2, "glmnet": 0.7, "kknn": 0.8, "RF": 0.4, "ranger": 0.5}
_FAILING = "glmnet"


@dataclass(frozen=True)
class OpenmlStudy:
    """Size of a study, and its seed.

    Attributes
    ----------
    families : tuple of str
    n_tournaments, n_rounds, per_family : int
    seed : int
    """

    families: tuple[str, ...]
    n_tournaments: int
    n_rounds: int
    per_family: int
    seed: int

    @property
    def n_skills(self) -> int:
        """Players of all tournaments together."""
        return self.n_tournaments * len(self.families) * self.per_family

    @property
    def n_scores(self) -> int:
        """Scores of all tournaments together."""
        return self.n_skills * self.n_rounds

    @property
    def players(self) -> list[str]:
        """Names, by family."""
        return [f"{family}_{i + 1}" for family in self.families for i in range(self.per_family)]

    def tables(self) -> Iterator[ScoreTable]:
        """Scores of each tournament, the same whatever else is drawn."""
        digits = len(str(self.n_tournaments))
        for t, seed in enumerate(np.random.SeedSequence(self.seed).spawn(self.n_tournaments)):
            name = f"simulated {t + 1:0{digits}}"
            yield _tournament(self, name, np.random.default_rng(seed))


def study_like(part: Published, *, full_size: bool = False) -> OpenmlStudy:
    """Study of the paper's size, or with fewer players of each family.

    Examples
    --------
    >>> from bayes_sota.published.published_numbers import load_published
    >>> study = study_like(load_published("epp")["openml"], full_size=True)
    >>> study.n_scores, study.n_skills
    (1200000, 60000)
    """
    small = part["simulation"]
    return OpenmlStudy(
        families=tuple(part["families"]),
        n_tournaments=part["n_tournaments"],
        n_rounds=part["n_rounds"],
        per_family=part["per_family"] if full_size else small["per_family"],
        seed=small["seed"],
    )


def family_of(player: str) -> str:
    """Family in the name of a player.

    Examples
    --------
    >>> family_of("gbm_17")
    'gbm'
    """
    return player.rpartition("_")[0]


def fit_study(study: OpenmlStudy, jobs: int = 1) -> list[TournamentLeaderboard]:
    """Leaderboard of every tournament, of scores of all rounds against each other, as in the paper.

    Examples
    --------
    >>> small = OpenmlStudy(("gbm", "glmnet"), n_tournaments=2, n_rounds=3, per_family=2, seed=1)
    >>> [(found.tournament, len(found.players)) for found in fit_study(small)]
    [('simulated 1', 4), ('simulated 2', 4)]
    """
    return fit_tournaments(study.tables(), "all-rounds", penalty=PENALTY, jobs=jobs)


def _tournament(study: OpenmlStudy, name: str, rng: np.random.Generator) -> ScoreTable:
    families, per_family = study.families, study.per_family
    skills = _skills(study, rng)
    noise = np.repeat(np.exp(rng.normal(0, rng.uniform(0, 0.8), len(families))), per_family)
    rounds = rng.normal(0, 1, (study.n_rounds, 1))
    drawn = simulate_tournament((skills + rounds) / noise, study.n_rounds, random_seed=rng)
    level = rng.uniform(0, 4)
    auc = _CHANCE + (1 - _CHANCE) / (1 + np.exp(-level - _SLOPE * noise * drawn.scores))
    share = rng.beta(2, 6)
    for place, family in enumerate(families):
        if family == _FAILING:
            fails = np.flatnonzero(rng.random(per_family) < share)
            auc[:, place * per_family + fails] = _CHANCE
    return ScoreTable(auc, players=study.players, tournament=name, scheme="model/cv")


def _skills(study: OpenmlStudy, rng: np.random.Generator) -> FloatArray:
    """Skills of all players, by family, in units of the noise of a score."""
    families = study.families
    place = np.array([_PLACE[family] for family in families])
    place = place + rng.normal(0, 1, len(families))
    spread = np.array([_SPREAD[family] for family in families])
    spread = spread * np.exp(rng.normal(0, 0.4, len(families)))
    scale = np.exp(rng.normal(0.3, 0.6))
    below = rng.gumbel(size=(len(families), study.per_family))
    return np.asarray(scale * (place[:, None] - spread[:, None] * below)).ravel()
