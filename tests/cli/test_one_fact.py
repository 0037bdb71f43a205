"""One number for one fact: every number that a command prints is a number of its JSON.

Each command runs on real answers (the bundled digits: 12 classifiers, halves and blocks of them)
or on the numbers of the bundled examples, once for people and once with ``--json``, with the same
seed. Numbers agree to the digits that are printed. The same runs write the table as LaTeX and as
CSV, and the paragraph for a paper is read from the JSON.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from data.files import run
from latex_tables import read_tables

import bayes_sota as bs
from bayes_sota.core.sample import read_result
from bayes_sota.data.examples import load_responses_example

COMMANDS: dict[str, str] = {
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
)
WITH_TREE = (
    "sota of a maximum", "sota of a board", "sota of answers", "paired", "claim classification",
    "claim segmentation", "claim responses", "epp",
)  # fmt: skip
LONG = {
    "paired", "epp, bayesian", "sota of a maximum", "sota of answers", "board of answers",
    "board of item scores", "claim responses", "board", "epp, all rounds",
    "claim responses of item scores",
}  # fmt: skip
IN_JSON = {"p_false": "p_not_below_winner", "epp_se": "se", "epp_se_model": "se_model"}
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of real answers of 12 classifiers to 749 digits, in the formats of the commands."""
    where = tmp_path_factory.mktemp("facts")
    answers = load_responses_example("digits").held_out
    chosen = list(range(0, 300, 25))
    right = answers.correct[:749, chosen].astype(int)
    names = [answers.names[j].replace(" ", "_") for j in chosen]
    scores = right.mean(axis=0)

    def write(name: str, header: list[str], rows: Any) -> None:
        with (where / name).open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    items = [f"item {i}" for i in range(len(right))]
    write("answers.csv", ["item", *names], np.column_stack([items, right]))
    write("board.csv", ["team", "score"], zip(names, np.round(scores, 4), strict=True))
    halves = np.round([right[:300].mean(axis=0), right[300:].mean(axis=0)], 4)
    columns = ["team", "public_score", "private_score"]
    write("paired.csv", columns, zip(names, *halves, strict=True))
    blocks = np.array([block.mean(axis=0) for block in np.array_split(right[:, :6], 8)])
    write("rounds.csv", ["round", *names[:6]], ([f"r{k}", *row] for k, row in enumerate(blocks)))
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    battles = [(names[a], names[b], x[a] > x[b]) for x in blocks for a, b in pairs if x[a] != x[b]]
    listed = [(a, b) if won else (b, a) for a, b, won in battles]
    write("battles.csv", ["winner", "loser"], listed)
    review = [("Li", 0.90, 0.88, 500), ("Doe", 0.95, 0.85, 500), ("Roe", 0.80, 0.79, 100)]
    write("review.csv", ["name", "accuracy_a", "accuracy_b", "n_test"], review)
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 80)
    numbers = np.round(label[:, None] + rng.normal(size=(80, 3)), 3)
    write("auc.csv", ["item", "label", *names[:3]], np.column_stack([items[:80], label, numbers]))
    dice = np.round(rng.beta(8, 2, (60, 3)), 3)
    write("dice.csv", ["case", *names[:3]], np.column_stack([items[:60], dice]))
    return where


def shown(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, Any]:
    """What a command prints, and its JSON."""
    with (folder / "battles.csv").open() as file:
        first, second = list(csv.reader(file))[1]
    words = COMMANDS[name].format(first=first, second=second).split()
    command = [str(folder / word) if word.endswith(".csv") else word for word in words]
    tree = ["--save", str(folder / f"{name}.nc")] if name in WITH_TREE else []
    tables = [["--save", str(folder / f"table of {name}{ending}")] for ending in (".tex", ".csv")]
    printed = []
    for more in (tables[0], ["--json", *tree, *tables[1]]):
        code, out, error = run(capsys, *command, *more)
        assert code in (0, 1), error
        printed.append(out)
    return printed[0], json.loads(printed[1])


def leaves(value: Any) -> Iterator[Any]:
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


def unknown_numbers(text: str, result: Any) -> list[str]:
    """Numbers in a text that are neither numbers nor in strings of a JSON object."""
    for pattern in EXPLAINED:
        text = re.sub(pattern, "", text)
    found = list(leaves(result))
    strings = {token for leaf in found if isinstance(leaf, str) for token in NUMBER.findall(leaf)}
    numbers = np.array([leaf for leaf in found if isinstance(leaf, int | float)], float)
    values = np.concatenate([numbers, 100 * numbers])
    missing = []
    for token in NUMBER.findall(text):
        plain = token.replace(",", "").rstrip(".")
        if token in strings or plain in strings:
            continue
        _, _, fraction = plain.partition("e")[0].partition(".")
        unit = 10.0 ** (-len(fraction) + int(plain.partition("e")[2] or 0))
        if not np.any(np.abs(values - float(plain)) <= 0.5 * unit * (1 + 1e-9)):
            missing.append(token)
    return missing


