"""What tuning promises: against plain loops, exchangeable draws, known laws; refusals."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, run_json
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.tuning import families_of, tuning_promise

LAWS = {
    "normal": lambda rng, size: rng.normal(0.3, 0.6, size),
    "exponential": lambda rng, size: rng.exponential(0.5, size) - 0.5,
    "bounded": lambda rng, size: 1.2 - rng.gamma(2.0, 0.4, size),
    "uniform": lambda rng, size: rng.uniform(-2, 1.3, size),
}


def by_loops(families: dict[str, Any], more: int) -> dict[str, float]:
    """The formula of the module with SciPy's laws, one point of the grids after the other."""
    shapes, scales = np.linspace(-1, 0.5, 31), np.exp(np.linspace(-2.5, 3, 56))
    best = max(x.max() for x in families.values())
    likelihood, beaten = {}, {}
    for name, skills in families.items():
        x = np.sort(skills)[::-1]
        r = max(int(np.ceil(x.size / 4)), 3)
        y = x[:r] - x[r]
        logs, chances = np.empty((31, 56)), np.empty((31, 56))
        zeta = stats.beta(r + 1, x.size - r).ppf((np.arange(32) + 0.5) / 32)
        for (i, xi), (j, scale) in product(enumerate(shapes), enumerate(y.mean() * scales)):
            law = {"c": xi if abs(xi) > 1e-9 else 0.0, "scale": scale}
            logs[i, j] = stats.genpareto.logpdf(y, **law).sum()  # flat in log(scale)
            beyond = stats.genpareto.sf(best - x[r], **law)
            chances[i, j] = np.mean(1 - (1 - zeta * beyond) ** more)
        likelihood[name], beaten[name] = np.exp(logs - logs.max()), chances
    found = {}
    for name in families:
        weight, total = 0.0, 0.0
        for mean, spread in product(np.linspace(-1, 0.5, 16), (0.05, 0.1, 0.2, 0.4, 0.8)):
            law = stats.norm(mean, spread).pdf(shapes)
            law /= law.sum()
            rest = np.prod([law @ of.sum(axis=1) for n, of in likelihood.items() if n != name])
            own = law[:, None] * likelihood[name]
            weight += rest * own.sum()
            total += rest * np.sum(own * beaten[name])
        found[name] = total / weight
    return found


def joined(families: dict[str, Any]) -> tuple[Any, list[str]]:
    return np.concatenate([*families.values()]), [
        name for name, x in families.items() for _ in range(x.size)
    ]


def test_the_sums_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(2)
    families = {name: LAWS[name](rng, 24) for name in ("normal", "bounded")}
    found = {one.family: one.p_beats_best for one in tuning_promise(*joined(families), more=15)}
    assert found == pytest.approx(by_loops(families, 15), rel=1e-6)


def test_scale_and_place_change_nothing() -> None:
    rng = np.random.default_rng(3)
    skills, families = joined({name: law(rng, 20) for name, law in LAWS.items()})
    found, moved = tuning_promise(skills, families), tuning_promise(50 + 7 * skills, families)
    assert [one.p_beats_best for one in moved] == pytest.approx([one.p_beats_best for one in found])


def test_more_configurations_promise_more() -> None:
    skills = np.random.default_rng(4).normal(size=40)
    chances = [tuning_promise(skills, ["a"] * 40, k)[0].p_beats_best for k in (1, 10, 100, 10**6)]
    assert chances == sorted(chances)
    assert chances[0] < 0.06
    assert chances[-1] <= 1


def test_equal_skills_are_no_error() -> None:
    (found,) = tuning_promise(np.zeros(12), ["a"] * 12)
    assert 0 <= found.p_beats_best <= 1


@pytest.mark.parametrize("name", LAWS)
def test_the_only_family_beats_its_best_as_exchangeable_draws_do(name: str) -> None:
    """Of n and k draws of one law the highest is among the k with probability k / (n + k)."""
    rng = np.random.default_rng(5)
    chances = [
        tuning_promise(LAWS[name](rng, 30), ["a"] * 30, 30)[0].p_beats_best for _ in range(60)
    ]
    assert np.mean(chances) > 0.44
    # The shape of a uniform law is the lowest of the grid, so that its tail is taken for longer.
    assert np.mean(chances) < (0.62 if name == "uniform" else 0.56)


