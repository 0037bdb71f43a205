"""``bayes-sota epp`` from the shell: as from Python, every file format, and wrong input."""

import json
from pathlib import Path

import pytest
from simulated_tournaments import simulate_tournament

import bayes_sota as bs
from bayes_sota.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["epp", *map(str, arguments)])
    output = capsys.readouterr()
    return int(caught.value.code or 0), output.out, output.err


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = simulate_tournament([1.0, 0.3, 0.0, -0.3, -1.0], 15, random_seed=0)
    lines = ["task,a,b,c,d,e", *(
        f"t{r}," + ",".join(f"{x:.4f}" for x in row) for r, row in enumerate(table.scores)
    )]  # fmt: skip
    path = tmp_path_factory.mktemp("epp") / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def long_file(folder: Path, tournaments: int) -> Path:
    """Several tournaments of three players, one score per line."""
    lines = ["data,model,split,auc"]
    for k in range(tournaments):
        table = simulate_tournament([1.5, 0, -1.5], 12, random_seed=k)
        for r, row in enumerate(table.scores):
            lines += [f"d{k},m_{i},{r},{x}" for i, x in enumerate(row)]
    path = folder / "long.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_result_is_written(capsys, scores: Path, tmp_path: Path) -> None:
    asked = ("--save", tmp_path / "r.nc")
    code, _, error = run(capsys, scores, *asked)
    assert (code, error) == (0, "")
    tree = bs.read_result(tmp_path / "r.nc")
    fit = bs.fit_epp(bs.read_scores(scores))
    assert tree["point_estimate"]["epp"].values.tolist() == fit.epp.tolist()
    assert "posterior" not in tree


def test_python_says_the_same(capsys, scores: Path) -> None:
    table = bs.read_scores(scores)
    options = {"reading": table.notes, "random_seed": 7}
    report = bs.epp.report_fit(bs.fit_epp(table), pairs=[("a", "e")], **options)
    arguments = (scores, "--test", "a", "e", "--seed", "7")
    found, content = json.loads(run(capsys, *arguments, "--json")[1]), report.to_dict()
    assert found.keys() - {"schema_version"} == content.keys()
    for name in ("title", "deviance_p_value", "notes", "seed"):
        assert found[name] == content[name]
    assert found["test"]["p_value"] == content["test"]["p_value"]
    text = run(capsys, *arguments)[1]
    findings = [line for line in report.legend if "p = " in line or "p < " in line]
    assert len(findings) == 2
    assert all(sentence in text for sentence in findings)


def test_several_tournaments(capsys, tmp_path: Path) -> None:
    path = long_file(tmp_path, 2)
    arguments = (path, "--column", "tournament=data")
    code, out, error = run(capsys, *arguments, "--json", "--save", tmp_path / "r.nc")
    assert (code, error) == (0, "")
    found = json.loads(out)
    assert [one["tournament"] for one in found["tournaments"]] == ["d0", "d1"]
    assert len(found["players"]) == 6
    assert bs.read_result(tmp_path / "r.nc")["point_estimate"]["epp"].shape == (2, 3)


def test_a_player_of_several_tournaments_is_one_player(capsys, tmp_path: Path) -> None:
    """Counted once in the title, the paragraph and on the page, and by ``inspect``."""
    path, page = long_file(tmp_path, 3), tmp_path / "page.html"
    found = json.loads(run(capsys, path, *SEVERAL, "--json", "--save", page)[1])
    assert found["title"] == "3 players in 3 tournaments"
    for shown in (json.dumps(found), page.read_text(encoding="utf-8")):
        assert "9 players" not in shown
    other = tmp_path / "other.csv"  # players who are not in every tournament
    other.write_text(path.read_text().replace("d2,m_0", "d2,x"))
    found = json.loads(run(capsys, other, *SEVERAL, "--json")[1])
    assert found["title"] == "4 players in 3 tournaments"


