"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on the sample maximum, by exact laws.

Tolerances come from the repetitions that Sec. 3.1 states. Rows 2 to 4 of Table 1 were simulated.
With fixed skills, 100,000 repetitions give a mean the standard error ``sd / sqrt(100,000)``. Where
skills are drawn, it states 1,000 draws of the skills and not how the repetitions are shared among
them: the cautious reading, 1,000 independent maxima, gives ``sd / sqrt(1,000)``. A standard
deviation has the error of a mean over ``sqrt(2)``. All else has a closed form and must round to the
printed digits.
"""

from dataclasses import replace
from math import sqrt
from typing import Any

from bayes_sota.exact.field_estimate import binomial_interval
from bayes_sota.exact.maximum import MaximumLaw, maximum_law
from bayes_sota.reproduce.comparison import Comparison, compare, differ, not_verifiable
from bayes_sota.skill_distributions import Uniform

__all__ = [
    "compare_coin_flip",
    "compare_figure_2",
    "compare_figure_3",
    "compare_figure_4",
    "compare_figure_5",
    "compare_fixed_reference",
    "compare_mania",
    "compare_table_1",
    "compare_table_3",
    "default_law",
    "uniform_field",
]

Published = dict[str, Any]


def uniform_field(width: float, theta_sota: float, n_classifiers: int) -> Uniform:
    """Uniform skills of a given width whose expected maximum is ``theta_sota`` (Sec. 4).

    ``E max = (m b + a) / (m + 1)`` with ``a = b - width`` gives ``b``.
    """
    high = theta_sota + width / (n_classifiers + 1)
    return Uniform(high - width, high)


def default_law(published: Published, **changes: Any) -> MaximumLaw:
    """Law of the sample maximum at the paper's default parameters, some of them changed."""
    defaults = published["defaults"]
    arguments = {name: defaults[name] for name in ("n_test", "n_classifiers", "skill")}
    return maximum_law(**(arguments | changes))


def compare_coin_flip(published: Published) -> list[Comparison]:
    """Sec. 3.2: how easily a coin-flip classifier is "invented"."""
    part, item = published["coin_flip"], "coin-flip"
    n, skill = part["n_test"], part["skill"]
    single = maximum_law(n_test=n, n_classifiers=1, skill=skill)
    many = maximum_law(n_test=n, n_classifiers=part["n_classifiers"], skill=skill)
    typo = f"{part['where']}, which prints m = 1,0000: 1,000 is meant (10,000 would give 0.87)"
    first, v1 = part["successes"] - 1, part["v1"]
    one, best = float(single.sf(first)), float(many.sf(first))
    earlier = float(single.sf(v1["successes"] - 1))
    return [
        compare(item, "P(one classifier reaches 0.90)", part["single"], one, part["where"]),
        compare(item, "P(best of 1,000 reaches 0.90)", part["at_least_one"], best, typo),
        compare(item, "P(one classifier has 15 or more of 20)", v1["single"], earlier, v1["where"]),
    ]


def table_1_laws(published: Published) -> list[MaximumLaw]:
    """The four laws of Table 1."""
    part, m = published["table1"], published["defaults"]["n_classifiers"]
    field = uniform_field(part["uniform_width"], part["theta_sota"], m)
    return [
        default_law(
            published,
            skill=part["theta_sota"] if row["identical"] else field,
            correlation=0.0 if row["independent"] else part["correlation"],
            reference_skill=part["reference_skill"],
        )
        for row in part["rows"]
    ]


def compare_table_1(published: Published) -> list[Comparison]:
    """Table 1: upper limit, expectation and standard deviation of four fields."""
    part, found = published["table1"], []
    for row, law in zip(part["rows"], table_1_laws(published), strict=True):
        note = f"{part['where']}, Sec. {row['section']}"
        size = _repetitions(row, published["simulation"])
        error = law.std() / sqrt(size) if size else 0.0
        values = {"upper": law.interval()[1], "expected": law.mean(), "sd": law.std()}
        # of the upper limit nothing is forgiven: a quantile on a lattice moves by whole counts
        errors = {"upper": 0.0, "expected": error, "sd": error / sqrt(2)}
        found += [
            compare("table-1", f"Sec. {row['section']}: {_NAMES[name]}", row[name], values[name],
                    note + (", simulated" if errors[name] else ""), errors[name])
            for name in values
        ]  # fmt: skip
    return found


_NAMES = {"upper": "upper 95% limit", "expected": "expected maximum", "sd": "standard deviation"}


def _repetitions(row: dict[str, Any], simulation: dict[str, Any]) -> int:
    """Independent maxima behind a row of Table 1; 0 where it has a closed form."""
    if not row["identical"]:
        return int(simulation["draws_of_skills"])
    return 0 if row["independent"] else int(simulation["repetitions"])


def compare_table_3(published: Published) -> list[Comparison]:
    """Table 3: expectation and standard deviation for other sizes, numbers and skills."""
    part, found = published["table3"], []
    for row in part["rows"]:
        changes = {name: row[name] for name in ("n_classifiers", "n_test", "skill")}
        law = default_law(published, **changes)
        label = f"m={row['n_classifiers']}, n={row['n_test']}, theta={row['skill']:g}"
        only = row.get("only_in")
        note = f"{only}; not in {part['where']} of v2" if only else part["where"]
        for name, value in (("expected", law.mean()), ("sd", law.std())):
            found.append(compare("table-3", f"{label}: {_NAMES[name]}", row[name], value, note))
    return found


