"""Stability selection: finds the terms, keeps its bound, and does not depend on the number of jobs."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.base.errors import ParameterError
from robustsparse.regression.stability import Stability, stability

mpl.use("Agg")


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=160, d=60, k=3, epsilon=0.1, rng=5)


@pytest.fixture(scope="module")
def stable(sim: rs.simulate.Simulation) -> Stability:
    return stability("y ~ .", sim.data, resamples=10)


def true_terms(sim: rs.simulate.Simulation) -> set[str]:
    return {f"x{j + 1}" for j in np.flatnonzero(sim.beta)}


def test_finds_the_true_terms_in_spite_of_outliers(
    sim: rs.simulate.Simulation, stable: Stability
) -> None:
    assert set(stable.selected()) == true_terms(sim)
    assert stable.candidates == 60
    assert stable.rows == round(len(sim.y) / 2)


def test_frequencies_are_sorted_shares(stable: Stability) -> None:
    values = stable.frequencies.to_numpy()
    assert np.all(np.diff(values) <= 0)
    assert values.min() > 0
    assert values.max() <= 1
    # Every fit adds as many terms as it selects.
    assert np.isclose(values.sum(), stable.k_mean)


def test_bound_is_the_published_one() -> None:
    frequencies = pd.Series({"a": 0.9, "b": 0.5})
    result = Stability(frequencies, 0.75, 10, 1.4, 98, 20, "y ~ .")
    assert np.isclose(result.error_bound, 1.4**2 / (0.5 * 98))
    assert result.selected() == ["a"]
    assert result.selected(0.5) == ["a", "b"]


def test_pure_noise_has_no_stable_term_beyond_the_bound() -> None:
    rng = np.random.default_rng(0)
    false, bound = 0.0, 0.0
    for seed in range(3):
        data = pd.DataFrame(rng.normal(size=(80, 41)), columns=["y", *(f"x{j}" for j in range(40))])
        result = stability("y ~ .", data, resamples=8, k=2, threshold=0.8, rng=seed)
        assert result.k_mean == 2
        false, bound = false + len(result.selected()), bound + result.error_bound
    # The bound is on an expectation: three times it, and one, is beyond the luck of three draws.
    assert false <= 3 * bound + 1


def test_same_seed_same_answer_for_any_number_of_jobs(sim: rs.simulate.Simulation) -> None:
    runs = [
        stability("y ~ .", sim.data, resamples=4, k=6, rng=3, n_jobs=n_jobs) for n_jobs in (1, 2)
    ]
    pd.testing.assert_series_equal(runs[0].frequencies, runs[1].frequencies)
    other = stability("y ~ .", sim.data, resamples=4, k=6, rng=4)
    assert not other.frequencies.equals(runs[0].frequencies)


# Blocks that are drawn anew never settle.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_median_of_means_with_a_generator_does_not_depend_on_jobs(
    sim: rs.simulate.Simulation,
) -> None:
    def run(n_jobs: int) -> "pd.Series[float]":
        estimator = rs.MedianOfMeans(blocks=61, rng=np.random.default_rng(0))
        options = {"estimator": estimator, "refit": False, "k": 8, "n_jobs": n_jobs}
        return stability("y ~ .", sim.data, resamples=6, **options).frequencies

    pd.testing.assert_series_equal(run(1), run(2))


def test_kept_terms_are_not_counted(sim: rs.simulate.Simulation) -> None:
    term = sorted(true_terms(sim))[0]
    result = stability("y ~ .", sim.data, resamples=2, k=2, keep=term)
    assert term not in result.frequencies.index
    assert result.candidates == 59
    assert set(result.selected()) == true_terms(sim) - {term}


def test_nothing_selected(sim: rs.simulate.Simulation) -> None:
    result = stability("y ~ x1 + x2", sim.data, resamples=2, k=0, keep=["x1", "x2"])
    assert result.selected() == []
    assert result.error_bound == 0
    assert "no term" in str(result.summary())


def test_two_classes() -> None:
    sim = rs.simulate.logistic(n=200, d=20, k=2, epsilon=0.0, rng=3)
    data = sim.data.assign(y=np.where(sim.data["y"] == 1, "ill", "well"))
    result = stability("y ~ .", data, resamples=4, k=2, family="binomial")
    assert set(result.selected()) == true_terms(sim)


def test_odd_numbers_are_rounded_up_to_pairs(sim: rs.simulate.Simulation) -> None:
    assert stability("y ~ .", sim.data, resamples=3, share=0.4, k=1).resamples == 4


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 0.5}, {"threshold": 1.1}, {"share": 0.6}, {"share": 0}, {"resamples": 1}],
)
def test_impossible_arguments_are_named(
    sim: rs.simulate.Simulation, wrong: dict[str, float]
) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        stability("y ~ .", sim.data, **wrong)


def test_data_are_not_changed(sim: rs.simulate.Simulation) -> None:
    before = sim.data.copy()
    stability("y ~ .", sim.data, resamples=2, k=1)
    pd.testing.assert_frame_equal(sim.data, before)


def test_summary_and_repr(stable: Stability) -> None:
    text = str(stable.summary())
    assert all(term in text for term in stable.selected())
    assert f"at most {stable.error_bound:.2g}" in text
    assert "3 of 60 terms stable" in repr(stable)


def test_summary_counts_the_terms_it_leaves_out() -> None:
    frequencies = pd.Series({f"x{j}": 0.1 for j in range(30)})
    text = str(Stability(frequencies, 0.6, 10, 3.0, 100, 20, "y ~ .").summary())
    assert "10 rarer term(s) are not shown" in text
    assert "no term" in repr(Stability(frequencies, 0.6, 10, 3.0, 100, 20, "y ~ ."))


def test_plot(stable: Stability) -> None:
    ax = stable.plot()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:3] == stable.selected()
    mpl.pyplot.close(ax.figure)
