"""The page for claims, docs/claim.html, in a browser: its numbers, its words, who can use it."""

import json
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from scipy.special import betainc, gammaln

from bayes_sota.claims import Accuracies, Means, report_claim
from bayes_sota.claims.claim import DOMAINS
from bayes_sota.claims.laws import imputed_sd

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "claim.html"
TEXT = PAGE.read_text(encoding="utf-8")
CLOSE = {"rel": 0, "abs": 1e-6}


@pytest.fixture(scope="module")
def page(browser):
    browser.get(PAGE.as_uri())
    yield browser
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def shown(page, **query):
    """Numbers of the page, None where it has no result, and its sentences."""
    numbers, *sentences = page.execute_script(
        "readAddress(arguments[0]); showState(); const s = last ? last[2] : {};"
        "return [results.dataset.numbers, s.answer, s.verdict, s.rounding, verdict.innerText]",
        "#" + urlencode({"level": "0.05"} | query),
    )
    return numbers and json.loads(numbers), [
        (said or "").replace("\xa0", " ") for said in sentences
    ]


def rounding_of(found):
    return found and [found[name] for name in ("lowest", "highest", "exact")]


def check(found, claim, printed=None):
    """The page's numbers are those of the package's report, which comes back."""
    report = report_claim(claim, printed=printed)
    of = report.content
    assert found["verdict"] == of["verdict"].split(" on ")[0]
    assert found["n_needed"] == dict(of["n_test_needed"])[0.05]
    assert found["n_range"] == of["n_test_range"]
    for seen, expected in (
        (found["p_false"], of["p_false"]),
        (found["range"], of["p_false_range"]),
        (found["ends"], [*claim.ends]),
        (found["needed"], of[f"{claim.unknown}_needed"]),
        (rounding_of(found["rounding"]), rounding_of(of.get("rounding"))),
    ):
        assert seen == (expected if expected is None else pytest.approx(expected, **CLOSE))
    return report


