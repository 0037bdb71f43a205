"""Named models by their name or file, and which of them an estimate takes.

The files are those of ``models/``; what one may hold is in ``bayes_sota.core.specification``.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.builders import BUILDERS, unknown
from bayes_sota.core.builders import SamplerSettings as SamplerSettings
from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.priors import FixedCorrelation
from bayes_sota.core.schema import DOMAINS
from bayes_sota.core.specification import ModelSpecification as ModelSpecification
from bayes_sota.core.specification import parse_specification
from bayes_sota.core.text import nearest
from bayes_sota.data.examples import Example
from bayes_sota.data.files.content import read_content

type Model = ModelSpecification | str | os.PathLike[str] | None

NUTS_DRAWS = 2000
"""Least draws per chain, by default, of a whole board by NUTS: 1,000 have r_hat above 1.01."""

_MAX_BYTES = 65_536  # a specification is a page of text; anything longer is another kind of file


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
    >>> load_model("epp").priors.skill_scale
    2.0
    """
    name = name_or_path if isinstance(name_or_path, str) else ""
    is_path = not name or name.endswith(".toml") or "/" in name or os.sep in name
    path = Path(name_or_path) if is_path and name_or_path != "" else _named_file(name)
    try:
        content = read_content(path, _MAX_BYTES + 1)
        if len(content.data) > _MAX_BYTES:
            raise InputError(f"{content.where}: longer than {_MAX_BYTES:,} bytes")
        return parse_specification(content.text(), content.where, Example)
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


def chosen_model(
    model: Model,
    builder: str,
    priors: Any = None,
    correlation: float | None = None,
    domain: str | None = None,
) -> ModelSpecification:
    """Specification that an estimate takes: the given one, else the default one of its builder.

    Parameters
    ----------
    model : ModelSpecification, name or path, optional
    builder : str
        The model must be of this one.
    priors : optional
        In place of a model: the specification then has them, and no name.
    correlation : float, optional
        A known rho in place of its prior.
    domain : str, optional
        One of ``DOMAINS``, whose prior of rho the default model takes.

    Raises
    ------
    InputError
        Priors beside a model, a domain beside what has a rho of its own, or a model of another
        builder; the message has the right ones.

    Examples
    --------
    >>> chosen_model(None, "paired", correlation=0.6).priors.correlation
    FixedCorrelation(value=0.6)
    >>> chosen_model(None, "paired", domain="tabular").priors.correlation
    BetaCorrelation(a=31.0, b=9.3)
    """
    if model is not None and priors is not None:
        raise InputError("give either priors or a model, not both")
    if domain is not None:
        given = {"a model": model, "priors": priors, "a known correlation": correlation}
        for what, value in given.items():
            refuse_unused(what, {"domain": None if value is None else domain})
        model = _of_domain(domain, builder)
    if model is None:
        name = BUILDERS[builder].default if priors is None else "unnamed"
        model = ModelSpecification(name, builder=builder, priors=priors)
    spec = model if isinstance(model, ModelSpecification) else load_model(model)
    if spec.builder != builder:
        right = [name for name in model_names() if load_model(name).builder == builder]
        raise InputError(
            f"the model {spec.name!r} is for {spec.kind.takes}; models for "
            f"{BUILDERS[builder].takes}: {', '.join(right)}"
        )
    if correlation is None:
        return spec
    return replace(spec, priors=replace(spec.priors, correlation=FixedCorrelation(correlation)))


def _of_domain(domain: str, builder: str) -> ModelSpecification:
    """Default model of a builder with the prior of rho of a domain."""
    if domain not in DOMAINS:
        raise unknown("domain", domain, DOMAINS)
    of_boards = load_model(domain)
    if builder == of_boards.builder:
        return of_boards
    usual = chosen_model(None, builder)
    priors = replace(usual.priors, correlation=of_boards.priors.correlation)
    return replace(usual, name=f"{usual.name}-{domain}", priors=priors)


def source_of_rho(model: str) -> str:
    """Where the prior of rho of a named model comes from, in words.

    Examples
    --------
    >>> source_of_rho("paired-boards"), source_of_rho("observed-maximum-tabular")
    ('the prior for any domain', 'the prior of the domain tabular')
    """
    domains = [domain for domain in DOMAINS if model.endswith(domain)]
    if domains:
        return f"the prior of the domain {domains[0]}"
    if model in [builder.default for builder in BUILDERS.values()]:
        return "the prior for any domain"
    return "the priors given" if model == "unnamed" else f"the model {model}"


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
    raise SpecificationError(
        f"there is no model {name!r}; models: {', '.join(names)}; a file ends with .toml"
        f"{nearest(name, names)}"
    )
