"""Threads of ours, and what a forked process inherits of them."""

import os
import subprocess
import sys

import pytest

# The child forks while another thread holds the lock around BLAS, as it does at the start of a graph.
_FORK = """
import os, signal, sys, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import robustsparse as rs
from robustsparse.base import threads

X = np.random.default_rng(0).standard_normal((30, 4))
expected = rs.robust_ns(X, k=1, n_jobs=2).n_edges
held, done = threading.Event(), threading.Event()

def hold():
    with threads.one_blas_thread(), threads._blas_lock:
        held.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(50)  # a child that hangs must not stay
    found = rs.robust_ns(X, k=1, n_jobs=2).n_edges
    with threads.one_blas_thread():
        users = threads._blas_limit.users
    os._exit(0 if (found, users) == (expected, 1) else 1)
_, status = os.waitpid(child, 0)
# The parent's own lock and count are as they were.
counted = threads._blas_limit.users
done.set()
sys.exit(os.waitstatus_to_exitcode(status) or counted != 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_forked_in_the_middle_of_a_graph_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-c", _FORK], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