def random_accuracies(count, seed=7):
    rng = np.random.default_rng(seed)
    for i in range(count):
        n, digits = int(10 ** rng.uniform(0.5, 5)), int(rng.integers(2, 5))
        a = rng.uniform(0.3, 1)
        a, b = (f"{x:.{digits}f}" for x in (a, max(0, a - rng.exponential(1 / np.sqrt(n)))))
        options = {}
        if i % 3 == 0:
            low, high = Accuracies(a=float(a), b=float(b), n=n).ends
            options["known"] = f"{np.clip(rng.uniform(low, high), low, high):.10f}"
        elif i % 3 == 1:
            options["domain"] = [*DOMAINS][i // 3 % 3]
        yield a, b, max(n, 2), options


EDGES = [
    ("0.90", "0.88", 500, {}), ("0.9", "0.88", 500, {}), ("0.90", "0.90", 100, {}),
    ("1", "0", 2, {}), ("1", "1", 2, {}), ("0.1", "0", 50, {}), ("1", "0.5", 20, {}),
    ("1.00", "0.98", 500, {}), ("0.884", "0.597", 164, {}), ("0.90", "0.88", 100_000, {}),
    ("0.90", "0.90", 20_000, {}), ("0.900", "0.899", 1_000_000, {}),
    ("0.9001", "0.9000", 600_000, {}), ("0.333333333333", "0.25", 12, {}),
    ("0.98", "0.97", 500, {"domain": "tabular"}), ("0.90", "0.88", 500, {"known": "0.86"}),
    ("1", "0.98", 500, {"domain": "tabular"}), ("0.9001", "0.9000", 10**9, {}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "n", "options"), [*EDGES, *random_accuracies(30)])
def test_accuracies_have_the_numbers_of_the_package(page, a, b, n, options):
    known = float(options["known"]) if "known" in options else None
    claim = Accuracies(a=float(a), b=float(b), n=n, known=known, domain=options.get("domain"))
    found, _ = shown(page, a=a, b=b, n=n, **options)
    check(found, claim, (a, b))


def random_means(count, seed=8):
    rng = np.random.default_rng(seed)
    for i in range(count):
        n, digits = max(int(10 ** rng.uniform(0.35, 5)), 2), int(rng.integers(3, 5))
        a = rng.uniform(0.3, 0.97)
        a, b = (f"{x:.{digits}f}" for x in (a, max(0.03, a - rng.exponential(0.4 / np.sqrt(n)))))
        options = {"known": f"{rng.random():.4f}"} if i % 3 == 0 else {}
        names = [(), ("sa", "sb"), ("sa",)][i % 3]
        yield a, b, n, options | {name: f"{rng.uniform(0.02, 0.16):.3f}" for name in names}


EDGES_OF_MEANS = [
    ("0.9", "0.9", 100, {}), ("0.9", "0.8", 2, {"sa": "0.1", "sb": "0.1"}),
    ("0.900", "0.899", 10**6, {}), ("0.9001", "0.9", 10**6, {"sa": "0.1", "sb": "0.1"}),
    ("0.9001", "0.9", 10**6, {"sa": "0.1", "sb": "0.1", "known": "1"}),
    ("0.81", "0.80", 100, {"sa": "0.1", "sb": "0"}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "n", "options"), [*EDGES_OF_MEANS, *random_means(30)])
def test_means_have_the_numbers_of_the_package(page, a, b, n, options):
    x, y = float(a), float(b)
    sds = [float(options.get(key, imputed_sd(mean))) for key, mean in (("sa", x), ("sb", y))]
    given = tuple(sds) if "sa" in options or "sb" in options else None
    known = float(options["known"]) if "known" in options else None
    found, _ = shown(page, kind="means", a=a, b=b, n=n, **options)
    check(found, Means(a=x, b=y, n=n, sd=given, known=known), (a, b))


@pytest.mark.slow
def test_percentages_are_shares_with_two_more_digits(page):
    of_shares = shown(page, a="0.900", b="0.880", n=500, known="0.86")[0]
    assert shown(page, a="90.0", b="88.0 %", n="500", known="86")[0] == of_shares
    assert shown(page, a="90,0%", b="88.0%", n="500", known=".86")[0] == of_shares
    of_shares = shown(page, a="0.9", b="0.88", n=12_500)[0]
    assert shown(page, a="90", b="88", n="12,500")[0] == of_shares  # two digits each
    means = {"kind": "means", "n": 1000}
    of_shares = shown(page, a="0.870", b="0.85", sa="0.1", sb="0.12", **means)[0]
    assert shown(page, a="87.0", b="85", sa="10", sb="12%", **means)[0] == of_shares


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n", "options"),
    [
        ("0.90", "0.88", 500, {}), ("0.92", "0.87", 500, {}), ("0.80", "0.79", 100, {}),
        ("0.90", "0.88", 500, {"known": "0.86"}),
        ("0.90", "0.88", 500, {"domain": "image-classifiers"}),
    ],
)  # fmt: skip
def test_the_page_says_what_the_command_says(page, a, b, n, options):
    known = float(options["known"]) if "known" in options else None
    claim = Accuracies(a=float(a), b=float(b), n=n, known=known, domain=options.get("domain"))
    found, (answer, verdict, rounding, _) = shown(page, a=a, b=b, n=n, **options)
    report = check(found, claim, (a, b))
    assert answer == report.sentences[0]
    assert verdict == report.sentences[1]
    assert rounding in ("", report.sentences[-1])
    paragraph = page.find_element("id", "paragraph").text
    assert ("Please report how many items both got right" in paragraph) == claim.is_open


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"a": "0.88", "b": "0.90"}, "Accuracy of B: B is above A. Swap them"),
        ({"a": "good", "b": "0.8"}, "Accuracy of A: Type a number such as 0.90 or 90.0."),
        ({"a": "90", "b": "0.8"}, "Accuracy of B: One number reads as percent"),
        ({"n": "many"}, "Number of test items: Type a whole number of items."),
        ({"known": "0.95"}, "Congruence: Type a congruence from 0.780 to 0.880."),
        ({"kind": "means", "known": "1.5"}, "Correlation: Type a correlation from 0 to 1."),
        (
            {"kind": "means", "a": "84.1", "b": "83.0", "sa": "0.116", "sb": "0.2%"},
            "SD of A: Type 11.6% or 0.116%",
        ),
        ({"kind": "means", "a": "84.1%", "b": "83.0%", "sb": "0.3"}, "SD of B: Type 30% or 0.3%"),
        ({"kind": "means", "sa": "0.9"}, "SD of A: At most 0.3003 with this mean"),
        ({"kind": "means", "a": "1", "b": "0"}, "SD of A: Type the SDs: from these means"),
    ],
)
def test_wrong_input_gets_one_line(page, query, said):
    found, (*_, message) = shown(page, **{"a": "0.90", "b": "0.88", "n": 500} | query)
    assert found is None
    assert message.startswith(f"No result yet. {said}")
    assert "\n" not in message
    assert not page.find_element("id", "output").is_displayed()
    errors = page.find_elements("css selector", ".error:not([hidden])")
    assert [error.text for error in errors] == [message.partition(": ")[2]]


