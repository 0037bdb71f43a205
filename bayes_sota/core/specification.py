"""Named models: one TOML file each, strictly parsed into priors and settings of a builder.

A specification holds numbers and names, no code and no results. Whatever the format does not
allow is an error that names the file, the key and what would be right; nothing is guessed and
nothing is ignored. Its tables are the fields of the builder's priors, whatever those are.
``tests/test_specifications.py`` parses, writes back and builds every file of ``models/``, and holds
the messages for wrong files.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast, get_type_hints

from bayes_sota.core.arguments import DRAWS, OPEN_SHARE, refuse_unused
from bayes_sota.core.builders import BUILDERS, Builder, SamplerSettings, check_known
from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.files import write_text
from bayes_sota.core.priors import PRIOR_FAMILIES
from bayes_sota.core.toml import from_dict, parse_toml, read_value, require_known

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PROSE = ("description", "meaning", "citation")
_ALL_PROSE = (*_PROSE, "source", "n_test_source", "note")  # that change no number
_ABOUT_DATA = ("reference_skill", "data")
_LATER = ("submission_luck",)  # tables that the first files did not have


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
        What builds it, a key of ``bayes_sota.core.builders.BUILDERS``.
    priors : dataclass, optional
        Priors of the builder, or what it makes its priors of. Default: those of the builder.
    reference_skill : float or None
        Of an observed maximum: skill theta0 of the reference classifier; None takes the maximum.
    sampler : SamplerSettings, optional
        How to draw from the posterior. Default: that of the builder.
    data : Example or None
        Of an observed maximum: the board that the model is about, if it is about one.

    Examples
    --------
    >>> from bayes_sota.core.priors import FixedCorrelation, Priors
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
    target_accept = 0.98
    <BLANKLINE>
    """

    name: str
    description: str = ""
    meaning: str = ""
    citation: str = ""
    builder: str = "observed_maximum"
    priors: Any = None
    reference_skill: float | None = None
    sampler: SamplerSettings = None  # type: ignore[assignment]
    data: Any = None

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
        check_known("builder", self.builder, BUILDERS)
        object.__setattr__(self, "priors", self.kind.resolve(self.priors))
        object.__setattr__(self, "sampler", self.sampler or self.kind.sampler)
        check_known(f"method of {self.builder}", self.sampler.method, self.kind.methods)
        if not self.kind.about_data:
            about_data = {name: getattr(self, name) for name in _ABOUT_DATA}
            refuse_unused(f"a model for {self.kind.takes}", about_data)
        if self.reference_skill is not None:
            OPEN_SHARE.check(self.reference_skill, "reference_skill")

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
        """SHA-256 of everything that can change a number; prose and the order of keys cannot.

        Examples
        --------
        >>> a = ModelSpecification("a", description="one wording")
        >>> a.specification_hash == ModelSpecification("a", citation="x").specification_hash
        True
        """
        numbers = _kept(self.to_dict(), lambda key, _: key not in _ALL_PROSE)
        canonical = json.dumps(numbers, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Tables and keys of the TOML file, with what is empty left out."""
        plain = ("name", *_PROSE, "builder", "reference_skill")
        table = {key: getattr(self, key) for key in plain} | _prior_tables(self.priors, self.kind)
        table["sampler"] = {key: getattr(self.sampler, key) for key in self.kind.sampler_keys}
        table["data"] = None if self.data is None else vars(self.data)
        return _kept(table, lambda _, value: value is not None and value != "")

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
        write_text(self.to_toml(), path)
        return Path(path)


def parse_specification(text: str, where: str, data: type) -> ModelSpecification:
    """Parse the text of a specification.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        Name of the file, for messages.
    data : dataclass
        Of the table ``[data]``.

    Raises
    ------
    SpecificationError
        One line: the file, the key, the value, and what would be right.
    """
    table = parse_toml(text, where)
    builder = read_value(table, "builder", str, where)
    check_known("builder", builder, BUILDERS, f"{where}: ")
    kind = BUILDERS[builder]
    homes = _homes(kind)
    own = ["name", *_PROSE, "builder", *_ABOUT_DATA[: 2 * kind.about_data], "sampler"]
    require_known(table, [*own, *homes], where)
    parts = {"priors": _read_priors(table, kind, homes, where)}
    settings = read_value(table, "sampler", dict, where) if "sampler" in table else {}
    require_known(settings, kind.sampler_keys, f"{where}: [sampler]")
    sampler = vars(kind.sampler) | settings
    parts["sampler"] = from_dict(SamplerSettings, sampler, f"{where}: [sampler]")
    if "data" in table:
        board = read_value(table, "data", dict, where)
        parts["data"] = from_dict(data, board, f"{where}: [data]")
    rest = {key: value for key, value in table.items() if key not in (*homes, *parts)}
    return from_dict(ModelSpecification, rest, where, **parts)


def _homes(kind: Builder) -> dict[str, Any]:
    """Tables of the priors: each prior of a family, with its families; and one of all others."""
    hints = get_type_hints(kind.priors)
    types = {f.name: hints[f.name] for f in fields(kind.priors)}
    named = {name: PRIOR_FAMILIES[t] for name, t in types.items() if t in PRIOR_FAMILIES}
    return named if len(named) == len(types) else {kind.home: None, **named}


def _read_priors(
    table: Mapping[str, Any], kind: Builder, homes: Mapping[str, Any], where: str
) -> Any:
    """Priors of a builder; a file says all of them, but may leave out the later ones."""
    plain: dict[str, Any] = {}
    later = {name: value for name, value in _later(kind).items() if name not in table}
    for name, families in homes.items():
        if name in later:
            continue
        part = read_value(table, name, dict, where)
        if families is None:
            plain = part
        else:
            later[name] = _read_family(part, families, f"{where}: [{name}]")
    return from_dict(kind.priors, plain, f"{where}: [{kind.home}]", complete=True, **later)


def _later(kind: Builder) -> dict[str, Any]:
    """Defaults of priors that came after the first files, by the names of their tables."""
    defaults = vars(kind.resolve(None))
    return {name: defaults[name] for name in _LATER if name in defaults}


def _read_family(table: Mapping[str, Any], families: Mapping[str, type], place: str) -> Any:
    """Prior of the table's family, whose keys are exactly the parameters of its class."""
    name = read_value(table, "family", str, place)
    check_known("family", name, families, f"{place}: ")
    rest = {key: value for key, value in table.items() if key != "family"}
    return from_dict(families[name], rest, place, elsewhere=("family",), complete=True)


def _prior_tables(priors: Any, kind: Builder) -> dict[str, Any]:
    """Tables of priors, as ``_read_priors`` reads them; without later ones at their defaults.

    So the hash of a specification that says nothing of them stays the same.
    """
    values, later = vars(priors), _later(kind)
    homes = {k: v for k, v in _homes(kind).items() if k not in later or values[k] != later[k]}
    others = {**homes, **later}
    plain = {name: _plain(value) for name, value in values.items() if name not in others}
    return {
        name: plain if families is None else _family_table(values[name], families)
        for name, families in homes.items()
    }


def _family_table(prior: object, families: Mapping[str, type[Any]]) -> dict[str, Any]:
    for name, cls in families.items():
        if type(prior) is cls:
            return {"family": name, **{k: _plain(v) for k, v in vars(prior).items()}}
    raise SpecificationError(f"{prior!r} has no TOML form; families: {', '.join(families)}")


def _plain(value: Any) -> Any:
    """The same number as the parser reads: 14 and 14.0 must not differ in the hash."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value if isinstance(value, str) else float(value)


def _kept(table: Mapping[str, Any], holds: Callable[[str, Any], bool]) -> dict[str, Any]:
    """The keys for which something holds, of a table and of the tables in it."""
    kept = {key: value for key, value in table.items() if holds(key, value)}
    return {k: _kept(v, holds) if isinstance(v, dict) else v for k, v in kept.items()}


def _line(key: str, value: object) -> str:
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        return f"{key} = [{', '.join(_scalar(item) for item in items)}]"
    return f"{key} = {_scalar(value)}"


def _scalar(value: object) -> str:
    # A JSON string of printable characters is a TOML basic string.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