@pytest.mark.slow
@pytest.mark.parametrize("more", [20, 100])
def test_probabilities_come_true(more: int) -> None:
    """Over families of four laws, whose places differ: as many are beaten as was said."""
    rng = np.random.default_rng(more)
    said, seen = [], []
    for _ in range(150):
        shifts = rng.normal(0, 0.5, len(LAWS))
        laws = {name: (law, by) for (name, law), by in zip(LAWS.items(), shifts, strict=True)}
        families = {name: law(rng, 30) + by for name, (law, by) in laws.items()}
        best = max(x.max() for x in families.values())
        for one in tuning_promise(*joined(families), more=more):
            law, by = laws[one.family]
            said.append(one.p_beats_best)
            seen.append((law(rng, more) + by).max() > best)
    p, hit = np.array(said), np.array(seen)
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.01)):
        here = (p >= low) & (p < high)
        error = np.sqrt(np.sum(p[here] * (1 - p[here]))) / here.sum()
        assert here.sum() > 30
        assert abs(np.mean(p[here]) - np.mean(hit[here])) < 4 * error + 0.05


@pytest.mark.parametrize(
    ("skills", "families", "more", "message"),
    [
        (np.zeros(9), ["a"] * 9, 5, "no family has 10 configurations"),
        (np.zeros(12), ["a"] * 11, 5, "12|11 finite numbers"),
        (np.full(12, np.inf), ["a"] * 12, 5, "finite numbers"),
        (np.zeros(12), ["a"] * 12, 0, "more"),
    ],
)
def test_refusals(skills: Any, families: list[str], more: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tuning_promise(skills, families, more)


def test_families_stand_before_the_separator() -> None:
    assert families_of(["gbm_1_2", "svm_3"], "_") == ("gbm", "svm")
    for names, separator, message in (
        (["gbm"], "_", "player 'gbm' has no family before '_'"),
        (["_1"], "_", "player '_1' has no family before '_'"),
        (["gbm_1"], "", "family_separator is what stands after the family"),
    ):
        with pytest.raises(InputError, match=message):
            families_of(names, separator)


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tournaments of families of 12, 12 and 3, long."""
    rng = np.random.default_rng(0)
    sizes = {"gbm": 12, "svm": 12, "odd": 3}
    players = [f"{name}_{k}" for name, size in sizes.items() for k in range(size)]
    rows = ["dataset,model,fold,score"]
    for name in ("iris", "wine"):
        skills = rng.normal(0, 1, len(players))
        table = simulate_tournament(skills, 12, players=players, random_seed=rng)
        rows += [
            f"{name},{player},{k},{table.scores[k, j]}"
            for k in range(12)
            for j, player in enumerate(players)
        ]
    path = tmp_path_factory.mktemp("tuning") / "two.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_command_says_what_tuning_promises(
    capsys: pytest.CaptureFixture[str], scores: Path, tmp_path: Path
) -> None:
    one = tmp_path / "one.csv"
    lines = scores.read_text().splitlines()
    one.write_text("\n".join([lines[0][8:], *(s[5:] for s in lines if s[:5] == "iris,")]) + "\n")
    command = ("epp", str(one), "--family-separator", "_", "--repetitions", "0", "--penalty", "0.5")
    found = run_json(capsys, *command, "--more", "50")
    assert found["tuning"]["more"] == 50
    families = {record["family"]: record for record in found["tuning"]["families"]}
    skills = {player["player"]: player["epp"] for player in found["players"]}
    of = {name: [x for player, x in skills.items() if player[:3] == name] for name in families}
    assert {name: len(x) for name, x in of.items()} == {"gbm": 12, "svm": 12}
    assert {name: max(x) for name, x in of.items()} == pytest.approx(
        {name: record["best"] for name, record in families.items()}
    )
    assert "50 more configurations of" in found["text"]
    code, out, _ = run(capsys, *command, "--figure", str(tmp_path / "f.svg"),
                       "--figure-kind", "families")  # fmt: skip
    assert code == 0
    assert "what 20 more configurations of a family promise" in out
    assert "families of fewer than 10 configurations are left out: odd" in out
    assert (tmp_path / "f.svg").stat().st_size > 1000


def test_several_tournaments_have_boxes_and_promises(
    capsys: pytest.CaptureFixture[str], scores: Path, tmp_path: Path
) -> None:
    command = ("epp", str(scores), "--tournament-column", "dataset", "--penalty", "0.5")
    families = (*command, "--family-separator", "_")
    code, out, _ = run(capsys, *families, "--json", "--figure", str(tmp_path / "f.svg"),
                       "--figure-kind", "families")  # fmt: skip
    records = json.loads(out)["tuning"]["families"]
    assert (code, len(records)) == (0, 4)
    assert {record["tournament"] for record in records} == {"iris", "wine"}
    figure = ("--figure", str(tmp_path / "g.svg"))
    for words, message in (
        ((*families, *figure), "--figure has no effect on several tournaments"),
        ((*command, *figure, "--figure-kind", "families"), "needs --family-separator"),
        ((*command, "--more", "5"), "add --family-separator"),
        ((*families, "--bayes"), "--family-separator is for maximum likelihood"),
    ):
        code, out, error = run(capsys, *words)
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert message in error
