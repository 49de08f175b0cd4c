"""Models of any kind as columns of estimates, for tables and pictures of several."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.text import did_you_mean, listed, shown
from robustsparse.base.types import Array
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.result import RHTResult
from robustsparse.regression.wald import p_values, quantile

# Names that others have for the intercept.
_INTERCEPTS = ("Intercept", "(Intercept)", "const", "intercept")

# Standard errors other than the usual ones.
_ERRORS = {"hc3": "HC3", "hac": "Newey-West"}


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A model as a column of a table.

    Attributes
    ----------
    name : str
        What it is called.
    terms : DataFrame
        By term, `estimate`; and where they are known `std_error`, `low`, `high` and `p_value`. Zeros are left out.
    facts : dict from str to str
        What else is known of it.
    """

    name: str
    terms: pd.DataFrame
    facts: dict[str, str]


def model_columns(
    models: Any, names: Sequence[str] | None = None, level: float = 0.95
) -> list[ModelColumn]:
    """Columns of models, given in a list or by their names.

    Examples
    --------
    >>> [column] = model_columns([pd.Series({"a": 1.0, "b": 0.0})])
    >>> column.name, list(column.terms.index)
    ('(1)', ['a'])
    """
    given = _named(models, names)
    return [ModelColumn(name, *_described(model, level)) for name, model in given.items()]


def _named(models: Any, names: Sequence[str] | None) -> dict[str, Any]:
    if isinstance(models, Mapping):
        if names is not None:
            raise ParameterError("models have names already, as a dict; leave names= out.")
        return {str(name): model for name, model in models.items()}
    # A Series is iterable, and one model all the same; what is iterated over once is a list of them.
    several = list(models) if isinstance(models, list | tuple | Iterator) else [models]
    # A pair of a model and its names of columns is one model.
    if isinstance(models, tuple) and _is_pair(models):
        several = [models]
    if not several:
        raise ParameterError("there are no models to show; give a list of fits.")
    labels = [f"({i + 1})" for i in range(len(several))] if names is None else list(map(str, names))
    if len(labels) != len(several) or len(set(labels)) < len(labels):
        raise ParameterError(
            f"names={shown(list(names or ()))} must be {len(several)} different names, one for each model."
        )
    return dict(zip(labels, several, strict=True))


def _is_pair(model: Any) -> bool:
    return isinstance(model, tuple) and len(model) == 2 and hasattr(model[0], "coef_")


def _described(model: Any, level: float) -> tuple[pd.DataFrame, dict[str, str]]:
    if isinstance(model, RHTResult):
        return _of_fit(model, level)
    if isinstance(model, pd.Series):
        return _nonzero(model), {"Terms": str(_count(model))}
    if _is_pair(model) or hasattr(model, "coef_"):
        return _of_scikit(*(model if _is_pair(model) else (model, None)))
    if isinstance(getattr(model, "params", None), pd.Series):
        return _of_others(model, level)
    raise ParameterError(
        f"{shown(model)} is no model that can be shown: give results of rht, of scikit-learn's linear models or of "
        "statsmodels, or a Series of coefficients."
    )


def _of_fit(fit: RHTResult, level: float) -> tuple[pd.DataFrame, dict[str, str]]:
    table = fit.tidy(level).set_index("term").drop(columns="statistic", errors="ignore")
    errors = _ERRORS.get(fit.made.errors, "")
    if fit.made.cluster is not None:
        errors = f"by {fit.made.cluster[0]}"
    facts = {
        "Method": "rht" if fit.goal == "select" else "rht, predict",
        **({"Std. errors": errors} if errors and fit.cov is not None else {}),
        "Rows": f"{fit.nobs}",
        "Flagged rows": f"{len(fit.outliers())}",
        "Terms": f"{fit.k}",
        **({"Robust scale": f"{fit.scale:.4g}"} if fit.made.kind.has_scale else {}),
        ("Robust R²" if fit.made.kind.has_scale else "Dev. explained"): f"{fit.rsquared:.3f}",
    }
    return table[table["estimate"] != 0], facts


