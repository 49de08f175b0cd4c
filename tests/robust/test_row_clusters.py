"""Clusters of rows: found where they stand out, not where every row has its like."""

import numpy as np
import pytest

from robustsparse.base.types import Array
from robustsparse.robust.row_clusters import cluster_shares, row_clusters

SEEDS = range(6)


def clustered(seed: int, spread: float, share: float, d: int = 100) -> tuple[Array, int]:
    """Normal rows, of which the first are a cluster around one of them."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(200, d))
    count = int(share * len(Z))
    Z[:count] = Z[0] + spread * rng.normal(size=(count, d))
    return Z, count


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_clusters_are_found_tight_or_loose(spread: float, share: float) -> None:
    for seed in SEEDS:
        Z, count = clustered(seed, spread, share)
        clusters = row_clusters(Z.T)
        assert (clusters[:count] == 0).all()
        assert (clusters[count:] == -1).mean() > 0.98


def test_two_clusters_are_two() -> None:
    for seed in SEEDS:
        Z, count = clustered(seed, 0.3, 0.1)
        Z[-count:] = Z[-1] + 0.3 * Z[-count:]
        clusters = row_clusters(Z.T)
        assert len({*clusters[:count]}) == len({*clusters[-count:]}) == 1
        assert clusters[0] != clusters[-1]
        assert set(clusters) == {-1, 0, 1}


def test_far_rows_hide_no_cluster() -> None:
    for seed in SEEDS:
        Z, count = clustered(seed, 0.3, 0.1)
        Z[-20:] *= 1e6
        assert (row_clusters(Z.T)[:count] == 0).all()


def designs(rng: np.random.Generator) -> dict[str, Array]:
    """Good rows of many kinds."""
    walk = rng.normal(size=(150, 20)).cumsum(axis=0)
    return {
        "normal": rng.normal(size=(100, 50)),
        "few columns": rng.normal(size=(100, 3)),
        "few rows": rng.normal(size=(40, 30)),
        "dummies": (rng.random((100, 60)) < 0.3).astype(float),
        "counts": rng.poisson(1.0, (100, 40)).astype(float),
        "replicated": np.repeat(rng.normal(size=(30, 12)), 4, axis=0),
        "groups": rng.normal(size=(6, 40))[np.arange(120) % 6] + 0.3 * rng.normal(size=(120, 40)),
        "series": walk / walk.std(axis=0),
    }


@pytest.mark.parametrize("kind", list(designs(np.random.default_rng(0))))
def test_good_rows_are_in_no_cluster(kind: str) -> None:
    inside = [
        (row_clusters(designs(np.random.default_rng(seed))[kind].T) >= 0).mean() for seed in SEEDS
    ]
    assert np.mean(inside) < 0.02


def test_most_of_the_rows_are_no_cluster() -> None:
    Z, _ = clustered(0, 0.1, 0.48)
    assert (row_clusters(Z.T) == -1).all()
    assert (row_clusters(Z[:6].T) == -1).all()


def test_constant_columns_and_equal_rows_are_no_trouble() -> None:
    assert (row_clusters(np.zeros((4, 30))) == -1).all()


def test_a_cluster_counts_like_one_row() -> None:
    clusters = np.array([-1, 0, 0, 0, 1, 1, -1])
    shares = cluster_shares(clusters)
    assert shares[clusters == 0].sum() == pytest.approx(1.0)
    assert shares[clusters == 1].sum() == pytest.approx(1.0)
    assert (shares[clusters == -1] == 1.0).all()
    among = np.array([True, True, True, False, True, False, False])
    np.testing.assert_allclose(cluster_shares(clusters, among)[1:6], [1 / 3, 1 / 3, 1 / 3, 1, 1])
