"""Named models: one TOML file each, strictly parsed into priors and settings.

A specification holds numbers and names, no code and no results. Whatever the format does not
allow is an error that names the file, the key and what would be right; nothing is guessed and
nothing is ignored. ``tests/test_specifications.py`` parses, writes back and builds every file of
``models/``, and holds the messages for wrong files.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.files import whole_file
from bayes_sota.core.priors import (
    SKILL_FAMILIES,
    BetaCorrelation,
    BoardPriors,
    CorrelationPrior,
    FixedCorrelation,
    Priors,
)
from bayes_sota.core.toml import TomlTable, is_whole, located, parse_toml
from bayes_sota.data.examples import Example
from bayes_sota.data.files.content import read_content

BUILDERS: Final = {"observed_maximum": "maximum", "leaderboard": "scores"}
"""Names of model builders, and the kind of data that each one takes."""

_MAX_BYTES = 65_536  # a specification is a page of text; anything longer is another kind of file
_METHODS = ("auto", "exact", "abc", "nuts")
_CORRELATION_FAMILIES: dict[str, type[CorrelationPrior]] = {
    "beta": BetaCorrelation,
    "fixed": FixedCorrelation,
}
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEYS = (
    "name", "description", "meaning", "citation", "builder", "reference_skill",
    "skill", "correlation", "sampler", "data",
)  # fmt: skip
_BOARD_SKILL = ("typical", "spread", "families")
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
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise SpecificationError(
                    f"{name} must be a whole number of at least {least}, got {value!r}"
                )
        _check_fraction("target_accept", self.target_accept)


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
    priors : Priors or BoardPriors
        Skill and correlation priors; ``BoardPriors`` for the builder "leaderboard".
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
    priors: Priors | BoardPriors = field(default_factory=Priors)
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
            _check_line(key, getattr(self, key))
        _check_choice("builder", self.builder, BUILDERS)
        if isinstance(self.priors, BoardPriors) != (self.builder == "leaderboard"):
            kind = "BoardPriors" if self.builder == "leaderboard" else "Priors"
            raise SpecificationError(f"the builder {self.builder!r} takes {kind}")
        if self.reference_skill is not None:
            _check_fraction("reference_skill", self.reference_skill)

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
        table: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "meaning": self.meaning,
            "citation": self.citation,
            "builder": self.builder,
            "reference_skill": self.reference_skill,
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
    if isinstance(name_or_path, str) and not _is_path(name_or_path):
        path = _named_file(name_or_path)
    else:
        path = Path(name_or_path)
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
    table.require_known(_KEYS)
    values: dict[str, Any] = {key: table.text(key) for key in _PROSE}
    values["name"], values["builder"] = (table.text(k, required=True) for k in ("name", "builder"))
    board = values["builder"] == "leaderboard"
    values["priors"] = _board_priors(table) if board else _priors(table)
    values["sampler"] = _sampler(table.part("sampler"))
    if "reference_skill" in table:
        values["reference_skill"] = table.number("reference_skill")
    if "data" in table:
        values["data"] = _example(table.part("data"))
    with located(where):
        return ModelSpecification(**values)


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name or os.sep in name


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


def _family[T](
    table: TomlTable, families: Mapping[str, type[T]], read: Callable[[TomlTable, str], Any]
) -> T:
    """Prior of the table's family, whose keys are exactly the parameters of its class."""
    name = table.text("family", required=True)
    if name not in families:
        raise table.error(f"unknown family {name!r}; allowed: {', '.join(families)}")
    parameters = _field_names(families[name])
    table.require_known(["family", *parameters])
    values: dict[str, Any] = {key: read(table, key) for key in parameters}
    with located(table.place):
        return families[name](**values)


def _priors(table: TomlTable) -> Priors:
    skill, correlation = (table.part(key, required=True) for key in ("skill", "correlation"))
    return Priors(
        skill=_family(skill, SKILL_FAMILIES, TomlTable.number_or_pair),
        correlation=_family(correlation, _CORRELATION_FAMILIES, TomlTable.number),
    )


def _board_priors(table: TomlTable) -> BoardPriors:
    skill, correlation = (table.part(key, required=True) for key in ("skill", "correlation"))
    skill.require_known(_BOARD_SKILL)
    values: dict[str, Any] = {key: skill.number_or_pair(key) for key in _BOARD_SKILL[:2]}
    if "families" in skill:
        values["families"] = skill.texts("families")
    with located(skill.place):
        return BoardPriors(
            correlation=_family(correlation, _CORRELATION_FAMILIES, TomlTable.number), **values
        )


def _skill_table(priors: Priors | BoardPriors) -> dict[str, Any]:
    if isinstance(priors, Priors):
        return _family_table(priors.skill, SKILL_FAMILIES)
    ends = {key: _as_floats(getattr(priors, key)) for key in _BOARD_SKILL[:2]}
    return {**ends, "families": priors.families}


def _sampler(table: TomlTable) -> SamplerSettings:
    table.require_known(_field_names(SamplerSettings))
    read: dict[str, Any] = {"method": table.text, "target_accept": table.number}
    values = {key: read.get(key, table.whole)(key) for key in table.content}
    with located(table.place):
        return SamplerSettings(**values)


def _example(table: TomlTable) -> Example:
    table.require_known(_field_names(Example))
    for required in (f.name for f in fields(Example) if f.default is MISSING):
        table.value(required)
    read: dict[str, Any] = {"n_test": table.whole, "n_classifiers": table.whole_or_pair}
    values = {key: read.get(key, table.text)(key) for key in table.content}
    with located(table.place):
        return Example(**values)


def _check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise SpecificationError(f"unknown {name} {value!r}; allowed: {', '.join(allowed)}")


def _check_line(name: str, value: str) -> None:
    if value != " ".join(value.split()) or not value.isprintable():
        raise SpecificationError(f"{name} must be one line of printable text, got {value!r:.60}")


def _check_fraction(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise SpecificationError(f"{name} must lie between 0 and 1, got {value:g}")


def _field_names(cls: type[Any]) -> list[str]:
    return [f.name for f in fields(cls)]


def _table(part: Any) -> dict[str, Any]:
    return {name: getattr(part, name) for name in _field_names(type(part))}


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
