"""Choice of a named model (``bayes_sota.core.priors``) for an estimate."""

from dataclasses import replace
from typing import Any

from bayes_sota.core.arguments import check_choice, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BUILDERS, BoardPriors, MaximumPriors
from bayes_sota.core.priors import ModelSpecification as ModelSpecification
from bayes_sota.core.priors import load_model as load_model
from bayes_sota.core.priors import model_names as model_names
from bayes_sota.core.schema import DOMAINS, KINDS_OF_FIELD
from bayes_sota.data.observed import Chosen

type Model = ModelSpecification | str | None

_ENSEMBLES = KINDS_OF_FIELD[1]


def chosen_model(
    model: Model,
    builder: str,
    priors: Any = None,
    domain: str | None = None,
    field: str | None = None,
    data: object = None,
) -> ModelSpecification:
    """Specification that an estimate takes: the given one, else the default one of its builder.

    ``priors`` take the place of a model. ``domain`` and ``field`` choose the prior of rho of the
    default model; a download of a competition is by default a field of ensembles.
    """
    if model is not None and priors is not None:
        raise InputError("give either priors or a model, not both")
    if model is None and priors is None:
        implied = isinstance(data, Chosen) and data.is_competition
        return _of_kind(domain, field or KINDS_OF_FIELD[implied], builder)
    given = "priors" if model is None else "a model"
    refuse_unused(given, {"domain": domain, "field": field})
    if model is None:
        return ModelSpecification("unnamed", builder=builder, priors=priors)
    spec = model if isinstance(model, ModelSpecification) else load_model(model)
    if spec.builder != builder:
        right = ", ".join(n for n in model_names() if load_model(n).builder == builder)
        problem = f"the model {spec.name!r} is of the builder {spec.builder}, not {builder}"
        raise InputError(problem, fix=f"take one of {right}")
    return spec


def _of_kind(domain: str | None, field: str, builder: str) -> ModelSpecification:
    if domain is not None:
        check_choice("domain", domain, DOMAINS)
    check_choice("field", field, KINDS_OF_FIELD)
    usual = load_model(BUILDERS[builder].default)
    name = "-".join(([domain] if domain else []) + [field] * (field == _ENSEMBLES))
    of_boards = load_model(name) if name else usual
    if builder == of_boards.builder:
        return of_boards
    priors = replace(usual.priors, correlation=of_boards.priors.correlation)
    return replace(usual, name=f"{usual.name}-{name}", priors=priors)


def of_other_field[P: BoardPriors | MaximumPriors](priors: P) -> list[tuple[str, P]]:
    """The other kind of field than that of the prior of rho, if any, and its priors."""
    for domain in (None, *DOMAINS):
        specs = {kind: _of_kind(domain, kind, "leaderboard") for kind in KINDS_OF_FIELD}
        kinds = {kind: spec.priors.correlation for kind, spec in specs.items()}
        if priors.correlation in kinds.values():
            others = [kind for kind, prior in kinds.items() if prior != priors.correlation]
            return [(kind, replace(priors, correlation=kinds[kind])) for kind in others]
    return []


def notes_on_field(data: object, name: str, asked: Model = None) -> list[str]:
    """Note that a download of a competition counts as a field of ensembles."""
    implied = isinstance(data, Chosen) and data.is_competition and asked is None
    return [
        "entries of a competition are taken for ensembles, which share members, notebooks or "
        "parents and so more of their errors; --field single takes them for single classifiers"
    ] * (implied and name.endswith(_ENSEMBLES))
