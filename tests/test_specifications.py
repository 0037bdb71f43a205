"""Every named model builds and makes sense."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymc as pm
import pytest
from calibration.sampled_boards import sample_answers
from data.files import refused
from scipy import stats
from test_arviz import exam, pairs

import bayes_sota as bs
from bayes_sota import load_example, load_model
from bayes_sota.core.priors import BUILDERS
from bayes_sota.core.schema import DOMAINS, KINDS_OF_FIELD
from bayes_sota.core.skills import expit, logit
from bayes_sota.crossval import FoldScores
from bayes_sota.leaderboard import ModelSpecification, model_names
from bayes_sota.leaderboard.specification import chosen_model, of_other_field

MODELS = Path(__file__).resolve().parents[1] / "models"
FILES = sorted(path for path in MODELS.glob("*.toml") if path.stem != "fields")
BUILT = [*(path.stem for path in FILES), "language-models", "ensembles"]  # others: another rho
RNG = np.random.default_rng(3)
BEST = load_example("obesity-risk")
BOARD = bs.Leaderboard([0.90, 0.91, 0.88, 0.93, 0.905], n_test=1000)
SCORES = bs.ScoreTable(RNG.normal(size=(12, 3)), players=list("abc"))
ONE_TASK = bs.Outcomes(RNG.integers(0, 4, (60, 3)) / 3, n_runs=3)
FOLDS = FoldScores(RNG.normal([[[[0.8]], [[0.85]], [[0.9]]]], 0.05, (2, 3, 4, 5)))
TREES_OF = {
    "observed_maximum": lambda spec: bs.estimate_sota(BEST, model=spec),
    "leaderboard": lambda spec: bs.estimate_sota(BOARD, model=spec),
    "items": lambda spec: sample_answers(exam(), 0, model=spec),
    "paired": lambda spec: bs.estimate_paired(pairs(), model=spec),
    "epp": lambda spec: bs.sample_epp(bs.epp.build_model(SCORES), specification=spec),
    "crossval": lambda spec: bs.crossval.sample_comparison(FOLDS, model=spec),
}
BY_NUTS = {"items", "epp", "crossval"}  # whose draws other tests judge
SHARES = {"overlap_correlation", "rho", "theta_sota", "expected_sota", "winner_skill", "skill",
          "congruence"}  # fmt: skip


def prose(name: str, part: str) -> str:
    """What the file of a model says in words."""
    file = MODELS / f"{name}.toml"
    fields = tomllib.loads((MODELS / "fields.toml").read_text(encoding="utf-8"))
    table = fields[name] if name in fields else tomllib.loads(file.read_text(encoding="utf-8"))
    return " ".join(table[part].split())


def test_models_are_files_or_kinds_of_fields():
    kinds = {"ensembles", *DOMAINS, *(f"{domain}-ensembles" for domain in DOMAINS)}
    assert set(model_names()) == {path.stem for path in FILES} | kinds
    for name in model_names():
        spec = load_model(name)
        assert spec.name == name
        assert all(prose(name, part) for part in ("description", "meaning", "citation"))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT)
def test_named_model_samples_as_it_says(name, not_sampled):
    """Its name and hash, its settings, a sensible prior; exact draws that can be trusted."""
    spec = load_model(name)
    tree = TREES_OF[spec.builder](spec.name)
    assert {k: tree.attrs[k] for k in ("model_name", "model_hash")} == spec.provenance
    assert tree["posterior"].sizes["chain"] == spec.sampler.chains
    assert len(not_sampled) == (spec.builder in BY_NUTS)
    for settings in not_sampled:
        names = ("draws", "tune", "chains", "target_accept")
        assert {k: settings[k] for k in names} == {k: getattr(spec.sampler, k) for k in names}
    assert spec.builder in BY_NUTS or bs.diagnose(tree)["ok"], bs.diagnose(tree)["reasons"]
    for variable, values in tree["prior"].data_vars.items():
        assert np.isfinite(values).all(), variable
        assert variable not in SHARES or ((values >= 0) & (values <= 1)).all(), variable


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_default_of_every_builder_is_a_file(builder):
    """Priors, sampler and name: all that can change a number."""
    file, default = load_model(BUILDERS[builder].default), chosen_model(None, builder)
    assert default.provenance == file.provenance
    assert file.priors == BUILDERS[builder].priors()


@pytest.mark.parametrize("domain", [None, *DOMAINS])
@pytest.mark.parametrize("builder", ["observed_maximum", "leaderboard", "paired"])
def test_a_domain_and_a_kind_of_field_change_the_prior_of_rho_alone(builder, domain):
    default, found = chosen_model(None, builder), chosen_model(None, builder, domain=domain)
    if domain is not None:
        stated = load_model(domain).priors.correlation
        assert found.priors == replace(default.priors, correlation=stated) != default.priors
    single, ensembles = (
        chosen_model(None, builder, domain=domain, field=kind) for kind in KINDS_OF_FIELD
    )
    assert (single.name, single.priors) == (found.name, found.priors)
    stated = load_model("-".join(filter(None, (domain, "ensembles")))).priors.correlation
    assert ensembles.priors == replace(found.priors, correlation=stated) != found.priors
    assert found.sampler == single.sampler == ensembles.sampler == default.sampler
    assert of_other_field(single.priors) == [("ensembles", ensembles.priors)]
    assert of_other_field(ensembles.priors) == [("single", single.priors)]


@pytest.mark.parametrize("domain", ["leaderboard", *DOMAINS])
def test_ensembles_add_to_the_log_odds_of_rho_what_the_files_say(domain):
    """Mean and sd of the shifted rho by sums over quantiles, and the Beta that has both."""
    ensembles = load_model("ensembles" if domain == "leaderboard" else f"{domain}-ensembles")
    assert ".9 more (sd .3)" in prose(ensembles.name, "meaning")
    levels, others = ((np.arange(n) + 0.5) / n for n in (4000, 400))
    single = logit(load_model(domain).priors.correlation.quantile(levels))
    rho = expit(single[:, None] + 0.9 + 0.3 * stats.norm.ppf(others))
    mean, size = rho.mean(), rho.mean() * (1 - rho.mean()) / rho.var() - 1
    stated = ensembles.priors.correlation  # printed with one decimal
    assert (stated.a, stated.b) == pytest.approx((mean * size, (1 - mean) * size), abs=0.051)


@pytest.mark.parametrize(
    "name",
    [*DOMAINS, "ensembles", *(f"{domain}-ensembles" for domain in DOMAINS), "leaderboard",
     "observed-maximum", "paired-boards"],
)  # fmt: skip
def test_the_prose_of_a_file_has_the_numbers_of_its_prior_of_rho(name):
    spec = load_model(name)
    law = stats.beta(spec.priors.correlation.a, spec.priors.correlation.b)
    low, high = law.ppf([0.025, 0.975])
    assert f"{law.mean():.2f} on average and between {low:.2f} and {high:.2f}" in prose(
        name, "meaning"
    )


def normal_of(ends):
    """Mean and sd of the normal law of which 95 % lie between two ends."""
    return [np.mean(ends), np.diff(ends).item() / (2 * stats.norm.ppf(0.975))]


@pytest.mark.slow
def test_models_of_answers_and_rounds_have_the_priors_that_their_files_state():
    """Read from their variables; ``test_models.py`` of the other rooms has those of the others."""
    priors, skill = load_model("items").priors, load_model("epp").priors
    of_tasks, of_one = (bs.items.build_model(data, priors) for data in (exam(), ONE_TASK))
    rounds = bs.epp.build_model(SCORES, skill)
    for model, variable, expected in (
        (of_one, "location", normal_of(logit(np.array(priors.typical)))),
        (of_tasks, "log_spread", normal_of(np.log(priors.spread))),
        (of_tasks, "item_sd", normal_of(np.log(priors.item_sd))),
        (of_tasks, "task_sd", [0.0, priors.task_scale]),
        (of_tasks, "interaction_sd", [0.0, priors.interaction_scale]),
        (of_tasks, "log_concentration", priors.log_concentration),
        (rounds, "skill_sd", [0.0, skill.skill_scale]),
    ):
        law = model[variable].owner
        found = [float(parameter.eval()) for parameter in law.op.dist_params(law)]
        assert found == pytest.approx(expected, rel=1e-6), variable
    fixed = load_model("mollersen-holsbo-rho").priors
    rho = pm.draw(bs.maximum.build_model(BEST, fixed)["rho"])
    assert float(rho) == pytest.approx(fixed.correlation.quantile(0.5))


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_model_of_another_builder_is_refused_with_the_right_ones(builder):
    right = [name for name in model_names() if load_model(name).builder == builder]
    for name in {kind.default for kind in BUILDERS.values()} - set(right):
        found = refused("is of the builder", chosen_model, name, builder)
        of = f"the model {name!r} is of the builder {load_model(name).builder}, not {builder}"
        assert str(found) == f"{of}; take one of {', '.join(right)}"


def test_an_unknown_model_is_refused_and_own_priors_have_a_name():
    refused(r"model must be one of crossval, .* did you mean", load_model, "leaderbord")
    own = ModelSpecification("own", "leaderboard", bs.Priors(families=("normal",)))
    assert chosen_model(own, "leaderboard") is own
    assert own.sampler == load_model("leaderboard").sampler
