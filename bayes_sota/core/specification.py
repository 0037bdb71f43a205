"""Named models: one TOML file each, of priors and settings of a builder.

A prior of a family is a table of its own; the other tables hold numbers and names of the builder's
priors. Models of kinds of fields, which differ in their prior of rho alone, share ``fields.toml``.
``tests/test_specifications.py`` builds every model of ``models/``.
"""

import hashlib
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayes_sota.core.arguments import DRAWS, check_choice
from bayes_sota.core.builders import BUILDERS, Builder, SamplerSettings
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_file
from bayes_sota.core.priors import CORRELATION_FAMILIES, SKILL_FAMILIES, own_priors

_FIELDS = "fields"  # a file of kinds of fields, not of one model


@dataclass(frozen=True)
class ModelSpecification:
    """A named model: builder, priors and sampler settings.

    Attributes
    ----------
    name : str
        Lower-case words joined by hyphens; a named model is the file ``models/NAME.toml``,
        or a table of ``models/fields.toml``.
    builder : str
        What builds it, a key of ``bayes_sota.core.builders.BUILDERS``.
    priors : dataclass, optional
        Priors of the builder, or what it makes its priors of. Default: those of the builder.
    sampler : SamplerSettings, optional
        How to draw from the posterior. Default: that of the builder's default model.
    """

    name: str
    builder: str = "observed_maximum"
    priors: Any = None
    sampler: Any = None

    def __post_init__(self) -> None:
        """Check the builder and whose priors they are; the parts have checked themselves."""
        check_choice("builder", self.builder, BUILDERS)
        object.__setattr__(self, "priors", own_priors(self.kind.priors, self.priors))
        if self.sampler is None:
            object.__setattr__(self, "sampler", load_model(self.kind.default).sampler)

    @property
    def kind(self) -> Builder:
        """The builder."""
        return BUILDERS[self.builder]

    @property
    def provenance(self) -> dict[str, str]:
        """Name and hash, as results state them."""
        return {"model_name": self.name, "model_hash": self.specification_hash}

    def sizes(self, draws: int | None, chains: int | None) -> dict[str, int]:
        """Draws per chain and chains: as given, else those of the model."""
        draws = DRAWS.check(self.sampler.draws if draws is None else draws, "draws")
        chains = DRAWS.check(self.sampler.chains if chains is None else chains, "chains")
        if draws * chains > DRAWS.high:
            raise InputError(
                f"draws times chains must be at most {DRAWS.high:,}, got {draws:,} times {chains:,}"
            )
        return {"draws": draws, "chains": chains}

    @property
    def specification_hash(self) -> str:
        """SHA-256 of everything that can change a number; prose cannot."""
        numbers = (self.name, self.builder, self.priors, self.sampler)
        return hashlib.sha256(repr(numbers).encode()).hexdigest()


def load_model(name_or_path: str | os.PathLike[str]) -> ModelSpecification:
    """Read a model specification by its name or from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name of ``model_names()``, or a path: whatever ends with ``.toml`` or has a separator.

    Raises
    ------
    InputError
        No such model, or a file that is not exactly what the format allows.

    Examples
    --------
    >>> load_model("epp").priors.skill_scale
    2.0
    """
    name = name_or_path if isinstance(name_or_path, str) else ""
    if name and not (name.endswith(".toml") or "/" in name or os.sep in name):
        check_choice("model", name, model_names())
        if name in _fields():
            table = {"name": name, "builder": "leaderboard"} | _fields()[name]
            return _specification(table)
        name_or_path = _models_directory() / f"{name}.toml"
    check_file(Path(name_or_path))
    return parse_specification(Path(name_or_path).read_bytes(), str(name_or_path))


def model_names() -> list[str]:
    """Names of the models that come with the package, sorted.

    Examples
    --------
    >>> "observed-maximum" in model_names()
    True
    """
    files = {path.stem for path in _models_directory().glob("*.toml")}
    return sorted(files - {_FIELDS} | set(_fields()))


def _fields() -> dict[str, Any]:
    """Kinds of fields with a prior of rho of their own, by the name of their model."""
    return tomllib.loads((_models_directory() / f"{_FIELDS}.toml").read_text(encoding="utf-8"))


def _models_directory() -> Path:
    """Directory of the named models: in the installed package, else in the checkout."""
    package = Path(__file__).parents[1]
    checkout = package.parent
    if not (package / "_models").is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout / "models"
    return package / "_models"


def parse_specification(content: bytes, where: str) -> ModelSpecification:
    """Specification of a TOML file; ``where`` names the file in the one line of an error."""
    try:
        return _specification(tomllib.loads(content.decode("utf-8-sig")))
    except KeyError as error:
        raise InputError(f"unknown or missing {error}", where=where) from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"is no model: {error}", where=where) from None


def _specification(table: dict[str, Any]) -> ModelSpecification:
    """Specification of what a file holds; what it does not say has its default."""
    facts = {key: table.pop(key) for key in ("name", "builder")}
    for prose in ("description", "meaning", "citation"):
        table.pop(prose, "")
    check_choice("builder", facts["builder"], BUILDERS)
    kind, settings, values = BUILDERS[facts["builder"]], table.pop("sampler", {}), {}
    is_default = facts["name"] == kind.default
    usual = SamplerSettings() if is_default else load_model(kind.default).sampler
    for name, part in table.items():
        numbers = {k: tuple(v) if isinstance(v, list) else v for k, v in part.items()}
        if "family" in numbers:
            families: Any = SKILL_FAMILIES if name == "skill" else CORRELATION_FAMILIES
            values[name] = families[numbers.pop("family")](**numbers)
        else:
            values |= numbers
    priors, sampler = kind.priors(**values), replace(usual, **settings)
    return ModelSpecification(**facts, priors=priors, sampler=sampler)
