"""Bad input is one line that says why and what would be right, exit code 2, and no output."""

import re
from pathlib import Path

import pytest
from data.files import EXAM, run

BOARD = "".join(f"team {k},{k / 500:.3f}\n" for k in range(400, 460, 3))
OUTPUTS = "".join(f"{i},{int(i < 9)},{i % 7 / 10},{i % 4 / 10}\n" for i in range(30))
FILES = {
    "teams.csv": f"team,score\n{BOARD}",
    "outputs.csv": f"id,label,a,b\n{OUTPUTS}",
    "pair.csv": "team,public,private\na,0.9,0.8\nb,0.7,0.85\nc,0.6,0.5\nd,0.6,0.6\ne,0.5,0.7\n",
    "battles.csv": "winner,loser,tie\na,b,0\nb,c,1\nc,a,0\na,b,0\n",
    "rounds.csv": "round,a,b,c\n1,0.9,0.8,0.7\n2,0.6,0.8,0.7\n3,0.7,0.8,0.75\n",
    "dice.csv": "method,Dice\na,0.87 ± 0.06\nb,0.86 ± 0.07\n",
    "lone.csv": "model,acc\na,0.9\n",
    "one.csv": "item,a\n1,1\n2,0\n3,1\n",
    "unnamed.csv": ",law,art\nx,0.9,0.8\ny,0.7,0.6\n",
    "losses.csv": "dataset,a_rmse,b_rmse\nx,1,2\ny,2,3\n",
    "shapes.csv": "colour,shape\nred,round\nblue,flat\n",
    "apart.csv": "task,a,b,c,d\nx,1,2,,\ny,2,1,,\nz,,,1,2\nw,,,2,1\n",
    "twice.csv": "data,split,a,b\nx,1,1,2\nx,2,2,1\ny,1,1,2\ny,2,2,1\n",
    "review.csv": "accuracy_a,accuracy_b,n_test\n0.90,0.88,500\n0.8,0.9,100\n",
    "unread.csv": "nothing that could be read",
    "exam.csv": Path(EXAM).read_text("utf-8"),
    "averages.csv": "model,law,art\nx,0.9,0.5\ny,0.8,0.7\nz,0.7,0.6\n",
    "sets.csv": "model,data set,acc\na,x,0.9\nb,y,0.8\nc,x,0.7\n",
    "bytask.csv": "task,a,b\nx,0.5,0.6\ny,0.4,0.6\nz,0.8,0.9\n",
    "games.csv": "winner,loser,day\na,b,1\nb,c,1\nc,a,2\na,c,2\nb,a,2\na,b,3\nb,c,3\n",
    "wide.csv": "nb,tree\n0.8,0.9\n0.7,0.8\n0.9,0.8\n0.8,0.7\n",
    "leader.csv": "round,a,b\n1,0.9,0.8\n2,0.9,0.8\n3,0.9,0.6\n",
}
MAXIMUM = "sota --maximum 0.98 --n-test 200 --classifiers 50"
AUC = "sota --metric auc --n-test 100 --classifiers 9"
LAW = "maximum --n-test 100 --classifiers 10"
AUCS = "maximum --metric auc --n-test 100 --classifiers 9 --theta 0.9"
TEAMS = "teams.csv --n-test 500"
CLAIM = "claim classification --n-test 500 --accuracy"
REFUSED = f"""
sota --maximum 9.8 --n-test 200 --classifiers 50 | percent
sota --maximum 0.98 --n-test 0 --classifiers 50 | from 1 to
sota --maximum 0.98 --n-test 200 --classifiers 50:10 | a range A:B needs 1 <= A < B
sota --maximum 0.98 --n-test 200 | --classifiers
board teams.csv --dmain tabular | --domain
boar teams.csv | No such command 'boar'; did you mean "board"
sota --maximum 0.9 --metric score --classifiers 9 --standard-error 1e100 | above 0 and below 1, got
{MAXIMUM} --prob 95 | 0.95
{MAXIMUM} --save /no/such/directory/x.nc | does not exist
{AUC} --maximum 0.49 --n-positive 51 | above 0.5 and at most 1, got 0.49
{AUC} --maximum 0.9 | --n-positive is missing
{AUC} --maximum 0.9 --n-positive 50 --lower-is-better | write an error rate e as 1 - e
{LAW} --theta 0.9 --uniform 0.1 0.2 | either
{LAW} --uniform 0.5 0.9 --correlation 0.9 | at most 0.3973 is possible, or skills from 0.8369
{LAW} --uniform 0.9 0.5 | low < high
{AUCS} | an AUC needs --theta and --n-positive
{AUCS} --n-positive 20 --correlation 1 | at least 0 and below 1
sota teams.csv | 000; give --n-test N, or infer where
sota --maximum 31 --metric score --classifiers 9 --standard-error 1 | a single score of this metric
board averages.csv | items of every task is missing; give --n-test N; an average
board teams.csv --n-test 1e3 | whole number or infer; for tasks 100,200 or A:100,B:200, got "1e3"
board sets.csv --n-test 50 | leave it out with --leave-out 'data set'
paired teams.csv | name them with --column public=A --column private=B
sota {TEAMS} --maximum 0.9 | but not both
sota {TEAMS} --n-test 600 | one FILE takes one --n-test
sota teams.csv --n-test 1,000 | values for 20 scores; give one, or one each (1000, not
sota {TEAMS} --column score=auc | "team", "score"
sota {TEAMS} --method abc | without FILE write --maximum S, --n-test N and --classifiers M
sota {TEAMS} --new-score 92 | in percent? then write 0.92
sota outputs.csv --lower-is-better | larger is better for
board teams.csv --metric score | --standard-error of one score is missing
board pair.csv | holds two boards, which bayes-sota paired reads; --use NAME takes one of them
board battles.csv | holds battles, which bayes-sota epp reads
board lone.csv --n-test 50 | bayes-sota score --right K --n-test N estimates its skill
paired pair.csv --n-test-public 10 | --n-test-private is missing
cv judge lone.csv | say which with --column iteration=NAME and --column fold=NAME; bayes-sota
board unread.csv --save x.nc | .html, .csv, .md, .tex, .json, .txt, .svg, .png, .pdf, got
board unread.csv --seed {2**63} | from 0 to 9,223,372,036,854,775,807
{CLAIM} 0.9x 0.88 | in [0, 1] or in percent, got '0.9x'
{CLAIM} 0.9 --level 0.05 | --accuracy takes 2 values, got 0.9 --level
claim segmentation --mean 81 80 --sd 0.1 0.1 --n-test 9 | write 10% or 0.1%
claim segmentation --mean 81.0% 80.0% --sd 0.3 0.1 --n-test 9 | write 30% or 0.3%
claim segmentation --mean 16 18 --sd 9 9 --n-test 9 | if lower is better (a distance), write
claim segmentation --mean 1.6 1.8 --n-test 9 | got 1.6; a distance needs a minus sign
claim batch review.csv --lower-is-better | write means in FILE with a minus sign instead
board dice.csv | ± numbers that may be SDs over cases or standard errors; write
claim plan --gap 0.1 --accuracy .9 .8 | give --accuracy A B
claim plan --pilot exam.csv --gap 0.1 --accuracy 0.9 0.8 | --gap and --pilot FILE
claim responses exam.csv --by task --pairs | leave out --pair and --by
claim responses exam.csv --pair tree tree | a pair needs two different methods, got 'tree' twice
claim responses exam.csv --require better | name them with --pair
claim responses exam.csv --pair forest tree --require not-worse | needs --margin
claim batch review.csv --save o.csv | line 3: A is the reported winner
epp apart.csv | never meet, so that some differences of skill have no finite estimate; --penalty
epp games.csv --plan 0.2 | name the column of rounds with --column cluster=NAME
claim responses bytask.csv --by task | several items of every task, and no --new
cv judge wide.csv | give --folds K (in Python folds=K) where each row is one fold
epp twice.csv --column tournament=data --plan 0.2 | --plan takes one tournament, and there are 2
epp twice.csv --column tournament=data --save f.png | this result has no figure
epp rounds.csv --test a bb | did you mean "b"?
epp rounds.csv --bayes --plan 0.2 | --plan uses maximum likelihood: leave out --bayes
epp leader.csv --bayes --matches all-rounds | needs one tournament with finite estimat
epp unnamed.csv | column "" does not show which (its NAME is empty); say which with --column entry=
epp leader.csv | ; --penalty 0.5 (half a round of ties) or --bayes (in Python sample_epp) gives
score --right 5 | give FILES with answers, or --right K --n-test N
score --right 5 --n-test 4 | 5 correct answers of 4 items are impossible
score exam.csv --right 5 | give FILES or --right, not both
score exam.csv --metric pass@0 | no column "pass@0"
score teams.csv | is a leaderboard, which bayes-sota board reads
sota one.csv | bayes-sota score estimates its skill
board {TEAMS} --metric pass@2 | --metric must be one of accuracy, auc, score, got 'pass@2'
board {TEAMS} --by task | scores only
inspect losses.csv | --lower-is-better
inspect shapes.csv | no column name looks like scores
epp rounds.csv battles.csv | only files of one kind can be joined; these hold "battles", "wide"
"""
PYTHON_NAMES = re.compile("n_test|n_classifiers|standard_error|n_positive")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_bad_input_is_one_line_about_options_and_exit_code_2(capsys, folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    words, _, expected = line.partition(" | ")
    code, out, error = run(capsys, *words.split())
    assert (code, out, error[:7], error.count("\n")) == (2, "", "error: ", 1)
    assert expected in error
    assert not PYTHON_NAMES.search(error)
    assert {path.name: path.read_text() for path in folder.iterdir()} == FILES


@pytest.mark.parametrize("text", ["", "model,acc\n", "\0\1\2"])
@pytest.mark.parametrize("command", ["sota", "claim batch"])
def test_inspect_is_not_advised_of_what_it_cannot_open(capsys, tmp_path, command, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    code, out, error = run(capsys, *command.split(), path)
    assert (code, out) == (2, "")
    assert error.startswith(f"error: {path}: ")
    assert "bayes-sota inspect" not in error
    path.write_text("model,Dice ± SD\na,0.9 ± 0.1\nb,0.8 ± 0.1\n")
    assert "bayes-sota inspect" not in run(capsys, "sota", path)[2]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("epp unnamed.csv --column entry= --penalty 0.5", "2 players, 2 rounds"),
        ("cv judge wide.csv --folds 2", "nb ranks above tree in the mean"),
        ("epp games.csv --plan 0.2 --column cluster=day", "rounds"),
        (f"{LAW} --uniform 0.5 0.9 --correlation 0.3973", "is 0.3973"),
        (f"{MAXIMUM} --method abc", "winner"),
        ("board pair.csv --use private --n-test 100", '5 entries of "pair" is 0.85'),
    ],
)
def test_what_the_line_advises_works(capsys, folder, monkeypatch, line, told):
    monkeypatch.chdir(folder)
    code, out, _ = run(capsys, *line.split())
    assert code in (0, 1)  # 1: rows were left out
    assert told in out
