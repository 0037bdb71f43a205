"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on two Kaggle challenges ranked by accuracy.

Tables 2 and 4, Fig. 8 and 9 need the challenges' private leaderboards, which come from a
directory. The standard errors of these tables are between 1e-5 and 1e-4 by the source; the cautious
end is taken.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.shrinkage import FieldEstimate, crop_scores, shrink_scores
from bayes_sota.published.boards import Board, needs_board, read_board
from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable

Published = dict[str, Any]
_CRITERIA: tuple[Any, ...] = ("expected", "upper")
_COUNTED = "teams above"


def shrunk(part: Published, board: Board, **changes: Any) -> FieldEstimate:
    """Estimate by shrinking (Eq. 9) at a challenge's printed settings, some of them changed."""
    return shrink_scores(board.scores, **(_settings(part) | changes))


def law_as_observed(part: Published, board: Board, **changes: Any) -> MaximumLaw:
    """Law of the best score were the scores the skills, to 1e-6."""
    settings = _settings(part) | changes
    skill = board.above(settings.pop("chance"))
    return maximum_law(skill=skill, cap_correlation=True, rough=True, **settings)


def _settings(part: Published) -> dict[str, Any]:
    names = ("n_test", "correlation")
    return {name: part[name] for name in names} | {"chance": 1 / part["n_classes"]}


def compare_table_2(published: Published, data: Path | None) -> list[Comparison]:
    """Table 2: obesity risk, as it is and shrunk; then with other n and other correlation."""
    item, part = "table-2", published["obesity"]
    board = read_board(part["slug"], data)
    if board is None:
        return [needs_board(item, part["slug"])]
    found = [
        _number_of_teams(item, part, board),
        *_printed_table_2(item, published, board, _CRITERIA),
        _lattice_size(item, part, board),
    ]
    sizes = {"printed": part["n_test"], "lattice": board.lattice_size()}
    correlations = {
        "printed": part["correlation"], "formula": part["correlation_by_the_formula"]
    }  # fmt: skip
    for case in part["other_assumptions"]:
        n, rho = sizes[case["n_test"]], correlations[case["correlation"]]
        values = dict(_table_2(part, board, _CRITERIA, n_test=n, correlation=rho))
        found += [
            differ(item, f"n = {n:,}, rho = {rho:g}: {quantity}",
                   part["table2"]["printed"][quantity], values[quantity], pinned,
                   f"printed with n = {part['n_test']:,} and rho = {part['correlation']:g}")
            for quantity, pinned in case["pinned"].items()
        ]  # fmt: skip
    return found


def _table_2(
    part: Published, board: Board, criteria: Iterable[Any], **changes: Any
) -> Iterator[tuple[str, float]]:
    """Quantities of Table 2 and their values."""
    law = law_as_observed(part, board, **changes)
    estimates = [shrunk(part, board, criterion=c, **changes) for c in criteria]
    first, (low, high) = estimates[0], law.interval()
    yield "no multiplicity: lower limit", first.single[0]
    yield "no multiplicity: upper limit", first.single[1]
    yield "no multiplicity: teams above the lower limit", first.n_above_single
    yield "as observed: lower limit", low
    yield "as observed: upper limit", high
    yield "as observed: expected", law.mean()
    for estimate in estimates:
        yield from _rows(estimate)


def _rows(estimate: FieldEstimate) -> Iterator[tuple[str, float]]:
    """Quantities of one row of Table 2 or 4 and their values."""
    name = f"{'shrinking' if estimate.method == 'shrink' else 'cropping'}, {estimate.criterion}"
    low, high = estimate.interval
    yield f"{name}: estimate", estimate.estimate
    yield f"{name}: lower limit", low
    yield f"{name}: upper limit", high
    yield f"{name}: expected", estimate.expected_maximum
    yield f"{name}: {_COUNTED}", estimate.n_above()


def _printed_table_2(
    item: str, published: Published, board: Board, criteria: Iterable[Any]
) -> list[Comparison]:
    part = published["obesity"]
    table = part["table2"]
    found = _judge(item, table, _table_2(part, board, criteria), published["monte_carlo_error"])
    printed = table["printed"]["shrinking, expected: estimate"]
    above = int((board.scores > float(printed)).sum())
    quantity = f"shrinking, expected: {_COUNTED} the printed {printed}"
    teams = table["printed"][f"shrinking, expected: {_COUNTED}"]
    return [*found, compare(item, quantity, teams, above, table["where"])]


def _judge(
    item: str, table: Published, values: Iterable[tuple[str, float]], error: float
) -> list[Comparison]:
    """Compare what a table prints; what it does not print is passed over."""
    found, where = [], table["where"]
    for quantity, value in values:
        printed = table["printed"].get(quantity)
        if printed is None:
            continue
        if quantity in table["pinned"]:
            note = (
                "above the estimate as computed here" if _COUNTED in quantity
                else "by the exact law, the highest score that meets the criterion"
            )  # fmt: skip
            pinned = table["pinned"][quantity]
            found.append(differ(item, quantity, printed, value, pinned, f"{where}; {note}"))
            continue
        exact = "teams" in quantity or quantity.startswith("no multiplicity")
        found.append(compare(item, quantity, printed, value, where, 0.0 if exact else error))
    return found