@pytest.mark.slow
def test_every_sd_of_unclear_unit_is_marked(page):
    given = {"kind": "means", "a": "84.1", "b": "83.0", "n": 500}
    found, (*_, message) = shown(page, **given, sa="0.116", sb="0.2")
    assert found is None
    assert message.startswith("No result yet. SD of A: Type 11.6% or 0.116%")
    errors = page.find_elements("css selector", ".error:not([hidden])")
    marked = [error.text.partition(":")[0] for error in errors]
    assert marked == ["Type 11.6% or 0.116%", "Type 20% or 0.2%"]
    assert shown(page, **given, sa="0.116", sb="20.0")[0]  # beside a clear SD in percent


@pytest.mark.slow
def test_everything_is_done_with_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    def focus():
        return page.switch_to.active_element

    shown(page, a="0.90", b="0.88", n=500)
    page.find_element("id", "tab-accuracies").send_keys(Keys.ARROW_RIGHT)
    assert focus().get_attribute("id") == "tab-means"
    focus().send_keys(Keys.HOME)
    reached = []
    while "copy-link" not in reached:
        focus().send_keys(Keys.TAB)
        reached.append(focus().get_attribute("id") or focus().tag_name)
    fields = ["name-a", "name-b", "a", "b", "swap", "n", "mode-average", "level"]
    assert reached == [*fields, "summary", "copy", "copy-link"]
    page.find_element("id", "mode-average").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    slider = page.find_element("id", "slider")
    at_middle = page.execute_script("return last[1].unknown")
    assert at_middle == pytest.approx(0.83)
    slider.send_keys(Keys.ARROW_RIGHT * 5)
    assert page.execute_script("return last[1].unknown") == pytest.approx(0.8305)
    assert slider.get_attribute("aria-valuetext") == "0.8305"


@pytest.mark.slow
def test_a_link_has_all_inputs_and_names_are_text(page):
    query = {"na": "<img src=x onerror=document.title=1>", "nb": "B & C", "level": "0.01"}
    given = {"kind": "means", "a": "0.870", "b": "0.850", "n": "50", "sa": "0.1"}
    shown(page, **given, **query, known="0.80")
    address = page.execute_script("return addressHash()")
    numbers = page.execute_script("return results.dataset.numbers")
    page.get("about:blank")
    page.get(PAGE.as_uri() + address)
    assert page.execute_script("return results.dataset.numbers") == numbers
    assert page.execute_script("return addressHash()") == address
    assert query["na"] in page.find_element("id", "answer").text
    assert page.execute_script("return document.images.length") == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [1100, 380])
@pytest.mark.parametrize(
    "query",
    [
        "", "#a=90.0&b=88.0&n=500&known=85.0%25", "#a=0.8&b=90&n=x", "#a=1&b=0.5&n=20",
        "#a=.884&b=.597&n=164", "#a=0.90001&b=0.90000&n=1000000&domain=language-models",
        "#kind=means&a=0.870&b=0.850&n=50&na=A_method_with_a_long_name_of_forty_letters",
    ],
)  # fmt: skip
def test_the_page_is_for_everybody(page, width, query):
    pytest.importorskip("axe_selenium_python")
    from accessibility import problems

    assert problems(page, PAGE.as_uri() + query, width=width) == []


def test_another_prior_gives_the_average_that_the_page_says():
    n, a, b = 500, 450, 440
    both = np.arange(a + b - n, b + 1)
    cells = np.stack([both, a - both, b - both, n - a - b + both])
    found = []
    for prior in (0.25, 1, 2):
        weights = np.exp(np.sum(gammaln(cells + prior) - gammaln(cells + 1), axis=0))
        p = betainc(cells[1] + prior, cells[2] + prior, 0.5)
        found.append(f"{weights @ p / weights.sum():.2f}")
    said = "parameters of 0.25, 1 and 2 give {}, {} and {}.".format(*found)
    assert said in " ".join(TEXT.split())
