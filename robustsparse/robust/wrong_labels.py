"""Logistic regression where some labels are wrong, nobody knows how many.

If a share γ of the labels was exchanged, a label has the probability γ + (1 - 2γ)p. That likelihood is bounded: a label
that contradicts the model is a wrong one, not a reason to bend the model. With γ = 0 it is the logistic likelihood, so
nothing is lost where all labels are right. Three things make an estimate of it:

- Jeffreys' prior for the coefficients (Firth, 1993) takes the bias off, and keeps them finite where a hyperplane
  separates the classes.
- Each of several shares has a fit of its own and its evidence; under the prior there are no wrong labels at all, or a
  tenth of them, more or less. The estimate is the fit at the median of the evidence, which is zero unless the rows
  speak for wrong labels. Rows that tell little of γ leave it open, and the covariance says so.
- What the data say of a set of columns is that evidence, summed over the shares.
"""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np
from scipy.special import expit, logsumexp

from robustsparse.base.checks import as_vector
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array
from robustsparse.robust.mm import Refit, check_enough_rows, check_rows, independent_columns
from robustsparse.robust.row_moves import RowMoves

# Shares of wrong labels that are looked at.
SHARES = np.array([0.0, 0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3])
# The prior: that no label is wrong; else a gamma density of this shape and mean, over the middles between shares.
_NONE_WRONG, _SHAPE, _MEAN = 0.2, 6.0, 0.1
_EDGES = np.concatenate([[0.005], (SHARES[1:-1] + SHARES[2:]) / 2, [0.35]])
# The fits have settled when a step lowers the objective by less than this.
TOL = 1e-9
MAX_ITER, MAX_HALVINGS = 100, 30
# Steps move no row by more than this, and rows count as if they were no further out.
_LONGEST, _FARTHEST = 5.0, 35.0
# Ridge, relative to the information at probability one half, against columns that are dependent up to rounding.
_RIDGE = 1e-9
# Shares with less than this of the likelihood, as a logarithm, are left out.
_NEGLIGIBLE = 8.0
# Standard deviation of the log-odds under the prior: hardly felt, but where a large share of wrong labels makes a step
# of the probabilities, which fits any labels.
_SPREAD = 4.0
# Levels of the ends of what the share may be, and how many standard deviations away the farther one is taken to be:
# less than in a normal distribution, since the coefficients are cautious ones. Chosen for intervals that cover with a
# tenth of wrong labels as they do without.
_LOW, _AWAY = 0.05, 1.25
# Least weight of a row in the least-squares problem, as a part of the largest.
_LEAST_WEIGHT = 1e-10


def _log_prior() -> Array:
    """Logarithm of the prior probability of each share."""
    rate = _SHAPE / _MEAN
    density = _SHAPE * log(rate) - lgamma(_SHAPE) + (_SHAPE - 1) * np.log(SHARES[1:])
    some = density - rate * SHARES[1:] + np.log(np.diff(_EDGES)) + log(1.0 - _NONE_WRONG)
    return np.concatenate([[log(_NONE_WRONG)], some])