def test_battles_in_clusters(capsys, tmp_path: Path) -> None:
    battles = tmp_path / "battles.csv"
    battles.write_text(
        "model_a,model_b,winner,prompt\n"
        + "".join(f"x,y,model_a,{k}\ny,z,tie,{k}\nz,x,model_b,{k}\ny,x,model_a,{k}\n"
                  for k in range(6))
    )  # fmt: skip
    code, out, _ = run(capsys, battles, "--column", "cluster=prompt", "--json")
    assert code == 0
    assert json.loads(out)["matches"] == "listed"


RMSE = "task,a,b\nx,1,2\nval_rmse,2,1\nz,2,1\n"
SCORES = "task,a,b\nx,1,2\ny,2,1\nz,1,2\n"
NEVER_LOST = "task,a,b,c\nx,3,2,1\ny,3,1,2\n"
SEVERAL = ("--column", "tournament=data")
TWICE = "data,model,split,auc\n" + "".join(
    f"{d},{m},{s},{(s + len(m)) % 3}\n" for d in "xy" for m in ("a", "bb") for s in range(4)
)
WRONG = [
    ("task,a,b\nx,1,2\ny,1,good\nz,1,2\n", (), 'line 3, column "b"'),
    ("task,a,b,c,d\nx,1,2,,\ny,2,1,,\nz,,,1,2\nw,,,2,1\n", (), "never meet"),
    (NEVER_LOST, (), '"a" never lost to "b", "c"'),
    (NEVER_LOST.replace("task", "") + "z,3,2,1\n", (), "--column entry=NAME or --column unit=NAME"),
    ("", (), "empty"),
    (RMSE, (), "looks like losses"),
    (TWICE, (*SEVERAL, "--plan", "0.2"), "--plan is for one tournament; there are 2"),
    (TWICE, (*SEVERAL, "--save", "f.png"), "this result has no figure"),
    (SCORES, ("--plan", "0.2", "--save", "f.png"), "this result has no figure"),
    ("task,resnet,vit\nx,1,2\ny,2,1\n", ("--test", "resnet", "vitt"), 'did you mean "vit"?'),
    (SCORES, ("--bayes", "--model", "items"), "models for skill over rounds: epp"),
    (SCORES, ("--bayes", "--test", "a", "f"), "no player 'f'"),
    (SCORES, ("--bayes", "--plan", "0.2"), "--plan is for maximum likelihood: leave out --bayes"),
    (NEVER_LOST, ("--bayes", "--matches", "all-rounds"), "for one tournament with finite estimat"),
]


@pytest.mark.parametrize(("text", "options", "message"), WRONG)
def test_wrong_input_is_one_line(capsys, tmp_path: Path, text, options, message) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    code, out, error = run(capsys, path, *options)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error