def _number_of_teams(item: str, part: Published, board: Board) -> Comparison:
    number = part["n_classifiers"]
    return differ(
        item, "teams above chance", number["printed"], board.above(1 / part["n_classes"]).size,
        number["pinned"], f"{part['where']}; so many has the leaderboard as it was read",
    )  # fmt: skip


def _lattice_size(item: str, part: Published, board: Board) -> Comparison:
    note = f"{part['where']}; the smallest number with which every score comes out to its digits"
    return differ(
        item, "size of the test set", str(part["n_test"]), board.lattice_size(),
        part["n_test_lattice"]["pinned"], note,
    )  # fmt: skip


def compare_table_4(published: Published, data: Path | None) -> list[Comparison]:
    """Table 4: obesity risk, cropped."""
    item, part = "table-4", published["obesity"]
    board = read_board(part["slug"], data)
    if board is None:
        return [needs_board(item, part["slug"])]
    found = []
    for criterion in _CRITERIA:
        estimate = crop_scores(board.scores, criterion=criterion, **_settings(part))
        found += _judge(item, part["table4"], _rows(estimate), published["monte_carlo_error"])
    return found


def compare_figure_8(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 8: obesity risk, its numbers being rows 1 to 3 of Table 2."""
    item, part = "figure-8", published["obesity"]
    board = read_board(part["slug"], data)
    if board is None:
        return [needs_board(item, part["slug"])]
    where, best = part["figure"]["where"], float(board.scores.max())
    rows = _printed_table_2(item, published, board, ("expected",))
    known = {one.quantity: one for one in rows}
    estimate = known["shrinking, expected: estimate"].computed or 0.0
    above = known[f"shrinking, expected: {_COUNTED}"].computed or 0
    shift, share = part["shift"], part["share_above"]
    return [
        not_verifiable(item, "histograms", f"{where}: no printed heights; (b) and (d) are draws"),
        compare(item, "highest score", part["maximum"], best, where),
        *rows,
        differ(item, "highest score minus estimate", shift["printed"], best - estimate,
               shift["pinned"], f"{shift['where']}; 0.9116 - 0.9070, each rounded, gives 0.0046"),
        differ(item, "share of teams above the estimate, %", share["printed"],
               100 * above / board.above(1 / part["n_classes"]).size, share["pinned"],
               f"{share['where']}; around a quarter by {part['where']}"),
    ]  # fmt: skip


def compare_cassava(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.1.2: cassava leaf disease, which has no multiplicity to correct."""
    item, part = "cassava", published["cassava"]
    board = read_board(part["slug"], data)
    if board is None:
        return [needs_board(item, part["slug"])]
    estimate, lattice = shrunk(part, board), board.lattice_size()
    as_lattice = shrunk(part, board, n_test=lattice)
    fixed = "we keep the field fixed and the paper redraws it with replacement, which has no root"
    note = f"{part['where']}; {fixed}: {estimate.reason}"
    size = f"with n = {lattice:,}, which the scores' digits show; {fixed}"
    return [
        _number_of_teams(item, part, board),
        *_single_interval(item, part, estimate),
        differ(item, "shrinking: estimate", "none", estimate.estimate, part["pinned_root"], note),
        _lattice_size(item, part, board),
        differ(item, f"n = {lattice:,}: shrinking: estimate", "none", as_lattice.estimate,
               part["n_test_lattice"]["pinned_root"], size),
    ]  # fmt: skip


def _single_interval(item: str, part: Published, estimate: FieldEstimate) -> list[Comparison]:
    ends = zip(part["single"], estimate.single, ("lower", "upper"), strict=True)
    found = [
        compare(item, f"no multiplicity: {end} limit", printed, value, part["where"])
        for printed, value, end in ends
    ]
    others = estimate.n_above_single - 1
    return [
        *found,
        compare(item, "other teams in that interval", part["others_in_single"], others,
                part["where"]),
    ]  # fmt: skip


def compare_figure_9(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 9: cassava leaf disease, its three outliers and the best of a fresh board."""
    item, part = "figure-9", published["cassava"]
    board = read_board(part["slug"], data)
    if board is None:
        return [needs_board(item, part["slug"])]
    where, law = part["figure"]["where"], law_as_observed(part, board)
    top = zip(part["top"], board.above(1 / part["n_classes"])[:3], ("1st", "2nd", "3rd"),
              strict=True)  # fmt: skip
    interval = _single_interval(item, part, shrunk(part, board))
    return [
        not_verifiable(item, "histograms", f"{where}: no printed heights; (b) is one draw"),
        *(compare(item, f"{place} score", printed, score, where) for printed, score, place in top),
        *(replace(one, note=where) for one in interval),
        differ(item, "expected best score, were the scores the skills", f"below {part['top'][0]}",
               law.mean(), part["as_observed"]["pinned"],
               f"{where}; of the fixed field, where it is never below the observed one; the "
               "paper redraws the field with replacement"),
    ]  # fmt: skip
