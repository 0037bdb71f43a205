"""Bad input is one line that says why and what would be right, exit code 2, and no output."""

import re

import pytest
from data.files import run

BOARD = "".join(f"team {k},{k / 500:.3f}\n" for k in range(400, 460, 3))
OUTPUTS = "".join(f"{i},{int(i < 9)},{i % 7 / 10},{i % 4 / 10}\n" for i in range(30))
FILES = {
    "teams.csv": f"team,score\n{BOARD}",
    "outputs.csv": f"id,label,a,b\n{OUTPUTS}",
    "pair.csv": "team,public,private\na,0.9,0.8\nb,0.7,0.85\nc,0.6,0.5\nd,0.6,0.6\ne,0.5,0.7\n",
    "battles.csv": "winner,loser,tie\na,b,0\nb,c,1\nc,a,0\na,b,0\n",
    "rounds.csv": "round,a,b,c\n1,0.9,0.8,0.7\n2,0.6,0.8,0.7\n3,0.7,0.8,0.75\n",
    "blanks.csv": "item,a,b,c\n1,1,0,\n2,1,1,0\n3,0,1,1\n4,1,,1\n",
    "lone.csv": "model,acc\na,0.9\n",
    "unnamed.csv": ",law,art\nx,0.9,0.8\ny,0.7,0.6\n",
    "leader.csv": "round,a,b\n1,0.9,0.8\n2,0.9,0.8\n3,0.7,0.6\n",
}
MAXIMUM = "sota --maximum 0.98 --n-test 200 --classifiers 50"
AUC = "sota --metric auc --n-test 100 --classifiers 9"
LAW = "maximum --n-test 100 --classifiers 10"
AUCS = "maximum --metric auc --n-test 100 --classifiers 9 --theta 0.9"
TEAMS = "teams.csv --n-test 500"
REFUSED = f"""
sota --maximum abc --n-test 200 --classifiers 50 | number
sota --maximum 0.911 --n-test 7 --classifiers 5 | 0.911 of 7 is between
sota --maximum 0.98 --n-test 200 | --classifiers
sota --n-test 200 --classifiers 5 | --maximum
sota --maximum 0.9 --metric score --classifiers 9 --standard-error 1e100 | above 0 and below 1, got
{MAXIMUM} --method magic | magic
{AUC} --maximum 0.9 | --n-positive is missing
{AUC} --maximum 0.9 --n-positive 50 --lower-is-better | write an error rate e as 1 - e
{LAW} --theta 0.9 --uniform 0.1 0.2 | either
{AUCS} | --n-positive is missing: how many test items are positive
sota teams.csv | --n-test is missing
sota teams.csv --n-test many | --n-test takes a whole number or a range A:B or infer, got "many"
sota {TEAMS} --maximum 0.9 | but not both
sota {TEAMS} --n-test 600 | one FILE takes one --n-test
sota {TEAMS} --column score=auc | "team", "score"
sota {TEAMS} --method abc | reads the best score alone: give that one as --maximum
sota {TEAMS} --new-score 92 | in percent? then write 0.92
sota outputs.csv --column label=none | there is no column "none"
sota pair.csv | holds two boards, which bayes-sota paired reads
board teams.csv | --n-test is missing
board {TEAMS} --top 0 | --top must be a whole number from 1
board {TEAMS} --field votes | 'votes' is not one of 'single', 'ensembles'
board pair.csv | --use NAME takes one of them
board battles.csv | holds battles, which bayes-sota epp reads
board lone.csv --n-test 50 | bayes-sota score --right K --n-test N judges it
paired pair.csv --n-test-public 10 | --n-test-private is missing
paired pair.csv --standard-error-private 1 | --standard-error-public is missing
cv judge lone.csv | say which with --column iteration=NAME and --column fold=NAME, or
epp unnamed.csv | column "" does not show which (its NAME is empty); say which with --column entry=
epp leader.csv | ; --penalty 0.5 (half a round of ties) gives finite ones
epp rounds.csv battles.csv | files of one kind can be joined, got
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
