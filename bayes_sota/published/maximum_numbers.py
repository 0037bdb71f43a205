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

from bayes_sota.core.skills import Uniform
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.shrinkage import binomial_interval
from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable

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
    part = published["table3"]
    return compare_moments("table-3", published, part["where"])


def compare_moments(item: str, published: Published, where: str) -> list[Comparison]:
    """Rows of Table 3 that the second version prints."""
    found = []
    rows = published["table3"]["rows"]
    for row in rows:
        changes = {name: row[name] for name in ("n_classifiers", "n_test", "skill")}
        law = default_law(published, **changes)
        label = f"m={row['n_classifiers']}, n={row['n_test']}, theta={row['skill']:g}"
        for name, value in (("expected", law.mean()), ("sd", law.std())):
            found.append(compare(item, f"{label}: {_NAMES[name]}", row[name], value, where))
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


def fixed_law(published: Published, **changes: Any) -> MaximumLaw:
    """Law of the sample maximum given what the reference classifier got right (v1, Sec. 4.1)."""
    table, part = published["table1"], published["fixed_reference"]
    return default_law(
        published,
        correlation=table["correlation"],
        reference_skill=table["reference_skill"],
        reference_count=part["reference_count"],
        **changes,
    )


def compare_fixed_reference(published: Published) -> list[Comparison]:
    """Sec. 4.2: the reference classifier right on exactly 90 % of the items, or on random ones."""
    part, item = published["fixed_reference"], "fixed-reference"
    random, fixed = table_1_laws(published)[2], fixed_law(published)
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
    item, where = "figure-2", published["figure2"]["where"]
    known = compare_moments(item, published, published["table3"]["where"])
    return [
        not_verifiable(item, "cdf and pmf", f"{where}: curves without printed values"),
        *known[:2],
    ]


def compare_figure_3(published: Published) -> list[Comparison]:
    """Fig. 3: how rarely a significantly better classifier beats the best of many worse ones."""
    part, law = published["figure3"], better_law(published)
    where, many = part["where"], default_law(published)
    beats = float(law.sf(int(many.mean() * many.n_test)))
    return [
        compare("figure-3", "expected maximum", part["expected"], many.mean(), where),
        compare("figure-3", "P(new one beats the expected maximum)",
                part["p_new_beats_expected"], beats, where),
    ]  # fmt: skip


def better_law(published: Published) -> MaximumLaw:
    """Law of one classifier at the upper end of the interval of the default skill."""
    n = published["defaults"]["n_test"]
    return maximum_law(n_test=n, n_classifiers=1, skill=single_interval(published)[1])


def single_interval(published: Published) -> tuple[float, float]:
    """Interval of one classifier that shows exactly the default skill."""
    defaults = published["defaults"]
    n = defaults["n_test"]
    return binomial_interval(round(defaults["skill"] * n), n, defaults["prob"])


def compare_figure_4(published: Published) -> list[Comparison]:
    """Fig. 4: its grey lines mark the rows of Table 3."""
    where = published["figure4"]["where"]
    note = f"{where}: curves without printed values; the offsets stand in the image only"
    known = compare_moments("figure-4", published, published["table3"]["where"])
    return [not_verifiable("figure-4", "curves", note), *known]


def compare_figure_5(published: Published) -> list[Comparison]:
    """Fig. 5: its grey lines mark rows 2 to 4 of Table 1."""
    where = published["figure5"]["where"]
    note = f"{where}: curves without printed values; the widths stand in the image only"
    known = [one for one in compare_table_1(published) if "limit" not in one.quantity]
    return [not_verifiable("figure-5", "curves", note), *_as_item(known, "figure-5")]


def compare_figure_6(published: Published) -> list[Comparison]:
    """Fig. 6: no numbers on the curves; the law is that of row 2 of Table 1."""
    where = published["figure6"]["where"]
    known = [one for one in compare_table_1(published) if "Sec. 4.1" in one.quantity]
    note = f"{where}: curves without printed values"
    return [not_verifiable("figure-6", "cdf and pmf", note), *_as_item(known, "figure-6")]


def _as_item(comparisons: list[Comparison], item: str) -> list[Comparison]:
    return [replace(one, item=item) for one in comparisons]
