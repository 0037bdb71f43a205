"""Logs of evaluation tools against tables by hand, and what is refused of them."""

import gzip
import json
import zipfile
from functools import partial

import numpy as np
import pytest
from data.files import refused, written

from bayes_sota import read_leaderboard, read_outcomes, read_scores
from bayes_sota.data import reading
from bayes_sota.data.reading import read_table, read_tidy

TIME = "2024-06-14T01-05-07.123456"


def scores_of(outcomes) -> dict[str, list[float]]:
    """Outcomes of the items in the order of their names, by model."""
    order = np.argsort(outcomes.items)
    return dict(zip(outcomes.names, outcomes.values[order].T.tolist(), strict=True))


def lines(*rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


# --- lm-evaluation-harness


def sample(doc_id, acc, **more):
    """One line as the tool writes it."""
    about = {
        "doc": {"passage": f"p{int(doc_id) // 2}"},
        "target": "1",
        "resps": [[["-1.5", "False"]]],
    }
    return {"doc_id": doc_id, **about, "doc_hash": f"hash {int(doc_id)}", "acc": acc, **more}


def samples(root, model: str, task: str, *rows, time: str = TIME):
    return written(root, lines(*rows), f"{model}/samples_{task}_{time}.jsonl")


def test_models_of_samples_are_joined_on_the_document(tmp_path) -> None:
    one = samples(tmp_path, "llama", "wino_xl", *(sample(i, i % 2) for i in range(4)))
    two = samples(tmp_path, "mistral", "wino_xl", *(sample(i, 1.0) for i in range(4)))
    for found in (read_outcomes(one, two), read_outcomes(tmp_path)):
        assert scores_of(found) == {"llama": [0, 1, 0, 1], "mistral": [1, 1, 1, 1]}
        assert found.tasks is None
    assert found.clusters == ("p0", "p0", "p1", "p1")
    assert 'clusters from "doc.passage"' in found.notes[0]
    # text and number are the same document; a list is the older form of the file
    older = [sample(doc_id, i > 1) for i, doc_id in enumerate(("0", " 1 ", 2, 3))]
    packed = written(tmp_path, gzip.compress(one.read_bytes()), f"phi/{one.name}.gz")
    found = read_outcomes(one, written(tmp_path, older, f"gemma/{one.name}"), packed)
    assert found.names == ("llama", "gemma", "phi")
    assert found.values.T.tolist() == [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]]


def test_long_passages_are_clusters_beside_tasks_without_any(tmp_path) -> None:
    for model in "ab":
        rows = [sample(i, i % 2, doc={"passage": f"{i // 2}{'text ' * 99}"}) for i in range(4)]
        samples(tmp_path, model, "boolq", *rows)
        samples(tmp_path, model, "arc", *(sample(i, 1, doc={"q": "x"}) for i in range(2)))
        samples(tmp_path, model, "race", *(sample(i, 1, doc={"article": "A"}) for i in range(3)))
    one, two, *passages = read_outcomes(tmp_path).clusters
    assert [passages.count(name) for name in passages] == [2, 2, 2, 2, 3, 3, 3]
    assert (one, two) == ("(alone, arc, 0)", "(alone, arc, 1)")


def test_tasks_and_times_in_names_of_files(tmp_path) -> None:
    paths = [
        samples(tmp_path, model, task, *(sample(i, (i + hour) % 2) for i in range(3)),
                time=f"2024-06-14T0{hour}-05-07.1")
        for model in ("llama", "mistral") for task in ("arc", "wino") for hour in (2, 1)
    ]  # fmt: skip
    found = read_outcomes(*paths)
    assert (found.n_runs, found.task_weights) == (2, {"arc": 0.5, "wino": 0.5})
    assert sorted(found.items) == sorted(f"{t}/{i}" for t in ("arc", "wino") for i in "012")
    assert (found.values == 0.5).all()  # right in one of two hours
    fewer = read_outcomes(*paths[1:])
    assert (fewer.n_runs, fewer.values[fewer.items.index("arc/0")][0]) == (1, 1)
    copy = written(tmp_path, paths[0].read_bytes(), f"copy/llama/{paths[0].name}")
    refused('"copy/llama" has scores on the fewest', read_outcomes, *paths, copy)


