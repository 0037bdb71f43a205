"""Every named model parses strictly, writes back, builds and makes sense; wrong files say why."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.priors import (
    BetaCorrelation,
    BoardPriors,
    FixedCorrelation,
    LogitNormalSkill,
    MaximumPriors,
)
from bayes_sota.core.skills import expit
from bayes_sota.data.examples import load_example
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.posterior import leaderboard_posterior
from bayes_sota.leaderboard.specification import (
    ModelSpecification,
    SamplerSettings,
    load_model,
    model_names,
    parse_model,
)
from bayes_sota.maximum.law import maximum_law

MODELS = Path(__file__).resolve().parents[1] / "models"
FILES = sorted(MODELS.glob("*.toml"))
MAXIMUM_FILES = [path for path in FILES if load_model(path).data_kind == "maximum"]
SCORES_FILES = [path for path in FILES if load_model(path).data_kind == "scores"]

VALID = """
name = "valid"
description = "one"
builder = "observed_maximum"
reference_skill = 0.9

[skill]
family = "logit-normal"
typical = [0.4, 0.99]
spread = 0.2

[correlation]
family = "beta"
a = 14
b = 5.0

[sampler]
draws = 500

[data]
name = "board"
maximum = "0.9110"
n_test = 1000
n_classifiers = [10, 100]
"""


def board_of(spec: ModelSpecification) -> Leaderboard:
    return (spec.data or load_example("obesity-risk")).leaderboard()


def prior_predictive_maxima(spec: ModelSpecification, size: int) -> np.ndarray:
    """Expected best observed score of independent classifiers at prior draws of the skills."""
    location, spread = spec.priors.skill.draw(np.random.default_rng(1), size)
    fields = (spec.priors.skill.distribution(location[i], spread[i]) for i in range(size))
    laws = (maximum_law(n_test=1000, n_classifiers=100, skill=field) for field in fields)
    return np.array([law.mean() for law in laws])


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_named_model(path: Path) -> None:
    spec = load_model(path)
    assert spec == load_model(path.stem)
    assert spec.name == path.stem
    assert all((spec.description, spec.meaning, spec.citation))
    assert parse_model(spec.to_toml()) == spec


@pytest.mark.parametrize("path", MAXIMUM_FILES, ids=lambda p: p.stem)
def test_named_model_has_sensible_hyperparameters(path: Path) -> None:
    spec = load_model(path)
    location, spread = spec.priors.skill.draw(np.random.default_rng(0), 2000)
    assert np.all(spread > 0)
    assert 0.3 < np.quantile(expit(location), 0.025) < np.quantile(expit(location), 0.975) < 0.995
    correlation = spec.priors.correlation.quantile(np.linspace(0.001, 0.999, 9))
    assert np.all((correlation >= 0) & (correlation < 1))
    maxima = prior_predictive_maxima(spec, 20)
    assert np.all((maxima > 0.3) & (maxima <= 1))


@pytest.mark.parametrize("path", MAXIMUM_FILES, ids=lambda p: p.stem)
def test_named_model_has_a_finite_density_and_sensible_draws(path: Path) -> None:
    import pymc as pm

    from bayes_sota.maximum import models as maximum

    spec = load_model(path)
    model = maximum.build_model(board_of(spec), spec.priors)
    names = [v.name for v in (*model.free_RVs, *model.deterministics)]
    with model:
        assert np.isfinite(model.compile_logp(mode="FAST_COMPILE")(model.initial_point()))
        draws = pm.draw([model[name] for name in names], draws=50, random_seed=1)
    for name, values in zip(names, draws, strict=True):
        assert np.all(np.isfinite(values)), name
        if name in ("rho", "theta_sota", "expected_sota", "winner_skill"):
            assert np.all((values >= 0) & (values <= 1)), name


@pytest.mark.parametrize("path", SCORES_FILES, ids=lambda p: p.stem)
def test_named_leaderboard_model_fits_a_board(path: Path) -> None:
    spec = load_model(path)
    board = Leaderboard([0.90, 0.91, 0.88, 0.93, 0.905], n_test=1000)
    posterior = leaderboard_posterior(board, spec.priors, draws=200, random_seed=0)
    assert 0.85 < posterior.draws["theta_sota"].mean() < 0.95
    assert posterior.fit.families == spec.priors.families


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('families = ["normal", "cauchy"]', "unknown family 'cauchy'"),
        ("families = [1]", "families must be a list of texts"),
        ("families = []", "one or more different names"),
        ("typical = 0.9", "typical of a whole board must be a pair"),
        ('family = "logit-normal"', "unknown key 'family'"),
    ],
)
def test_wrong_leaderboard_model(change: str, message: str) -> None:
    text = load_model("leaderboard").to_toml()
    key = change.split(" = ")[0]
    lines = [line for line in text.splitlines() if not line.startswith(f"{key} = [")]
    lines.insert(lines.index("[skill]") + 1, change)
    with pytest.raises(SpecificationError, match=message):
        parse_model("\n".join(lines), "wrong.toml")


def test_priors_must_belong_to_the_builder() -> None:
    with pytest.raises(InputError, match="must be Priors, got MaximumPriors"):
        ModelSpecification("x", builder="leaderboard", priors=MaximumPriors())
    with pytest.raises(InputError, match="must be Priors, got BoardPriors"):
        ModelSpecification("x", priors=BoardPriors())


def test_the_default_model_has_the_default_priors() -> None:
    spec = load_model("observed-maximum")
    assert spec.priors == MaximumPriors()
    assert spec.priors == MaximumPriors(LogitNormalSkill(), BetaCorrelation(14, 5))
    assert load_model("obesity-risk-maximum").priors == spec.priors
    assert load_model("leaderboard").priors == BoardPriors()


def test_settings_of_the_other_models() -> None:
    assert model_names() == sorted(path.stem for path in FILES)
    assert load_model("obesity-risk-maximum").data == load_example("obesity-risk")
    assert load_model("mollersen-holsbo-rho").priors.correlation == FixedCorrelation(0.6)
    assert load_model("nearly-equal-classifiers").priors.skill.spread == 0.011
    assert load_model("observed-maximum-beta").priors.skill.family == "beta"
    assert load_model("observed-maximum-uniform").priors.skill.family == "uniform"


def test_missing_parts_take_their_defaults() -> None:
    spec = parse_model(VALID)
    assert spec.sampler == SamplerSettings(draws=500)
    assert spec.data is not None
    assert spec.data.leaderboard().counts == (911, 911)
    assert parse_model(VALID.split("[sampler]")[0]).data is None
    assert (spec.data_kind, spec.reference_skill) == ("maximum", 0.9)


def test_text_over_several_lines_is_one_line() -> None:
    text = VALID.replace('"one"', '"""\none\n  sentence\n"""')
    assert parse_model(text).description == "one sentence"


def test_writing_and_reading_gives_an_equal_specification(tmp_path: Path) -> None:
    spec = replace(parse_model(VALID), citation='A "quoted" \\ back-slashed Møllersen 5′')
    path = spec.write_toml(tmp_path / "copy.toml")
    assert load_model(str(path)) == spec
    assert [p.name for p in tmp_path.iterdir()] == ["copy.toml"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(InputError, match=r"cannot write .*: no space"):
        parse_model(VALID).write_toml(tmp_path / "copy.toml")
    assert not list(tmp_path.iterdir())


def test_hash_follows_the_numbers_and_not_the_prose() -> None:
    spec = parse_model(VALID)
    same = parse_model(VALID.replace('"one"', '"two"').replace("a = 14\n", "a = 14.0\n"))
    assert same.specification_hash == spec.specification_hash
    other = parse_model(VALID.replace("spread = 0.2", "spread = 0.21"))
    assert other.specification_hash != spec.specification_hash
    assert len(spec.specification_hash) == 64


def test_integers_given_in_python_hash_as_the_file_does() -> None:
    file = load_model("observed-maximum")
    python = replace(file, priors=MaximumPriors(correlation=BetaCorrelation(14, 5)))
    assert python.specification_hash == file.specification_hash


def test_a_prior_without_a_toml_form_cannot_be_written() -> None:
    class Own(LogitNormalSkill):
        pass

    with pytest.raises(SpecificationError, match="no TOML form; families: logit-normal"):
        ModelSpecification("own", priors=MaximumPriors(skill=Own())).to_toml()


# what is right | what stands there instead | what is said
TABLE = """
spread = 0.2 | spraed = 0.2 | [skill]: unknown key 'spraed'; allowed: family
[sampler] | [smapler] | unknown key 'smapler'; allowed: name, 
name = "valid" |  | the key 'name' is missing
[correlation] | [correlation.extra] | [correlation]: the key 'family' is
"observed_maximum" | "os.system" | unknown builder 'os.system'; allowed: 
"logit-normal" | "normal" | [skill]: unknown family 'normal'; allowed: 
"beta" | "uniform" | [correlation]: unknown family 'uniform'
"beta" | "fixed" | [correlation]: unknown key 'a'; allowed: family
spread = 0.2 | spread = -0.2 | [skill]: spread must be a standard deviation
[0.4, 0.99] | [0.99, 0.4] | [skill]: typical must be an increasing pair
[0.4, 0.99] | [0.4, 0.5, 0.99] | typical must be a number or a pair of
[0.4, 0.99] | [40, 99] | [skill]: typical must be an accuracy in (0, 1)
spread = 0.2 | spread = "0.2" | [skill]: spread must be a number or a pair of numbers, got '0
a = 14 | a = true | [correlation]: a must be a number, got True
a = 14 | a = [1, 2] | [correlation]: a must be a number, got [1, 2]
a = 14 | a = nan | [correlation]: a must be a finite number, got nan
a = 14 | a = inf | [correlation]: a must be a finite number, got inf
n_test = 1000 | n_test = 10.5 | [data]: n_test must be a whole number
n_test = 1000 | n_test = -1 | [data]: n_test is the number of test items
"0.9110" | "0.91101" | [data]: no number of right answers out of 1000
"0.9110" | 0.9110 | [data]: maximum must be text in quotes, got 0.9
[data] | [[data]] | data must be a table, [data], got [{
draws = 500 | method = "gibbs" | [sampler]: unknown method 'gibbs'; allowed
draws = 500 | draws = 0 | [sampler]: draws must be a whole number of at least 1
draws = 500 | draws = true | [sampler]: draws must be a whole number, got True
draws = 500 | target_accept = 1 | [sampler]: target_accept must be a number above 0 and below 1
reference_skill = 0.9 | reference_skill = 1 | reference_skill must be a number above 0
name = "valid" | name = "../valid" | name must be lower-case words joined
[skill] | [skill | not valid TOML: 
"""
WRONG = [tuple(line.split(" | ")) for line in TABLE.strip().splitlines()] + [
    ('family = "beta"\na = 14\n', 'family = "beta"\n', "[correlation]: the key 'a' is missing"),
    ("a = 14", f"a = 1{'0' * 400}", "[correlation]: a must be a finite number, got 1000"),
    ("n_test = 1000", f"n_test = 1{'0' * 400}", "[data]: n_test must be a whole number"),
    ("n_test = 1000\n", "", "[data]: the key 'n_test' is missing"),
    ("n_test = 1000", 'n_test = 1000\nrounding = "up"', "[data]: rounding must be"),
    ('"one"', '"\\u001b[2J"', "description must be printable text, got"),
    ("a = 14", "a = 14\na = 15", "not valid TOML: Cannot overwrite a value"),
    ("a = 14", f"a = {'9' * 5000}", "not valid TOML: "),
    ("a = 14", f"a = {'[' * 20000}", "not valid TOML: "),
]


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_file(right: str, wrong: str, message: str) -> None:
    assert right in VALID
    with pytest.raises(SpecificationError) as caught:
        parse_model(VALID.replace(right, wrong, 1), "some.toml")
    assert str(caught.value).startswith("some.toml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_binary_file_and_long_file(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"name = \xff")
    (tmp_path / "long.toml").write_text("#" * 100_000)
    with pytest.raises(SpecificationError, match=r"binary\.toml: not UTF-8 text \(line 1, byte 0x"):
        load_model(tmp_path / "binary.toml")
    with pytest.raises(SpecificationError, match=r"long\.toml: longer than 65,536 bytes"):
        load_model(tmp_path / "long.toml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.toml", "there is no such file"),
        ("./absent", "there is no such file"),
        ("a\0b.toml", "there is no such file|cannot be read"),
        ("obesity-risk-maximun", "did you mean 'obesity-risk-maximum'"),
        ("", "there is no model ''; models: leaderboard, mollersen-holsbo-rho, "),
        ("..", "there is no model '..'; models: "),
        (str(MODELS), "is a directory"),
    ],
)
def test_unknown_name(name: str, message: str) -> None:
    with pytest.raises(SpecificationError, match=message):
        load_model(name)


def test_unprintable_prose_given_in_python() -> None:
    with pytest.raises(SpecificationError, match="description must be one line"):
        ModelSpecification("own", description="two\nlines")
