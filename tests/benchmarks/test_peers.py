"""Peers: who is given which problem, and what comes back, from R too."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import fits, rpeers
from benchmarks.peers import PEERS, Peer
from benchmarks.problems import LARGE, SMALL, TALL, TRUE_K, Array, Case
from benchmarks.timing import Sample, Timed


def nothing(X: Array, y: Array, case: Case, k: int) -> Array:
    return np.zeros(X.shape[1])


def named(name: str) -> Peer:
    return next(peer for peer in PEERS if name in peer.name)


def test_missing_peers_are_told() -> None:
    peer = Peer("no such thing", "no_such_module", nothing)
    assert peer.spared(Case(*SMALL), True) == "not installed"


@pytest.mark.parametrize(
    ("pace", "case", "full", "why"),
    [
        (0.1, Case(*LARGE), False, ""),
        (3.0, Case(*LARGE), False, ""),
        (3.0, Case(*LARGE, attack="leverage"), True, "left out, slow"),
        (3.0, Case(*SMALL, attack="leverage"), True, ""),
        (250.0, Case(*SMALL), False, "left out, slow"),
        (250.0, Case(*SMALL), True, ""),
        (250.0, Case(*LARGE), True, "left out, slow"),
    ],
)
def test_slow_peers_are_spared_what_they_cannot_end(
    pace: float, case: Case, full: bool, why: str
) -> None:
    assert Peer("peer", "numpy", nothing, pace=pace).spared(case, full) == why


def test_dense_methods_need_more_rows_than_columns() -> None:
    assert named("RLM, Huber").suits(Case(*TALL))
    assert not named("RLM, Huber").suits(Case(*SMALL))


def test_long_fits_see_one_data_set() -> None:
    long = Peer("long", "numpy", nothing, pace=1e6)
    records = fits.measure(Case(60, 40), [long, Peer("short", "numpy", nothing)], 2, 1)
    counts = {name: len(record.samples) for name, record in records.items()}
    assert counts == {fits.OURS: 2, fits.THREADED: 2, "long": 1, "short": 2, fits.ORACLE: 2}
    assert records["short"].errors == pytest.approx([5**0.5] * 2)


def test_seconds_from_elsewhere_count() -> None:
    data = Case(60, 40).draw()
    record = fits.Record()
    record.add(data, lambda: Timed(data.beta, Sample(7.0, 5.0)))
    assert record.samples == [Sample(7.0, 5.0)]
    assert (record.errors, record.f1) == ([0.0], [1.0])


@pytest.mark.parametrize("name", ["scikit-learn Lasso, one alpha", "RLM, Huber", "RLM, Tukey"])
def test_peers_return_a_coefficient_a_column(name: str) -> None:
    peer = named(name)
    pytest.importorskip(peer.module)
    case = Case(200, 20)
    data = case.draw()
    coef = peer.fit(data.X, data.y, case, TRUE_K)
    assert isinstance(coef, np.ndarray)
    assert coef.shape == (20,)
    assert set(np.argsort(-np.abs(coef))[:TRUE_K]) == set(np.flatnonzero(data.beta))


# -- R, played by a script that returns the products of x and y

FAKE = """#!{python}
import sys
from pathlib import Path
import numpy as np
if sys.argv[1] == "-e":
    print("1.2.3" if "there" in sys.argv[2] else "", end="")
    raise SystemExit
_, script, method, folder = sys.argv
folder = Path(folder)
n, d, k = map(int, (folder / "size.txt").read_text().split())
x = np.fromfile(folder / "x.bin").reshape(n, d, order="F")
if (folder / "y.bin").exists():
    (k * x.T @ np.fromfile(folder / "y.bin")).tofile(folder / "coef.bin")
(folder / "seconds.txt").write_text("1.5\\n2.5\\n")
"""


@pytest.fixture
def r(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "Rscript"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    rpeers.r_version.cache_clear()
    yield
    rpeers.r_version.cache_clear()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.usefixtures("r")
@pytest.mark.parametrize("order", ["C", "F"])
def test_data_reach_r_and_coefficients_come_back(order: str) -> None:
    rng = np.random.default_rng(0)
    X, y = np.array(rng.normal(size=(6, 4)), order=order), rng.normal(size=6)  # type: ignore[call-overload]
    found = rpeers.regression("any", X, y, 2)
    assert found.sample == Sample(wall=2.5, cpu=1.5)
    np.testing.assert_allclose(found.coef, 2 * X.T @ y)
    assert rpeers.run("any", X) == (Sample(2.5, 1.5), None)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.usefixtures("r")
def test_versions_of_r_packages() -> None:
    assert rpeers.r_version("there") == "1.2.3"
    assert rpeers.r_version("missing") is None


def test_without_r_nothing_of_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    rpeers.r_version.cache_clear()
    assert not named("glmnet").installed
    assert not rpeers.HUGE[0].installed
    rpeers.r_version.cache_clear()


@pytest.mark.skipif(rpeers.r_version("glmnet") is None, reason="needs R with glmnet")
def test_glmnet_finds_the_predictors_of_clean_data() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 8))
    found = rpeers.regression("cv.glmnet", X, 2 * X[:, 1] - 3 * X[:, 4], 2)
    assert set(np.argsort(-np.abs(found.coef))[:2]) == {1, 4}