@pytest.mark.parametrize(
    ("layout", "models"),
    [
        ("{m}/seed{k}", "candidate baseline"),
        ("{m}/seed{k}/org__{m}", "candidate baseline"),
        ("{m}/seed{k}/org__base-{m}-s{k}", "candidate baseline"),
        ("2026-11-0{k}/{m}", "candidate baseline"),
        ("seed{k}/org__{m}", "org__candidate org__baseline"),
        ("run1/{m}_seed{k}", "candidate_seed1 candidate_seed2 baseline_seed1 baseline_seed2"),
        ("exp{k}/seed1/{m}", "exp1/candidate exp2/candidate exp1/baseline exp2/baseline"),
    ],
)
def test_folders_called_like_runs_are_runs(tmp_path, layout, models) -> None:
    for model, right in (("candidate", 1), ("baseline", 0)):
        for k in (1, 2):
            place = layout.format(m=model, k=k)
            samples(tmp_path, place, "arc", *(sample(i, right) for i in range(3)))
    found = read_outcomes(tmp_path)
    assert set(found.names) == set(models.split())
    assert all(found.scores[j] == ("candidate" in name) for j, name in enumerate(found.names))
    assert found.n_runs == 4 / len(found.names)


def test_samples_whose_file_names_no_task_are_refused_beside_others(tmp_path) -> None:
    samples(tmp_path, "a", "arc", *(sample(i, 1) for i in range(3)))
    written(tmp_path, lines(*(sample(i, 0) for i in range(3))), "b_samples.jsonl")
    refused('column "task": a name is needed', read_outcomes, tmp_path)


def test_runs_of_one_model_are_one_model(tmp_path) -> None:
    for k in (1, 2):
        samples(tmp_path, f"m/seed{k}", "arc", *(sample(i, i > k) for i in range(3)))
    found = read_outcomes(tmp_path / "m")
    assert (found.names, found.n_runs) == (("m",), 2)
    assert 'folders called "seed1", "seed2" hold runs of their models' in found.notes


def test_one_of_several_metrics_and_filters_counts(tmp_path) -> None:
    rows = [sample(i, None, filter="strict", em=x) for i, x in enumerate((1, 0, 0))]
    rows += [sample(i, None, filter="flexible", em=x) for i, x in enumerate((1, 1, 0))]
    path = written(tmp_path, lines(*rows), "b.jsonl")
    refused('metrics "em,strict", "em,flexible"; choose with metric=', read_outcomes, path)
    assert scores_of(read_outcomes(path, metric="em,flexible")) == {"b": [1, 1, 0]}
    refused('no metric "f1"; there are "em,s', read_outcomes, path, metric="f1")
    rows = [sample(i, i % 2, acc_norm=1.0, perplexity=5.0 - i) for i in range(3)]
    path = written(tmp_path, lines(*rows), "a.jsonl")
    found = read_outcomes(path)
    assert scores_of(found) == {"a": [0, 1, 0]}
    assert 'scores are "acc"; there are also "acc_norm"' in found.notes
    for metric in ("perplexity", "acc+perplexity"):  # also as losses
        refused('"acc_norm" .perplexities of samples are log', read_outcomes, path, metric=metric,
                direction="lower")  # fmt: skip
    for task, more in (("arc", {"acc_norm": 1.0}), ("gsm", {"f1": 1.0})):
        samples(tmp_path / "m", "x", task, *(sample(i, 0.0, **more) for i in range(3)))
    both = read_outcomes(tmp_path / "m", metric="acc_norm+f1")
    assert scores_of(both) == {"x": [1] * 6}
    left = read_outcomes(tmp_path / "m", metric="f1").notes  # arc has none
    assert 'scores are "acc", "f1"; there are also "acc_norm"' in left
    refused('no metric "em"', read_outcomes, tmp_path / "m", metric="acc_norm+em")
    for acc in (None, float("nan")):
        other = written(tmp_path, lines(*(sample(i, acc, bleu=1) for i in range(3))), "c.jsonl")
        refused('"c" has no scores by "acc"; name a metric', read_outcomes, path, other)


