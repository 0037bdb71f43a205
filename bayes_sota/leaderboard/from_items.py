r"""Posterior of the true state of the art from what classifiers got for every item.

The model of ``responses_posterior`` for scores that are not accuracies: AUC with DeLong's
covariance, means of cases, root mean squares. Each score has the law of its metric
(``score_laws``), widened or narrowed to the standard error that its own items show; what all
leaders share is learnt from the influence values (``influence_correlation``), the shift is not.

``tests/leaderboard/test_item_scores_posterior.py`` compares with the truth of simulated scores, and
docs/calibration.md has what was measured on real classifiers.

Posterior of the true state of the art from the answers of several classifiers to every item.

The model of ``leaderboard_posterior``, with the dependence taken from the items:

.. math:: \psi_j \sim P(\psi \mid \phi), \quad x_j \mid \psi_j \sim \text{variance }
          (1-\lambda_j^2)\, sd_j^2, \quad \theta_j = \psi_j - \lambda_j\, sd_j\, z, \quad
          z \sim N(0, 1)

``lambda_j`` is learnt (``response_correlation``), the shift ``z`` is not: no number of classifiers
can tell whether the items were easy, so an interval keeps rho times the width of a single score's.
What is left of the errors has the correlation matrix R, families of near-clones and all.

Classifiers are taken to be as alike in skill as they are in what is left of their mistakes: two
that never disagree have one skill. With normal skills and errors, both of covariances in proportion
to R, the posterior is normal, shrinks each classifier as if it were alone, and has the correlation
R. So it is drawn for every P(psi): the posterior of each classifier alone, and R between them.
Where P(psi) says nothing, differences have the law of the paired comparison, because
``lambda lambda' + R`` is the correlation of the answers. Were the skills of relatives taken for
independent instead, the best of many near-clones would hardly be shrunk, and be too good.

``tests/leaderboard/test_responses_posterior.py`` compares with linear algebra, with the exact
paired comparison, and with the truth of real response matrices; docs/responses.md has what was
measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.text import counted, summed_by_cluster
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.items.correlation import (
    ResponseCorrelation,
    influence_correlation,
    learn_correlation,
    response_correlation,
)
from bayes_sota.leaderboard.entries import (
    JOINT,
    JointKernel,
    JointPosterior,
    JointSampler,
    summaries,
)
from bayes_sota.leaderboard.fit import ScoreKernel, fit_field
from bayes_sota.maximum.score_laws import AucScoreLaw, ScoreLaw, auc_scores_of

_TYPICAL = 0.25  # of the logarithm of a ratio: medians of nine real tasks lay in .67 to 1.17
_LEAST_CLUSTERS = 10
_LEAST_CARRYING = 5.0  # items that carry the variance of the typical leader


@dataclass(frozen=True, eq=False)
class ItemScoresPosterior(JointPosterior):
    """Draws from the posterior of item scores.

    Scores and skills are larger is better: negative where lower is.

    Attributes
    ----------
    item_scores : ItemScores
    """

    item_scores: ItemScores


def item_scores_posterior(
    item_scores: ItemScores,
    priors: BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    new_n_test: int | None = None,
) -> ItemScoresPosterior:
    """Posterior of theta_sota, and of every classifier, from numbers for every item.

    Parameters
    ----------
    item_scores : ItemScores
    priors : BoardPriors, optional
        Its prior of rho is combined with what the items say of rho.
    draws : int
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the number of items.

    Returns
    -------
    ItemScoresPosterior

    Raises
    ------
    InputError
        Fewer than one draw, or scores without any error.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(400) < 60
    >>> noise = rng.standard_normal((400, 1)) + rng.standard_normal((400, 12))
    >>> found = ItemScores(2 * labels[:, None] + noise, labels=labels)
    >>> posterior = item_scores_posterior(found, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < found.scores.max())
    True
    """
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    rng = generator_of(random_seed)
    priors = BoardPriors() if priors is None else priors
    found = influence_correlation(item_scores.influence, item_scores.scores, item_scores.clusters)
    learnt = replace(priors, correlation=learn_correlation(found, priors.correlation))
    kernel = _ItemKernel.of_items(item_scores, found)
    fit = fit_field(kernel, learnt, rng, merge_spikes=False)
    sampler = JointSampler(kernel, fit, found)
    values, skill = sampler.draw(draws, rng)
    values |= summaries(kernel, skill, item_scores.scores, rng)
    leader = int(np.argmax(item_scores.scores))
    alone = kernel.scores_of(
        values["winner_skill"], rng.standard_normal(draws) * kernel.ratio[leader], new_n_test
    )
    values["winner_new_score"] = alone
    values["best_new_score"] = sampler.best_new_score(skill, new_n_test, rng)
    reasons = (*sampler.reasons(), *_reasons_of_scores(item_scores, found))
    notes = (*_notes_of_scores(item_scores), *sampler.notes(item_scores.names))
    return ItemScoresPosterior(
        item_scores.scores, values, skill, found, fit, reasons, notes, item_scores
    )


@dataclass(frozen=True, eq=False)
class _ItemKernel(JointKernel):
    """One score per classifier, each with its own standard error and loading."""

    ratio: FloatArray

    @classmethod
    def of_items(cls, item_scores: ItemScores, found: ResponseCorrelation) -> "_ItemKernel":
        """Kernel of the modelled classifiers, worst first."""
        board = item_scores.leaderboard()
        base = ScoreKernel.of(board)
        scores = item_scores.scores
        order = np.argsort(scores, kind="stable")
        entries = order[base.modelled[order]][-JOINT:]
        modelled = np.isin(np.arange(order.size), entries)
        ratio = _ratios(item_scores, base.law)
        return cls(
            board, modelled, scores[entries], found.weights[entries], np.arange(entries.size),
            base.y, base.law, entries, found.loadings[entries] / found.rho, ratio,
        )  # fmt: skip

    def dispersions(self, rho: float) -> FloatArray:
        """Variance that is each score's own, in units of the law's, (U,)."""
        return np.asarray(self.own_variance(rho) * self.ratio[self.entries] ** 2)

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each score at the grid, at most 0, shape (U, G)."""
        fit = self.law.log_kernel(self.prepared, self.dispersions(rho)[:, None])
        return np.asarray(fit - fit.max(axis=1, keepdims=True))

    def log_mass(self, rho: float) -> FloatArray:
        """The same for every shape of P(psi): left out."""
        return np.zeros(self.values.size)

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part, shape (G,), with the typical error."""
        cut = float(self.values[0] if level is None else level)
        return self.law.reach(self.psi, cut, float(np.mean(self.dispersions(rho))))

    def reaches(self, rho: float) -> FloatArray:
        """Probability that each classifier's score is in the modelled part, shape (U, G)."""
        cut = float(self.values[0])
        rows = [self.law.reach(self.psi, cut, float(d)) for d in self.dispersions(rho)]
        return np.array(rows)

    def shift_scale(self) -> FloatArray:
        """Ratio of standard errors."""
        return self.ratio

    def draw_alone(
        self, entries: NDArray[np.int64], loading: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Normal about the score, inside its range."""
        assert self.board.scores is not None
        score = self.board.scores[entries]
        error = self.law.errors_at(score) * self.ratio[entries] * np.sqrt(1 - loading**2)
        return self.law.snapped(score + error * rng.standard_normal(loading.shape))

    def new_scores(
        self, skill: FloatArray, normal: FloatArray, new_n_test: int | None
    ) -> FloatArray:
        """With the standard errors of this test set, or of one of another size."""
        return self.scores_of(skill, normal * self.ratio[self.entries], new_n_test)

    def scores_of(
        self, skill: FloatArray, normal: FloatArray, new_n_test: int | None
    ) -> FloatArray:
        """Scores given normal errors in units of the law's."""
        if self.board.metric == "auc":
            return auc_scores_of(self.board, new_n_test).estimate(normal, skill)
        smaller = np.sqrt(self.board.n_test / (new_n_test or self.board.n_test))
        return np.asarray(skill + self.law.standard_error * smaller * normal)


def _ratios(item_scores: ItemScores, law: ScoreLaw) -> FloatArray:
    """Standard errors that the items show over those of the law, drawn together, (m,).

    An error comes from the same items as its score: a lucky classifier near an AUC of 1 shows a
    small one, at 1 none. So the logarithm of each ratio is shrunk towards their mean by the share
    of its own noise, ``1 / 4k`` with k items that carry its variance; and the mean, whose noise
    the classifiers share, towards 0 with a prior standard deviation of a quarter. Its error is
    taken as ``1 / k``: near 1 DeLong's error is also too small on average (median ratio .64 for
    15 of 300 positive and an AUC of .97).
    """
    scores, carrying = item_scores.scores, _carrying(item_scores)
    if isinstance(law, AucScoreLaw):
        scores = np.clip(scores, 1 - law.table.largest, law.table.largest)
    shown = item_scores.standard_errors / law.errors_at(scores)
    known = (shown > 0) & (carrying > 1)
    if not known.any():
        return np.ones(scores.size)
    logs, weight = np.log(shown[known]), carrying[known]
    centre = float(np.average(logs, weights=weight))
    noise = 1 / (4 * weight)
    shared = 1 / float(np.median(weight))
    middle = centre * _TYPICAL**2 / (_TYPICAL**2 + shared)
    true = max(0.0, float(np.average((logs - centre) ** 2 - noise, weights=weight)))
    ratio = np.full(scores.size, np.exp(middle))
    ratio[known] = np.exp(middle + true / (true + noise) * (logs - centre))
    return ratio


def _carrying(item_scores: ItemScores) -> FloatArray:
    """Number of items (or clusters) that carry the variance of each score, (m,)."""
    influence = summed_by_cluster(item_scores.influence, item_scores.clusters)
    squares, fourths = np.sum(influence**2, axis=0), np.sum(influence**4, axis=0)
    return np.asarray(squares**2 / np.maximum(fourths, 1e-300))


def _reasons_of_scores(item_scores: ItemScores, found: ResponseCorrelation) -> Iterator[str]:
    carrying = float(np.median(_carrying(item_scores)[found.leaders]))
    if item_scores.clusters is not None:
        clusters = len(set(item_scores.clusters))
        if clusters < _LEAST_CLUSTERS:
            yield f"items come in only {clusters} clusters: too few for standard errors"
    if carrying < _LEAST_CARRYING:
        yield (
            f"{carrying:.0f} items make up the error of the typical leader: too few to tell how "
            "much the classifiers share their luck"
        )


def _notes_of_scores(item_scores: ItemScores) -> Iterator[str]:
    if item_scores.clusters is not None:
        count = len(set(item_scores.clusters))
        yield f"items come in {count} clusters; standard errors are those of whole clusters"


_LEAST_MISTAKES = 5
_MOST_CLASSIFIERS = 2_500  # whose correlations fit into 2 GiB


@dataclass(frozen=True, eq=False)
class ResponsesPosterior(JointPosterior):
    """Draws from the posterior of a response matrix.

    Attributes
    ----------
    responses : Responses
    """

    responses: Responses


def responses_posterior(
    responses: Responses,
    priors: BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    new_n_test: int | None = None,
) -> ResponsesPosterior:
    """Posterior of theta_sota, and of every classifier, from right and wrong answers.

    Parameters
    ----------
    responses : Responses
        Missing answers are taken to be missing at random; each score is out of what was answered.
        Items in clusters widen every interval by the design effect of the leaders' scores.
    priors : BoardPriors, optional
        Its prior of rho is combined with what the answers say of rho.
    draws : int
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the number of items.

    Returns
    -------
    ResponsesPosterior

    Raises
    ------
    InputError
        Fewer than one draw, more than 2,500 classifiers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Responses(rng.random((400, 1)) ** 0.5 + 0.2 * rng.random((400, 12)) > 0.4)
    >>> posterior = responses_posterior(answers, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < answers.scores.max())
    True
    """
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    if responses.n_classifiers > _MOST_CLASSIFIERS:
        raise InputError(
            f"answers of {responses.n_classifiers:,} classifiers to {responses.n_items:,} items: "
            f"at most {_MOST_CLASSIFIERS:,} are compared, every one with every other; rows are "
            "items and columns classifiers; or leave out the weakest"
        )
    rng = generator_of(random_seed)
    priors = BoardPriors() if priors is None else priors
    found = response_correlation(responses)
    learnt = replace(priors, correlation=learn_correlation(found, priors.correlation))
    effect = _design_effect(responses, found)
    kernel = _ResponseKernel.of_responses(responses, found, effect)
    fit = fit_field(kernel, learnt, rng, merge_spikes=False)
    sampler = JointSampler(kernel, fit, found)
    values, skill = sampler.draw(draws, rng)
    assert kernel.board.scores is not None
    values |= summaries(kernel, skill, kernel.board.scores, rng)
    size = new_n_test or responses.n_items
    values["winner_new_score"] = rng.binomial(size, values["winner_skill"]) / size
    values["best_new_score"] = sampler.best_new_score(skill, size, rng)
    reasons = (*sampler.reasons(), *_reasons_of_answers(responses, found))
    notes = (*_notes_of_answers(responses, effect), *sampler.notes(responses.names))
    return ResponsesPosterior(
        responses.scores, values, skill, found, fit, reasons, notes, responses
    )


@dataclass(frozen=True, eq=False)
class _ResponseKernel(JointKernel):
    """One score per classifier, each with its own number of answers and loading."""

    right: FloatArray
    size: FloatArray
    effect: float

    @classmethod
    def of_responses(
        cls, responses: Responses, found: ResponseCorrelation, effect: float
    ) -> "_ResponseKernel":
        """Kernel of the modelled classifiers, worst first."""
        n = max(2, round(float(np.median(responses.totals)) / effect))
        board = Leaderboard(
            np.round(responses.scores * n) / n, n_test=n, rounding="exact", percent=False
        )
        base = ScoreKernel.of(board)
        order = np.argsort(responses.scores, kind="stable")
        entries = order[base.modelled[order]][-JOINT:]
        modelled = np.isin(np.arange(order.size), entries)
        size = responses.totals[entries] / effect
        return cls(
            board, modelled, responses.scores[entries] * n, found.weights[entries],
            np.arange(entries.size), base.y, base.law,
            entries, found.loadings[entries] / found.rho, responses.scores[entries] * size, size,
            effect,
        )  # fmt: skip

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each score at the grid, at most 0, shape (U, G)."""
        log_right, log_wrong = -np.logaddexp(0, -self.y), -np.logaddexp(0, self.y)
        fit = self.right[:, None] * log_right + (self.size - self.right)[:, None] * log_wrong
        return np.asarray((fit - fit.max(axis=1, keepdims=True)) / self.own_variance(rho)[:, None])

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part, shape (G,), at the typical loading."""
        return super().reach(float(np.sqrt(1 - np.mean(self.own_variance(rho)))), level)

    def reaches(self, rho: float) -> FloatArray:
        """Probability that each classifier's score is in the modelled part, shape (U, G).

        With its own variance, as in ``log_kernel``: far below the cut the two fall together.
        """
        from scipy.special import betainc

        own = self.own_variance(rho)
        cut = self.values[0] / self.board.n_test * self.size
        above = np.maximum((cut - 0.5) / own + 0.5, 0.5)
        below = (self.size - cut + 0.5) / own + 0.5
        return np.asarray(betainc(above[:, None], below[:, None], self.psi))

    def shift_scale(self) -> FloatArray:
        """Fewer answers make a larger error."""
        n = self.board.n_test
        sizes = np.full(self.modelled.size, float(n))
        sizes[self.entries] = self.size
        return np.asarray(np.sqrt(n / sizes))

    def draw_alone(
        self, entries: NDArray[np.int64], loading: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Flat in log odds."""
        n, own = self.board.n_test, 1 - loading**2
        assert self.board.scores is not None
        right = np.clip(self.board.scores[entries] * n, 0.5, n - 0.5)
        return rng.beta(right / own, (n - right) / own)

    def new_scores(
        self, skill: FloatArray, normal: FloatArray, new_n_test: int | None
    ) -> FloatArray:
        """Errors on the variance-stabilised scale."""
        size = new_n_test or self.board.n_test
        angle = np.arcsin(np.sqrt(skill)) + normal / (2 * np.sqrt(size / self.effect))
        new = np.sin(np.clip(angle, 0, np.pi / 2)) ** 2
        return np.asarray(np.round(new * size) / size)


def _design_effect(responses: Responses, found: ResponseCorrelation) -> float:
    """Variance of the leaders' scores over clusters, relative to independent items; at least 1."""
    if responses.clusters is None:
        return 1.0
    cluster = np.unique(np.array(responses.clusters), return_inverse=True)[1]
    answers = responses.correct[:, found.leaders].astype(float)
    given = answers != MISSING
    scores = responses.scores[found.leaders]
    error = np.where(given, answers - scores, 0.0)
    sums = np.array([np.bincount(cluster, weights=column) for column in error.T])
    expected = np.maximum(given.sum(axis=0) * scores * (1 - scores), 0.5)
    return float(max(1.0, np.mean(np.sum(sums**2, axis=1) / expected)))


def _reasons_of_answers(responses: Responses, found: ResponseCorrelation) -> Iterator[str]:
    mistakes = (responses.totals - responses.counts)[found.leaders]
    rare = int(np.median(np.minimum(mistakes, responses.counts[found.leaders])))
    if rare < _LEAST_MISTAKES:
        yield (
            f"the typical leader has {counted(rare, 'mistake')} (or right answers): too few to "
            "tell how much the classifiers' mistakes coincide"
        )


def _notes_of_answers(responses: Responses, effect: float) -> Iterator[str]:
    if responses.has_missing:
        yield "answers are missing; taken to be missing at random"
    if effect > 1:
        yield f"items come in clusters; every variance is {effect:.2f} times that of single items"
