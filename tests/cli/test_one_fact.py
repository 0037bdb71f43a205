"""One number for one fact: every number that a command prints is a number of its JSON.

Each command runs on a bundled example, once for people and once with ``--json``, with the same
seed. Numbers agree to the digits that are printed. The same runs write the table as LaTeX and as
CSV, and the paragraph for a paper is read from the JSON.
"""

import csv
import json
import re

import numpy as np
import pytest
from data.files import EXAMPLES, run

import bayes_sota as bs
from bayes_sota.core.sample import read_result
from bayes_sota.data.examples import load_responses_example

COMMANDS = """
maximum --n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6
maximum --n-test 500 --classifiers 50 --uniform 0.7 0.9
maximum --metric auc --n-test 500 --n-positive 60 --classifiers 50 --theta 0.9
sota --maximum 0.98 --n-test 200 --classifiers 50 --seed 3 --new-score 0.985 +tree
sota leaderboard.csv --n-test 250 --seed 3 --new-score 0.95 +tree
sota answers.csv --seed 3 +tree
board leaderboard.csv --n-test 250 --seed 3
board answers.csv --seed 3
board auc.csv --metric auc --seed 3
paired public_private.csv --n-test-public 250 --n-test-private 1000 --seed 3 +tree
claim classification --accuracy 0.90 0.88 --n-test 500 --rope 0.01 +tree
claim classification --accuracy 0.90 0.88 --n-test 500 --best-of 10 --level 0.1
claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100 +tree
claim plan --accuracy 0.90 0.88 --n-test 400
claim plan --gap 0.02 --sd 0.1 0.12 --pairwise-correlation 0.7 --n-test 300
claim responses answers.csv --seed 3 +tree
claim responses dice.csv --seed 3
claim batch claims.csv
epp rounds.csv --bayes --seed 3
epp rounds.csv --penalty 0.5 --seed 3 +tree
epp seeds.csv --matches all-rounds --penalty 0.5 --seed 3
epp battles.csv --penalty 0.5
"""
# What is printed without being in the JSON, and why that is right.
EXPLAINED = (
    r"\d[\d,]* more (entries are not shown|with --\w+)",  # counts of what is shown
    r"best \d[\d,]* of \d[\d,]* ",
    r"All other \d[\d,]* entries",
    r"A lead of 1 in EPP wins .*? EPP 0( and Elo 1500[^.]*)?",  # a definition
    r"is at least 0\.025",  # (1 - ci_prob) / 2
    r"below it from [\d.]+ %",  # rounded up, so that it is true as printed
    r"at least [\d.]+ % of the items right",  # the same
    r"-?odds.ratio (of )?60",  # one of the assumptions that are always drawn
    r"Eq\. \d",
    r"< 0\.0+1|> 0\.9+",  # beyond what is printed, or what so many draws can tell
    r"correlations from 0 to 1",  # all that is possible
    r"(?<=P\(theta\) is fitted to the best )\d+ of \d+",
    r"about \d[\d,]* fresh items",  # two digits, what an assurance supports
    r"About \d[\d,]* more items would distinguish",  # the same, rounded up
)
IN_JSON = {"p_false": "p_not_below_winner", "epp_se": "se", "epp_se_model": "se_model"}
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


