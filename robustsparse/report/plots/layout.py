"""Where the nodes of a graph go: geometry without matplotlib, the same for the same graph at every call.

Each component starts from its distances in the graph and is then moved by forces as in Fruchterman and Reingold
(1991): neighbors attract, all nodes repel. Components are packed side by side; nodes without neighbors stand in rows
below them.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from robustsparse.base.types import Array

# Nodes whose distances to all others start the layout, and nodes that repel in one step; of more, a sample serves.
_PIVOTS = 250
_SOURCES = 800
# Steps of the forces, the longest move at the beginning and at the end, and the share of the force that is followed.
_STEPS = 300
_HEAT = (0.5, 0.005)
_SHARE = 0.1
# Pull toward the middle of a component, which holds long arms together.
_GRAVITY = 0.2
# Area of the box around a component for each of its nodes, which may push it wider apart, and the smallest distance
# of two nodes.
_AREA = 4.0
CLOSEST = 0.75
# Half the gap between components, cells to a unit when they are packed, and the distance of isolated nodes.
_MARGIN = 0.6
_CELLS = 2
_ROW = 0.9


def lay_out(adjacency: Any, aspect: float = 1.0) -> Array:
    """Place nodes in a plane, about one unit from the nearest other.

    Parameters
    ----------
    adjacency : sparse (d, d) matrix of bool
        Symmetric, without loops.
    aspect : float
        Width of the place to fill, divided by its height.

    Returns
    -------
    (d, 2) array
        Positions, the middle of their box at zero.

    Examples
    --------
    >>> triangle = sparse.csr_array(~np.eye(3, dtype=bool))
    >>> at = lay_out(triangle)
    >>> bool(np.allclose(np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1), 1.0, atol=0.1))
    True
    """
    graph = sparse.csr_array(adjacency)
    places = np.zeros((graph.shape[0], 2))
    count, label = csgraph.connected_components(graph, directed=False)
    size = np.bincount(label, minlength=count)
    # Largest first; among equals the one whose first node comes first.
    members = [np.flatnonzero(label == c) for c in np.argsort(-size, kind="stable") if size[c] > 1]
    shapes = [_component(graph[nodes][:, nodes]) for nodes in members]
    alone = size[label] == 1
    aspect = _without_rows(aspect, shapes, int(alone.sum()))
    if aspect < 1:
        shapes = [shape[:, ::-1] for shape in shapes]
    for nodes, shape, shift in zip(members, shapes, _pack(shapes, aspect), strict=True):
        places[nodes] = shape + shift
    places[alone] = _rows(int(alone.sum()), places[~alone], aspect)
    return _centered(places)


def _without_rows(aspect: float, shapes: list[Array], n: int) -> float:
    """Aspect of the place that is left to the components by rows of isolated nodes."""
    boxes = sum(float(np.prod(np.ptp(shape, axis=0) + 2 * _MARGIN)) for shape in shapes)
    return aspect * (1.0 + n * _ROW**2 / boxes) if shapes else aspect


def _centered(at: Array) -> Array:
    """Positions with the middle of their box at zero."""
    return at - 0.5 * (at.min(axis=0) + at.max(axis=0)) if len(at) else at


# ---------------------------------------------------------------------------------- one component


def _component(graph: Any) -> Array:
    """Positions of the nodes of a connected graph, its long side horizontal."""
    if graph.shape[0] == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    at = _turned(_forces(graph, _from_distances(graph)))
    nearest = float(np.median(_tree(at).query(at, k=2)[0][:, 1]))
    box = float(np.prod(np.ptp(at, axis=0)))
    # A graph with dense parts is not blown up until they have room; they are pushed apart.
    scale = min(1.0 / nearest, math.sqrt(_AREA * len(at) / max(box, 1e-9)))
    return _turned(_apart(at * scale))


def _from_distances(graph: Any) -> Array:
    """Scaling of the distances in the graph to the plane, from some nodes to all."""
    rng = np.random.default_rng(0)
    pivots = np.sort(rng.permutation(graph.shape[0])[:_PIVOTS])
    # The oldest scipy finds paths only where places are numbers of 32 bits.
    parts = (graph.data, graph.indices.astype(np.int32), graph.indptr.astype(np.int32))
    short = sparse.csr_array(parts, shape=graph.shape)
    squares = csgraph.shortest_path(short, unweighted=True, indices=pivots).T ** 2
    # A little noise, always the same, where symmetry would leave the choice to rounding.
    squares += 1e-3 * rng.standard_normal(squares.shape)
    squares -= squares.mean(axis=0) + squares.mean(axis=1, keepdims=True) - squares.mean()
    left, size, _ = np.linalg.svd(squares, full_matrices=False)
    at = left[:, :2] * np.sqrt(size[:2])
    at *= np.sign(at[np.argmax(np.abs(at), axis=0), [0, 1]])
    # Nodes with the same distances to all others would stay on one point.
    return np.asarray(at + 0.1 * at.std() * rng.standard_normal(at.shape))


def _forces(graph: Any, at: Array) -> Array:
    """Move nodes until attraction along edges and repulsion between all nodes balance."""
    n, rng = len(at), np.random.default_rng(0)
    pull = sparse.csr_array(graph, dtype=np.float64)
    rows, columns = pull.nonzero()
    strength = _strength(pull, rows, columns)
    at = at * (2.0 / np.linalg.norm(at[rows] - at[columns], axis=1).mean())
    for heat in np.geomspace(*_HEAT, _STEPS):
        sources = slice(None) if n <= _SOURCES else rng.permutation(n)[:_SOURCES]
        force = _repulsion(at, at[sources])
        pull.data = strength * np.linalg.norm(at[rows] - at[columns], axis=1)
        force += pull @ at - pull.sum(axis=1)[:, None] * at
        middle = at - at.mean(axis=0)
        force -= _GRAVITY * n / np.square(middle).sum(axis=1).mean() * middle
        length = np.linalg.norm(force, axis=1, keepdims=True)
        at = at + force * np.minimum(_SHARE, heat / np.maximum(length, 1e-12))
    return at


def _strength(edges: Any, rows: Any, columns: Any) -> Array:
    """How strongly each edge pulls: more if its ends have neighbors in common, so that clusters part."""
    degree = np.diff(edges.indptr)
    common = np.asarray((edges @ edges)[rows, columns]).ravel()
    # Nodes with many neighbors are drawn less by each, so that dense parts do not collapse.
    fair = 1.0 / np.sqrt(degree[rows] * degree[columns])
    strength = (2.0 + common) * fair
    return np.asarray(2.0 * strength * fair.mean() / strength.mean())


def _repulsion(at: Array, sources: Array) -> Array:
    """Push each node away from all sources, with one over the distance."""
    lengths = np.square(at).sum(axis=1)[:, None] + np.square(sources).sum(axis=1)
    strength = len(at) / len(sources) / np.maximum(lengths - 2.0 * at @ sources.T, 1e-2)
    return np.asarray(at * strength.sum(axis=1)[:, None] - strength @ sources)


def _turned(at: Array) -> Array:
    """Turned so that the component is widest horizontally, the middle of its box at zero."""
    centered = at - at.mean(axis=0)
    turned = centered @ np.linalg.svd(centered, full_matrices=False)[2].T
    # The signs of singular vectors are arbitrary: with the heavier tails to the right and up, the picture does not
    # depend on them.
    turned *= np.where((turned**3).sum(axis=0) < 0, -1.0, 1.0)
    return _centered(turned)


def _tree(at: Array) -> Any:
    """Search tree of the nodes."""
    # Imported where it is used: scipy.spatial would make everybody wait who draws no graph.
    from scipy.spatial import cKDTree

    return cKDTree(at)


def _apart(at: Array) -> Array:
    """Push nodes apart that are closer than `CLOSEST`."""
    at = at.copy()
    for _ in range(80):
        pairs = _tree(at).query_pairs(CLOSEST, output_type="ndarray")
        if not len(pairs):
            break
        gap = at[pairs[:, 0]] - at[pairs[:, 1]]
        length = np.maximum(np.linalg.norm(gap, axis=1, keepdims=True), 1e-9)
        move = 0.3 * (1.02 * CLOSEST - length) * gap / length
        np.add.at(at, pairs[:, 0], move)
        np.add.at(at, pairs[:, 1], -move)
    return at


# ------------------------------------------------------------------------------------- all of them


def _pack(shapes: list[Array], aspect: float) -> list[Array]:
    """Shift of each component, so that their boxes do not overlap and fill a box of the aspect."""
    reaches = [np.abs(shape).max(axis=0) + _MARGIN for shape in shapes]
    halves = [np.ceil(_CELLS * reach - 0.5).astype(int) for reach in reaches]
    area = sum(float(np.prod(2 * half + 1)) for half in halves)
    reach = math.ceil(1.5 * math.sqrt(area * max(aspect, 1 / aspect)))
    center = reach + max((int(half.max()) for half in halves), default=0)
    taken = np.zeros((2 * center + 1, 2 * center + 1))
    shifts: list[Array] = []
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for half in halves:
        shift = _free_place(taken, half, low, high, aspect) if shifts else np.zeros(2, int)
        x, y = (slice(center + s - h, center + s + h + 1) for s, h in zip(shift, half, strict=True))
        taken[x, y] = 1.0
        low, high = np.minimum(low, shift - half), np.maximum(high, shift + half)
        shifts.append(shift / _CELLS)
    return shifts


def _free_place(taken: Array, half: Any, low: Array, high: Array, aspect: float) -> Any:
    """Where a box fits that makes all boxes together least large, nearest to their middle."""
    sums = np.pad(taken, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    wide, tall = 2 * half + 1
    covered = sums[wide:, tall:] - sums[:-wide, tall:] - sums[wide:, :-tall] + sums[:-wide, :-tall]
    place = np.argwhere(covered == 0) + half - taken.shape[0] // 2
    sides = np.maximum(high, place + half) - np.minimum(low, place - half)
    box = sides / np.array([aspect, 1.0])
    away = np.linalg.norm(place - 0.5 * (low + high), axis=1)
    # Rounded, so that ties go to the first place and not to a rounding error.
    cost = box.max(axis=1) + 0.05 * box.min(axis=1) + 0.01 * away
    return place[np.argmin(cost.round(9))]


def _rows(n: int, others: Array, aspect: float) -> Array:
    """Positions of isolated nodes: rows below the others, or a block if there are none."""
    wide = math.sqrt(n * aspect)
    if len(others):
        wide = max(float(np.ptp(others[:, 0])), 0.7 * wide)
    per_row = math.ceil(n / max(math.ceil(n * _ROW / (wide + _ROW)), 1))
    row, column = np.divmod(np.arange(n), max(per_row, 1))
    middle, top = (others[:, 0].max() + others[:, 0].min()) / 2 if len(others) else 0.0, 0.0
    if len(others):
        top = others[:, 1].min() - 1.5
    return np.column_stack([middle + _ROW * (column - 0.5 * (per_row - 1)), top - _ROW * row])
