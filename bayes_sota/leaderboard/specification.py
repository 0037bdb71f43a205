"""Named models: one TOML file each, strictly parsed into priors and settings.

A specification holds numbers and names, no code and no results. Whatever the format does not
allow is an error that names the file, the key and what would be right; nothing is guessed and
nothing is ignored. ``tests/test_specifications.py`` parses, writes back and builds every file of
``models/``, and holds the messages for wrong files.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.files import whole_file
from bayes_sota.core.priors import (
    SKILL_FAMILIES,
    BetaCorrelation,
    BoardPriors,
    CorrelationPrior,
    FixedCorrelation,
    MaximumPriors,
    Priors,
    board_priors,
    maximum_priors,
)
from bayes_sota.core.toml import from_dict, parse_toml, read_value, require_known
from bayes_sota.data.examples import Example
from bayes_sota.data.files.content import read_content

BUILDERS: Final = {"observed_maximum": "maximum", "leaderboard": "scores"}
"""Names of model builders, and the kind of data that each one takes."""

NUTS_DRAWS = 2000
"""Least draws per chain, by default, of a whole board by NUTS: 1,000 have r_hat above 1.01."""

_MAX_BYTES = 65_536  # a specification is a page of text; anything longer is another kind of file
_METHODS = ("auto", "exact", "abc", "nuts")
_CORRELATION_FAMILIES: dict[str, type[CorrelationPrior]] = {
    "beta": BetaCorrelation,
    "fixed": FixedCorrelation,
}
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PROSE = ("description", "meaning", "citation")


@dataclass(frozen=True)
class SamplerSettings:
    """How to draw from the posterior.

    Attributes
    ----------
    method : {"auto", "exact", "abc", "nuts"}
        Route to the posterior.
    draws, chains : int
        Posterior draws per chain, and chains.
    tune : int
        Tuning steps per chain; NUTS only.
    target_accept : float
        Target acceptance rate in (0, 1); NUTS only.
    """

    method: str = "auto"
    draws: int = 1000
    chains: int = 4
    tune: int = 1000
    target_accept: float = 0.9

    def __post_init__(self) -> None:
        """Check names and ranges once."""
        _check_choice("method", self.method, _METHODS)
        for name, least in (("draws", 1), ("chains", 1), ("tune", 0)):
            Range(least, math.inf, whole=True).check(getattr(self, name), name)
        OPEN_SHARE.check(self.target_accept, "target_accept")


@dataclass(frozen=True)
class ModelSpecification:
    """A named model: builder, priors, sampler settings, and optionally the data it is about.

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
        Function that builds it, a key of ``BUILDERS``.
    priors : Priors
        Skill and correlation priors, which become those of the builder.
    reference_skill : float or None
        Skill theta0 of the reference classifier; None takes the observed maximum.
    sampler : SamplerSettings
        How to draw from the posterior.
    data : Example or None
        The board that the model is about, if it is about one.

    Examples
    --------
    >>> spec = ModelSpecification("known-rho", priors=Priors(correlation=FixedCorrelation(0.6)))
    >>> print(spec.to_toml())
    name = "known-rho"
    builder = "observed_maximum"
    <BLANKLINE>
    [skill]
    family = "logit-normal"
    typical = [0.4, 0.99]
    spread = [0.05, 1.0]
    <BLANKLINE>
    [correlation]
    family = "fixed"
    value = 0.6
    <BLANKLINE>
    [sampler]
    method = "auto"
    draws = 1000
    chains = 4
    tune = 1000
    target_accept = 0.9
    <BLANKLINE>
    """

    name: str
    description: str = ""
    meaning: str = ""
    citation: str = ""
    builder: str = "observed_maximum"
    priors: Any = field(default_factory=Priors)  # resolved: MaximumPriors or BoardPriors
    reference_skill: float | None = None
    sampler: SamplerSettings = field(default_factory=SamplerSettings)
    data: Example | None = None

    def __post_init__(self) -> None:
        """Check names and ranges once; the parts have checked themselves."""
        if not _NAME.fullmatch(self.name):
            raise SpecificationError(
                f"name must be lower-case words joined by hyphens, got {self.name!r}"
            )
        for key in _PROSE:
            line = getattr(self, key)
            if line != " ".join(line.split()) or not line.isprintable():
                message = f"{key} must be one line of printable text, got {line!r:.60}"
                raise SpecificationError(message)
        _check_choice("builder", self.builder, BUILDERS)
        resolve = board_priors if self.builder == "leaderboard" else maximum_priors
        object.__setattr__(self, "priors", resolve(self.priors))
        if self.reference_skill is not None:
            OPEN_SHARE.check(self.reference_skill, "reference_skill")

    @property
    def data_kind(self) -> str:
        """Kind of data that the builder takes."""
        return BUILDERS[self.builder]

    @property
    def specification_hash(self) -> str:
        """SHA-256 of everything that can change a number; prose and the order of keys cannot.

        Examples
        --------
        >>> a = ModelSpecification("a", description="one wording")
        >>> a.specification_hash == ModelSpecification("a", citation="x").specification_hash
        True
        """
        canonical = json.dumps(_without_prose(self.to_dict()), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Tables and keys of the TOML file, with what is empty left out."""
        plain = ("name", *_PROSE, "builder", "reference_skill")
        table = {key: getattr(self, key) for key in plain} | {
            "skill": _skill_table(self.priors),
            "correlation": _family_table(self.priors.correlation, _CORRELATION_FAMILIES),
            "sampler": _table(self.sampler),
            "data": None if self.data is None else _table(self.data),
        }
        return _without_empty(table)

    def to_toml(self) -> str:
        """Text of the TOML file; parsing it gives an equal specification."""
        table = self.to_dict()
        lines = [_line(k, v) for k, v in table.items() if not isinstance(v, dict)]
        for name, part in table.items():
            if isinstance(part, dict):
                lines += ["", f"[{name}]", *(_line(k, v) for k, v in part.items())]
        return "\n".join(lines) + "\n"

    def write_toml(self, path: str | os.PathLike[str]) -> Path:
        """Save the specification; the file appears whole or not at all."""
        path = Path(path)
        with whole_file(path) as draft:
            draft.write_text(self.to_toml(), encoding="utf-8")
        return path