def leaves(value):
    """Numbers and strings of a JSON object, and what its lists count."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from leaves(part)
    elif isinstance(value, list):
        yield len(value)
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield value


def unknown_numbers(text, result):
    """Numbers in a text that are neither numbers nor in strings of a JSON object."""
    for pattern in EXPLAINED:
        text = re.sub(pattern, "", text)
    found = list(leaves(result))
    strings = {token for leaf in found if isinstance(leaf, str) for token in NUMBER.findall(leaf)}
    numbers = np.array([leaf for leaf in found if isinstance(leaf, int | float)], float)
    values, missing = np.concatenate([numbers, 100 * numbers]), []
    for token in NUMBER.findall(text):
        plain = token.replace(",", "").rstrip(".")
        digits, _, power = plain.partition("e")
        unit = 10.0 ** (-len(digits.partition(".")[2]) + int(power or 0))
        near = np.abs(values - float(plain)) <= 0.5 * unit * (1 + 1e-9)
        if not (near.any() or strings & {token, plain}):
            missing.append(token)
    return missing


def check_tree(tree, result):
    """Compare draws or point estimates with the JSON; how many numbers both have."""
    compared = 0
    if "point_estimate" not in tree.children:
        for quantity, row in bs.summarize(tree).iterrows():
            if isinstance(shown := result.get(quantity), dict):
                expected = [shown["mean"], *shown["interval"]]
                found = row[["mean", "lower", "upper"]].tolist()
                assert found == pytest.approx(expected, rel=1e-12)
                compared += 1
        return compared
    rows = {row["name"]: row for row in result.get("methods", [])}
    rows |= {row["player"]: row for row in result.get("players", [])}
    for quantity, values in tree["point_estimate"].data_vars.items():
        key = IN_JSON.get(quantity, quantity) if rows else quantity
        expected = []
        if values.dims in (("classifier",), ("player",)):
            expected = [rows[label][key] for label in map(str, values[values.dims[0]].values)]
        elif not values.dims and key in result:
            expected = [result[key]]
        if expected:
            assert values.values.ravel() == pytest.approx(expected, rel=1e-12), quantity
            compared += len(expected)
    return compared


def check_paragraph(text, result):
    """Numbers of a paragraph are those of the JSON; it names version and seed, and no option."""
    said, _, source = text.removesuffix(")").rpartition("; bayes_sota ")
    said, basis = said[: said.rindex(" (")], said[said.rindex(" (") :]
    assert len(NUMBER.findall(said)) > 1
    assert unknown_numbers(said, result) == []
    assert source.startswith(bs.__version__)
    assert "arXiv" in source or "EPP" in source
    seed = result.get("seed")
    assert seed is None or f"seed {seed}" in basis + source
    assert said.endswith(".")
    assert not re.search(r"--|  |[.][.]|[;:,][.]|nan|None", said), said


def check_csv(text, result):
    """Rows of one length, with all digits of the JSON."""
    header, *rows = csv.reader(text.splitlines())
    assert {len(row) for row in rows} == {len(header)}
    by_name = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    if "mean" in header and "theta_sota" in by_name:
        mean = float(by_name["theta_sota"]["mean"])
        assert mean == pytest.approx(result["theta_sota"]["mean"], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_every_printed_number_is_in_the_json_and_so_is_the_result(
    line, tmp_path, capsys, not_sampled
):
    words, _, tree = line.partition(" +")
    command = [EXAMPLES / word if word.endswith(".csv") else word for word in words.split()]
    paths = {ending: tmp_path / f"result{ending}" for ending in (".tex", ".csv", ".nc")}
    more = ["--save", paths[".nc"]] if tree else []
    printed = []
    for also in (["--save", paths[".tex"]], ["--json", *more, "--save", paths[".csv"]]):
        code, out, error = run(capsys, *command, *also)
        assert code in (0, 1), error
        printed.append(out)
    text, result = printed[0], json.loads(printed[1])
    assert len(NUMBER.findall(text)) > 3
    assert unknown_numbers(text, result) == []
    check_paragraph(result.pop("text"), result)
    check_csv(paths[".csv"].read_text(), result)
    assert paths[".tex"].read_text().count(r"\\") > 1
    assert not tree or check_tree(read_result(paths[".nc"]), result) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["board", "answers"])
def test_commands_give_one_number_for_the_same_file_and_seed(kind):
    answers = bs.Outcomes(load_responses_example("digits").held_out.correct[:749, :300:25])
    board = bs.Leaderboard(np.round(answers.scores, 4), n_test=answers.n_items)
    data = answers if kind == "answers" else board
    table = bs.board_table(data, random_seed=3)
    summary = bs.summarize(bs.estimate_sota(data, random_seed=3))
    for name in ("theta_sota", "rho"):
        row, shown = summary.loc[name], table.content[name]
        found = [shown["mean"], *shown["interval"]]
        assert found == pytest.approx([row["mean"], row["lower"], row["upper"]], rel=1e-12)
    first, winner = table.frame.iloc[0], summary.loc["winner_skill"]
    found = [first[name] for name in ("skill", "skill_lower", "skill_upper")]
    expected = [winner["mean"], winner["lower"], winner["upper"]]
    assert found == pytest.approx(expected, abs=1e-7)  # skills are float32
    if kind == "answers":
        claim = bs.claims.report_methods(answers, random_seed=3).content
        assert claim["selection"]["rho"] == pytest.approx(summary.loc["rho", "mean"], rel=1e-12)
        p_best = dict(zip(table.frame["name"], table.frame["p_best"], strict=True))
        assert p_best == claim["p_best"]


def test_a_number_of_another_computation_is_seen():
    result = {"a": [0.912, 0.9361], "n": 1234}
    assert unknown_numbers("0.91 to 0.93, 90 % of 1,234", result) == ["0.93", "90"]
