"""Ends of a search from several views: warnings follow failure."""

import warnings
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.solver import RHTFit
from robustsparse.regression.fit.ends import End, Ends
from robustsparse.regression.fit.finders import Found, Hints
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.fit.views import View
from robustsparse.regression.gaussian import Gaussian
from robustsparse.robust.mm import Refit


def warned(**arguments: Any) -> tuple[bool, float]:
    """Whether a fit to simulated data warns, and the F1 of its support."""
    sim = rs.simulate.linear(n=200, d=200, k=5, **arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = rs.rht_fit(sim.X, sim.y, epsilon=0.2, n_jobs=1)
    true, found = set(sim.support()), set(fit.support())
    texts = [str(one.message) for one in caught if one.category is rs.SelectionWarning]
    return bool(texts), 2 * len(true & found) / max(len(true) + len(found), 1)


@pytest.mark.parametrize("attack", [None, "shift_y", "leverage", "paper"])
def test_good_fits_do_not_warn(attack: str | None) -> None:
    told = [warned(attack=attack, epsilon=0.1 if attack else 0.0, rng=seed) for seed in range(6)]
    assert np.mean([f1 for _, f1 in told]) > 0.95
    assert sum(text for text, _ in told) <= 1


@pytest.mark.parametrize("attack", ["cancel", "delete_cancel"])
def test_failed_fits_warn(attack: str) -> None:
    """A fifth of the rows, made to leave no trace of the terms in any gradient."""
    told = [warned(attack=attack, epsilon=0.2, rng=seed) for seed in range(6)]
    failed = [text for text, f1 in told if f1 < 0.5]
    assert len(failed) >= 3
    assert np.mean(failed) >= 0.5


def test_noise_is_told() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(rs.SelectionWarning, match="no term stands out from noise"):
        fit = rs.rht_fit(rng.normal(size=(100, 30)), rng.normal(size=100))
    assert fit.k == 0


def noise(**arguments: Any) -> tuple[rs.RHTResult, list[str]]:
    """A fit to noise, with what it warns of."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.normal(size=80)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = rs.rht_fit(X, y, n_jobs=1, **arguments)
    return fit, [str(one.message) for one in caught]


def test_it_is_told_once_and_with_a_remedy_that_is_left() -> None:
    """The first fit, which estimates the share of bad rows, is nobody's model."""
    _, (text,) = noise()
    assert "try epsilon='auto'" in text
    _, (text,) = noise(epsilon="auto")
    assert "epsilon" not in text


def test_the_words_are_those_of_the_model_that_was_chosen() -> None:
    fit, (text,) = noise(select="cv")
    assert fit.k == 1
    assert "its one term hardly stands out" in text


def test_a_model_to_predict_is_not_blamed_for_the_terms_of_another() -> None:
    for options in ({}, {"epsilon": "auto"}):
        fit, texts = noise(goal="predict", **options)
        assert fit.k > 0
        assert texts == []


def test_a_choice_at_the_end_is_not_also_called_doubtful() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(6, 30))
    with pytest.warns(rs.SelectionWarning, match="its one term hardly stands out") as caught:
        assert rs.rht_fit(X, X[:, :2].sum(axis=1) + 0.2 * rng.normal(size=6), n_jobs=1).k == 1
    assert len([one for one in caught if one.category is rs.SelectionWarning]) == 1


def test_a_rival_that_is_as_good_is_told() -> None:
    """Two ends that leave the same residuals, with different columns and different rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.normal(size=60)
    judged = standardized(X, y, Squared(), family=Gaussian(), how="mad")

    def end(columns: list[int], scale: float, out: int = 0) -> End:
        best = RHTFit(np.zeros(9), np.array(columns), 0.0, True, "settled", 0.0, ())
        found = Found({0: best, 2: best}, {0: 1e4, 2: 0.0}, ())
        refit = Refit(np.zeros(2), scale, np.ones(60), np.eye(2), scale * judged.y, True, 1)
        return End(np.arange(60) >= out, found, refit)

    def ends(*reached: End) -> Ends:
        view = View(np.ones(60, dtype=bool), Hints())
        return Ends(judged, np.ones(60), [(view, one) for one in reached])

    chosen, rival, worse = end([1, 2], 1.0), end([2, 3], 1.01, out=6), end([4, 5], 2.0, out=6)
    assert "which shares 1 columns" in ends(chosen, rival).doubt(2)
    assert "judge 6 otherwise" in ends(chosen, rival).doubt(2)
    assert ends(chosen, worse, chosen).doubt(2) == ""
    # On the same rows other columns only tell the same by other names.
    assert ends(chosen, end([2, 3], 1.01)).doubt(2) == ""


def test_a_given_k_is_not_doubted() -> None:
    rng = np.random.default_rng(0)
    assert rs.rht_fit(rng.normal(size=(100, 30)), rng.normal(size=100), k=2).k == 2


@pytest.mark.filterwarnings("ignore:the response .* has the same value")
def test_a_constant_response_has_nothing_to_find() -> None:
    assert rs.rht_fit(np.random.default_rng(0).normal(size=(50, 4)), np.ones(50)).k == 0


def said(seed: int, noise: str, shift: float) -> list[str]:
    """What is said of a fit with a fifth of the rows off by so many scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 20))
    errors = rng.normal(size=300) if noise == "normal" else rng.standard_t(3, size=300)
    # Rows that are off agree with each other.
    errors[:60] = errors[:60] if not shift else shift + 0.4 * errors[:60]
    y = 3.0 * X[:, 0] - 3.0 * X[:, 1] + errors
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rs.rht_fit(X, y, n_jobs=1)
    return [str(one.message) for one in caught if "between two and three" in str(one.message)]


def test_rows_that_crowd_at_the_edge_are_told() -> None:
    told = [said(seed, "normal", 3.8) for seed in range(6)]
    assert sum(map(bool, told)) >= 4
    assert "plot_diagnostics" in next(filter(None, told))[0]


def test_tails_alone_are_no_crowd() -> None:
    assert not any(said(seed, noise, 0.0) for seed in range(5) for noise in ("normal", "t3"))
