"""How many classifiers a law of the best score is about."""

from bayes_sota.core.errors import InputError
from bayes_sota.data.printed_scores import checked_number


def number_of_classifiers(n_classifiers: int | None, n_skills: int | None) -> int:
    """From what is asked and the number of skills given (None: not an array)."""
    if n_skills is not None and n_skills > 1 and n_classifiers not in (None, n_skills):
        raise InputError(
            f"{n_skills} skills are given, but {{name}} is {n_classifiers}",
            parameter="n_classifiers",
        )
    value = n_skills if n_classifiers is None else n_classifiers
    if value is None:
        raise InputError(
            "{name} is needed unless one skill per classifier is given", parameter="n_classifiers"
        )
    return int(checked_number(value, "n_classifiers"))
