"""Simulated data: the paper's models, graphs and a battery of attacks.

`linear`, `misspecified`, `logistic` and `graph` return a `Simulation`; `attacks` and
`label_attacks` map names to corruptions, `gross_attacks` names those that leave no doubt. `rdc`
measures the Robust Descent Condition of a gradient estimator on such data.
"""

from robustsparse.simulate.battery import Attack, attacks, gross_attacks
from robustsparse.simulate.labels import label_attacks
from robustsparse.simulate.models import linear, logistic, misspecified
from robustsparse.simulate.networks import graph
from robustsparse.simulate.rdc import RDC, rdc
from robustsparse.simulate.simulation import Simulation

__all__ = [
    "RDC",
    "Attack",
    "Simulation",
    "attacks",
    "graph",
    "gross_attacks",
    "label_attacks",
    "linear",
    "logistic",
    "misspecified",
    "rdc",
]
