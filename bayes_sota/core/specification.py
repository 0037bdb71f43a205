"""Named models: one TOML file each, of priors and settings of a builder.

A prior with a family is a table of its own. Kinds of fields, which differ in their prior of rho
alone, share ``fields.toml`` (``tests/test_specifications.py``).
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bayes_sota.core.arguments import DRAWS, check_choice
from bayes_sota.core.priors import (
    BUILDERS,
    BetaCorrelation,
    FixedCorrelation,
    LogitNormalSkill,
    own_priors,
)
from bayes_sota.core.text import digest_of

_FAMILIES = {"logit-normal": LogitNormalSkill, "beta": BetaCorrelation, "fixed": FixedCorrelation}
_FACTS = {"name", "builder", "description", "meaning", "citation", "sampler"}  # others are priors


@dataclass(frozen=True)
class SamplerSettings:
    """Draws per chain and chains; tuning steps and target acceptance rate of NUTS."""

    draws: int = 1000
    chains: int = 4
    tune: int = 1000
    target_accept: float = 0.9


@dataclass(frozen=True)
class ModelSpecification:
    """A named model: builder, priors and sampler settings.

    Attributes
    ----------
    name : str
        The file ``models/NAME.toml``, or a table of ``models/fields.toml``.
    builder : str
        A key of ``bayes_sota.core.priors.BUILDERS``.
    priors : dataclass, optional
        Priors of the builder, or ``Priors``.
    sampler : SamplerSettings, optional
        Default: that of the builder's default model.
    """

    name: str
    builder: str = "observed_maximum"
    priors: Any = None
    sampler: Any = None

    def __post_init__(self) -> None:
        check_choice("builder", self.builder, BUILDERS)
        object.__setattr__(self, "priors", own_priors(BUILDERS[self.builder].priors, self.priors))
        if self.sampler is None:
            object.__setattr__(self, "sampler", load_model(BUILDERS[self.builder].default).sampler)

    @property
    def provenance(self) -> dict[str, str]:
        """Name, and digest of everything that can change a number, as attributes."""
        digest = digest_of(self.name, self.builder, self.priors, self.sampler)
        return {"model_name": self.name, "model_hash": digest}

    def sizes(self, draws: int | None, chains: int | None) -> dict[str, int]:
        """Draws per chain and chains: as given, else those of the model."""
        draws = DRAWS.check(self.sampler.draws if draws is None else draws, "draws")
        chains = DRAWS.check(self.sampler.chains if chains is None else chains, "chains")
        DRAWS.check(draws * chains, "draws times chains")
        return {"draws": draws, "chains": chains}


def load_model(name: str) -> ModelSpecification:
    """Read a named model, one of ``bayes_sota.leaderboard.model_names()``.

    Raises
    ------
    InputError
        No such model.

    Examples
    --------
    >>> load_model("epp").priors.skill_scale
    2.0
    """
    check_choice("model", name, model_names())
    table = _named_models()[name]
    kind = BUILDERS[table["builder"]]
    priors: dict[str, Any] = {}
    for key in table.keys() - _FACTS:
        numbers: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in table[key].items()}
        family = numbers.pop("family", None)
        priors |= numbers if family is None else {key: _FAMILIES[family](**numbers)}
    sampler = SamplerSettings(**_named_models()[kind.default]["sampler"] | table.get("sampler", {}))
    return ModelSpecification(name, table["builder"], kind.priors(**priors), sampler)


def model_names() -> list[str]:
    """Names of the models that come with the package, sorted.

    Examples
    --------
    >>> "observed-maximum" in model_names()
    True
    """
    return sorted(_named_models())


@cache
def _named_models() -> dict[str, dict[str, Any]]:
    """Content of the files of models, by name; installed, or of the checkout."""
    package = Path(__file__).parents[1]
    installed, checkout = package / "_models", package.parent / "models"
    files = (installed if installed.is_dir() else checkout).glob("*.toml")
    models = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}
    for name, of_rho in models.pop("fields").items():  # kinds of fields
        models[name] = {"name": name, "builder": "leaderboard", **of_rho}
    return models
