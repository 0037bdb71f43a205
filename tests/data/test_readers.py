"""Files and frames to leaderboards: what is read, and what each bad file is told."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from data.files import written

from bayes_sota.core.errors import InputError
from bayes_sota.data.files import tables
from bayes_sota.data.readers.boards import read_leaderboard, read_paired_boards

PLAIN = "team,score\nA,0.91\nB,0.94\nC,0.90\n"
NEW_HEADER = "Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames"
NEW = f"""{NEW_HEADER}
1,11,"Ann, Bo",2024-03-01 10:00:00,0.91157,12,"ann, bo"
2,12,Cé 🚀,2024-03-01 11:00:00,0.91139,3,c
3,13,[Deleted] 4f,2024-03-01 12:00:00,0.90001,1,d
4,14,Dee,2024-03-01 13:00:00,0.00000,1,e
5,15,Dee,2024-03-01 13:00:00,0.90001,1,f
6,16,Dee,2024-03-01 13:00:00,0.89008,7,f
"""
OLD = """TeamId,TeamName,SubmissionDate,Score
1,A,2015-01-01,0.80
1,A,2015-01-02,0.90
2,B,2015-01-01,0.85
1,A,2015-01-03,0.88
3,[Deleted] x,2015-01-01,0.95
4,D,2015-01-01,0
5,E,2015-01-01,
"""


def zipped(tmp_path: Path, members: dict[str, str], name: str = "board.zip") -> Path:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def refused(source, message, **options):
    """Read what must be refused, with one line that names the file."""
    with pytest.raises(InputError, match=message) as caught:
        read_leaderboard(source, **{"n_test": 100, **options})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (PLAIN, "board.csv"),
        (PLAIN.replace(",", ";"), "board.csv"),
        (PLAIN.replace(",", "\t"), "board.tsv"),
        ('"team","Score "\n"A","0.91"\n"B",0.94\nC, 0.90\n', "board.csv"),
        ("Model Name,Rank,Test-Accuracy\nA,2,0.91\nB,1,0.94\nC,3,0.90\n", "board.csv"),
        ("accuracy,team,date\n0.91,A,x\n0.94,B,y\n0.90,C,z\n", "board.csv"),
        ('[{"name": "A", "acc": 0.91}, {"name": "B", "acc": "0.94"}, '
         '{"name": "C", "acc": 0.90}]', "board.json"),
        ('{"A": 0.91, "B": 0.94, "C": 0.90}', "board.json"),
    ],
)  # fmt: skip
def test_formats_agree(tmp_path, content, name):
    board = read_leaderboard(written(tmp_path, content, name), n_test=100)
    assert board.names == ("A", "B", "C")
    assert board.scores.tolist() == [0.91, 0.94, 0.9]
    assert (board.decimals, board.rounding, board.notes, board.name) == (2, "nearest", (), "board")
    assert board.submissions is None


def test_frames_and_parquet_agree_with_text(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"team": ["A", "B", "C"], "score": [0.91, 0.94, 0.90]}
    expected = read_leaderboard(written(tmp_path, PLAIN), n_test=100)
    frame = pd.DataFrame(data)
    path = tmp_path / "board.parquet"
    pl.DataFrame(data).write_parquet(path)
    narrow = frame.astype({"score": np.float32})
    for source in (frame, pl.DataFrame(data), path, frame.set_index("team"), narrow):
        board = read_leaderboard(source, n_test=100)
        assert (board.names, board.count_bounds.tolist(), board.decimals) == (
            expected.names, expected.count_bounds.tolist(), 2,
        )  # fmt: skip
    assert read_leaderboard(path, n_test=100).name == "board"
    text = pl.DataFrame({"team": ["A", "B"], "score": ["0.910", "0.9"]})
    assert read_leaderboard(text, n_test=1000).decimals == 3


def test_digits_of_text_and_json_are_kept(tmp_path):
    csv_board = read_leaderboard(written(tmp_path, "m,score\na,0.9110\nb,0.9\n"), n_test=13_840)
    path = written(tmp_path, '{"a": 0.9110, "b": 0.9}', "x.json")
    json_board = read_leaderboard(path, n_test=13_840)
    assert csv_board.count_bounds[0].tolist() == [12608, 12608]
    assert json_board.count_bounds[0].tolist() == [12608, 12608]


@pytest.mark.parametrize("archive", [True, False])
def test_new_kaggle_download(tmp_path, archive):
    name = "slug-publicleaderboard-2024-03-02T000000"
    content = "\N{BYTE ORDER MARK}" + NEW
    path = (
        zipped(tmp_path, {f"{name}.csv": content, f"__MACOSX/._{name}.csv": ""})
        if archive
        else written(tmp_path, content, f"{name}.csv")
    )
    board = read_leaderboard(path, n_test=11_072)
    assert board.names == ("Ann, Bo", "Cé 🚀", "Dee (15)", "Dee (16)")
    assert board.scores.tolist() == [0.91157, 0.91139, 0.90001, 0.89008]
    assert board.submissions.tolist() == [12, 3, 1, 7]
    assert (board.rounding, board.decimals, board.name) == ("floor", 5, name)
    assert board.is_competition
    assert board.notes == ("dropped 1 row of deleted teams", "dropped 1 row with a score of "
                           "exactly 0")  # fmt: skip


def test_old_kaggle_download_keeps_the_best_of_each_team(tmp_path):
    board = read_leaderboard(written(tmp_path, OLD), n_test=100)
    assert board.names == ("A", "B")
    assert board.scores.tolist() == [0.90, 0.85]
    assert board.rounding == "floor"
    assert board.submissions is None
    assert board.notes == (
        "dropped 1 row of deleted teams",
        "dropped 1 row with a score of exactly 0",
        "dropped 1 row without a score",
        "kept the best score of 1 team with several, leaving out 2 rows",
    )


KAGGLE_LOSSES = (
    "Rank,TeamId,TeamName,Score\n1,1,A,0.0\n2,2,B,0.1\n3,3,C,0.4\n3,3,C,0.2\n4,4,D,0.5\n5,5,E,0.7\n"
    "6,6,[Deleted] 6,0.0\n7,7,F,\n"
)


def test_a_loss_of_zero_is_the_best_score_of_a_kaggle_download(tmp_path):
    path = written(tmp_path, KAGGLE_LOSSES)
    options = {"metric": "score", "standard_error": 0.01, "lower_is_better": True}
    board = read_leaderboard(path, **options)
    assert dict(zip(board.names, -board.scores, strict=True)) == {
        "A": 0, "B": 0.1, "C": 0.2, "D": 0.5, "E": 0.7
    }  # fmt: skip
    both = read_paired_boards(path, path, lower_is_better=True)
    assert both.names == ("A", "B", "C", "D", "E")
    assert both.private.tolist() == [0, -0.1, -0.2, -0.5, -0.7]


def test_a_score_of_zero_is_one_where_others_are_negative(tmp_path):
    path = written(tmp_path, "TeamId,TeamName,Score\n1,A,0\n2,B,-0.1\n3,C,-0.2\n")
    board = read_leaderboard(path, metric="score", standard_error=0.01)
    assert (board.names, board.maximum) == (("A", "B", "C"), 0)


def test_options_reach_the_board(tmp_path):
    path = written(tmp_path, "who,public_score,private score\nA,91.5,1\nB,90.25,2\n")
    board = read_leaderboard(
        path, n_test=400, score_column="Public Score", name_column="who", n_classifiers=7,
        percent=True, name="x",
    )  # fmt: skip
    assert (board.names, board.tries, board.name, board.decimals) == (("A", "B"), 7, "x", 4)
    scores = read_leaderboard(
        path, score_column="private score", metric="score", standard_error=0.1
    )
    assert (scores.maximum, scores.standard_error, scores.n_test) == (2.0, 0.1, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("team,score\nA,0.9\nB,n/a\n", "line 3, column 'score': 1 entry has no score, 'B'"),
        ('team;score\nA;0.9\nB;"0,8"\n', "line 3, column 'score' .* got '0,8'"),
        ("team,score\nA,0.9\nB\n", "line 3 has 1 cells, the header has 2"),
        ("team,score\nA,0.9\nA,0.8\n", "line 3, column 'team': entry 'A' is already on line 2"),
        ("team,score,accuracy\nA,1,1\n", r"2 columns look like scores .*say which with score_col"),
        (f"{NEW_HEADER}\n1,1,[Deleted] a,x,0.9,1,a\n", "no entries are left: dropped 1 row"),
        (f"{NEW_HEADER}\n1,1,A,x,0.9,1,a\n2,2,B,x,0.8,0,b\n", "submissions are whole numbers"),
    ],
)  # fmt: skip
def test_a_bad_text_file_is_told_what_is_wrong(tmp_path, content, message):
    assert str(tmp_path / "board.csv") in refused(written(tmp_path, content), message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", r"is not JSON \(line 1, column 2: "),
        ("", "board.json: the file is empty"),
        ("[0.9, 0.8]", "record 1 is not an object: 0.9"),
        ('[{"name": "A", "score": 0.9}, {"score": 0.8}]', "record 2, column 'name': the name is"),
        ('{"A": NaN}', "NaN is not a JSON number"),
    ],
)
def test_bad_json_is_told_what_is_wrong(tmp_path, content, message):
    assert "board.json" in refused(written(tmp_path, content, "board.json"), message)


def test_bad_archives_are_told_what_is_wrong(tmp_path, monkeypatch):
    refused(written(tmp_path, "no archive at all", "x.zip"), "x.zip: cannot be read or unpacked")
    refused(zipped(tmp_path, {}), r"must hold one table, this one holds 0 \(nothing\)")
    two = zipped(tmp_path, {"a.csv": PLAIN, "b/c.csv": PLAIN})
    refused(two, r"this one holds 2 \('a.csv', 'b/c.csv'\)")
    whole = zipped(tmp_path, {"a.csv": PLAIN * 50}).read_bytes()
    entry = whole.index(b"PK\x01\x02")
    locked = bytearray(whole)
    locked[6] |= 1  # the flag of encryption, in the file and in the directory
    locked[entry + 8] |= 1
    refused(written(tmp_path, bytes(locked), "x.zip"), "the archive is encrypted; unpack it first")
    monkeypatch.setattr(tables, "MAX_BYTES", 500)
    content = bytearray(whole)
    content[entry + 24 : entry + 28] = (400).to_bytes(4, "little")  # it lies about its size
    message = "more than 500 bytes unpacked|cannot be read or unpacked"
    refused(written(tmp_path, bytes(content), "lie.zip"), message)


def test_paths_that_are_no_files(tmp_path):
    refused("a\0b", "no such file|cannot be read")
    refused([0.9, 0.8], "from a data frame of pandas, polars or PyArrow, got list; numbers go")


def test_options_that_cannot_be(tmp_path):
    path = written(tmp_path, PLAIN)
    refused(path, "lower_is_better is for metric.* 1 - e", lower_is_better=True)
    refused(path, "no column 'points' .score_column.; there are .* 'team', 'score'",
            score_column="points")  # fmt: skip
    refused(path, 'board.csv: n_test is the number of test items .or "infer".', n_test=None)


def test_bad_parquet_and_frames(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    refused(written(tmp_path, b"PAR1 and nothing", "x.parquet"), "not a readable Parquet file")
    missing = pl.DataFrame({"team": ["A", "B"], "score": [0.9, None]})
    refused(missing, "the data frame: row 2, column 'score': 1 entry has no score, 'B'")
    refused(pd.DataFrame({"team": ["A", None], "score": [0.9, 0.8]}), "row 2, column 'team': the")
    refused(pd.DataFrame({"team": [], "score": []}), "no rows, only the columns 'team', 'score'")
    refused(pd.DataFrame({"a": [1]}), "no column looks like scores")
    monkeypatch.setattr(tables, "MAX_BYTES", 20)
    pl.DataFrame({"score": [0.5] * 100_000}).write_parquet(tmp_path / "x.parquet")
    refused(tmp_path / "x.parquet", "more than 20 bytes unpacked")


ENTRIES = "Team,Score,Entries\nA,0.9,12\nB,0.8,3\n"


def test_numbers_of_submissions_are_read_from_the_column_of_a_public_board(tmp_path):
    path = written(tmp_path, ENTRIES, "board.csv")
    assert read_leaderboard(path, n_test=100).submissions.tolist() == [12, 3]
    given = read_leaderboard(path, n_test=100, submissions=(1, 9))
    assert given.submissions_prior is not None
    none = read_leaderboard(path, n_test=100, submissions=1)
    assert not none.has_submissions
    named = written(tmp_path, "Team,Score,Tried\nA,0.9,5\nB,0.8,\n", "other.csv")
    board = read_leaderboard(named, n_test=100, submissions="Tried")
    assert board.submissions.tolist() == [5, 0]
    assert "missing for 1 of 2" in board.notes[-1]


def test_a_private_board_was_not_chosen_by_its_own_scores(tmp_path):
    path = written(tmp_path, ENTRIES, "x-privateleaderboard.csv")
    board = read_leaderboard(path, n_test=100)
    assert board.submissions is None
    assert "was chosen on other items" in board.notes[-1]
    asked = read_leaderboard(path, n_test=100, submissions="Entries")
    assert asked.submissions.tolist() == [12, 3]


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (
            "Team,Score,Last\nA,0.9,2021-05-04\nB,0.8,2021-05-05\n",
            "Last",
            "got '2021-05-04' beside",
        ),
        ("Team,Score,Entries\nA,0.9,1.5\nB,0.8,2\n", None, "at least 1, got '?1.5'? beside"),
        (ENTRIES, "Tries", "there is no column 'Tries'"),
    ],
)
def test_a_column_that_does_not_count_submissions_is_refused(tmp_path, content, column, message):
    refused(written(tmp_path, content), message, submissions=column)