def test_tasks_without_scores_of_items_are_left_out(tmp_path) -> None:
    for model in "ab":
        samples(tmp_path, model, "arc", *(sample(i, i % 2) for i in range(3)))
        likelihoods = (sample(i, [-9.1, 7], word_perplexity=[-9.1, 7]) for i in range(2))
        samples(tmp_path, model, "wikitext", *likelihoods)
        samples(tmp_path, model, "lambada", *(sample(i, None, perplexity=-4.5) for i in range(2)))
        written(tmp_path, {"n-shot": {"arc": "ab".index(model)}}, f"{model}/results_{TIME}.json")
    found = read_outcomes(tmp_path, leave_out=["wikitext"])
    assert found.n_items == 3
    assert 'left out tasks without scores of single items: "lambada", "wikitext"' in found.notes
    note = 'prompts differ in "arc" ("a" has 0-shot prompts, "b" has 1-shot prompts)'
    assert f"{note}: is this comparison meant?" in found.notes
    for task in ("wikitext", "lambada"):
        files = tmp_path.rglob(f"samples_{task}_*")
        refused("has no scores of items; results_.*whole texts", read_outcomes, *files)


def results(folder, model: str, **more):
    mmlu = {"alias": "mmlu", "acc,none": 0.5, "acc_stderr,none": 0.01}
    law = {"alias": " - law", "acc,none": 0.6, "acc_stderr,none": 0.02, "acc_norm,none": 0.7}
    gsm = {"alias": "gsm8k", "exact_match,strict": 0.3, "exact_match_stderr,strict": 0.03}
    value = {
        "results": {"mmlu": mmlu, "mmlu_law": law, "gsm8k": gsm},
        "group_subtasks": {"mmlu": ["mmlu_law"], "gsm8k": []},
        "n-samples": {"mmlu_law": {"original": 200, "effective": 100}, "gsm8k": {"effective": 50}},
        "higher_is_better": {"mmlu_law": {"acc": True}, "gsm8k": {"exact_match": True}},
        "model_name": model,
    }
    return written(folder, value | more, f"{model}/results_{TIME}.json")


def test_results_are_a_row_per_task(tmp_path) -> None:
    path = results(tmp_path, "llama")
    assert read_table(path).columns["metric"] == ["acc", "exact_match,strict"]
    results(tmp_path, "phi")
    tidy = read_tidy(tmp_path)
    grid, (models, tasks) = tidy.pivot("entry", "task")
    assert (models, tasks) == (["llama", "phi"], ["mmlu_law", "gsm8k"])
    np.testing.assert_allclose(grid, [[0.6, 0.3]] * 2)
    numbers = {role: of.tolist() for role, of in tidy.numbers.items()}
    assert numbers == {"n": [100, 50] * 2, "se": [0.02, 0.03] * 2}
    assert read_scores(tmp_path, score="acc_norm").scores.tolist() == [[0.7, 0.7], [0.3, 0.3]]
    refused('no metric "f1"; there are "acc', read_table, path, "f1")


def test_results_say_in_which_direction_they_are_better(tmp_path) -> None:
    lower = {"alias": "wiki", "word_perplexity,none": 12.5, "word_perplexity_stderr,none": "N/A"}
    told = {"higher_is_better": {"wiki": {"word_perplexity": False}}}
    one, mixed = tmp_path / "one", tmp_path / "mixed"
    for model in "ab":
        results(one, model, results={"wiki": lower}, **told)
        results(mixed, model, results={"wiki": lower, "gsm8k": {"alias": "x", "acc,none": 0.3}})
    assert read_tidy(one).lower_is_better
    for reader in (read_leaderboard, read_outcomes, partial(read_outcomes, direction="lower")):
        refused("lower is better in some tasks, higher in others", reader, mixed)
    assert read_scores(mixed).lower_is_better.tolist() == [True, False]
    assert not read_tidy(mixed, leave_out=["wiki"]).lower_is_better


def test_real_logs(tmp_path, data_directory) -> None:
    section = json.loads((data_directory / "formats/lm_eval_results_section.json").read_text())
    members = [task for task in section if task.startswith("metabench_")]
    value = {"results": section, "group_subtasks": {"metabench": members}}
    table = read_table(written(tmp_path, value, "x.json"))
    assert table.columns["task"] == members
    assert table.columns["metric"][:2] == ["acc", "exact_match,strict-match"]
    log = json.loads((data_directory / "formats/inspect_ai_eval_log_trimmed.json").read_text())
    second = log["samples"][0] | {"id": 2, "scores": {"match": {"value": "C", "answer": "Yes"}}}
    log["samples"].append(second)  # the fragment has one sample, answers need two
    found = read_outcomes(written(tmp_path, json.dumps(log, indent=2), "one.json"))
    assert (found.names, found.correct.tolist()) == (("ollama/llama3.1",), [[0], [1]])


