r"""The best of N private variants on a fitted leaderboard: its skill, corrected for the picking.

The other players tell how far skills of providers differ, the fit how precise the shown player's
estimate is; the rest is ``private_variants``. ``tests/epp/test_shown_variants.py`` measures, on
simulated leaderboards, how far the corrected skill is from the truth.
"""

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.private_variants import (
    PrivateVariants,
    Variants,
    population_sd_of,
    private_variants,
)

__all__ = ["private_variants_of"]


def private_variants_of(
    fit: BradleyTerryFit,
    player: str,
    variants: Variants,
    *,
    variant_sd: float | None = None,
    error_correlation: float = 0.0,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
) -> PrivateVariants:
    """Posterior of the skill of a player who is the best of several private variants.

    Parameters
    ----------
    fit : BradleyTerryFit
        With at least four other players, who are taken as picked from nothing.
    player : str
        Whose provider tested variants and shows the best.
    variants : int, (int, int) or TriesPrior
        How many: a number, a range or a prior.
    variant_sd, error_correlation, draws, random_seed
        As in ``private_variants``.

    Raises
    ------
    InputError
        Fewer than four other players, an estimate without a standard error.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.0, 0.5, 0.2, -0.3, -0.4, -1.0], 30, random_seed=0))
    >>> found = private_variants_of(fit, "1", (10, 30), random_seed=0)
    >>> round(float(fit.epp[0]), 2), round(found.mean, 2)
    (0.91, 0.67)
    """
    place = fit.data.player_index(player)
    others = np.arange(len(fit.players)) != place
    se, df = float(fit.se[place]), float(fit.df[place])
    if not (np.isfinite(se) and se > 0):
        raise InputError(f"{player!r} has no standard error: it is in too few rounds")
    usable = others & np.isfinite(fit.se) & (fit.se > 0)
    mean = float(fit.epp[usable].mean())
    return private_variants(
        float(fit.epp[place]),
        se,
        variants,
        population_sd=population_sd_of(fit.epp[usable], fit.se[usable]),
        population_mean=mean,
        variant_sd=variant_sd,
        error_correlation=error_correlation,
        df=df if np.isfinite(df) else None,
        draws=draws,
        random_seed=random_seed,
    )
