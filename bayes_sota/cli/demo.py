"""``bayes-sota demo``, the main job on a real example, and ``bayes-sota examples``."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota import core, data, leaderboard, maximum
from bayes_sota.cli.options import FOLDER, command, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.files import check_writable, make_directory
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.summary import frame_of, list_report
from bayes_sota.core.tables import Report, table_of

CASSAVA_SECOND = 0.9043  # score of the second on its private leaderboard
_TITLE = "Skill of the best classifier (theta_sota) and of the winner"
_LEAD = "obesity-risk"
_LABELS = {
    _LEAD: "obesity risk, as it was",
    "obesity-risk-abc": "  the same by ABC/SMC",
    "obesity-risk-paper": "  with the paper's 13,840 items",
    "cassava": "cassava (counter-example)",
}


@command(uses="prob seed", draws=False, example="demo --output-dir results")
@option("--output-dir", type=FOLDER, default=Path("bayes-sota-demo"), help="Folder of all files.")
def demo(output_dir: Path, prob: float, seed: int) -> Answer:
    """Show what the best score of a real challenge says about its best classifier.

    It analyses the obesity-risk board exactly, by a short ABC/SMC and with the paper's test-set
    size, and the cassava board as a counter-example.
    """
    from bayes_sota.core.plots import plot_forest, save_figure
    from bayes_sota.leaderboard.summary_sota import setting_of

    make_directory(output_dir)
    check_writable(output_dir / f"{_LEAD}.nc")
    reports: dict[str, Report] = {}
    with shown_progress(len(_LABELS), "examples") as advance:
        for name in _LABELS:
            board = data.load_example(name.removesuffix("-abc"))
            short: Any = {"method": "abc", "draws": 500, "chains": 2}
            how = {"ci_prob": prob, "random_seed": seed} | (short if name.endswith("-abc") else {})
            reports[name] = leaderboard.report_sota(board, sensitivity=name == _LEAD, **how)
            advance()
    trees = {name: report.about for name, report in reports.items()}
    marks = [reports[_LEAD].content["theta_sota"] | {"name": "as given"}]
    for assumption, rows in reports[_LEAD].content["sensitivity"].items():
        for row in rows:
            name = f"{assumption.replace('_', ' ')} {setting_of(assumption, row['value'])}"
            marks.append(row | {"name": name, "weak": True})
    label = f"skill of the best classifier: mean and {prob:.0%} interval"
    files = [core.save_result(tree, output_dir / f"{name}.nc") for name, tree in trees.items()]
    figures = {
        "obesity-risk-posterior": maximum.plot_sota(trees[_LEAD], ci_prob=prob),
        "obesity-risk-sensitivity": plot_forest(marks, label).collection,
        "cassava-posterior": maximum.plot_sota(trees["cassava"], ci_prob=prob),
    }
    files += [save_figure(drawn, output_dir / f"{name}.png") for name, drawn in figures.items()]
    return Answer(_describe(reports, files, seed))


def _describe(reports: dict[str, Report], files: list[Path], seed: int) -> Report:
    lead, rows = reports[_LEAD], []
    headings = ["theta_sota", *lead.tables[0].header[2:4]]
    for name, report in reports.items():
        content, cells = report.content, {row[0]: row for row in report.tables[0].rows}
        row = {"board": _LABELS[name], "best score": f"{content['observed_maximum']:g}"}
        row["items"] = f"{content['n_test']:,}"
        row |= zip(headings, cells["theta_sota"][1:4], strict=True)
        rows.append(row | {"winner": cells["winner_skill"][1]})
    gap = reports["cassava"].content["observed_maximum"] - CASSAVA_SECOND
    results = {name: report.to_dict() for name, report in reports.items()}
    return replace(
        lead,
        make_frame=lambda: frame_of(rows),
        content={"results": results, "files": [str(path) for path in files], "seed": seed},
        tables=[table_of(rows, {head: head for head in rows[0]}, _TITLE)],
        sentences=lead.sentences[:2],
        legend=(
            f"Cassava's winner stood {gap:.4f} above the second ({CASSAVA_SECOND}): a maximum "
            "alone cannot show that; it takes the whole board.",
            f"{len(files)} files in {files[0].parent}/: {', '.join(path.name for path in files)}",
        ),
        footer=(),
        reasons=[f"{name}: {why}" for name, one in reports.items() for why in one.reasons],
    )


@command(draws=False, example="examples --output-dir examples")
@option("--output-dir", type=FOLDER, required=True, help="Folder of the files; none is replaced.")
def examples(output_dir: Path) -> Answer:
    """Write a small file of each kind to try, and README.txt, which describes them."""
    names = [str(file) for file in data.write_examples(output_dir)]
    rows = [{"file": name} for name in names]
    report = list_report("examples", rows, {"file": "file"}, content={"files": names}, basis=())
    return Answer(replace(report, sentences=names, tables=()))
