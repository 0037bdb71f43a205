"""``bayes-sota epp`` from the shell: as from Python, several tournaments, and wrong input."""

import json

import pytest
from data.files import run as run_command
from data.files import written
from simulated_tournaments import simulate_tournament

import bayes_sota as bs

SEVERAL = ("--column", "tournament=data")
MISSING = "scores missing: a player whose score is missing because it failed looks better"


def run(capsys, *arguments):
    return run_command(capsys, "epp", *arguments)


def found(capsys, *arguments):
    code, out, error = run(capsys, *arguments, "--json")
    assert code in (0, 1), error
    return json.loads(out)


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    table = simulate_tournament([1.0, 0.3, 0.0, -0.3, -1.0], 15, random_seed=0)
    rows = (",".join(map("{:.4f}".format, row)) for row in table.scores)
    lines = ["task,a,b,c,d,e", *(f"t{r},{row}" for r, row in enumerate(rows))]
    return written(tmp_path_factory.mktemp("epp"), "\n".join(lines) + "\n")


def long_file(folder, tournaments):
    """Several tournaments of three players, one score per line."""
    lines = ["data,model,split,auc"]
    for k in range(tournaments):
        table = simulate_tournament([1.5, 0, -1.5], 12, random_seed=k)
        for r, row in enumerate(table.scores):
            lines += [f"d{k},m_{i},{r},{x}" for i, x in enumerate(row)]
    return written(folder, "\n".join(lines) + "\n")


def test_python_says_the_same(capsys, scores, tmp_path):
    fit = bs.fit_epp(bs.read_scores(scores))
    report = bs.epp.report_fit(fit, pairs=[("a", "e")], reading=fit.data.notes, random_seed=7)
    arguments = (scores, "--test", "a", "e", "--seed", "7")
    shown, content = found(capsys, *arguments, "--save", tmp_path / "r.nc"), report.to_dict()
    assert shown.keys() - {"schema_version"} == content.keys()
    for name in ("title", "deviance_p_value", "notes", "seed"):
        assert shown[name] == content[name]
    assert shown["test"]["p_value"] == content["test"]["p_value"]
    text = run(capsys, *arguments)[1]
    findings = [line for line in report.legend if "p = " in line or "p < " in line]
    assert len(findings) == 2
    assert all(sentence in text for sentence in findings)
    tree = bs.read_result(tmp_path / "r.nc")
    assert tree["point_estimate"]["epp"].values.tolist() == fit.epp.tolist()
    assert "posterior" not in tree


def test_a_player_of_several_tournaments_is_one_player(capsys, tmp_path):
    path, page = long_file(tmp_path, 3), tmp_path / "page.html"
    saved = ("--save", page, "--save", tmp_path / "r.nc")
    shown = found(capsys, path, *SEVERAL, *saved)
    assert shown["title"] == "3 players in 3 tournaments"
    assert [one["tournament"] for one in shown["tournaments"]] == ["d0", "d1", "d2"]
    assert "9 players" not in page.read_text(encoding="utf-8")
    assert bs.read_result(tmp_path / "r.nc")["point_estimate"]["epp"].shape == (3, 3)
    assert not any("missing" in note for note in shown["notes"])
    lines = path.read_text().replace("d2,m_0", "d2,x").splitlines(keepends=True)
    path.write_text("".join(line for place, line in enumerate(lines) if place not in (5, 40)))
    shown = found(capsys, path, *SEVERAL)
    assert shown["title"] == "4 players in 3 tournaments"
    assert any(note.startswith(f"2 {MISSING}") for note in shown["notes"])


@pytest.mark.slow
def test_bayesian_models(capsys, scores, tmp_path, not_sampled):
    saved = ("--save", tmp_path / "r.nc", "--save", tmp_path / "f.png")
    asked = ("--bayes", "--penalty", "0.5", "--test", "a", "e", "--seed", "1", "--json")
    code, out, error = run(capsys, scores, *asked, *saved)
    shown = json.loads(out)
    assert code == (0 if shown["diagnostics"]["ok"] else 1), error
    assert sum(player["p_best"] for player in shown["players"]) == pytest.approx(1)
    assert all(0 < player["p_best_mcse"] < 0.05 for player in shown["players"])
    assert shown["test"]["p_better"] > 0.8
    assert "no effect with --bayes: --penalty" in error
    posterior = bs.read_result(tmp_path / "r.nc")["posterior"]
    assert posterior["epp"].dims == ("chain", "draw", "player")
    path = long_file(tmp_path, 3)
    shown = found(capsys, path, *SEVERAL, "--bayes", "--test", "m_0", "m_1", "--seed", "1")
    assert shown["title"] == "3 players in 3 tournaments, Bayesian"
    assert [one["tournament"] for one in shown["tournaments"]] == ["d0", "d1", "d2"]
    assert "win_probability_interval" in shown["test"]