# --- inspect_ai


def log_of(model: str, *scores, **more):
    """Log whose samples have one score each, by the scorer match."""
    about = {"model": model, "task": "quiz", "created": "2024-10-15T12:53:13-04:00", "run_id": "r"}
    rows = [
        {"id": i, "epoch": 1, "scores": {"match": {"value": value}}, "metadata": {"ward": f"w{i}"}}
        for i, value in enumerate(scores, start=1)
    ]
    return {"version": 2, "status": "success", "eval": about, "samples": rows} | more


def archived(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


def archive_of(path, log):
    """The same log as .eval; its samples need not be samples."""
    members = {f"samples/{n}_epoch_1.json": row for n, row in enumerate(log["samples"], start=1)}
    members["header.json"] = {key: value for key, value in log.items() if key != "samples"}
    return archived(path, {"_journal/start.json": {}, **members})


def test_a_folder_may_have_both_kinds_of_logs(tmp_path) -> None:
    archive_of(tmp_path / "a.eval", log_of("a", "C", "I"))
    written(tmp_path, log_of("b", "I", "C"), "2024-10-15T12-53-13-04-00_quiz_x1.json")
    written(tmp_path, {"a.eval": {}}, "logs.json")  # a list that the tool may write beside them
    assert scores_of(read_outcomes(tmp_path)) == {"a": [1, 0], "b": [0, 1]}


def test_grades_of_logs_and_archives(tmp_path) -> None:
    one = written(tmp_path, log_of("openai/a", "C", "I", "N", True, 0, "yes"), "one.json")
    two = archive_of(tmp_path / "two.eval", log_of("openai/b", "I", "C", "C", False, "1", "no"))
    found = read_outcomes(one, two, cluster="metadata.ward")
    assert found.correct.T.tolist() == [[1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0]]
    assert (found.items[0], found.clusters[0]) == ("1", "w1")
    partial = written(tmp_path, log_of("c", "P", "C", 0.25, "I", "I", "I"), "p.json")
    assert scores_of(read_outcomes(two, partial))["c"] == [0.5, 1, 0.25, 0, 0, 0]


def test_epochs_and_later_logs_are_runs(tmp_path) -> None:
    paths = []
    for model in "ab":
        log = log_of(model, "C", "I", "C")
        second = [row | {"epoch": 2, "scores": {"match": {"value": "I"}}} for row in log["samples"]]
        paths.append(written(tmp_path, log | {"samples": second + log["samples"]}, f"{model}.json"))
    assert read_outcomes(*paths).values.T.tolist() == [[0.5, 0, 0.5]] * 2
    copy = written(tmp_path, paths[0].read_bytes(), "copy.json")
    refused("already on .* .6 rows in all.; remove duplicate rows", read_outcomes, *paths, copy)
    later = log_of("a", "C", "C", "C")
    later["eval"]["created"] = "2025-01-01T00:00:00"
    found = read_outcomes(*paths, written(tmp_path, later, "later.json"))
    assert found.values.round(3).T.tolist() == [[0.667, 0.333, 0.667], [0.5, 0, 0.5]]


def test_scorers_are_chosen_and_samples_without_a_score_left_out(tmp_path) -> None:
    path = written(tmp_path, log_of("a", {"f1": 0.5, "em": 0}, {"f1": 1.0, "em": 1}), "a.json")
    refused('metrics "match.f1", "match.em"', read_outcomes, path)
    for metric, right in (("match.em", [0, 1]), ("match.f1", [0.5, 1])):
        assert scores_of(read_outcomes(path, metric=metric)) == {"a": right}
    plus = written(tmp_path, log_of("a", {"f+1": 0.5, "em": 0}, {"f+1": 1.0, "em": 1}), "p.json")
    assert scores_of(read_outcomes(plus, metric="match.f+1")) == {"a": [0.5, 1]}
    log = log_of("a", "C", "I", float("nan"), *"C" * 38, status="error")
    log["samples"][4]["scores"] = None
    one = written(tmp_path, log, "a.json")
    found = read_outcomes(one, written(tmp_path, log_of("b", *"CI" * 20, "C"), "b.json"))
    assert set(found.items).isdisjoint(("3", "5"))


def test_broken_archives_and_bombs(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive_of(tmp_path / "f.eval", log_of("a", *"CC" * 50))
    content = bytearray(path.read_bytes())
    content[content.index(b"samples/1_epoch_1.json") + 30] ^= 255
    head, first = log_of("a"), "samples/1_epoch_1.json"
    for file, message in (
        (written(tmp_path, bytes(content), "broken.eval"), "broken.eval: cannot be read"),
        (archived(tmp_path / "a.eval", {"_journal/start.json": {}}), "is not finished"),
        (archived(tmp_path / "b.eval", {"header.json": [], first: {"id": 1}}), "eval"),
        (archived(tmp_path / "c.eval", {"header.json": head, first: '{"id": 1, '}), "is not JSON"),
        (archive_of(tmp_path / "d.eval", head), "d.* has no "),
        (archive_of(tmp_path / "e.eval", head | {"samples": [{"scores": {}}]}), '"id" is missing'),
    ):
        refused(message, read_outcomes, file)
    monkeypatch.setattr(reading, "MOST_BYTES", 600)
    packed = gzip.compress(lines(sample(0, 1)).encode() * 1000)
    for bomb in (path, written(tmp_path, packed, "bomb.jsonl.gz")):
        refused(rf"{bomb.name}: holds more than 600 bytes", read_outcomes, bomb)


# --- Every Eval Ever


def records(folder, *rows):
    return written(folder, lines(*rows), "x_samples.jsonl")


def quiz(scores, task: str = "quiz", **more):
    """One record for each sample of each model."""
    return [
        {"model_id": model, "evaluation_name": task, "sample_id": f"s{i}",
         "evaluation": {"score": score}, "evaluation_id": f"{model}-1"} | more
        for model, of in scores.items() for i, score in enumerate(of)
    ]  # fmt: skip


def test_evaluations_are_tasks_and_repeats_are_runs(tmp_path) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]}) + quiz({"a": [1, 1], "b": [1, 1]}, "exam")
    refused("has a score already", read_outcomes, records(tmp_path, *rows, *rows))
    again = quiz({"a": [0, 0], "b": [0, 1]}, evaluation_id="2")
    again += quiz({"a": [1, 0], "b": [1, 1]}, "exam", evaluation_id="2")
    path = records(tmp_path, *rows, *again)
    for source in (path, tmp_path):
        found = read_outcomes(source)
        assert (found.n_runs, found.tasks) == (2, ("quiz", "quiz", "exam", "exam"))
        assert (found.names, found.items[:2]) == (("a", "b"), ("quiz/s0", "quiz/s1"))
        assert found.values.tolist() == [[0.5, 0], [0, 1], [1, 1], [0.5, 1]]
    epochs = [quiz({"a": of}, metadata={"epoch": e}) for e, of in ((1, ["1.0", 0]), (2, [1, 1]))]
    assert read_outcomes(records(tmp_path, *epochs[0], *epochs[1])).values.tolist() == [[1], [0.5]]


# --- all of them (what is refused: ``wrong.json``)


def test_folders_of_logs(tmp_path) -> None:
    """Of every tool; what else lies in a folder of samples does not matter."""
    inspect, lm = (tmp_path / name for name in ("inspect", "lm"))
    for model, right in {"a": (1, 0, 1, 1), "b": (1, 1, 0, 0)}.items():
        written(inspect, log_of(model, *right), f"{model}.json")
        samples(lm, model, "quiz", *(sample(i, float(x)) for i, x in enumerate(right)))
        results(lm, model)
    for folder in (inspect, lm):
        assert read_outcomes(folder).scores.tolist() == [0.75, 0.5]
    archive_of(lm / "x.eval", log_of("a", "C", "I"))
    refused("of one format", read_outcomes, lm)
    (tmp_path / "empty").mkdir()
    refused("is a folder without logs", read_outcomes, tmp_path / "empty")