def compare_mania(published: Published) -> list[Comparison]:
    """Sec. 4.2: correlation from the similarity of ImageNet models.

    Similarity is ``(1 - t)^2 + t^2 + 2 rho_jk t (1 - t)``, and ``rho_jk = rho^2``.
    """
    part, item = published["mania"], "mania"
    t = part["accuracy"]
    pairwise = (part["similarity"] - (1 - t) ** 2 - t**2) / (2 * t * (1 - t))
    first, second = part["pairwise_correlation"], part["correlation"]
    would_be = (1 - t) ** 2 + t**2 + 2 * float(first["printed"]) * t * (1 - t)
    other = part["independent_similarity"]
    note = (
        f"{part['where']}: its formula at t = {t} and similarity {part['similarity']} gives "
        f"another value; the printed {first['printed']} belongs to similarity {would_be:.3f}"
    )
    rho_note = f"{part['where']}: square root of the pairwise correlation"
    independent = (1 - other["skill"]) ** 2 + other["skill"] ** 2
    return [
        differ(item, "pairwise correlation", first["printed"], pairwise, first["pinned"], note),
        differ(item, "correlation", second["printed"], sqrt(pairwise), second["pinned"], rho_note),
        compare(item, "similarity if independent", other["printed"], independent, part["where"]),
    ]


def compare_fixed_reference(published: Published) -> list[Comparison]:
    """Sec. 4.2: the reference classifier right on exactly 90 % of the items, or on random ones."""
    part, table, item = published["fixed_reference"], published["table1"], "fixed-reference"
    dependence = {"correlation": table["correlation"], "reference_skill": table["reference_skill"]}
    random = default_law(published, **dependence)
    fixed = default_law(published, **dependence, reference_count=part["reference_count"])
    independent, n = default_law(published), fixed.n_test
    where, v1 = part["where"], part["v1"]
    error = 1 / sqrt(published["simulation"]["repetitions"])
    simulated = f"{where}, simulated"
    upper, upper_independent = fixed.interval()[1], independent.interval()[1]
    return [
        compare(item, "sd, fixed reference", part["sd_fixed"], fixed.std(), simulated,
                fixed.std() * error / sqrt(2)),
        compare(item, "sd, random reference", part["sd_random"], random.std(), simulated,
                random.std() * error / sqrt(2)),
        compare(item, "expected maximum, fixed reference", part["expected"], fixed.mean(),
                f"{where}: the same as with a random reference", fixed.std() * error),
        compare(item, "upper 95% limit, fixed reference", v1["upper"], upper, v1["where"]),
        compare(item, "failures at the upper limit, fixed reference", v1["failures"],
                n - round(upper * n), v1["where"]),
        compare(item, "failures at the upper limit, independent", v1["failures_independent"],
                n - round(upper_independent * n), v1["where"]),
    ]  # fmt: skip


def compare_figure_2(published: Published) -> list[Comparison]:
    """Fig. 2: no numbers on the curves; mean and sd are row 1 of Table 3."""
    where = published["figure2"]["where"]
    return [
        not_verifiable("figure-2", "cdf and pmf", f"{where}: curves without printed values"),
        *_as_item(compare_table_3(published)[:2], "figure-2"),
    ]


def compare_figure_3(published: Published) -> list[Comparison]:
    """Fig. 3: how rarely a significantly better classifier beats the best of many worse ones."""
    part, item = published["figure3"], "figure-3"
    v1, where, defaults = part["v1"], part["where"], published["defaults"]
    many, n = default_law(published), defaults["n_test"]
    low, high = binomial_interval(round(defaults["skill"] * n), n, defaults["prob"])
    better = maximum_law(n_test=n, n_classifiers=1, skill=high)
    upper = round(many.interval()[1] * n)
    beats_expected, exceeds_upper = float(better.sf(int(many.mean() * n))), float(better.sf(upper))
    new = v1["p_new_beats_upper"]
    strict = f"{v1['where']}: more than {upper} right answers, where the text says at least"
    return [
        compare(item, "expected maximum", part["expected"], many.mean(), where),
        compare(item, "lower end of one classifier's interval", v1["interval"][0], low,
                v1["where"]),
        compare(item, "upper end of one classifier's interval", v1["interval"][1], high,
                v1["where"]),
        compare(item, "upper 95% limit of the maximum", v1["upper"], upper / n, v1["where"]),
        compare(item, "P(new one beats the expected maximum)", part["p_new_beats_expected"],
                beats_expected, where),
        compare(item, "P(new one beats the expected maximum), v1", v1["p_new_beats_expected"],
                beats_expected, v1["where"]),
        compare(item, "P(new one exceeds the upper limit)", new["printed"], exceeds_upper, strict),
        differ(item, "P(new one reaches the upper limit)", new["printed"],
               float(better.sf(upper - 1)), new["pinned"],
               f"{v1['where']}: the event as written, with equality"),
    ]  # fmt: skip


def compare_figure_4(published: Published) -> list[Comparison]:
    """Fig. 4: its grey lines mark the rows of Table 3."""
    where = published["figure4"]["where"]
    note = f"{where}: curves without printed values; the offsets stand in the image only"
    known = [one for one in compare_table_3(published) if "v1" not in one.note]
    return [not_verifiable("figure-4", "curves", note), *_as_item(known, "figure-4")]


def compare_figure_5(published: Published) -> list[Comparison]:
    """Fig. 5: its grey lines mark rows 2 to 4 of Table 1."""
    where = published["figure5"]["where"]
    note = f"{where}: curves without printed values; the widths stand in the image only"
    known = [one for one in compare_table_1(published) if "limit" not in one.quantity]
    return [not_verifiable("figure-5", "curves", note), *_as_item(known, "figure-5")]


def _as_item(comparisons: list[Comparison], item: str) -> list[Comparison]:
    return [replace(one, item=item) for one in comparisons]
