"""Families by their names, and what is said of others."""

from typing import Literal

from robustsparse.algorithm.losses import LOSSES, Loss
from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.family import Family
from robustsparse.regression.gaussian import Gaussian

FAMILIES: dict[str, Family] = {"gaussian": Gaussian(), "binomial": Binomial()}
# What other packages call them, and what to do about it.
_MEANT = {
    **dict.fromkeys(
        ("logistic", "logit", "bernoulli", "binary", "classification"),
        "is called 'binomial' here; use family='binomial'.",
    ),
    **dict.fromkeys(
        ("normal", "linear", "ols", "regression", "squared", "least_squares"),
        "is called 'gaussian' here; use family='gaussian'.",
    ),
    **dict.fromkeys(
        ("huber", "robust"),
        "is no kind of response; use family='gaussian', which withstands bad rows, and loss='huber' if it is to be.",
    ),
    **dict.fromkeys(
        ("poisson", "count", "counts"),
        "is no family of the package; docs/extending/poisson.py of its repository has one for counts: "
        "family=Poisson().",
    ),
}
# What `family=` takes.
FamilyLike = Literal["gaussian", "binomial"] | Family


def as_family(family: FamilyLike) -> Family:
    """Family from its name, or the object itself."""
    if isinstance(family, Family):
        return family
    if isinstance(family, type):
        raise ParameterError(f"family={family!r} is a class; call it to make one.")
    meant = _MEANT.get(family.lower()) if isinstance(family, str) else None
    if family not in FAMILIES and meant is not None:
        raise ParameterError(f"family={family!r} {meant}")
    check_choice("family", family, tuple(FAMILIES))
    return FAMILIES[family]


def check_loss(loss: Loss, asked: object, family: Family) -> None:
    """Refuse a loss of ours for another kind of response; what a user's own is for, only the user knows."""
    if isinstance(loss, tuple(LOSSES.values())) and not isinstance(loss, family.losses):
        own = [repr(name) for name, known in LOSSES.items() if known in family.losses]
        own = own or [f"{known.__name__}()" for known in family.losses]
        raise ParameterError(
            f"loss={asked!r} does not fit family={family.name!r}; use {' or '.join(own)}, or the other family."
        )
