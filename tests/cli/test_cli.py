"""``maximum``, ``sota``, ``board`` and ``paired``: numbers, keys, files, exit codes."""

import numpy as np
import pytest
from data.files import run, run_json
from schema_names import check_names

import bayes_sota as bs
from bayes_sota.core.sample import read_result

BEST = ("sota", "--maximum", "0.98", "--n-test", 200, "--classifiers", 50, "--seed", 1)
TOP = (1000 * 0.9 + 0.8) / 1001  # the expected best of a thousand skills from 0.8 to 0.9


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A board, and two boards."""
    folder, rng = tmp_path_factory.mktemp("boards"), np.random.default_rng(4)
    theta = 0.8 - 0.05 * rng.exponential(size=36)
    public, private = (rng.binomial(n, theta) / n for n in (500, 1500))
    rows = {
        "teams": [*((f"team {k}", f"{k / 500:.3f}") for k in range(400, 460, 3)),
                  ("=1+1[red]", "0.922")],
        "paired": [(f"[bold]t{i}", a, b) for i, (a, b) in enumerate(np.c_[public, private])],
    }  # fmt: skip
    for name, table in rows.items():
        header = ["team", "public_score", "private_score"] if name == "paired" else ["team,score"]
        lines = [",".join(map(str, row)) for row in (header, *table)]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--theta 0.9 --correlation 0.6", (0.9, 0.9140, 0.0035, 0.9207)),  # row 3 of Table 1
        ("--uniform 0.8 0.9", (TOP, None, None, None)),
        ("--theta 0.9 --metric auc --n-positive 51 --correlation 0", (0.9, 0.9566, None, None)),
    ],
)
def test_laws_of_a_maximum(capsys, options, expected):
    law = run_json(capsys, *f"maximum --n-test 3000 --classifiers 1000 {options}".split())
    found = law["theta_sota"], law["expected_maximum"], law["sd"], law["interval"][1]
    for number, wanted in zip(found, expected, strict=True):
        assert wanted is None or number == pytest.approx(wanted, abs=5e-5)
    assert law["bias"] == pytest.approx(law["expected_maximum"] - law["theta_sota"])
    assert ("independent" in "".join(law["notes"])) == ("--correlation" not in options)


def test_sota_of_a_best_score_is_that_of_python_and_a_wider_interval_holds_a_narrower(capsys):
    wide, narrow = (
        run_json(capsys, *BEST, "--quiet", "--prob", p)["theta_sota"] for p in ("0.99", "0.5")
    )
    board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    draws = bs.estimate_sota(board, random_seed=1)["posterior"]["theta_sota"]
    assert wide["mean"] == narrow["mean"] == pytest.approx(float(draws.mean()))
    (low, high), (left, right) = wide["interval"], narrow["interval"]
    assert low < left < right < high


def test_sota_of_a_board_in_shell_and_python(capsys, files):
    result = run_json(capsys, "sota", files / "teams.csv", "--n-test", 500, "--seed", 1)
    assert {"rho", "family", "n_classifiers"} <= set(result["sensitivity"])
    assert result["theta_sota"]["mean"] < result["observed_maximum"]
    board = bs.read_leaderboard(files / "teams.csv", n_test=500)
    report = bs.leaderboard.report_sota(board, random_seed=1, sensitivity=False)
    same = result.keys() - {"schema_version", "sensitivity", "text"}
    assert {key: report.to_dict()[key] for key in same} == {key: result[key] for key in same}


@pytest.mark.slow
def test_board_prints_a_short_table_and_writes_all_entries(capsys, files, tmp_path):
    base, target = ("board", files / "teams.csv", "--n-test", 500), tmp_path / "table.csv"
    result = run_json(capsys, *base)
    first = result["entries"][0]
    assert first["name"] == "=1+1[red]"
    assert {"name", "score", "skill", "rank_interval", "p_best", "tied_with_best"} <= set(first)
    assert (result["n_test"], result["n_test_source"], result["prob"]) == (500, "given", 0.95)
    out = run(capsys, *base, "--top", 4, "--save", target)[1]
    for words in ("21 entries; 17 more with --top", "=1+1[red]", "team 457", "Note: "):
        assert words in out
    assert "team 400" not in out
    assert "Note: " not in run(capsys, *base, "--quiet")[1]
    content = target.read_text()
    assert all(f"team {k}" in content for k in range(400, 460, 3))
    assert "1,'=1+1[red],0.922," in content


@pytest.mark.slow
def test_paired(capsys, files, tmp_path):
    sizes, path = ("--n-test-public", 500, "--n-test-private", 1500), tmp_path / "known.nc"
    saved = ("--save", path, "--save", tmp_path / "a.svg")
    result = run_json(capsys, "paired", files / "paired.csv", *sizes, *saved)
    tree, winner = read_result(path), result["public_winner"]
    assert (result["n_test"], result["rho"]["learnt"]) == ([500, 1500], True)
    assert result["model"] == tree.attrs["model_name"] == "paired-boards"
    assert winner["shrinkage"] == pytest.approx(winner["public_score"] - winner["expected_private"])
    board = bs.read_paired_boards(files / "paired.csv", n_test=(500, 1500))
    assert bs.leaderboard.describe_paired(tree, board).to_dict()["best"] == result["best"]
    given = ("--known", f"{board.names[3]}={board.private[3]}±0.01", "--leave-out", board.names[3])
    anchored = run_json(capsys, "paired", files / "paired.csv", *sizes[:4], *given)
    assert anchored["n_classifiers"] == result["n_classifiers"] - 1
    said = f"item difficulty is estimated from known skills: {board.names[3]}"
    assert said in anchored["notes"]
    check_names(tree)
    assert tree["predictions"]["public_gain"].shape == tree["posterior"]["skill"].shape
    theta, skill = (tree["posterior"][name].values for name in ("theta_sota", "skill"))
    assert np.all(theta >= skill.max(axis=-1) - 1e-12)
    drawn = bs.plot_sota(tree, backend="none").viz
    best = set(drawn["score"]["skill"].item()["x"].tolist())
    assert best == {result["observed_maximum"]} == {winner["public_score"]}