def check_summary(tree: xr.DataTree, result: dict[str, Any]) -> int:
    """Compare draws with the JSON; how many quantities both have."""
    compared = 0
    for quantity, row in bs.summarize(tree).iterrows():
        if isinstance(result.get(quantity), dict):
            assert row["mean"] == pytest.approx(result[quantity]["mean"], rel=1e-12)
            ends = [row["lower"], row["upper"]]
            assert ends == pytest.approx(result[quantity]["interval"], rel=1e-12)
            compared += 1
    return compared


def check_estimates(tree: xr.DataTree, result: dict[str, Any]) -> int:
    """Compare point estimates with the JSON; how many numbers both have."""
    rows = {row["name"]: row for row in result.get("methods", [])}
    rows |= {row["player"]: row for row in result.get("players", [])}
    compared = 0
    for quantity, values in tree["point_estimate"].data_vars.items():
        key = IN_JSON.get(str(quantity), str(quantity)) if rows else str(quantity)
        if not values.dims and key in result:
            assert float(values) == pytest.approx(result[key], rel=1e-12), quantity
            compared += 1
        if values.dims in (("classifier",), ("player",)):
            labels = map(str, values[values.dims[0]].values)
            expected = [rows[label][key] for label in labels]
            assert values.values == pytest.approx(expected, rel=1e-12), quantity
            compared += len(expected)
    return compared


def check_paragraph(text: str, result: dict[str, Any]) -> None:
    """Numbers of a paragraph are those of the JSON; it names version and seed, and no option."""
    said, _, source = text.removesuffix(")").rpartition("; bayes_sota ")
    said, basis = said[: said.rindex(" (")], said[said.rindex(" (") :]
    assert len(NUMBER.findall(said)) > 1
    assert unknown_numbers(said, result) == []
    assert source.startswith(bs.__version__)
    assert "arXiv" in source or "EPP" in source
    seed = result.get("seed")
    assert seed is None or f"seed {seed}" in basis + source
    assert re.fullmatch(r".*[.]", said)
    assert not re.search(r"--|  |[.][.]|[.] [a-z]+ [a-z]|[;:,][.]|nan|None", said), said


def check_csv(text: str, result: dict[str, Any]) -> None:
    """Rows of one length, with all digits of the JSON."""
    header, *rows = csv.reader(text.splitlines())
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    by_name = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    if "mean" in header and "theta_sota" in by_name:
        assert float(by_name["theta_sota"]["mean"]) == pytest.approx(
            result["theta_sota"]["mean"], rel=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG), id=n) for n in COMMANDS]
)
def test_every_printed_number_is_in_the_json_and_so_is_the_result(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], not_sampled: list[Any]
) -> None:
    text, result = shown(name, folder, capsys)
    assert len(NUMBER.findall(text)) > 3
    assert unknown_numbers(text, result) == []
    check_paragraph(result.pop("text"), result)
    tables = read_tables((folder / f"table of {name}.tex").read_text())
    assert tables
    assert all(len(rows) > 1 for rows in tables)
    check_csv((folder / f"table of {name}.csv").read_text(), result)
    if name in WITH_TREE:
        tree = read_result(folder / f"{name}.nc")
        check = check_estimates if "point_estimate" in tree.children else check_summary
        assert check(tree, result) > 0


@pytest.mark.slow
def test_commands_give_one_number_for_the_same_file_and_seed(folder: Path) -> None:
    board = bs.read_leaderboard(folder / "board.csv", n_test=749)
    answers = bs.read_outcomes(folder / "answers.csv")
    for data in (board, answers):
        table = bs.board_table(data, random_seed=3)
        summary = bs.summarize(bs.estimate_sota(data, random_seed=3))
        for name in ("theta_sota", "rho"):
            row = summary.loc[name]
            assert table.content[name]["mean"] == pytest.approx(row["mean"], rel=1e-12)
            assert table.content[name]["interval"] == pytest.approx([row["lower"], row["upper"]])
        first, winner = table.frame.iloc[0], summary.loc["winner_skill"]
        assert first["skill"] == pytest.approx(winner["mean"], abs=1e-7)  # skills are float32
        ends = [first["skill_lower"], first["skill_upper"]]
        assert ends == pytest.approx([winner["lower"], winner["upper"]], abs=1e-7)
    claim = bs.claims.report_methods(answers, random_seed=3).content
    assert claim["selection"]["rho"] == pytest.approx(summary.loc["rho", "mean"], rel=1e-12)
    p_best = dict(zip(table.frame["name"], table.frame["p_best"], strict=True))
    assert p_best == claim["p_best"]


def test_a_number_of_another_computation_is_seen() -> None:
    assert unknown_numbers("0.91 to 0.93, 90 % of 1,234", {"a": [0.912, 0.9361], "n": 1234}) == [
        "0.93",
        "90",
    ]
