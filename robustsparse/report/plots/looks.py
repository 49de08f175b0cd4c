"""How the groups of a graph look: the colors, markers and names that a picture and a page share."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustsparse.report.plots.style import GREY, PALETTE
from robustsparse.report.summary.words import printable

# Colors of groups beyond the palette: six more (of Paul Tol's, with yellow and black) that are told apart with every
# kind of color vision. Some resemble one of the palette, so each set of six has its own marker.
_COLORS = (*PALETTE, "#E3D000", "#882255", "#332288", "#999933", "#117733", "#000000")
_MARKERS = ("o", "s", "^", "D")
MAX_GROUPS = 24
_NO_GROUP = "no group"
_OTHERS = "other groups"


class Look(NamedTuple):
    """How a group is drawn, and what the legend calls it."""

    name: str
    color: str
    marker: str


def looks_of(groups: "pd.Series[Any]") -> dict[int, Look]:
    """Look of each group by its number; -1 is no group. Of too many, the largest have one of their own."""
    names = [printable(name) for name in groups.cat.categories]
    size = np.bincount(groups.cat.codes[groups.cat.codes >= 0], minlength=len(names))
    own = set(np.argsort(-size, kind="stable")[:MAX_GROUPS].tolist())
    looks = {-1: Look(_NO_GROUP, GREY, "o")}
    for code, name in enumerate(names):
        if code not in own:
            looks[code] = Look(_OTHERS, GREY, "o")
            continue
        place = len([c for c in own if c < code])
        color = _COLORS[place % len(_COLORS)]
        looks[code] = Look(name, color, _MARKERS[place // len(PALETTE)])
    return looks


def legend_looks(groups: "pd.Series[Any]") -> list[Look]:
    """Looks for the legend in the order of the groups, what has no color of its own at the end."""
    looks = looks_of(groups)
    used = [looks[code] for code in sorted(set(groups.cat.codes)) if code >= 0]
    grey = [look for look in dict.fromkeys(used) if look.name == _OTHERS]
    missing = [looks[-1]] if groups.isna().any() else []
    return [*(look for look in used if look.name != _OTHERS), *grey, *missing]