def test_infinite_estimates_have_a_way_out(capsys, tmp_path: Path) -> None:
    path = tmp_path / "apart.csv"
    path.write_text(NEVER_LOST)
    code, out, _ = run(capsys, path, "--penalty", "0.5", "--json")
    found = json.loads(out)
    assert (code, found["connected"]) == (0, False)
    assert abs(found["players"][0]["epp"]) < 10
    assert any("infinite" in note for note in found["notes"])


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for the form of what is said."""
    few = {"draws": 300, "tune": 300, "chains": 2}
    sample = bs.epp.sample_epp
    monkeypatch.setattr(bs.epp, "sample_epp", lambda *x, **options: sample(*x, **(options | few)))


@pytest.mark.slow
def test_bayesian_model(capsys, scores: Path, tmp_path: Path, few_draws: None) -> None:
    code, out, error = run(
        capsys, scores, "--bayes", "--penalty", "0.5", "--test", "a", "e",
        "--seed", "1", "--json", "--save", tmp_path / "r.nc", "--save", tmp_path / "f.png",
    )  # fmt: skip
    found = json.loads(out)
    assert code == (0 if found["diagnostics"]["ok"] else 1), error
    assert sum(player["p_best"] for player in found["players"]) == pytest.approx(1)
    assert all(0 < player["p_best_mcse"] < 0.05 for player in found["players"])
    assert found["test"]["p_better"] > 0.8
    assert "no effect on --bayes: --penalty" in error
    posterior = bs.read_result(tmp_path / "r.nc")["posterior"]
    assert posterior["epp"].dims == ("chain", "draw", "player")


@pytest.mark.slow
def test_bayesian_model_of_several_tournaments(capsys, tmp_path: Path, not_sampled: list) -> None:
    path = long_file(tmp_path, 3)
    code, out, _ = run(
        capsys, path, "--column", "tournament=data", "--bayes",
        "--test", "m_0", "m_1", "--seed", "1", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == (0 if found["diagnostics"]["ok"] else 1)
    assert found["title"] == "3 players in 3 tournaments, Bayesian"
    assert [one["tournament"] for one in found["tournaments"]] == ["d0", "d1", "d2"]
    assert {"new_tournament", "win_probability_interval"} <= set(found["test"])


BATTLES = "winner,loser\nx,y\ny,x\nx,y\n"


@pytest.mark.parametrize(
    ("text", "options", "note"),
    [
        (RMSE, ("--lower-is-better",), 'Read: tasks from "task", scores of 2 entries'),
        (BATTLES, (), "matches are taken as independent of each other"),
    ],
)
def test_what_to_know_about_the_data_is_noted(capsys, tmp_path, text, options, note) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    notes = json.loads(run(capsys, path, "--json", *options)[1])
    found = " ".join([*notes.get("reading", ()), *notes["notes"]])
    assert note in found


@pytest.mark.slow
def test_the_answer_says_whether_one_player_is_the_best(
    capsys: pytest.CaptureFixture[str], scores: Path, tmp_path: Path
) -> None:
    _, out, _ = run(capsys, scores, "--seed", "1")
    assert "The results do not tell which player is the best: one of a, b" in out
    assert "scores: 5 players, 15 rounds" in out
    rows = ["task,a,b,c", *(f"t{r},{9 if r else 1},{2 + r % 2},{2.5 - r % 2}" for r in range(40))]
    path = tmp_path / "clear.csv"
    path.write_text("\n".join(rows) + "\n")
    _, out, _ = run(capsys, path, "--seed", "1")
    assert "a is the best of 3 players, with 95% confidence." in out
    assert "a has the highest estimated skill (EPP)" in out


@pytest.mark.slow
@pytest.mark.parametrize("matches", ["same-round", "all-rounds"])
def test_missing_scores_are_counted_and_what_they_mean_is_said(capsys, tmp_path, matches) -> None:
    path, page = tmp_path / "gaps.csv", tmp_path / "page.html"
    path.write_text("task,a,b,c\nt,.9,.8,\nu,.7,,.8\nv,.9,.8,\nw,.5,.6,.7\nx,.6,.9,.4\n")
    asked = (path, "--seed", "1", "--matches", matches)
    note = "3 scores missing: a player whose score is missing because it failed looks better"
    found = json.loads(run(capsys, *asked, "--save", page, "--json")[1])
    assert next(line for line in found["notes"] if "missing" in line).startswith(note)
    assert note in " ".join(run(capsys, *asked)[1].split())
    assert note in page.read_text(encoding="utf-8")


def test_missing_scores_of_several_tournaments_are_counted(capsys, tmp_path: Path) -> None:
    whole = long_file(tmp_path, 2)
    assert not any(
        "missing" in n for n in json.loads(run(capsys, whole, *SEVERAL, "--json")[1])["notes"]
    )
    lines = whole.read_text().splitlines(keepends=True)
    whole.write_text("".join(line for place, line in enumerate(lines) if place not in (5, 40)))
    notes = json.loads(run(capsys, whole, *SEVERAL, "--json")[1])["notes"]
    assert any(note.startswith("2 scores missing: a player whose") for note in notes)
