"""One number for one fact: every number that a command prints is a number of its JSON.

Each command runs on real answers (the bundled digits: 12 classifiers, halves and blocks of them)
or on the numbers of the bundled examples, once for people and once with ``--json``, with the same
seed. Numbers agree to the digits that are printed. The same runs write the table as LaTeX and as
CSV, and the paragraph for a paper is read from the JSON.
"""

import csv
import json
import re

import numpy as np
import pytest
from data.files import run
from latex_tables import read_tables

import bayes_sota as bs
from bayes_sota.core.sample import read_result
from bayes_sota.data.examples import load_responses_example

COMMANDS = {
    "maximum": "maximum --n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6",
    "maximum of a range": "maximum --n-test 500 --classifiers 50 --uniform 0.7 0.9",
    "maximum auc": "maximum --metric auc --n-test 500 --n-positive 60 --classifiers 50 --theta 0.9",
    "sota of a maximum": "sota --maximum 0.98 --n-test 200 --classifiers 50 --seed 3 "
    "--new-score 0.985",
    "sota of a board": "sota board.csv --n-test 749 --correlation 0.8 --seed 3 "
    "--new-score 0.95",
    "sota of answers": "sota answers.csv --seed 3",
    "board": "board board.csv --n-test 749 --seed 3",
    "board of answers": "board answers.csv --seed 3",
    "paired": "paired paired.csv --n-test-public 300 --n-test-private 449 --seed 3",
    "claim classification": "claim classification --accuracy 0.90 0.88 --n-test 500 --rope 0.01",
    "claim classification, tries":
        "claim classification --accuracy 0.90 0.88 --n-test 500 --best-of 10 --level 0.1",
    "claim segmentation": "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim plan": "claim plan --accuracy 0.90 0.88 --n-test 400",
    "claim plan of means":
        "claim plan --gap 0.02 --sd 0.1 0.12 --pairwise-correlation 0.7 --n-test 300",
    "claim responses": "claim responses answers.csv --seed 3",
    "claim batch": "claim batch review.csv",
    "board of item scores": "board auc.csv --metric auc "
    "--column label=label --seed 3",
    "claim responses of item scores": "claim responses dice.csv --seed 3",
    "epp, bayesian": "epp rounds.csv --bayes --seed 3",
    "epp": "epp rounds.csv --penalty 0.5 --seed 3",
    "epp, all rounds": "epp rounds.csv --matches all-rounds --penalty 0.5 --seed 3",
    "epp of battles": "epp battles.csv --test {first} {second} --penalty 0.5",
}  # fmt: skip
# What is printed without being in the JSON, and why that is right.
EXPLAINED = (
    r"\d[\d,]* more (entries are not shown|with --\w+)",  # counts of what is shown
    r"best \d[\d,]* of \d[\d,]* ",
    r"All other \d[\d,]* entries",
    r"A gap of 1 in EPP wins .*?; 0 is the average player(, 1500 in Elo[^.]*)?",  # a definition
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
WITH_TREE = (
    "sota of a maximum", "sota of a board", "sota of answers", "paired", "claim classification",
    "claim segmentation", "claim responses", "epp",
)  # fmt: skip
IN_JSON = {"p_false": "p_not_below_winner", "epp_se": "se", "epp_se_model": "se_model"}
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files of real answers of 12 classifiers to 749 digits, in the formats of the commands."""
    where = tmp_path_factory.mktemp("facts")
    answers = load_responses_example("digits").held_out
    chosen = list(range(0, 300, 25))
    right = answers.correct[:749, chosen].astype(int)
    names = [answers.names[j].replace(" ", "_") for j in chosen]
    scores, rng = right.mean(axis=0), np.random.default_rng(4)
    items = [f"item {i}" for i in range(len(right))]
    halves = np.round([right[:300].mean(axis=0), right[300:].mean(axis=0)], 4)
    blocks = np.array([block.mean(axis=0) for block in np.array_split(right[:, :6], 8)])
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    battles = [(names[a], names[b], x[a] > x[b]) for x in blocks for a, b in pairs if x[a] != x[b]]
    label = rng.integers(0, 2, 80)
    numbers = np.round(label[:, None] + rng.normal(size=(80, 3)), 3)
    dice = np.round(rng.beta(8, 2, (60, 3)), 3)
    tables = {
        "answers": [["item", *names], *np.column_stack([items, right])],
        "board": [["team", "score"], *zip(names, np.round(scores, 4), strict=True)],
        "paired": [["team", "public_score", "private_score"], *zip(names, *halves, strict=True)],
        "rounds": [["round", *names[:6]], *([f"r{k}", *row] for k, row in enumerate(blocks))],
        "battles": [["winner", "loser"], *((a, b) if won else (b, a) for a, b, won in battles)],
        "review": [["name", "accuracy_a", "accuracy_b", "n_test"], ("Li", 0.90, 0.88, 500),
                   ("Doe", 0.95, 0.85, 500), ("Roe", 0.80, 0.79, 100)],
        "auc": [["item", "label", *names[:3]], *np.column_stack([items[:80], label, numbers])],
        "dice": [["case", *names[:3]], *np.column_stack([items[:60], dice])],
    }  # fmt: skip
    for name, rows in tables.items():
        with (where / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return where


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
    assert not re.search(r"--|  |[.][.]|[.] [a-z]+ [a-z]|[;:,][.]|nan|None", said), said


def check_csv(text, result):
    """Rows of one length, with all digits of the JSON."""
    header, *rows = csv.reader(text.splitlines())
    assert {len(row) for row in rows} == {len(header)}
    by_name = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    if "mean" in header and "theta_sota" in by_name:
        mean = float(by_name["theta_sota"]["mean"])
        assert mean == pytest.approx(result["theta_sota"]["mean"], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_printed_number_is_in_the_json_and_so_is_the_result(
    name, folder, capsys, not_sampled
):
    with (folder / "battles.csv").open() as file:
        first, second = list(csv.reader(file))[1]
    words = COMMANDS[name].format(first=first, second=second).split()
    command = [folder / word if word.endswith(".csv") else word for word in words]
    paths = {ending: folder / f"result of {name}{ending}" for ending in (".tex", ".csv", ".nc")}
    tree = ["--save", paths[".nc"]] if name in WITH_TREE else []
    printed = []
    for more in (["--save", paths[".tex"]], ["--json", *tree, "--save", paths[".csv"]]):
        code, out, error = run(capsys, *command, *more)
        assert code in (0, 1), error
        printed.append(out)
    text, result = printed[0], json.loads(printed[1])
    assert len(NUMBER.findall(text)) > 3
    assert unknown_numbers(text, result) == []
    check_paragraph(result.pop("text"), result)
    check_csv(paths[".csv"].read_text(), result)
    tables = read_tables(paths[".tex"].read_text())
    assert tables
    assert all(len(rows) > 1 for rows in tables)
    assert not tree or check_tree(read_result(paths[".nc"]), result) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["board", "answers"])
def test_commands_give_one_number_for_the_same_file_and_seed(folder, kind):
    answers = bs.read_outcomes(folder / "answers.csv")
    data = answers if kind == "answers" else bs.read_leaderboard(folder / "board.csv", n_test=749)
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
