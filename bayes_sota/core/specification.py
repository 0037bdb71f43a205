"""Named models: one TOML file each, of priors and settings of a builder.

The tables of a file are the fields of the builder's priors: a prior of a family has a table of its
own, and all numbers and names share one. ``tests/test_specifications.py`` builds every file of
``models/``.
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.builders import BUILDERS, Builder, SamplerSettings, check_known
from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.priors import PRIOR_FAMILIES

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PROSE = ("description", "meaning", "citation")


@dataclass(frozen=True)
class ModelSpecification:
    """A named model: builder, priors and sampler settings.

    Attributes
    ----------
    name : str
        Lower-case words joined by hyphens; a named model is the file ``models/NAME.toml``.
    description : str
        What the model is, in one sentence.
    meaning : str
        What its assumptions mean, and when one would choose it.
    citation : str
        Where the model or its numbers come from.
    builder : str
        What builds it, a key of ``bayes_sota.core.builders.BUILDERS``.
    priors : dataclass, optional
        Priors of the builder, or what it makes its priors of. Default: those of the builder.
    sampler : SamplerSettings, optional
        How to draw from the posterior. Default: that of the builder.
    """

    name: str
    description: str = ""
    meaning: str = ""
    citation: str = ""
    builder: str = "observed_maximum"
    priors: Any = None
    sampler: SamplerSettings = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check names and ranges once; the parts have checked themselves."""
        if not _NAME.fullmatch(self.name):
            raise SpecificationError(
                f"name must be lower-case words joined by hyphens, got {self.name!r}"
            )
        check_known("builder", self.builder, BUILDERS)
        object.__setattr__(self, "priors", self.kind.resolve(self.priors))
        object.__setattr__(self, "sampler", self.sampler or self.kind.sampler)
        check_known(f"method of {self.builder}", self.sampler.method, self.kind.methods)

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
        """SHA-256 of everything that can change a number; prose cannot.

        Examples
        --------
        >>> a = ModelSpecification("a", description="one wording")
        >>> a.specification_hash == ModelSpecification("a", citation="x").specification_hash
        True
        """
        numbers = (self.name, self.builder, self.priors, self.sampler)
        return hashlib.sha256(repr(numbers).encode()).hexdigest()


def parse_specification(text: str, where: str) -> ModelSpecification:
    """Specification of a TOML text; ``where`` names the file in messages.

    Raises
    ------
    SpecificationError
        One line: the file, and what is wrong with it.
    """
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecificationError(f"{where}: not valid TOML: {error}") from None
    prose = {key: " ".join(str(table.pop(key, "")).split()) for key in _PROSE}
    name, builder, sampler = (table.pop(key, "") for key in ("name", "builder", "sampler"))
    check_known("builder", builder, BUILDERS, f"{where}: ")
    kind = BUILDERS[builder]
    try:
        return ModelSpecification(
            name,
            **prose,
            builder=builder,
            priors=_priors_of(kind, table),
            sampler=replace(kind.sampler, **(sampler or {})),
        )
    except (ValueError, TypeError) as error:
        raise SpecificationError(f"{where}: {error}") from None


def _priors_of(kind: Builder, tables: dict[str, Any]) -> Any:
    """Priors of a builder; what a file does not say has its default."""
    hints, values = get_type_hints(kind.priors), dict[str, Any]()
    for name, table in tables.items():
        families = PRIOR_FAMILIES.get(hints.get(name))
        if not isinstance(table, dict) or (families is None and name != kind.home):
            raise SpecificationError(f"unknown key {name!r}")
        numbers: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in table.items()
        }
        family = "" if families is None else numbers.pop("family", "")
        for key, value in numbers.items():
            if isinstance(value, str):
                raise SpecificationError(f"[{name}]: {key} must be a number, got {value!r:.40}")
        if families is None:
            values |= numbers
            continue
        check_known("family", family, families, f"[{name}]: ")
        values[name] = families[family](**numbers)
    return kind.priors(**values)
