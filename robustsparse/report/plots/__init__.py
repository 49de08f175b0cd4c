"""Plots of results: functions of plain data frames that draw on `ax` and return it.

Importing this package does not import matplotlib; drawing does.
"""

from robustsparse.report.plots.calibration import calibration_frame, plot_calibration
from robustsparse.report.plots.cells import CellMap, cell_map, plot_cells
from robustsparse.report.plots.convergence import convergence_frame, plot_convergence
from robustsparse.report.plots.diagnostics import Drawn, outlier_map_frame, plot_diagnostics
from robustsparse.report.plots.graphpath import graph_path_frame, plot_graph_cuts, plot_graph_path
from robustsparse.report.plots.models import plot_models
from robustsparse.report.plots.network import network_layout, plot_network
from robustsparse.report.plots.path import path_frame, plot_path
from robustsparse.report.plots.qq import model_qq_frame, qq_frame
from robustsparse.report.plots.roc import plot_roc
from robustsparse.report.plots.selection import plot_selection, selection_frame
from robustsparse.report.plots.style import PALETTE
from robustsparse.report.plots.terms import plot_coefficients, plot_stability

__all__ = [
    "PALETTE",
    "CellMap",
    "Drawn",
    "calibration_frame",
    "cell_map",
    "convergence_frame",
    "graph_path_frame",
    "model_qq_frame",
    "network_layout",
    "outlier_map_frame",
    "path_frame",
    "plot_calibration",
    "plot_cells",
    "plot_coefficients",
    "plot_convergence",
    "plot_diagnostics",
    "plot_graph_cuts",
    "plot_graph_path",
    "plot_models",
    "plot_network",
    "plot_path",
    "plot_roc",
    "plot_selection",
    "plot_stability",
    "qq_frame",
    "selection_frame",
]