def load_model(name_or_path: str | os.PathLike[str]) -> ModelSpecification:
    """Read a model specification by its name or from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name of ``model_names()``, or a path: whatever ends with ``.toml`` or has a separator.

    Raises
    ------
    SpecificationError
        No such model, or a file that is not exactly what the format allows.

    Examples
    --------
    >>> spec = load_model("obesity-risk-maximum")
    >>> spec.builder, spec.data.leaderboard().n_test
    ('observed_maximum', 11072)
    """
    name = name_or_path if isinstance(name_or_path, str) else ""
    is_path = not name or name.endswith(".toml") or "/" in name or os.sep in name
    path = Path(name_or_path) if is_path and name_or_path != "" else _named_file(name)
    try:
        content = read_content(path, _MAX_BYTES + 1)
        if len(content.data) > _MAX_BYTES:
            raise InputError(f"{content.where}: longer than {_MAX_BYTES:,} bytes")
        return parse_model(content.text(), content.where)
    except SpecificationError:
        raise
    except InputError as error:
        raise SpecificationError(f"{error}; a model is a TOML file") from None


def model_names() -> list[str]:
    """Names of the models that come with the package, sorted.

    Examples
    --------
    >>> "observed-maximum" in model_names()
    True
    """
    return sorted(path.stem for path in _models_directory().glob("*.toml"))


def parse_model(text: str, where: str = "specification") -> ModelSpecification:
    """Parse the text of a specification.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        Name of the file, for messages.

    Raises
    ------
    SpecificationError
        One line: the file, the key, the value, and what would be right.
    """
    table = parse_toml(text, where)
    own = [f.name for f in fields(ModelSpecification) if f.name != "priors"]
    require_known(table, [*own, "skill", "correlation"], where)
    builder = read_value(table, "builder", str, where)
    skill, correlation = (read_value(table, key, dict, where) for key in ("skill", "correlation"))
    rho = _read_family(correlation, _CORRELATION_FAMILIES, f"{where}: [correlation]")
    priors: MaximumPriors | BoardPriors
    if builder == "leaderboard":
        priors = from_dict(BoardPriors, skill, f"{where}: [skill]", correlation=rho)
    else:
        priors = MaximumPriors(_read_family(skill, SKILL_FAMILIES, f"{where}: [skill]"), rho)
    rest = {key: value for key, value in table.items() if key not in ("skill", "correlation")}
    return from_dict(ModelSpecification, rest, where, priors=priors)


def _read_family[T](table: dict[str, Any], families: Mapping[str, type[T]], place: str) -> T:
    """Prior of the table's family, whose keys are exactly the parameters of its class."""
    name = read_value(table, "family", str, place)
    if name not in families:
        raise SpecificationError(
            f"{place}: unknown family {name!r}; allowed: {', '.join(families)}"
        )
    rest = {key: value for key, value in table.items() if key != "family"}
    return from_dict(families[name], rest, place, elsewhere=("family",), complete=True)


def _models_directory() -> Path:
    """Directory of the named models: in the installed package, else in the checkout."""
    package = Path(__file__).parents[1]
    checkout = package.parent
    if not (package / "_models").is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout / "models"
    return package / "_models"


def _named_file(name: str) -> Path:
    names = model_names()
    if name in names:
        return _models_directory() / f"{name}.toml"
    close = get_close_matches(name, names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise SpecificationError(
        f"there is no model {name!r}{hint}; models: {', '.join(names)}; a file ends with .toml"
    )


def _skill_table(priors: MaximumPriors | BoardPriors) -> dict[str, Any]:
    if isinstance(priors, MaximumPriors):
        return _family_table(priors.skill, SKILL_FAMILIES)
    ends = {key: _as_floats(getattr(priors, key)) for key in ("typical", "spread")}
    return {**ends, "families": priors.families}


def _check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise SpecificationError(f"unknown {name} {value!r}; allowed: {', '.join(allowed)}")


def _table(part: Any) -> dict[str, Any]:
    return {f.name: getattr(part, f.name) for f in fields(part)}


def _family_table(prior: object, families: Mapping[str, type[Any]]) -> dict[str, Any]:
    for name, cls in families.items():
        if type(prior) is cls:
            return {"family": name, **{k: _as_floats(v) for k, v in _table(prior).items()}}
    raise SpecificationError(f"{prior!r} has no TOML form; families: {', '.join(families)}")


def _as_floats(value: Any) -> float | tuple[float, ...]:
    """The same number as the parser reads: 14 and 14.0 must not differ in the hash."""
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    kept = {k: _without_empty(v) if isinstance(v, dict) else v for k, v in table.items()}
    return {k: v for k, v in kept.items() if v is not None and v != ""}


def _without_prose(table: dict[str, Any]) -> dict[str, Any]:
    prose = (*_PROSE, "source", "n_test_source", "note")
    kept = {k: _without_prose(v) if isinstance(v, dict) else v for k, v in table.items()}
    return {k: v for k, v in kept.items() if k not in prose}


def _line(key: str, value: object) -> str:
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return f"{key} = [{', '.join(_scalar(item) for item in items)}]"
    return f"{key} = {_scalar(value)}"


def _scalar(value: object) -> str:
    # A JSON string of printable characters is a TOML basic string.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
