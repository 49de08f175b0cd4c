"""From a standardized problem and the options to a fit in its units: which k to try, and by which way."""

from collections.abc import Iterable
from dataclasses import replace

from robustsparse.base.checks import check_count, refuse_word
from robustsparse.base.errors import ParameterError
from robustsparse.regression.fit.as_printed import as_thresholded, split_run, thresholded_fit
from robustsparse.regression.fit.automatic import automatic_fit, fit_known, refit_all_rows
from robustsparse.regression.fit.finders import automatic_grid
from robustsparse.regression.fit.known_rows import KnownRows
from robustsparse.regression.fit.models import Fitted, Model
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.shrunken import check_shrinkable, shrunken
from robustsparse.regression.fit.standardized import Standardized, by_labels, by_least_squares


def fit_standardized(problem: Standardized, options: Options) -> Fitted:
    """Fit in standardized units."""
    ks = _grid(problem, options)
    if options.goal == "predict":
        check_shrinkable(options)
        # Which rows are trusted does not depend on how many terms are asked for.
        judge = fit_standardized(problem, replace(options, goal="select", k="auto"))
        return shrunken(problem, options, judge, None if isinstance(options.k, str) else max(ks))
    _require_room(problem, options, ks)
    if options.split:
        return _split_fit(problem, options, ks[0])
    # On small data the fit's own choice may be among a single value.
    chosen = len(ks) > 1 or isinstance(options.k, str)
    if not options.refit:
        return thresholded_fit(problem, options, ks, chosen)
    fitted = automatic_fit(problem, options, () if isinstance(options.k, str) else ks)
    if options.goal == "auto" and fitted.undecided:
        return shrunken(problem, options, fitted, None)
    return fitted if chosen else replace(fitted, choice=None)


def model_of_known(problem: Standardized, options: Options, known: KnownRows | None) -> Model:
    """The model of a fit to rows that are part of those of another fit, which knows much of them, or nothing.

    A model is looked for from where that fit ended, which takes a fraction of the time. Other ways to fit begin anew.
    """
    if known is None or options.goal == "predict":
        return fit_standardized(problem, options).model
    ks = _grid(problem, options)
    _require_room(problem, options, ks)
    return fit_known(problem, options, () if isinstance(options.k, str) else ks, known)


def _require_room(problem: Standardized, options: Options, ks: tuple[int, ...]) -> None:
    """Refuse more terms than a robust refit can have."""
    if options.refit and not problem.affordable(max(ks)):
        raise ParameterError(
            f"k={max(ks)} is too many for a robust refit on {problem.n} rows, needing two rows a coefficient; choose "
            "a smaller k or refit=False."
        )


def _grid(problem: Standardized, options: Options) -> tuple[int, ...]:
    """Values of k to choose from."""
    k = options.k
    if isinstance(k, str):
        refuse_word("k", k, "a whole number, several of them")
        return automatic_grid(problem)
    several = isinstance(k, Iterable) and getattr(k, "ndim", 1) > 0
    values = list(k) if several else [k]  # type: ignore[arg-type]
    if not values:
        raise ParameterError("k is empty; give a number, a list of numbers or 'auto'.")
    low = _fewest(problem, options)
    return tuple(sorted({check_count("k", value, low, max(problem.free, low)) for value in values}))


def _fewest(problem: Standardized, options: Options) -> int:
    """Smallest k: none if something is left in the model then, or if the path of best subsets begins with nothing."""
    subsets = by_least_squares(problem) or by_labels(problem)
    path = options.refit and not options.split and subsets
    return 0 if len(problem.keep) or path else 1


def _split_fit(problem: Standardized, options: Options, k: int) -> Fitted:
    """The fit of a run that used fresh rows at each iteration."""
    solution = split_run(problem, options, k)
    if options.refit:
        return refit_all_rows(problem, solution, options.rng)
    return as_thresholded(problem, solution, None, {k: solution.coef})