def _of_scikit(model: Any, names: Any) -> tuple[pd.DataFrame, dict[str, str]]:
    coef = np.asarray(model.coef_, dtype=np.float64)
    if coef.ndim > 1 and len(coef) != 1:
        raise ParameterError(
            f"{type(model).__name__} has {len(coef)} rows of coefficients; a column of a table has room for one."
        )
    columns = getattr(model, "feature_names_in_", None) if names is None else names
    if columns is None:
        raise ParameterError(
            f"{type(model).__name__} does not know the names of its columns, since it was fitted to an array; give the "
            "pair (model, names), or fit it to a data frame."
        )
    if len(columns) != coef.size:
        raise ParameterError(f"{len(columns)} names for {coef.size} coefficients.")
    params = pd.Series(coef.ravel(), index=[str(name) for name in columns])
    constant = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    whole = pd.concat([pd.Series({INTERCEPT: constant}), params]) if constant else params
    return _nonzero(whole), {"Method": type(model).__name__, "Terms": str(_count(whole))}


def _of_others(model: Any, level: float) -> tuple[pd.DataFrame, dict[str, str]]:
    """A result that has names as statsmodels gives them."""
    params = model.params
    table = _nonzero(params)
    errors = getattr(model, "bse", None)
    if isinstance(errors, pd.Series):
        se = errors[table.index].to_numpy(dtype=np.float64)
        ends = _ends(model, table["estimate"], se, level)
        given = getattr(model, "pvalues", None)
        p = (
            given[table.index]
            if isinstance(given, pd.Series)
            else p_values(table["estimate"].to_numpy(dtype=np.float64) / se, None)
        )
        table = table.assign(std_error=se, **ends, p_value=p)
    facts = {"Method": _method(model)}
    for name, label, form in (("nobs", "Rows", ".0f"), ("rsquared", "R²", ".3f")):
        value = getattr(model, name, None)
        if isinstance(value, int | float) and np.isfinite(value):
            facts[label] = format(value, form)
    facts["Terms"] = str(_count(params))
    return table.rename(index=dict.fromkeys(_INTERCEPTS, INTERCEPT)), facts


def _ends(
    model: Any, estimate: "pd.Series[float]", se: Array, level: float
) -> dict[str, "pd.Series[float] | Array"]:
    """Ends of intervals: a model's own, which know its degrees of freedom, or those of a normal estimate."""
    own = model.conf_int(alpha=1.0 - level) if hasattr(model, "conf_int") else None
    if isinstance(own, pd.DataFrame):
        low, high = own.loc[estimate.index].to_numpy(dtype=np.float64).T
        return {"low": low, "high": high}
    margin = quantile(level, None) * se
    return {"low": estimate - margin, "high": estimate + margin}


def _method(model: Any) -> str:
    """What a model calls itself; results of statsmodels are wrapped, and know the model that they are of."""
    if hasattr(model, "model"):
        return type(model.model).__name__
    return str(getattr(model, "method", None) or type(model).__name__)


def _nonzero(params: "pd.Series[float]") -> pd.DataFrame:
    values = params[params != 0].astype(np.float64)
    return pd.DataFrame({"estimate": values.to_numpy()}, index=values.index.astype(str))


def _count(params: "pd.Series[float]") -> int:
    """Number of terms, without the intercept."""
    return sum(value != 0 for name, value in params.items() if name not in _INTERCEPTS)


def common_terms(columns: Sequence[ModelColumn], terms: str | Sequence[str] | None) -> list[str]:
    """Terms of any of the models, in the order of the first that has them, the intercept first; or those asked for."""
    found = list(dict.fromkeys(str(term) for column in columns for term in column.terms.index))
    if terms is None:
        return sorted(found, key=lambda term: term != INTERCEPT)
    wanted = [terms] if isinstance(terms, str) else list(terms)
    unknown = [term for term in wanted if term not in found]
    if unknown:
        hint = did_you_mean(str(unknown[0]), found) or f"; these have {listed(found, quote=False)}."
        raise ParameterError(f"terms names {unknown[0]!r}, which no model has selected{hint}")
    return wanted
