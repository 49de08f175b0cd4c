"""Repeating a fit from the arguments of its call: intervals that select again, and cross-validation."""

from collections.abc import Callable
from typing import Any

from robustsparse.base.errors import ParameterError
from robustsparse.regression.call import CROSS_VALIDATION, UNCHANGED, Before
from robustsparse.regression.cross_validation import cross_validate_study
from robustsparse.regression.intervals import bootstrap, bootstrap_study, split, split_study
from robustsparse.regression.resampling import array_study, make_study, selecting
from robustsparse.regression.result import RHTResult

# Each method by its public name, what it makes of a study, and the arguments that it takes beside the shared ones.
_METHODS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[str, ...]]] = {
    "bootstrap": (bootstrap, bootstrap_study, ("resamples", "level")),
    "split": (split, split_study, ("splits", "level")),
    CROSS_VALIDATION: (RHTResult.cross_validate, cross_validate_study, ("folds",)),
    # That the data are those of the fit is seen when the study is made.
    UNCHANGED: (RHTResult.update, lambda study, **_: None, ()),
}
_SHARED = ("rng", "n_jobs", "verbose")
# Methods that do not select again.
_OTHERS = (CROSS_VALIDATION, UNCHANGED)


def rerun(method: str, before: Before, arguments: dict[str, Any]) -> Any:
    """What a method makes of a fit, from the arguments of its call to `rht` or `rht_fit`, data included.

    Parameters
    ----------
    method : {"bootstrap", "split", "cross-validation", "unchanged"}
        How.
    before : Before
        What the data were: others would be those of another model.
    arguments : dict
        Arguments of the call, and those of the method.
    """
    if method not in _METHODS:
        raise ParameterError(
            f"{method} is not for a model that an earlier version pickled; fit again."
        )
    public, run, own = _METHODS[method]
    ours = {key: arguments[key] for key in (*own, *_SHARED) if key in arguments}
    rest = {key: value for key, value in arguments.items() if key not in ours}
    # Intervals are of selected terms, and predictions need no standard errors.
    rest = {**rest, "cov": "sandwich"} if method in _OTHERS else selecting(rest)
    if "formula" in rest:
        study = make_study(rest.pop("formula"), rest.pop("data"), rest, public, before.check)
    else:
        study = array_study(rest.pop("X"), rest.pop("y"), rest, public, before.check)
    return run(study, **ours)
