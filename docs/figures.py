"""Draw the pictures of the README: `python docs/figures.py` from the repository's root."""

from pathlib import Path

import numpy as np

import robustsparse as rs

FIGURES = Path(__file__).parent / "figures"


def main() -> None:
    """Write every picture."""
    FIGURES.mkdir(exist_ok=True)
    sim = rs.simulate.linear(n=200, d=500, k=4, epsilon=0.1, attack="leverage", rng=7)
    fit = rs.rht("y ~ .", sim.data)
    fit.plot_path().figure.savefig(FIGURES / "path.png", dpi=150)
    octane = rs.rht("y ~ .", rs.datasets.octane())
    octane.plot_diagnostics()[0, 0].figure.savefig(FIGURES / "diagnostics.png", dpi=120)
    prices, info = rs.datasets.stocks()
    graph = rs.robust_ns(np.log(prices).diff().iloc[1:], k=4, max_edges=2000)
    network = graph.plot(groups=info.set_index("ticker")["sector"])
    network.figure.savefig(FIGURES / "network.png", dpi=150)


if __name__ == "__main__":
    main()