_LOG_PRIOR = _log_prior()


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with labels.

    Attributes
    ----------
    A : array (n, p)
        Design, with a column of ones if there is an intercept.
    y : array (n,)
        Labels, 0 or 1.
    offset, weights : array (n,)
        Known part of the linear predictor; how much each row counts.
    """

    A: Array
    y: Array
    offset: Array
    weights: Array

    @classmethod
    def of(cls, A: Array, y: Array, offset: Array | None, weights: Array | None) -> "Labelled":
        """With nothing known and rows that count alike unless it is given."""
        n = len(y)
        known = np.zeros(n) if offset is None else offset
        return cls(A, y, known, np.ones(n) if weights is None else weights)

    def information(self, row_weights: Array) -> Array:
        """Weighted sum (p, p) of outer products of the rows."""
        return np.asarray((self.A.T * row_weights) @ self.A)

    @cached_property
    def prior(self) -> Array:
        """Inverse covariance (p, p) of the prior of the coefficients: log-odds have a spread of about `_SPREAD`.

        With it comes a ridge against columns that are dependent up to rounding.
        """
        total = float(self.weights.sum())
        mean = self.weights @ self.A / total
        spread = self.information(self.weights / total) - np.outer(mean, mean)
        half = 0.25 * np.einsum("np,np,n->p", self.A, self.A, self.weights)
        ridge = np.maximum(_RIDGE * half, np.finfo(np.float64).tiny)
        return np.asarray(spread / _SPREAD**2 + np.diag(ridge))


@dataclass(frozen=True, eq=False)
class ShareFits:
    """A fit for each share of wrong labels.

    Attributes
    ----------
    coefs : array (shares, p)
        Coefficients.
    evidence : array (shares,)
        Logarithm of the prior times the penalized likelihood, in units of the information at probability one half: what
        speaks for the columns.
    likelihood : array (shares,)
        The same without the penalty: what speaks for the share, given the columns.
    settled : bool
        Whether the iterations settled.
    n_iter : int
        Number of iterations.
    """

    coefs: Array
    evidence: Array
    likelihood: Array
    settled: bool
    n_iter: int

    @cached_property
    def posterior(self) -> Array:
        """Probability of each share."""
        return np.asarray(np.exp(self.likelihood - logsumexp(self.likelihood)))

    @property
    def misfit(self) -> float:
        """Minus twice the logarithm of the evidence."""
        return -2.0 * float(logsumexp(self.evidence))

    @property
    def share(self) -> float:
        """Share of wrong labels: the median, given the columns."""
        return _quantile(self.posterior, 0.5)

    @property
    def cautious_share(self) -> float:
        """The same by the evidence, which asks more of a share that makes coefficients large."""
        return _quantile(np.exp(self.evidence - logsumexp(self.evidence)), 0.5)

    def coef_at(self, share: float) -> Array:
        """Coefficients (p,) at a share, between those of its neighbors."""
        return np.array([np.interp(share, SHARES, values) for values in self.coefs.T])

    def open_share(self) -> Array:
        """Covariance (p, p) for want of knowing the share."""
        middle = self.coef_at(self.cautious_share)
        ends = [self.coef_at(_quantile(self.posterior, level)) for level in (_LOW, 1.0 - _LOW)]
        # The farther of the two ends, as if it were as far on both sides.
        apart = max((end - middle for end in ends), key=np.linalg.norm) / _AWAY
        return np.outer(apart, apart)

    def working(self, rows: Labelled) -> tuple[Array, Array]:
        """Weights and response (n,) of the least-squares problem that the likelihood looks like at the best share.

        `rows` are those that were fitted.
        """
        best = int(np.argmax(self.posterior))
        at = _At.of(rows, float(SHARES[best]), self.coefs[best])
        weights = np.maximum(at.weights, _LEAST_WEIGHT * float(rows.weights.max()))
        return weights, rows.A @ self.coefs[best] + rows.weights * at.score / weights


def _quantile(probabilities: Array, level: float) -> float:
    """Share of wrong labels that is not exceeded with a probability; none of them is a share of its own."""
    below = np.cumsum(probabilities)
    if below[0] >= level:
        return 0.0
    # A share stands for those up to the middle between it and the next one.
    return float(np.interp(level, below, _EDGES))


@dataclass(frozen=True, eq=False)
class _At:
    """The likelihood at coefficients, with a share of wrong labels.

    Attributes
    ----------
    p, r : array (n,)
        Probabilities of the event and of the other class.
    one, zero, label : array (n,)
        Probabilities of the labels one and zero, and of the label that a row has.
    score, weights : array (n,)
        Derivative of the log-likelihood by the predictor; Fisher's information about the predictor.
    information : array (p, p)
        Fisher's information about the coefficients.
    loss, objective : float
        Minus the log-likelihood with the prior; the same less half the logarithm of the determinant of the information.
    """

    p: Array
    r: Array
    one: Array
    zero: Array
    label: Array
    score: Array
    weights: Array
    information: Array
    loss: float
    objective: float

    @classmethod
    def of(cls, rows: Labelled, share: float, coef: Array) -> "_At":
        eta = np.clip(rows.A @ coef + rows.offset, -_FARTHEST, _FARTHEST)
        p = expit(eta)
        r = expit(-eta)
        known = 1.0 - 2.0 * share
        one, zero = share + known * p, share + known * r
        slope = known * p * r
        event = rows.y == 1
        label = np.where(event, one, zero)
        weights = rows.weights * slope**2 / (one * zero)
        information = rows.information(weights) + rows.prior
        determinant = 0.5 * _log_det(information)
        loss = 0.5 * float(coef @ rows.prior @ coef) - float(np.log(label) @ rows.weights)
        score = np.where(event, slope, -slope) / label
        return cls(p, r, one, zero, label, score, weights, information, loss, loss - determinant)

    def pull(self, rows: Labelled, share: float, coef: Array, inverse: Array) -> Array:
        """Gradient (p,) of the penalized log-likelihood."""
        hat = np.einsum("np,np->n", rows.A @ inverse, rows.A) * self.weights
        known = 1.0 - 2.0 * share
        bend = 2.0 * (self.r - self.p)
        bend -= known * self.p * self.r * (self.zero - self.one) / (self.one * self.zero)
        return np.asarray(
            (rows.weights * self.score + 0.5 * hat * bend) @ rows.A - rows.prior @ coef
        )


def _log_det(information: Array) -> float:
    return float(np.linalg.slogdet(information)[1])


def share_fits(rows: Labelled, start: Array | None = None, tol: float = TOL) -> ShareFits:
    """Fits for all shares of wrong labels that the rows leave possible.

    Parameters
    ----------
    rows : Labelled
        What is to be fitted; columns of A independent of each other.
    start : array (p,), optional
        Coefficients to start from.
    tol : float
        Fall of the objective at which iterations stop.
    """
    p = rows.A.shape[1]
    coefs = np.zeros((len(SHARES), p))
    evidence, likelihood = np.full((2, len(SHARES)), -np.inf)
    unit = 0.5 * _log_det(rows.information(0.25 * rows.weights) + rows.prior)
    coef = np.zeros(p) if start is None else start
    settled, n_iter = True, 0
    for place, share in enumerate(SHARES):
        end = _minimized(rows, float(share), coef, tol)
        coefs[place], evidence[place] = end.coef, _LOG_PRIOR[place] - end.objective - unit
        likelihood[place] = _LOG_PRIOR[place] - end.loss
        settled, n_iter = settled and end.settled, n_iter + end.n_iter
        # Beyond its peak the likelihood falls faster and faster.
        if place and likelihood[place] < min(likelihood[place - 1], likelihood.max() - _NEGLIGIBLE):
            coefs[place:] = end.coef
            break
        coef = end.coef
    return ShareFits(coefs, evidence, likelihood, settled, n_iter)


@dataclass(frozen=True, eq=False)
class _End:
    """Where the iterations ended."""

    coef: Array
    loss: float
    objective: float
    settled: bool
    n_iter: int


def _minimized(rows: Labelled, share: float, start: Array, tol: float) -> _End:
    """Fisher scoring with step halving."""
    coef, at = start, _At.of(rows, share, start)
    if start.any():
        # A start that is worse than nothing is none.
        zero = _At.of(rows, share, np.zeros_like(start))
        if zero.objective < at.objective:
            coef, at = np.zeros_like(start), zero
    for n_iter in range(1, MAX_ITER + 1):
        inverse: Array = np.asarray(np.linalg.inv(at.information), dtype=np.float64)
        gradient = at.pull(rows, share, coef, inverse)
        step = inverse @ gradient
        if step @ gradient < tol:
            return _End(coef, at.loss, at.objective, True, n_iter)
        farthest = float(np.abs(rows.A @ step).max())
        step *= min(1.0, _LONGEST / max(farthest, _LONGEST))
        for _ in range(MAX_HALVINGS):
            new = _At.of(rows, share, coef + step)
            if new.objective <= at.objective:
                break
            step = 0.5 * step
        else:
            # No step goes down: what is left of the gradient is rounding.
            return _End(coef, at.loss, at.objective, True, n_iter)
        coef, at = coef + step, new
    return _End(coef, at.loss, at.objective, False, MAX_ITER)


def mislabeled_logistic(
    A: Array,
    y: Array,
    *,
    offset: Array | None = None,
    prior_weights: Array | None = None,
    start: Array | None = None,
) -> Refit:
    """Logistic regression in which a label may be wrong.

    Parameters
    ----------
    A : (n, p) array
        Design, with a column of ones if there is an intercept; n > p.
    y : (n,) array
        Response, 0 or 1.
    offset : (n,) array, optional
        Known part of the linear predictor.
    prior_weights : (n,) array, optional
        Nonnegative weights: how much each row counts.
    start : (p,) array, optional
        Coefficients to start from.

    Returns
    -------
    Refit
        `scale` is 1, `resid` are Pearson residuals, `wrong` the probabilities that labels are wrong, `share` the share
        of them that is to be expected, and `weights` the probabilities that labels are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A = np.column_stack([np.ones(600), rng.normal(size=(600, 2))])
    >>> y = (rng.random(600) < 1 / (1 + np.exp(-A @ [0.0, 3.0, -3.0]))).astype(float)
    >>> y[:60] = 1 - y[:60]
    >>> fit = mislabeled_logistic(A, y)
    >>> bool(np.abs(fit.coef - [0.0, 3.0, -3.0]).max() < 1.0), bool(0.06 < fit.share < 0.14)
    (True, True)
    """
    A, y, prior = check_rows(A, y, prior_weights)
    _check_labels(y)
    fixed = np.zeros(len(y)) if offset is None else as_vector("offset", offset, len(y))
    used = prior > 0
    columns = independent_columns(A[used])
    check_enough_rows(int(used.sum()), len(columns))
    rows = Labelled(A[np.ix_(used, columns)], y[used], fixed[used], prior[used])
    first = None if start is None else _as_start(start, A.shape[1])[columns]
    fits = share_fits(rows, first)
    share = fits.cautious_share
    end = _minimized(rows, share, fits.coef_at(share), TOL)
    coef, cov = np.zeros(A.shape[1]), np.zeros((A.shape[1], A.shape[1]))
    coef[columns] = end.coef
    cov[np.ix_(columns, columns)] = _sandwich(rows, share, end.coef) + fits.open_share()
    resid = pearson(y, A @ coef + fixed)
    wrong = _wrong(pearson(y, A[:, columns] @ fits.coef_at(fits.share) + fixed), fits.share)
    return Refit(
        coef, 1.0, 1.0 - wrong, cov, resid, end.settled, fits.n_iter, wrong=wrong, share=fits.share
    )


def logistic_row_moves(
    A: Array,
    y: Array,
    fit: Refit,
    *,
    offset: Array | None = None,
    prior_weights: Array | None = None,
) -> RowMoves:
    """What each row does to the coefficients of `mislabeled_logistic` of the same data."""
    A, y, prior = check_rows(A, y, prior_weights)
    fixed = np.zeros(len(y)) if offset is None else as_vector("offset", offset, len(y))
    used = prior > 0
    columns = independent_columns(A[used])
    rows = Labelled(A[np.ix_(used, columns)], y[used], fixed[used], prior[used])
    coef = fit.coef[columns]
    fits = share_fits(rows, coef)
    at = _At.of(rows, fits.cautious_share, coef)
    roots = np.sqrt(at.weights)[:, None] * rows.A
    weighted = rows.weights[:, None] * rows.A
    moves = RowMoves(
        scores=weighted * at.score[:, None],
        unit=np.sqrt(rows.weights)[:, None] * roots,
        roots=roots,
        inverse=np.asarray(np.linalg.inv(at.information)),
        rest=np.zeros_like(roots),
        extra=fits.open_share(),
    )
    return moves.among(used, columns, A.shape[1])


def _sandwich(rows: Labelled, share: float, coef: Array) -> Array:
    """Covariance (p, p) of the coefficients at a share, of rows that do not all count in full."""
    at = _At.of(rows, share, coef)
    bread = np.linalg.inv(at.information)
    return np.asarray(bread @ rows.information(at.weights * rows.weights) @ bread)


def _wrong(resid: Array, share: float) -> Array:
    """Probability (n,) that each label is wrong, from Pearson residuals."""
    # Their squares are the odds against the labels.
    right = 1.0 / (1.0 + resid**2)
    return np.asarray(share * (1.0 - right) / (share + (1.0 - 2.0 * share) * right))


def pearson(y: Array, eta: Array) -> Array:
    """Pearson residuals: the label's miss over its standard deviation."""
    exponent = np.clip((0.5 - y) * eta, -300.0, 300.0)
    return np.asarray((2.0 * y - 1.0) * np.exp(exponent))


def _check_labels(y: Array) -> None:
    bad = np.flatnonzero((y != 0) & (y != 1))
    if len(bad):
        raise DataError(
            f"y has the value {y[bad[0]]:g} in row {bad[0]}; a binary response is 0 or 1."
        )


def _as_start(start: Array, p: int) -> Array:
    coef = np.asarray(start, dtype=np.float64)
    if coef.shape != (p,) or not np.isfinite(coef).all():
        raise ParameterError(f"start has shape {coef.shape}; it needs {p} finite coefficients.")
    return coef
